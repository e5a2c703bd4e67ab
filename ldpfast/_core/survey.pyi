from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .kernel import Kernel
from .stream import Stream

ROWS: int
PARTS: int
ROW_PARTS: int
MISSING: int
UNDECLARED: int
FIRST_ROWS: NDArray[np.uint16]

class Column:
    @property
    def n(self) -> int: ...
    @property
    def row_bytes(self) -> int: ...
    def __new__(
        cls,
        kind: str,
        values: Any,
        valid: Any,
        offset: int,
        n: int,
        base: int = 0,
        table: NDArray[Any] | None = None,
        row_bytes: int = 0,
    ) -> Self: ...
    def numbers(self, first: int, n: int) -> NDArray[Any]: ...
    def symbols(self, first: int, n: int) -> NDArray[Any]: ...
    def strings(self, first: int, n: int) -> NDArray[Any]: ...

ENCODINGS: dict[str, int]
JOINS: dict[str, int]

def check_parts(parts: list[tuple[Any, ...]], items: int, item_bytes: int, join: int) -> None: ...

class SurveyKernel:
    @property
    def part_count(self) -> int: ...
    @property
    def item_count(self) -> int: ...
    def __new__(
        cls,
        parts: list[tuple[str, int, bool, float, float, NDArray[Any] | None, int, int]],
        items: list[tuple[tuple[int, ...], Kernel, int, str]],
        answers: int,
        thresholds: NDArray[Any],
    ) -> Self: ...
    def first_invalid_block(self, columns: list[Column], n: int, clip: bool) -> tuple[int, int] | None: ...
    def privatize(
        self,
        key: Stream | bytes,
        block: int,
        columns: list[Column],
        start: int,
        stop: int,
        clip: bool,
        reports: list[Any],
        valid: list[Any],
    ) -> tuple[int, int] | None: ...
    def run(
        self,
        key: Stream | bytes,
        block: int,
        columns: list[Column],
        start: int,
        stop: int,
        clip: bool,
        groups: NDArray[Any] | None,
        group_count: int,
        states: list[Any],
        counts: NDArray[np.int64],
        pairs: NDArray[Any],
        pair_counts: NDArray[np.int64],
    ) -> tuple[int, int] | None: ...

FAULTS: tuple[str, ...]

def message_faults(
    data: Any, ends: NDArray[np.int64], head: bytes, sizes: NDArray[np.int64], answers: int
) -> NDArray[Any]: ...
def split_messages(
    data: Any, ends: NDArray[np.int64], head: bytes, sizes: NDArray[np.int64], answers: int
) -> tuple[NDArray[Any] | None, list[NDArray[Any]], tuple[int, int] | None]: ...
