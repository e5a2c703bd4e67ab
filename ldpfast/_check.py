"""Checks of arguments, and their error messages.

A message names the argument, what is allowed, what was given and where. It never contains the value of a record.
`TypeError` is for a wrong type, `ValueError` for a wrong value.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
import reprlib
from collections.abc import Iterable, Mapping, Set
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _exchange, _objects
from ._typing import AnyArray

MAX_PEOPLE = 1 << 53  # doubles represent all integers up to here
SIMPLE_DECIMAL = 10**9  # largest denominator of a decimal that is meant as it is written
MAX_QUOTIENT = 10**6  # largest denominator of a quotient that a float can stand for
ROUNDED_DIGITS = 15  # digits from which on a decimal can be a rounded quotient
# Characters that a database, XML or CSV cannot hold, or that UTF-8 does not have: lone surrogates.
NO_LABEL = re.compile("[\x00-\x1f\ud800-\udfff\ufffe\uffff]")


def positive(name: str, value: Any) -> float:
    """Return `value` as a float, if it is a finite number > 0."""
    number = real(name, value)
    if not number > 0:
        raise ValueError(f"{name} must be a finite number > 0, got {value!r}")
    return number


def magnitude(name: str, value: Any, power: int) -> float:
    """Return `value` as a float, if it is in [10^-power, 10^power]."""
    number = positive(name, value)
    if not 10.0**-power <= number <= 10.0**power:
        raise ValueError(f"{name} must be in [1e-{power}, 1e{power}], got {value!r}")
    return number


def real(name: str, value: Any) -> float:
    """Return `value` as a float, if it is a finite number."""
    text = isinstance(value, bool | str | bytes | bytearray | memoryview)  # `float` reads digits
    if text or (isinstance(value, np.generic | np.ndarray) and value.dtype.kind not in "iuf"):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}")
    try:
        number = math.nan if isinstance(value, Decimal) and value.is_nan() else float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {type(value).__name__}") from None
    if not math.isfinite(number):
        raise ValueError(f"{name} must be a finite number, got {reprlib.repr(value)}")
    return number


def plain(value: Any) -> Any:
    """Return a number of NumPy, a fraction or a decimal as the number of Python that `real` returns; others unchanged."""
    if isinstance(value, np.bool_ | np.integer):
        return value.item()
    return float(value) if isinstance(value, np.floating | Fraction | Decimal) else value


def probability(name: str, value: Any) -> float:
    """Return `value` as a float, if it is in (0, 1)."""
    number = real(name, value)
    if not 0 < number < 1:
        raise ValueError(f"{name} must be in (0, 1), got {value!r}")
    return number


def simple_fraction(value: Any) -> Fraction:
    """Return the fraction that a float stands for.

    It is the shortest decimal. If that has more than nine decimals, a quotient of integers up to 10^6 that the same float is
    nearest to, or that has the same digits if there are at least 15: 2/3 for 0.6666666666666666 and 0.666666666666667.
    """
    decimal = Fraction(str(value))
    if decimal.denominator <= SIMPLE_DECIMAL:
        return decimal
    near = Fraction(float(value)).limit_denominator(MAX_QUOTIENT)
    digits = Decimal(str(value)).as_tuple()
    is_written = len(digits.digits) >= ROUNDED_DIGITS and abs(near - decimal) * 2 <= Fraction(10) ** int(
        digits.exponent
    )
    return near if near and (float(near) == float(value) or is_written) else decimal


def is_simple(value: Any) -> bool:
    """Return whether a float stands for a decimal of few digits, or for a quotient of small integers."""
    return simple_fraction(value).denominator <= SIMPLE_DECIMAL


def exact_probability(name: str, value: Any) -> Fraction:
    """Return a probability as an exact fraction: a float is read by `simple_fraction`, so that 0.1 is 1/10 and 2/3 is 2/3.

    Raises
    ------
    TypeError, ValueError
        If it is not a number, or text such as "1/6", in [0, 1].
    """
    if isinstance(value, str):
        try:
            found = Fraction(value)
        except (ValueError, ZeroDivisionError):
            raise ValueError(f"{name} must be a probability such as 0.25 or '1/4', got {value!r}") from None
    else:
        real(name, value)
        found = simple_fraction(value) if isinstance(value, float | np.floating) else Fraction(value)
    if not 0 <= found <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {value!r}")
    return found


def integer(name: str, value: Any, least: int, largest: int | None = None) -> int:
    """Return `value` as an int, if it is an integer in [least, most]."""
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, got bool")
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {type(value).__name__}") from None
    if number < least or (largest is not None and number > largest):
        allowed = f">= {least}" if largest is None else f"in [{least}, {largest}]"
        raise ValueError(f"{name} must be an integer {allowed}, got {number}")
    return number


def people(name: str, value: Any, least: int = 1) -> int:
    """Return `value` as an int, if it is a number of people that a double represents exactly."""
    return integer(name, value, least, MAX_PEOPLE)


def flag(name: str, value: Any) -> bool:
    """Return `value` as a bool, if it is a boolean."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be a bool, got {type(value).__name__}")
    return bool(value)


def choice(name: str, value: Any, allowed: Iterable[str]) -> str:
    """Return `value`, if it is one of the allowed strings."""
    words = tuple(allowed)
    if value not in words:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, words))}, got {value!r}")
    return str(value)


def labels(name: str, values: Iterable[Any]) -> None:
    """Raise if a text among values is no label that databases, XML and CSV can hold. All names and labels are checked here."""
    for value in values:
        if isinstance(value, str) and (found := NO_LABEL.search(value)):
            raise ValueError(
                f"{name} must have no control characters, U+FFFE, U+FFFF or lone surrogates, which databases, XML and CSV "
                f"cannot hold, got a text with U+{ord(found.group()):04X}"
            )


def within(name: str, values: ArrayLike, lower: float, upper: float, ends: str = "[]") -> NDArray[np.float64]:
    """Return `values` as float64, if they are in an interval; `ends` are its brackets, such as "[)"."""
    numbers = floats(name, reals(name, values)).astype(np.float64)
    above = numbers >= lower if ends[0] == "[" else numbers > lower
    outside = ~(above & (numbers <= upper if ends[1] == "]" else numbers < upper))
    if outside.any():
        raise ValueError(
            f"{name} must be in {ends[0]}{lower:g}, {upper:g}{ends[1]}, got {float(numbers[outside].flat[0])!r}"
        )
    return numbers


def interval(lower: Any, upper: Any) -> tuple[float, float]:
    """Return finite ends lower < upper with finite squares."""
    low, high = (
        real("lower", lower) + 0.0,
        real("upper", upper) + 0.0,
    )  # -0 becomes 0, so that equal mechanisms have equal bytes
    if not low < high:
        raise ValueError(f"lower and upper must be finite with lower < upper, got {lower!r} and {upper!r}")
    if max(-low, high) > 1e100 or high - low < 1e-100:
        raise ValueError(f"lower and upper must be within 1e100 of zero and 1e-100 apart, got {lower!r} and {upper!r}")
    return low, high


def ascending(name: str, values: Any, max_length: int) -> tuple[float, ...]:
    """Return between 1 and `max_length` finite numbers in strictly ascending order."""
    numbers = []
    for value in [values] if np.ndim(values) == 0 else values:
        try:
            numbers.append(real(name, value))
        except TypeError:
            raise TypeError(f"{name} must be numbers, got {type(value).__name__}") from None
    if not 1 <= len(numbers) <= max_length:
        raise ValueError(f"{name} must be between 1 and {max_length} numbers, got {len(numbers)}")
    if any(a >= b for a, b in itertools.pairwise(numbers)):
        raise ValueError(f"{name} must be strictly ascending, got {tuple(numbers)!r}")
    return tuple(numbers)


def array(name: str, values: ArrayLike) -> AnyArray:
    """Return `values` as an array; masked and ragged input and mappings raise TypeError. See `_objects` for Python objects."""
    if type(values) is np.ndarray:
        return _objects.typed(name, values)
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array")
    if _exchange.is_foreign(values):
        return _objects.typed(name, _exchange.as_numpy(name, values))
    if isinstance(values, Mapping | Set):
        raise TypeError(f"{name} must be an array of numbers, got {type(values).__name__}")
    try:
        found = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise TypeError(f"{name} must be an array of numbers, got {type(values).__name__}") from error
    return _objects.typed(name, found)


def is_laid_out(x: AnyArray) -> bool:
    """Return whether kernels can read and write `x` in place: contiguous, aligned, in native byte order."""
    flags = x.flags
    return flags.c_contiguous and flags.aligned and x.dtype.isnative


def is_readable(x: AnyArray, dtype: np.dtype[Any]) -> bool:
    """Return whether kernels can read the records `x` in place: of this dtype, and each of them contiguous."""
    return x.dtype == dtype and dtype.isnative and x.flags.aligned and (x.ndim == 1 or x[:1].flags.c_contiguous)


def laid_out(x: AnyArray, dtype: np.dtype[Any] | None = None) -> AnyArray:
    """Return `x` in a layout that kernels can read, copied only if necessary."""
    if is_laid_out(x) and (dtype is None or x.dtype == dtype):
        return x
    with np.errstate(invalid="ignore"):  # signaling NaN
        return np.require(x, x.dtype.newbyteorder("=") if dtype is None else dtype, ["C", "A"])


def integers(name: str, x: AnyArray, booleans: bool = False) -> AnyArray:
    """Return `x`, if it has an integer dtype (or bool, if `booleans`)."""
    if x.dtype.kind in "iu" or (booleans and x.dtype.kind == "b"):
        return x
    if x.size == 0 and x.dtype == np.float64:  # dtype of an empty list
        return x.astype(np.uint8)
    raise TypeError(f"{name} must be integers, got dtype {x.dtype}")


def floats(name: str, x: AnyArray) -> AnyArray:
    """Return `x`, if it has real numbers: floats up to double precision, or integers."""
    if x.dtype.kind in "iu" or (x.dtype.kind == "f" and x.dtype.itemsize <= 8):
        return x
    raise TypeError(f"{name} must be real numbers (float32, float64 or integers), got dtype {x.dtype}")


def dimensions(name: str, x: AnyArray, dim: int | None) -> bool:
    """Return whether `x` is a single record: a number, or a row of `dim` numbers.

    An array of several records has one more dimension.
    """
    ndim = 0 if dim is None else 1
    if x.ndim not in (ndim, ndim + 1):
        many, one = ("(n,)", "()") if dim is None else ("(n, dim)", "(dim,)")
        raise ValueError(f"{name} must have shape {many}, or {one} for one record, got shape {x.shape}")
    if dim is not None and x.shape[-1] != dim:
        raise ValueError(f"{name} must have dim={dim} in its last axis, got shape {x.shape}")
    return x.ndim == ndim


def invalid(
    name: str,
    what: str,
    index: int,
    count: int,
    n: int,
    missing: int = 0,
    first_missing: bool = False,
    hint: str = "",
) -> ValueError:
    """Return the error for records outside their domain; `index` is the first of `count`, of which `missing` have NaN.

    `hint` says what ``clip=True`` would do.
    """
    state = "NaN" if first_missing else "outside"
    others = f"{count} of {n} are" if missing in (0, count) else f"{count} of {n} are invalid, {missing} of them NaN"
    more = f". clip=True {hint}" if hint else ""
    return ValueError(f"{name} must be {what}; index {index} is {state} ({others}){more}")


def precision(dtype: DTypeLike) -> np.dtype[Any]:
    """Return `dtype`, if it is float32 or float64."""
    try:
        found = np.dtype(dtype)
    except TypeError:
        found = None
    if found not in (np.float32, np.float64):
        raise ValueError(f"dtype must be 'float32' or 'float64', got {dtype!r}")
    return found


def output(out: Any, shape: tuple[int, ...], *dtypes: np.dtype[Any]) -> AnyArray:
    """Return `out` as an array of the same memory, if results of one of these dtypes can be written to it."""
    target = _exchange.as_numpy("out", out) if _exchange.is_foreign(out) else out
    if not isinstance(target, np.ndarray):
        raise TypeError(f"out must be an ndarray, or an array on the CPU with __dlpack__, got {type(out).__name__}")
    if target.shape != shape or target.dtype not in dtypes:
        allowed = " or ".join(map(str, dtypes))
        raise ValueError(
            f"out must have shape {shape} and dtype {allowed}, got shape {target.shape} and dtype {target.dtype}"
        )
    if not target.flags.writeable:
        raise ValueError("out must be writeable, got a read-only array")
    return target


def reals(name: str, values: ArrayLike) -> AnyArray:
    """Return `values` as an array; long doubles, integers beyond 64 bits, fractions and decimals become float64.

    An array of other objects is returned as it is, for the caller to refuse.
    """
    result = array(name, values)
    if result.dtype.kind == "f" and result.dtype.itemsize > 8:
        return result.astype(np.float64)
    are_numbers = (isinstance(value, Real | Decimal) and not isinstance(value, bool) for value in result.flat)
    if result.dtype.kind != "O" or not all(are_numbers):
        return result
    return np.array([real(name, value) for value in result.flat], np.float64).reshape(result.shape)


def numbers(name: str, values: ArrayLike, *, infinite: bool = False) -> NDArray[np.float64]:
    """Return a number or an array of numbers as float64, if none is NaN (or infinite, unless `infinite`)."""
    converted = reals(name, values)
    if converted.dtype.kind not in "iuf":
        given = type(values).__name__ if converted.dtype.kind == "O" else f"dtype {converted.dtype}"
        raise TypeError(f"{name} must be a number or an array of numbers, got {given}")
    result = converted.astype(np.float64)
    bad = np.isnan(result) if infinite else ~np.isfinite(result)
    if bad.any():
        raise ValueError(f"{name} must be {'numbers' if infinite else 'finite numbers'}, got {result[bad].flat[0]}")
    return result


def weights(values: ArrayLike, n: int, name: str = "weights") -> NDArray[np.float64]:
    """Return weights of n people, divided by their mean, if they are >= 0 with a positive sum."""
    given = numbers(name, array(name, values))
    if given.shape != (n,):
        raise ValueError(f"{name} must have shape ({n},), one for each person, got shape {given.shape}")
    if (given < 0).any() or not given.any():
        found = f"{given.min():g}" if given.any() else "only zeros"
        raise ValueError(f"{name} must be >= 0 with a positive sum, got {found}")
    given = given / given.max()
    return np.asarray(given / given.mean())


def condition(theorem: str, rule: str, holds: Any, **given: Any) -> None:
    """Check a condition of a theorem for a number or all numbers of an array; `given` are the arguments of the message."""
    holds = np.asarray(holds)
    if not holds.all():
        index = int(np.argmin(holds))
        shown = ", ".join(
            f"{name}={np.broadcast_to(np.asarray(value), holds.shape).flat[index]:g}" for name, value in given.items()
        )
        raise ValueError(f"{theorem} needs {rule}, got {shown}")


def families(name: str, values: ArrayLike, ndim: int) -> NDArray[np.float64]:
    """Return finite distributions along the last axis, if they are nonnegative and sum to 1 within 1e-9."""
    result = numbers(name, values)
    if result.ndim != ndim or 0 in result.shape:
        raise ValueError(
            f"{name} must have {ndim} dimension{'s' * (ndim > 1)}, none of them empty, got shape {result.shape}"
        )
    if (result < 0).any():
        raise ValueError(f"{name} must be distributions, with no negative entry")
    if np.abs(result.sum(axis=-1) - 1).max() > 1e-9:
        raise ValueError(f"{name} must be distributions, which sum to 1")
    return result


def keywords(what: str, given: Iterable[str], allowed: Iterable[str]) -> None:
    """Check the names of keyword arguments that are passed on."""
    words = tuple(allowed)
    for word in given:
        if word not in words:
            raise TypeError(f"{what} takes {', '.join(words) or 'no further arguments'}, got {word!r}")
