"""Numbers or arrays of them: what goes in, and what comes out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def plain(values: Any) -> Any:
    """A float where all arguments were numbers, an array otherwise."""
    return float(values) if np.ndim(values) == 0 else np.asarray(values)
