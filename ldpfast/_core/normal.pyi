import numpy as np
from numpy.typing import NDArray

NARROW: float

def cell_probabilities(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    origin: NDArray[np.float64],
    period: NDArray[np.float64],
    mean: NDArray[np.float64],
    sigma: float,
    value: NDArray[np.float64],
    by_mu: NDArray[np.float64] | None = None,
    by_sigma: NDArray[np.float64] | None = None,
    narrow: float = ...,
) -> None: ...
