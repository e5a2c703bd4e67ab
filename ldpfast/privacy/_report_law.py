"""Distribution of the likelihood ratios of one report: all that the accounting of shuffled reports uses."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from .. import _coins
from ._dataset_law import DatasetLaw
from ._directed_rounding import UNIT, Floats
from ._two_level import Rational, TwoLevel
from ._two_outcomes import TwoOutcomes

LAPLACE_ROUNDING = 2.0**-44  # more than the relative error of the masses and ratios, for epsilon up to 64
FAR = 1e100  # largest difference of ratios whose square is taken
UP, DOWN = 1 + 4 * UNIT, 1 - 4 * UNIT


@dataclass(frozen=True, eq=False)
class ReportLaw:
    """Distribution of the ratios of two rows of a channel to a base measure that is below all rows.

    At a draw from the base measure, the rows of two records have the densities ``first`` and ``second``. An atom is a set of
    reports with the same two densities.

    Attributes
    ----------
    masses : ndarray of float64, shape (atoms,)
        Base measures of the atoms, rounded up.
    first, second : ndarray of float64, shape (atoms,)
        Ratios of the two rows to the base measure, rounded up and down.
    rest : float
        1 minus the base measure of all reports, rounded up.
    levels : TwoLevel, optional
        Parameters of the same law, for which the distribution of two counts gives another bound.
    outcomes : TwoOutcomes, optional
        The channel, if it has two reports. Its divergence is known exactly.
    above_all_pairs : bool
        Whether the law is above those of all pairs of records in the convex order, in both orders and also if both records are
        equal. Then it can be a part of the law of several answers.
    datasets : tuple of DatasetLaw
        Laws of the same channel for datasets in which all others have one record, which show how much the law can lose.
    """

    masses: Floats
    first: Floats
    second: Floats
    rest: float
    levels: TwoLevel | None = None
    outcomes: TwoOutcomes | None = None
    above_all_pairs: bool = False
    datasets: tuple[DatasetLaw, ...] = ()

    @classmethod
    def of_atoms(
        cls, atoms: Iterable[tuple[Rational, Rational, Rational]], levels: TwoLevel | None = None
    ) -> ReportLaw:
        """Return the law with exact atoms (base measure, ratio of the first row, ratio of the second row)."""
        exact = [tuple(Fraction(number) for number in atom) for atom in atoms]
        kept = [atom for atom in exact if atom[0] > 0]
        rest = max(Fraction(0), 1 - sum((atom[0] for atom in kept), Fraction(0)))
        return cls(
            np.array([_coins.round_up(mass) for mass, _, _ in kept]),
            np.array([_coins.round_up(ratio) for _, ratio, _ in kept]),
            np.array([-_coins.round_up(-ratio) for _, _, ratio in kept]),
            _coins.round_up(rest),
            levels,
        )

    @classmethod
    def of_two_level(cls, channel: TwoLevel, others: Iterable[Sequence[Rational]] = ()) -> ReportLaw:
        """Return the law of the worst pair of records of a channel with two levels of probability.

        Parameters
        ----------
        channel : TwoLevel
        others : iterable of sequences of 4 numbers, optional
            Records of the others for which the pair exists, by the parts of their sets; see `DatasetLaw.of_sets`.
        """
        odds, half = Fraction(channel.odds), Fraction(channel.common_rate) / 2
        both, neither = channel.shared_rates
        one = Fraction(1)
        atoms = [(half, odds, one), (half, one, odds), (both, odds, odds), (neither, one, one)]
        datasets = tuple(DatasetLaw.of_sets(channel, sets) for sets in others)
        return replace(cls.of_atoms(atoms, channel), above_all_pairs=True, datasets=datasets)

    def with_datasets(self, datasets: Iterable[DatasetLaw]) -> ReportLaw:
        """Return the same law with those of some datasets."""
        return replace(self, datasets=tuple(datasets))

    def at(self, epsilon: float) -> Sequence[ReportLaw]:
        """Return the laws of which the one with the smallest divergence is a bound at an epsilon."""
        return (self,)

    @property
    def spread(self) -> float:
        """Mean squared difference of the two ratios."""
        return float(self.masses @ np.minimum(np.abs(self.first - self.second), FAR) ** 2)

    @classmethod
    def of_outcomes(cls, p: Fraction, q: Fraction) -> ReportLaw:
        """Return the law of one bit that is 1 with probability p for the first record and q < p for the second.

        `outcomes` is for both orders of the records, the atoms are for this one.
        """
        pair = [(q, p / q, Fraction(1)), (1 - p, Fraction(1), (1 - q) / (1 - p))]
        return replace(cls.of_atoms(pair), outcomes=TwoOutcomes(p, q), above_all_pairs=p + q == 1)

    @classmethod
    def of_laplace(cls, epsilon: float, cells: int) -> ReportLaw:
        """Return a law above that of Laplace noise for the ends of an interval, in the convex order.

        The law has a density in the ratio z from 1 to e^epsilon. The mass of a cell is split between its ends so that the mean
        is the same.
        """
        i = np.arange(cells + 1)
        half = epsilon / 2 / cells  # logarithm of the square root of the ratio of two ends
        masses = math.tanh(half / 2) * np.exp(-epsilon / 2 - i * half)
        masses[0] /= 2
        masses[-1] = (math.tanh(half / 2) + 1) * math.exp(-epsilon) / 2
        ratios, one = np.exp(2 * half * i), np.ones(len(i))
        masses = np.tile(masses * (1 + LAPLACE_ROUNDING), 2)
        first = np.concatenate([ratios * (1 + LAPLACE_ROUNDING), one])
        second = np.concatenate([one, ratios * (1 - LAPLACE_ROUNDING)])
        rest = -math.expm1(-epsilon / 2) * (1 + LAPLACE_ROUNDING)
        return cls(masses, first, second, rest, above_all_pairs=True)

    @classmethod
    def of_kinds(cls, kinds: Iterable[tuple[Rational, ...]]) -> ReportLaw:
        """Return the law of reports of several kinds: the probability of each, and the arguments of `TwoLevel.of_sets`."""
        parts = []
        for weight, odds, size, outputs, difference in kinds:
            parts.append((weight, cls.of_two_level(TwoLevel.of_sets(odds, size, outputs, difference))))
        return cls.mixture(parts)

    @classmethod
    def mixture(cls, parts: Sequence[tuple[Rational, ReportLaw]]) -> ReportLaw:
        """Return the law of a report of one of several kinds, which is drawn with given probabilities and is a part of it."""
        weights = [_coins.round_up(Fraction(weight)) for weight, _ in parts]
        laws = [law for _, law in parts]
        return cls(
            np.concatenate([law.masses * (weight * UP) for weight, law in zip(weights, laws, strict=True)]),
            np.concatenate([law.first for law in laws]),
            np.concatenate([law.second for law in laws]),
            math.fsum(weight * law.rest for weight, law in zip(weights, laws, strict=True)) * UP,
            above_all_pairs=all(law.above_all_pairs for law in laws),
        )

    def product(self, other: ReportLaw) -> ReportLaw:
        """Return the law of a report of two independent parts."""
        return ReportLaw(
            np.multiply.outer(self.masses, other.masses).ravel() * UP,
            np.multiply.outer(self.first, other.first).ravel() * UP,
            np.multiply.outer(self.second, other.second).ravel() * DOWN,
            (self.rest + other.rest * max(0.0, 1 - self.rest)) * UP,
            above_all_pairs=self.above_all_pairs and other.above_all_pairs,
        )
