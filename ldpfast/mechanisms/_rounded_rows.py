"""Integers for the rows of a channel whose probabilities are decimals of many digits, or rounded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from .. import _check

LARGEST_TOTAL = 1 << 64  # of the integers of a row of a channel
TOTAL = 1 << 62  # sum of a row of rounded integers
LARGEST_ERROR = Fraction(1, 10**9)  # of the sum of a row of doubles


def read_rows(design: Any) -> list[list[Any]]:
    """Return the rows of a channel with fractions or integers in place of floats.

    Floats are read as the simple fractions that they stand for (`_check.simple_fraction`). If some are no simple fractions,
    such as exp(1) / (1 + exp(1)), or the rows have different sums then, the table is one of rounded numbers: the result is
    `rounded` for the precision of each.

    Parameters
    ----------
    design : sequence of sequences of int, Fraction or float
        Its shape is checked by the caller.

    Raises
    ------
    TypeError, ValueError
        If there are floats that are not probabilities, or whose rows do not add up to 1.
    """
    floats = dict.fromkeys(entry for row in design for entry in row if _is_float(entry))
    wrong = next((entry for entry in floats if not 0 <= entry <= 1), None)  # also NaN
    if wrong is not None:
        raise ValueError(f"design must have probabilities in [0, 1], got {wrong}")
    if any(isinstance(x, bool) or (not isinstance(x, Rational) and not _is_float(x)) for row in design for x in row):
        return [list(row) for row in design]  # `FiniteChannel` says which types are allowed
    simple = all(map(_check.is_simple, floats))  # most often false for the first one, if it is
    known = {entry: _check.simple_fraction(entry) if simple else Fraction(str(entry)) for entry in floats}
    exact = [[known[x] if _is_float(x) else Fraction(x) for x in row] for row in design]
    sums = [sum(row, Fraction()) for row in exact]
    if not floats:
        return exact
    if simple and len(set(sums)) == 1:
        denominator = math.lcm(*(entry.denominator for row in exact for entry in row))
        return rounded(exact) if denominator > LARGEST_TOTAL else exact
    off = max(LARGEST_ERROR, 16 * max(map(_precision, floats)))
    for number, total in enumerate(sums):
        if abs(total - 1) > off:
            raise ValueError(f"design must have rows that sum to 1, row {number} sums to {float(total):.12g}")
    # An entry can be off by the digits that are written, but not by more than the sum of its row is, and by the rounding of
    # the double.
    margins = []
    for row, read, total in zip(design, exact, sums, strict=True):
        missing = abs(total - 1)
        pairs = zip(row, read, strict=True)
        margins.append([min(missing, _half_unit(entry)) + _precision(entry) * value for entry, value in pairs])
    return rounded(exact, margins)


def rounded(rows: Sequence[Sequence[Fraction]], margins: Sequence[Sequence[Fraction]] | None = None) -> list[list[int]]:
    """Return integers with equal sums that are nearly proportional to the rows, and whose loss of privacy is not less.

    Parameters
    ----------
    rows : sequence of sequences of Fraction
        Probabilities, each row with a sum near 1.
    margins : sequence of sequences of Fraction, optional
        How far the true probabilities can be from these.

    Returns
    -------
    rounded : list of list of int
        The largest ratio of two entries of a column is at least that of every table within the margins. It is larger by a
        factor of about 1 + 2^-62 / p for the smaller probability p. Zeros stay zeros.

    Raises
    ------
    ValueError
        If a positive probability is too small to be known.
    """
    integers = []
    for row in rows:
        total = sum(row, Fraction())
        shares = [max(1, int(entry * TOTAL / total)) if entry else 0 for entry in row]
        shares[shares.index(max(shares))] += TOTAL - sum(shares)
        integers.append(shares)
    largest = _largest_ratio(rows, margins)
    if largest is None:
        return integers
    ratio, column, high, low = largest
    least = int(integers[high][column] / ratio)
    if least < 1:
        small = float(rows[low][column])
        raise ValueError(f"design must have probabilities that are 0 or at least 1e-18, got {small:.3g}")
    if least < integers[low][column]:
        others = [place for place in range(len(rows[low])) if place != column]
        integers[low][max(others, key=lambda place: integers[low][place])] += integers[low][column] - least
        integers[low][column] = least
    return integers


def _largest_ratio(
    rows: Sequence[Sequence[Fraction]], margins: Sequence[Sequence[Fraction]] | None
) -> tuple[Fraction, int, int, int] | None:
    """Return the largest ratio in a column within the margins, with its column and its two rows; None if it is infinite."""
    found: tuple[Fraction, int, int, int] | None = None
    for column in range(len(rows[0])):
        entries = [row[column] for row in rows]
        if not any(entries):
            continue
        if not all(entries):
            return None
        widths = [Fraction()] * len(rows) if margins is None else [row[column] for row in margins]
        above = [entry + width for entry, width in zip(entries, widths, strict=True)]
        below = [entry - width for entry, width in zip(entries, widths, strict=True)]
        high, low = above.index(max(above)), below.index(min(below))
        if high != low and (found is None or above[high] > found[0] * below[low]):
            found = above[high] / below[low], column, high, low
    return found


def _is_float(entry: Any) -> bool:
    return isinstance(entry, float | np.floating)


def _precision(entry: Any) -> Fraction:
    """Return the relative error of a float that a formula has computed: four units of its last bit; 0 for an exact number."""
    return Fraction(4 * float(np.finfo(type(entry)).eps)) if _is_float(entry) else Fraction()


def _half_unit(entry: Any) -> Fraction:
    """Return half a unit of the last digit of a float as it is written; 0 for an exact number."""
    if not _is_float(entry):
        return Fraction()
    return Fraction(10) ** int(Decimal(str(entry)).as_tuple().exponent) / 2
