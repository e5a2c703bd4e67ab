import numpy as np
from numpy.typing import NDArray

from .stream import Stream

MARGIN: float

class Digits:
    def next(self) -> int: ...

def is_below(digits: int, count: int, step: int, square: int, twice_variance: int, more: Digits) -> bool: ...
def gaussian(key: Stream | bytes, block: int, variance: int, out: NDArray[np.int64], margin: float = ...) -> None: ...
