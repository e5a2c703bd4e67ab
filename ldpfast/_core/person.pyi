from typing import Any, Self

from numpy.typing import NDArray

from .stream import StreamId

DIGEST: int
QUESTION: int
ASSIGNMENT: int
ROUND: int
PADDING: int
INTEGER: int
TEXT: int
BYTES: int
CATEGORY: int
NUMBERS: int
LABEL: bytes
LENGTH: bytes

def cmac(key: bytes, message: bytes) -> bytes: ...

class Prefix:
    def __new__(cls, secret: bytes, fields: bytes) -> Self: ...
    def derive(self, data: NDArray[Any], ends: NDArray[Any], values: NDArray[Any], keys: NDArray[Any]) -> None: ...

def words_each(keys: NDArray[Any], stream_number: StreamId) -> NDArray[Any]: ...
def assign_each(keys: NDArray[Any], questions: int, answers: int, thresholds: NDArray[Any]) -> NDArray[Any]: ...
