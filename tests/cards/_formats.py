"""Documented dtypes and shapes of reports, and of decoded reports, from a mechanism. Shapes are those of one record."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike


def one_byte(mechanism: Any, dtype: np.dtype) -> DTypeLike:
    return np.uint8


def smallest_code(mechanism: Any, dtype: np.dtype) -> DTypeLike:
    """Return the smallest unsigned integers that hold all codes."""
    return np.min_scalar_type(mechanism.report.k - 1)


def dtype_of_record(mechanism: Any, dtype: np.dtype) -> DTypeLike:
    return dtype


def double(mechanism: Any, dtype: np.dtype) -> DTypeLike:
    return np.float64


def scalar(mechanism: Any) -> tuple[int, ...]:
    return ()


def per_coordinate(mechanism: Any) -> tuple[int, ...]:
    return (mechanism.dim,)


def per_category(mechanism: Any) -> tuple[int, ...]:
    return (mechanism.k,)


def per_code(mechanism: Any) -> tuple[int, ...]:
    return (mechanism.report.k,)


def packed_coordinates(mechanism: Any) -> tuple[int, ...]:
    return (math.ceil(mechanism.dim / 8),)


def packed_categories(mechanism: Any) -> tuple[int, ...]:
    return (math.ceil(mechanism.k / 8),)


def has_codes_of_records(mechanism: Any) -> bool:
    """Return whether codes and categories have one dtype."""
    return mechanism.domain.dtype == smallest_code(mechanism, mechanism.domain.dtype)
