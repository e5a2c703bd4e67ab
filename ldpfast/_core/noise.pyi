import numpy as np
from numpy.typing import NDArray

from .stream import Stream

def gaussian(key: Stream | bytes, block: int, variance: int, out: NDArray[np.int64]) -> None: ...
