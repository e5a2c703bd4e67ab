"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._extras import optional
from ._arrow import ArrowFile, damage_errors


class ParquetFile(ArrowFile):
    """Columns of a Parquet file."""

    def chunks(self) -> Iterator[tuple[list[Any], int, float]]:
        parquet = optional("pyarrow.parquet", "files")
        with self.path.open("rb") as raw:
            try:
                with parquet.ParquetFile(raw, buffer_size=self.BLOCK_BYTES, pre_buffer=False) as file:
                    self._require(file.schema_arrow.names)
                    read = 0
                    for batch in file.iter_batches(self.CHUNK_ROWS, columns=self.names, use_threads=False):
                        read += batch.num_rows
                        columns = [batch.column(name) for name in self.names]
                        yield columns, batch.num_rows, read / max(read, file.metadata.num_rows)
            except damage_errors():
                raise self.unreadable("Parquet") from None
