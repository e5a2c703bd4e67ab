"""Type aliases that all subpackages share."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

AnyArray: TypeAlias = NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]
