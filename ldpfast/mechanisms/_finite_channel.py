"""Any finite channel as a mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from .._core.stream import Stream
from .._typing import AnyArray
from ..domains import Categories
from ..privacy import Channel
from ..reports import Codes
from ..results import MatrixDebiasing
from ._law import CHANNEL_ENTRIES, RowsLaw
from ._mechanism import Mechanism
from ._python import integer_weights, right_inverse


@dataclass(frozen=True)
class ChannelIntegers:
    """Integers of a channel: row x holds the numbers of words, of `total`, that give each code."""

    total: int
    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Refusal:
    """The kernel of a channel that protects nobody: it makes no reports."""

    rows: int = 4096
    checks = False
    asks = False

    def privatize(self, key: Stream, block: int, x: AnyArray, out: AnyArray, clip: bool = False) -> bool:
        raise ValueError(
            "rows must give a finite epsilon to make reports: a code that one category can give must be possible for all"
        )

    run = privatize

    def privatize_each(self, keys: AnyArray, x: AnyArray, out: AnyArray) -> bool:
        return self.privatize(Stream(bytes(32)), 0, x, out)


@dataclass(frozen=True)
class FiniteChannel(Mechanism):
    """Report of a category by any finite channel: the probabilities of all codes for each category.

    Use it for a design of your own, or for reports that another system has collected (`estimation.from_reports`).

    Parameters
    ----------
    rows : sequence of sequences of int or Fraction
        Row x holds the probabilities of the codes for category x, up to a common factor: all rows have the same sum, which is
        at most 2^64 in integers without a common divisor. Stored as these integers.

    Attributes
    ----------
    epsilon : float
        Logarithm of the largest ratio of two integers in a column, rounded up. Infinite if a code is possible for some
        categories only: such reports protect nobody, and can be estimated but not made.

    Raises
    ------
    TypeError
        If an entry is not an integer or a fraction. A double is no exact probability: use ``Fraction(3, 4)``.
    ValueError
        If the rows have different lengths or sums; if they are linearly dependent, or so nearly
        that double precision cannot decode the codes (condition number above 1e10); if there are more than 2^17 entries.

    Notes
    -----
    Records are categories 0, ..., k - 1. Reports are codes. The shares are estimated without bias by a right inverse of the
    channel: among all of them the one with the smallest variances if all categories are equally frequent. Codes are drawn by
    inversion with exact integers, in Python: about 20 ns per person for each bit of the number of codes.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP: codes have exactly these probabilities. The time may depend on the record. See
    docs/proofs/finite_channel.md.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> dice = ldp.FiniteChannel([[30, 6], [3, 33]])  # forced response with two dice: "no", "yes"
    >>> round(dice.epsilon, 2)
    2.3
    >>> reports = dice.privatize(np.array([0, 1, 1]), rng=1)
    >>> dice.decode(reports).shape
    (3, 2)
    """

    rows: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        weights = _integers(self.rows)
        channel = Channel(weights)
        decoding = right_inverse(channel.matrix, "rows")
        self._set(rows=tuple(map(tuple, weights)))
        self.define(
            epsilon_realized=channel.epsilon(),
            domain=Categories(len(weights)),
            report=Codes(len(weights[0]), impossible=tuple(np.flatnonzero(~channel.matrix.any(axis=0)).tolist())),
            debiasing=MatrixDebiasing(decoding),
            coin=ChannelIntegers(sum(weights[0]), self.rows),
            kernel=None if math.isfinite(channel.epsilon()) else Refusal(),
            law=RowsLaw(self.rows),
        )


def require_table(rows: Any, name: str = "rows") -> None:
    """Raise unless there are rows of the same length, of not too many entries. The entries are not looked at.

    Raises
    ------
    TypeError, ValueError
        If they are something else.
    """
    if isinstance(rows, str) or not isinstance(rows, Sequence | np.ndarray):
        raise TypeError(f"{name} must be a sequence of rows, got {type(rows).__name__}")
    other = next((row for row in rows if isinstance(row, str) or not isinstance(row, Sequence | np.ndarray)), None)
    if other is not None:
        raise TypeError(f"{name} must be a sequence of rows, got a row of type {type(other).__name__}")
    if len(rows) < 2 or len(rows[0]) < 2 or len({len(row) for row in rows}) > 1:
        raise ValueError(f"{name} must be at least 2 rows of the same length, which is at least 2")
    if len(rows) * len(rows[0]) > CHANNEL_ENTRIES:
        raise ValueError(f"{name} must have at most {CHANNEL_ENTRIES} entries, got {len(rows) * len(rows[0])}")


def _integers(rows: Any) -> list[list[int]]:
    """Return the rows as integers without a common divisor."""
    require_table(rows)
    table = [[_rational(entry) for entry in row] for row in rows]
    shared = math.lcm(*(entry.denominator for row in table for entry in row))
    divisor = math.gcd(*(int(entry * shared) for row in table for entry in row))
    factor = Fraction(shared, max(1, divisor))
    return integer_weights([[entry * factor for entry in row] for row in table], len(table), len(table[0]), "rows")


def _rational(entry: Any) -> Fraction:
    """Return an integer or a fraction, exactly."""
    if isinstance(entry, np.integer):
        entry = int(entry)
    if isinstance(entry, bool) or not isinstance(entry, Rational):
        raise TypeError(f"rows must hold integers or fractions, got {type(entry).__name__}")
    return Fraction(entry)
