"""Files with one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._frames import arrow_array
from ._column_reader import TableFile, missing, trimmed

# Numbers that Python writes, but JSON does not have.
CONSTANTS = {"NaN": None, "Infinity": float("inf"), "-Infinity": -float("inf")}


class JsonLinesFile(TableFile):
    """Keys of a file with one JSON object per line."""

    def chunks(self) -> Iterator[tuple[list[Any], int, float]]:
        size, seen = max(1, self.path.stat().st_size), False
        with self.path.open("rb") as file:
            rows: list[Any] = []
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line, parse_constant=CONSTANTS.__getitem__)
                except (RecursionError, ValueError):
                    row = None
                if not isinstance(row, dict):
                    raise self.unreadable("JSON Lines", f"line {number} is not a JSON object")
                if not seen:
                    self._require(list(row))
                    seen = True
                rows.append([row.get(name) for name in self.names])
                if len(rows) == self.CHUNK_ROWS:
                    yield self._columns(rows), len(rows), file.tell() / size
                    rows = []
            if rows:
                yield self._columns(rows), len(rows), 1.0

    def _columns(self, rows: list[Any]) -> list[Any]:
        return [list(column) for column in zip(*rows, strict=True)] if self.names else []

    def numbers(self, name: str, values: Any, start: int) -> NDArray[Any]:
        numbers, wrong = np.full(len(values), np.nan), np.zeros(len(values), np.bool_)
        others = []
        for i, value in enumerate(values):
            if isinstance(value, int | float) and not isinstance(value, bool):
                numbers[i] = float(value) if abs(value) < 1e300 else np.inf * (1 if value > 0 else -1)
            elif isinstance(value, str):
                others.append(i)
            elif value is not None:
                wrong[i] = True
        if others:
            wrong[others] = ~missing(trimmed(self.strings("JSON Lines", [values[i] for i in others])))
        if wrong.any():
            raise self.invalid_error(name, start + int(wrong.argmax()), "hold numbers", "holds another value")
        return numbers

    def texts(self, name: str, values: Any, start: int) -> Any:
        texts: list[str | None] = []
        for i, value in enumerate(values):
            if isinstance(value, list | dict):
                raise self.invalid_error(name, start + i, "hold categories", "holds another value")
            plain = value is None or isinstance(value, str)
            texts.append(value if plain else json.dumps(value) if isinstance(value, bool) else str(value))
        return self.strings("JSON Lines", texts)

    def plain(self, name: str, values: Any) -> Any:
        return arrow_array(name, values)
