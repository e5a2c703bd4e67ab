"""Range checks that several functions share."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from ... import _check
from .._directed_rounding import Floats


def nonnegative(name: str, values: ArrayLike) -> Floats:
    return _check.within(name, values, 0, math.inf, "[)")


def check_delta(values: ArrayLike) -> Floats:
    return _check.within("delta", values, 0, 1, "[)")
