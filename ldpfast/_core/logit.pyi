import numpy as np
from numpy.typing import NDArray

def sums(
    rows: NDArray[np.float32] | NDArray[np.float64],
    shift: NDArray[np.float64],
    scale: NDArray[np.float64],
    intercept: bool,
    codes: NDArray[np.intp],
    table: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    params: NDArray[np.float64],
    observed: bool,
    score: NDArray[np.float64],
    information: NDArray[np.float64],
) -> float: ...
