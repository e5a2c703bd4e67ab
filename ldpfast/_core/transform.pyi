import numpy as np
from numpy.typing import NDArray

def walsh(v: NDArray[np.int64]) -> None: ...
