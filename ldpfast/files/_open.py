"""The reader of a file, chosen by its suffix."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ._column_reader import TableFile
from ._csv import CsvFile
from ._feather import FeatherFile
from ._json_lines import JsonLinesFile
from ._npy import NpyFile
from ._parquet import ParquetFile
from ._status import STDIN, require_regular

KINDS: dict[str, type[TableFile]] = {
    ".csv": CsvFile,
    ".csv.gz": CsvFile,
    ".jsonl": JsonLinesFile,
    ".ndjson": JsonLinesFile,
    ".parquet": ParquetFile,
    ".feather": FeatherFile,
    ".arrow": FeatherFile,
    ".npy": NpyFile,
}


def open_table(path: str | Path, names: Sequence[str]) -> TableFile:
    """Return some columns of a file; its suffix determines the format, and "-" is a CSV file on the standard input.

    Raises
    ------
    ValueError
        If the suffix is not known, or the path is a directory.
    """
    if str(path) == STDIN:
        return CsvFile(Path(STDIN), names)
    path = Path(path)
    kind = next((suffix for suffix in KINDS if path.name.lower().endswith(suffix)), None)
    if kind is None:
        raise ValueError(f"path must end in one of {', '.join(KINDS)}, or be -, got {str(path)!r}")
    require_regular(path)
    return KINDS[kind](path, names)
