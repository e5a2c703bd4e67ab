"""Arrays of Python objects as arrays of numbers, as pandas makes them of columns with missing values."""

from __future__ import annotations

from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

from ._typing import AnyArray

ABSENT = ("NoneType", "NAType", "NaTType")  # classes of missing values


def is_missing(value: Any) -> bool:
    """Return whether a value stands for a missing one: None, NaN, or NA and NaT of pandas."""
    if type(value).__name__ in ABSENT:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and bool(value != value)


def typed(name: str, array: AnyArray) -> AnyArray:
    """Return an array of objects that are booleans or numbers in the dtype of these, and any other array unchanged.

    Booleans become booleans. Integers, and decimals without a fraction, become integers; other numbers become float64. A
    missing value becomes NaN. Booleans among numbers are no numbers: such an array stays as it is.

    Raises
    ------
    ValueError
        If there are missing values among booleans.
    """
    if array.dtype.kind != "O" or not array.ndim or not array.size:
        return array
    values: list[Any] = array.ravel().tolist()
    missing = [is_missing(value) for value in values]
    present = [value for value, absent in zip(values, missing, strict=True) if not absent]
    kinds = set(map(type, present))
    booleans = [issubclass(kind, bool | np.bool_) for kind in kinds]
    if (kinds and any(booleans) != all(booleans)) or not all(
        issubclass(kind, np.bool_ | Real | Decimal) for kind in kinds
    ):
        return array
    if any(booleans):
        if any(missing):
            raise ValueError(f"{name} must have no missing values, got {sum(missing)} in {len(values)}")
        return np.array(values, np.bool_).reshape(array.shape)
    try:
        if not any(missing) and all(_is_whole(value) for value in present):
            return np.array([int(value) for value in present], np.int64).reshape(array.shape)
        floats = [np.nan if absent else float(value) for value, absent in zip(values, missing, strict=True)]
    except OverflowError:  # beyond 64 bits, or beyond doubles
        return array
    return np.array(floats, np.float64).reshape(array.shape)


def _is_whole(value: Any) -> bool:
    """Return whether a number that is not missing is an integer, or a decimal without a fraction."""
    if isinstance(value, Decimal):
        return value.is_finite() and value == value.to_integral_value()
    return isinstance(value, Integral)
