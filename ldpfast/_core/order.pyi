import numpy as np
from numpy.typing import NDArray

from .stream import Stream

def weights(ratio: int, out: NDArray[np.uint64]) -> int: ...
def choose(
    key: Stream | bytes,
    block: int,
    points: NDArray[np.uint64],
    first: int,
    size: int,
    twice_target: int,
    table: NDArray[np.uint64],
) -> int: ...
def masses(points: NDArray[np.uint64], first: int, size: int, twice_target: int, table: NDArray[np.uint64]) -> int: ...
def spread(
    z: NDArray[np.float64],
    beta: float,
    i_low: int,
    i_high: int,
    j_low: int,
    j_high: int,
    least: int,
    decay: NDArray[np.float64],
) -> float: ...
