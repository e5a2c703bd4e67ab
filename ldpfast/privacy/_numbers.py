"""Conversion of results to numbers or arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def float_or_array(values: Any) -> Any:
    """Return a float if `values` has no dimension, else an array."""
    return float(values) if np.ndim(values) == 0 else np.asarray(values)
