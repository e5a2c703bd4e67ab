from typing import Any, Self

from numpy.typing import NDArray

from .kernel import Kernel
from .stream import Stream

ROWS: int
PARTS: int
MISSING: int
FIRST_ROWS: NDArray[Any]
UNDECLARED: int
ENCODINGS: dict[str, int]
FAULTS: tuple[str, ...]

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

class SurveyKernel:
    @property
    def part_count(self) -> int: ...
    @property
    def item_count(self) -> int: ...
    def __new__(
        cls,
        parts: list[tuple[str, int, bool, float, float, NDArray[Any] | None, int, int]],
        items: list[tuple[tuple[int, ...], Kernel, int]],
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
        counts: NDArray[Any],
        pairs: NDArray[Any],
        pair_counts: NDArray[Any],
    ) -> tuple[int, int] | None: ...

def message_faults(data: Any, ends: NDArray[Any], head: bytes, sizes: NDArray[Any], answers: int) -> NDArray[Any]: ...
def split_messages(
    data: Any, ends: NDArray[Any], head: bytes, sizes: NDArray[Any], answers: int
) -> tuple[NDArray[Any] | None, list[NDArray[Any]], tuple[int, int] | None]: ...
