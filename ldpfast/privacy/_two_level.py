"""Channels with two levels of probability: the parameters from which the effect of shuffling is computed."""

from __future__ import annotations

import decimal
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, compress
from typing import Any

from .. import _check, _coins

MAX_EPSILON = 598.0
MAX_ODDS = 10**260  # e^598 is below
MAX_PAIRED = (
    64  # rows of which all pairs are compared; for more, sets are taken to be as different as their size allows
)
CONSISTENT = 1e-9  # tolerance for rates that were computed in doubles

Rational = Fraction | float | int


@dataclass(frozen=True)
class TwoLevel:
    """Public parameters of a channel with two levels of probability, from which the effect of shuffling is computed.

    The density of a report of record x, relative to a base distribution that is the same for all records, is E / D on a set
    S(x) and 1 / D outside. E is the odds, e^epsilon. Two records x and x' differ on S(x) without S(x'), and on S(x') without
    S(x). Both sets have the same base probability a.

    Parameters
    ----------
    common_rate : Fraction or float
        Probability 2 a / D, in (0, 1], that the report of another person is drawn from the base distribution within these
        sets, whatever that person's record is.
    affected : Fraction or float
        Probability a (E + 1) / D, in (0, 1], that the person's own report is in these sets. It is then on the side of the
        person's own record with probability E / (E + 1).
    odds : Fraction or float
        The ratio E of both densities, in [1, 1e260].
    hiding_rate : Fraction or float, optional
        Probability that the report of another person is drawn from the distribution of the person's own report outside these
        sets, whatever that person's record is; at most 1 - affected. The default, (1 - affected) / odds, is true for all
        channels. For records with disjoint S(x) it is 1 - affected.
    base_rate : Fraction or float, optional
        Probability 1 / D that the report of another person is drawn from the base distribution, whatever that person's record
        is; between ``common_rate + (1 - affected) / odds`` and ``common_rate + 1 - affected``. The default is the smallest of
        these numbers, or the largest for records with disjoint S(x).

    Raises
    ------
    TypeError, ValueError
        If a parameter is out of its range; if `common_rate` is above ``2 affected / (odds + 1)``, which is possible for no
        channel.

    Notes
    -----
    The largest a over all pairs of records is the worst case. A channel of mixtures of such rows, with the same base
    distribution, has the parameters of the rows. Fractions are kept exactly. See docs/proofs/shuffling.md.

    Examples
    --------
    >>> from ldpfast.privacy._two_level import TwoLevel
    >>> TwoLevel.of_sets(3, size=1, outputs=10, difference=1).affected  # k-ary randomized response with k = 10
    Fraction(1, 3)
    """

    common_rate: Rational
    affected: Rational
    odds: Rational
    hiding_rate: Rational | None = None
    base_rate: Rational | None = None

    def __post_init__(self) -> None:
        # Fractions of exact integers stay exact; what is not given has the worst value.
        rate, affected = _fraction("common_rate", self.common_rate), _fraction("affected", self.affected)
        odds = _fraction("odds", self.odds)
        for name, value in (("common_rate", rate), ("affected", affected)):
            if not 0 < value <= 1:
                raise ValueError(f"{name} must be in (0, 1], got {getattr(self, name)!r}")
        if not 1 <= odds <= MAX_ODDS:
            raise ValueError(f"odds must be in [1, 1e260], got {self.odds!r}")
        if rate > 2 * affected / (odds + 1) * (1 + Fraction(CONSISTENT)):
            raise ValueError(f"common_rate must be at most 2 affected / (odds + 1), got {self.common_rate!r}")
        hiding = (1 - affected) / odds
        if self.hiding_rate is not None:
            hiding = _fraction("hiding_rate", self.hiding_rate)
            if not 0 <= hiding <= 1 - affected:
                raise ValueError(f"hiding_rate must be in [0, 1 - affected], got {self.hiding_rate!r}")
        base = rate + (1 - affected if hiding == 1 - affected else (1 - affected) / odds)
        if self.base_rate is not None:
            given, slack = _fraction("base_rate", self.base_rate), Fraction(CONSISTENT)
            low, high = rate + (1 - affected) / odds, rate + 1 - affected
            if not low * (1 - slack) <= given <= high * (1 + slack):
                raise ValueError(
                    "base_rate must be between common_rate + (1 - affected) / odds and common_rate + 1 - affected, got "
                    f"{self.base_rate!r}"
                )
            base = min(max(given, low), high)
        values = (
            ("common_rate", rate),
            ("affected", affected),
            ("odds", odds),
            ("hiding_rate", hiding),
            ("base_rate", base),
        )
        for name, value in values:
            object.__setattr__(self, name, value)

    @classmethod
    def of_sets(cls, odds: Rational, size: Rational, outputs: Rational, difference: Rational) -> TwoLevel:
        """Return the parameters of a channel that raises the probability of a set S(x).

        Parameters
        ----------
        odds : Fraction or float
            The ratio E of the densities in S(x) and outside, >= 1.
        size : Fraction or float
            Size of S(x): the number of outputs, or another measure that is the same for all records.
        outputs : Fraction or float
            Size of the set of all outputs.
        difference : Fraction or float
            Size of S(x) without S(x'), the largest over all pairs of records.

        Returns
        -------
        parameters : TwoLevel

        Raises
        ------
        TypeError, ValueError
            If not 0 < difference <= size < outputs, or size + difference > outputs; if `odds` are not in [1, 1e260].
        """
        e, members = _fraction("odds", odds), _fraction("size", size)
        total, apart = _fraction("outputs", outputs), _fraction("difference", difference)
        if not 0 < members < total:
            raise ValueError(f"size must be in (0, outputs) with outputs={outputs!r}, got {size!r}")
        if not 0 < apart <= min(members, total - members):
            raise ValueError(f"difference must be > 0 and at most size and outputs - size, got {difference!r}")
        if not 1 <= e <= MAX_ODDS:
            raise ValueError(f"odds must be in [1, 1e260], got {odds!r}")
        scale = total + (e - 1) * members
        affected = apart * (e + 1) / scale
        return cls(2 * apart / scale, affected, e, 1 - affected if members == apart else None, total / scale)

    @classmethod
    def of_kinds(cls, kinds: Iterable[tuple[Rational, ...]]) -> TwoLevel:
        """Return the parameters of a channel whose reports are of several kinds, each with sets of its own.

        Parameters
        ----------
        kinds : iterable of (probability, odds, size, outputs, difference)
            Public probability of each kind, and its sets as for `of_sets`. Within a kind with smaller odds than another, the
            sets are of a family that contains all outputs equally often.

        Returns
        -------
        parameters : TwoLevel
            With the largest of the odds. A row with smaller odds is a mixture of sets of its family with larger odds.

        Raises
        ------
        TypeError, ValueError
            As for `of_sets`.
        """
        parts = [tuple(_fraction("kinds", number) for number in kind) for kind in kinds]
        odds = max(part[1] for part in parts)
        channels = [(probability, cls.of_sets(odds, *sets)) for probability, _, *sets in parts]
        affected = sum((p * Fraction(channel.affected) for p, channel in channels), Fraction(0))
        disjoint = all(size == difference for _, _, size, _, difference in parts)
        base = sum((p * Fraction(channel.base_rate or 0) for p, channel in channels), Fraction(0))
        return cls(2 * affected / (odds + 1), affected, odds, 1 - affected if disjoint else None, base)

    @classmethod
    def of_rows(cls, rows: Iterable[Iterable[Rational]]) -> TwoLevel | None:
        """Return the parameters of a finite channel whose columns have at most two values of the same quotient, else None.

        Parameters
        ----------
        rows : iterable of iterables of int, Fraction or float
            Probabilities of the reports of each input, up to a common factor.

        Returns
        -------
        parameters : TwoLevel or None
        """
        columns = list(zip(*({tuple(_fraction("rows", p) for p in row) for row in rows}), strict=True))
        least, largest = [min(column) for column in columns], [max(column) for column in columns]
        odds = {high / low if low > 0 else None for low, high in zip(least, largest, strict=True) if low < high}
        if len(odds) != 1 or None in odds or any(len(set(column)) > 2 for column in columns):
            return None
        sets = [
            [high > low and row[y] == high for y, (low, high) in enumerate(zip(least, largest, strict=True))]
            for row in zip(*columns, strict=True)
        ]
        size, total = sum(compress(least, sets[0])), sum(least)
        difference = min(size, total - size)
        if len(sets) <= MAX_PAIRED:
            difference = max(
                sum(base for base, a, b in zip(least, one, other, strict=True) if a and not b)
                for one, other in combinations(sets, 2)
            )
        return cls.of_sets(odds.pop() or 1, size, total, difference)

    @classmethod
    def binary(cls, odds: Rational) -> TwoLevel:
        """Return the parameters of randomized response with two outputs, (2 / (E + 1), 1).

        They also hold for one random bit about a public direction, if the direction is part of the report: half of the pairs of
        direction and bit are in S(x), and none of them is in S(-x).

        Parameters
        ----------
        odds : Fraction or float
            Probability of the true bit over that of the false bit, >= 1.

        Returns
        -------
        parameters : TwoLevel

        Raises
        ------
        TypeError, ValueError
            If `odds` are not in [1, 1e260].
        """
        return cls.of_sets(odds, 1, 2, 1)

    @classmethod
    def arbitrary(cls, epsilon: float) -> TwoLevel:
        """Return the parameters (2 / (e^epsilon + 1), 1) that hold for all epsilon-private channels, of two levels or not.

        Parameters
        ----------
        epsilon : float
            Epsilon of one report, in [0, 598].

        Returns
        -------
        parameters : TwoLevel

        Raises
        ------
        TypeError, ValueError
            If `epsilon` is out of its range.

        Notes
        -----
        The divergence of the shuffled reports of any channel, the same for all people, is at most that of randomized response
        (docs/proofs/shuffling.md, theorem 4). The rows need not be mixtures that contain the common distribution with this
        rate: for them the rate is e^-epsilon [1]_, and the rate 2 / (e^epsilon + 1) of [2]_ was corrected by its erratum.

        References
        ----------
        .. [1] V. Feldman, A. McMillan, K. Talwar, "Hiding Among the Clones: A Simple and Nearly Optimal Analysis of Privacy
           Amplification by Shuffling", FOCS 2021.
        .. [2] V. Feldman, A. McMillan, K. Talwar, "Stronger Privacy Amplification by Shuffling for Renyi and Approximate
           Differential Privacy", SODA 2023, and its erratum.
        """
        if not 0 <= _check.real("epsilon", epsilon) <= MAX_EPSILON:
            raise ValueError(f"epsilon must be in [0, {MAX_EPSILON:g}], got {epsilon!r}")
        with decimal.localcontext(_coins.CONTEXT) as context:
            odds = Fraction(Decimal(epsilon).exp().next_plus(context)) if epsilon > 0 else Fraction(1)
        return cls.binary(odds)

    @property
    def shared_rates(self) -> tuple[Fraction, Fraction]:
        """Base probabilities, divided by D, of the reports that are in both sets S(x), and of those in none."""
        odds, outside = Fraction(self.odds), 1 - Fraction(self.affected)
        if odds == 1:
            return Fraction(0), outside
        base = Fraction(self.base_rate or 0) - Fraction(self.common_rate)
        both = (outside - base) / (odds - 1)
        return both, outside - odds * both

    @property
    def epsilon(self) -> float:
        """Epsilon of one report, ln E, rounded up."""
        return _coins.log_up(Fraction(self.odds))


def _fraction(name: str, value: Any) -> Fraction:
    if isinstance(value, Fraction):
        return value
    return Fraction(_check.integer(name, value, 0) if isinstance(value, int) else _check.real(name, value))
