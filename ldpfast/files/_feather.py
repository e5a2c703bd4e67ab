"""Feather files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._extras import optional
from ._arrow import ArrowFile, damage_errors


class FeatherFile(ArrowFile):
    """Columns of a Feather file, which is an Arrow file."""

    def chunks(self) -> Iterator[tuple[list[Any], int, float]]:
        ipc = optional("pyarrow.ipc", "files")
        with self.path.open("rb") as raw:
            try:
                with ipc.open_file(raw) as file:
                    self._require(file.schema.names)
                    for i in range(file.num_record_batches):
                        batch = file.get_batch(i)
                        columns = [batch.column(name) for name in self.names]
                        for column in columns:  # Arrow trusts the positions in a file and would read beyond its buffers
                            column.validate(full=True)
                        yield columns, batch.num_rows, (i + 1) / file.num_record_batches
            except damage_errors():
                raise self.unreadable("Feather") from None
