"""Every rule about arguments, and every message about bad ones.

A message names the argument, says what is allowed and what was given, and where; it never holds a record's value.
`TypeError` is for the wrong kind of thing, `ValueError` for the wrong value.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

AnyArray = NDArray[Any]


def positive(name: str, value: Any) -> float:
    """A finite number > 0."""
    number = real(name, value)
    if not number > 0:
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
    return number


def real(name: str, value: Any) -> float:
    """A finite number."""
    if isinstance(value, bool | np.bool_ | str | bytes):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {value!r}")
    return number


def probability(name: str, value: Any) -> float:
    """A number in (0, 1)."""
    number = real(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must be in (0, 1), got {value!r}")
    return number


def integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """An integer in [least, most]."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, got bool")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}") from None
    if number < least or (most is not None and number > most):
        allowed = f">= {least}" if most is None else f"in [{least}, {most}]"
        raise ValueError(f"{name} must be an integer {allowed}, got {number}")
    return number


def choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """One of a few words."""
    words = tuple(allowed)
    if value not in words:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, got {value!r}")
    return str(value)


def interval(lower: Any, upper: Any) -> tuple[float, float]:
    """Finite ends lower < upper whose distance is a finite number too."""
    low, high = real("lower", lower), real("upper", upper)
    if not low < high or not math.isfinite(high - low) or not math.isfinite(1 / (high - low)):
        raise ValueError(f"lower and upper must be finite with lower < upper, got {lower!r} and {upper!r}")
    return low, high


def ascending(name: str, values: Any, most: int) -> tuple[float, ...]:
    """Between 1 and `most` finite numbers, each larger than the one before."""
    try:
        numbers = tuple(real(name, v) for v in ([values] if np.ndim(values) == 0 else values))
    except TypeError:
        raise TypeError(f"{name} must be numbers, got {type(values).__name__}") from None
    if not 1 <= len(numbers) <= most:
        raise ValueError(f"{name} must be between 1 and {most} numbers, got {len(numbers)}")
    if any(a >= b for a, b in itertools.pairwise(numbers)):
        raise ValueError(f"{name} must be strictly ascending, got {numbers!r}")
    return numbers


def array(name: str, values: ArrayLike) -> AnyArray:
    """An array in native byte order; masked and ragged input is refused."""
    if type(values) is np.ndarray:
        x = values
    else:
        if isinstance(values, np.ma.MaskedArray):
            raise TypeError(f"{name} must not be a masked array")
        try:
            x = np.asarray(values)
        except (ValueError, TypeError) as error:
            raise TypeError(f"{name} must be an array of numbers ({type(values).__name__} given)") from error
    return x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))


def integers(name: str, x: AnyArray, booleans: bool = False) -> AnyArray:
    """An array of an integer dtype (or booleans, where they mean something)."""
    if x.dtype.kind in "iu" or (booleans and x.dtype.kind == "b"):
        return x
    if x.size == 0 and x.dtype == np.float64:  # what an empty list becomes
        return x.astype(np.uint8)
    raise TypeError(f"{name} must be integers, got dtype {x.dtype}")


def floats(name: str, x: AnyArray) -> AnyArray:
    """float32 or float64 as they are; float16 and integers become the next of the two that holds them."""
    if x.dtype == np.float64 or x.dtype == np.float32:
        return x
    if x.dtype == np.float16:
        return x.astype(np.float32)
    if x.dtype.kind in "iu":
        return x.astype(np.float64)
    raise TypeError(f"{name} must be real numbers (float32, float64 or integers), got dtype {x.dtype}")


def dimensions(name: str, x: AnyArray, record_ndim: int, record_shape: str) -> bool:
    """Whether `x` is a single record; otherwise it has one dimension more."""
    if x.ndim == record_ndim:
        return True
    if x.ndim != record_ndim + 1:
        rows = f"(n, {record_shape})" if record_shape else "(n,)"
        raise ValueError(
            f"{name} must have shape {rows}, or () for one record, got shape {x.shape}"
            if not record_shape
            else f"{name} must have shape {rows}, or ({record_shape},) for one record, got shape {x.shape}"
        )
    return False


def width(name: str, x: AnyArray, what: str, expected: int) -> None:
    """The last axis has `expected` entries."""
    if x.shape[-1] != expected:
        raise ValueError(f"{name} must have {what}={expected} in its last axis, got shape {x.shape}")


def outside(name: str, what: str, index: int, offenders: int, n: int) -> ValueError:
    """The error for records out of their domain; `index` is the first of them."""
    return ValueError(f"{name} must be {what}; index {index} is outside ({offenders} of {n} are)")


def output(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> AnyArray:
    """An array that reports can be written to."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be an ndarray, got {type(out).__name__}")
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(f"out must have shape {shape} and dtype {dtype}, got shape {out.shape} and dtype {out.dtype}")
    if not out.flags.writeable:
        raise ValueError("out must be writeable, got a read-only array")
    return out
