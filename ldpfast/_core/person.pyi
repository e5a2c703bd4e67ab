from typing import Any, Self

from numpy.typing import NDArray

SERIES: int
QUESTION: int
ASSIGNMENT: int
ROUND: int
PADDING: int
DESCRIPTION: int
TICKET: int
TURN: int
REPORT_ID: int
INTEGER: int
TEXT: int
BYTES: int
CATEGORY: int
NUMBERS: int
STRING: int
LABEL: bytes
LENGTH: bytes

def cmac(key: bytes, message: bytes) -> bytes: ...

class Prefix:
    def __new__(cls, secret: bytes, fields: bytes) -> Self: ...
    def derive(self, data: NDArray[Any], ends: NDArray[Any], values: NDArray[Any], keys: NDArray[Any]) -> None: ...
    def assign(
        self,
        data: NDArray[Any],
        ends: NDArray[Any],
        names: NDArray[Any],
        starts: NDArray[Any],
        weights: NDArray[Any],
        answers: int,
    ) -> NDArray[Any]: ...

def rounding_words(keys: NDArray[Any], part: int) -> NDArray[Any]: ...
