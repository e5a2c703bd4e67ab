from typing import Any, Self

import numpy as np
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
POSITIONS: int
LABEL: bytes
LENGTH: bytes

def cmac(key: bytes, message: bytes) -> bytes: ...

class Prefix:
    def __new__(cls, secret: bytes, fields: bytes) -> Self: ...
    def derive(
        self, data: NDArray[np.uint8], ends: NDArray[np.int64], values: NDArray[np.uint8], keys: NDArray[Any]
    ) -> None: ...
    def assign(
        self,
        data: NDArray[np.uint8],
        ends: NDArray[np.int64],
        names: NDArray[np.uint8],
        starts: NDArray[np.int64],
        weights: NDArray[np.uint32],
        answers: int,
    ) -> NDArray[Any]: ...

def rounding_words(keys: NDArray[np.uint8], part: int) -> NDArray[Any]: ...
