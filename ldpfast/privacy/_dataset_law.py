"""Divergence of shuffled reports for one dataset, in which all others have the same record: a lower bound for the worst one.

With the row of that record as the base measure, the mean of (X_1 + ... + X_n)^+ / n is exact (docs/proofs/shuffling.md,
theorem 3). The law of X has few atoms, and is tilted by e^(tilt X) so that its mean is about 0. With the characteristic
function f of the tilted sum S, the mean of S^+ e^(-tilt S), repeated with a period P, is

    1 / P sum_k f(2 pi k / P) / (tilt + 2 pi i k / P)^2

over all integers k. The terms that are left out, the other periods, and the errors of the powers are bounded and subtracted.
Ratios and masses are rounded so that the result is at or below the divergence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .. import _coins
from ._directed_rounding import UNIT, Floats
from ._loss_grid import power
from ._tilted_sums import EXPONENT, LARGEST_EXPONENT, LARGEST_LOG, end, tail, tilt_of
from ._two_level import Rational, TwoLevel

FEW_NODES, MOST_NODES = 96, 480  # square roots of the numbers of nodes
SMALL_PART = 0.003  # of the result, which may be left out
ANGLE_ERROR = (
    32 * UNIT
)  # more than the error of a value of the characteristic function, in units of 1 + its largest angle
LARGEST_VALUE = 1e100  # of a ratio, above which nothing is stated
LAPLACE_CELLS = 24
LARGEST_EPSILON = 64.0
LAPLACE_ROUNDING = (
    2.0**-40
)  # more than the relative error of the probabilities of cells, and of a record beside an integer
NEGLIGIBLE = 60.0  # powers below e^-60 are left out


@dataclass(frozen=True, eq=False)
class DatasetLaw:
    """Ratios of the rows of two records to that of the record of all others, at a report of such a record.

    Attributes
    ----------
    masses : ndarray of float64, shape (atoms,)
        Probabilities of the atoms, rounded down.
    first, second : ndarray of float64, shape (atoms,)
        Ratios of the two rows, rounded down and up.
    """

    masses: Floats
    first: Floats
    second: Floats

    @classmethod
    def of_atoms(cls, atoms: Iterable[tuple[Rational, Rational, Rational]]) -> DatasetLaw:
        """Return the law with exact atoms (probability, ratio of the first row, ratio of the second row)."""
        joined: dict[tuple[Fraction, Fraction], Fraction] = {}
        for mass, first, second in atoms:
            ratios = Fraction(first), Fraction(second)
            joined[ratios] = joined.get(ratios, Fraction(0)) + Fraction(mass)
        kept = [(mass, *ratios) for ratios, mass in joined.items() if mass > 0]
        return cls(
            np.array([-_coins.round_up(-mass) for mass, _, _ in kept]),
            np.array([-_coins.round_up(-first) for _, first, _ in kept]),
            np.array([_coins.round_up(second) for _, _, second in kept]),
        )

    @classmethod
    def of_sets(cls, channel: TwoLevel, others: Sequence[Rational]) -> DatasetLaw:
        """Return the law for a channel with two levels, where two records have sets S and S' that differ as much as stated.

        Parameters
        ----------
        channel : TwoLevel
        others : sequence of 4 numbers
            Base probabilities of the set of the record of all others, within both sets, S alone, S' alone and none.
        """
        odds, one = Fraction(channel.odds), Fraction(1)
        scale = Fraction(channel.base_rate or 0)
        both, neither = channel.shared_rates
        half = Fraction(channel.common_rate) / 2
        atoms: list[tuple[Rational, Rational, Rational]] = []
        cells = ((both, odds, odds), (half, odds, one), (half, one, odds), (neither, one, one))
        for cell, part in zip(cells, others, strict=True):
            mass, inside = cell[0], Fraction(part) * scale
            first, second = cell[1:]
            atoms += [(inside * odds, first / odds, second / odds), (mass - inside, first, second)]
        return cls.of_atoms(atoms)

    @classmethod
    def of_laplace(cls, epsilon: float, steps: int) -> list[DatasetLaw]:
        """Return laws for both ends of an interval, one of which all others have, and Laplace noise on a grid.

        Reports are grouped to a few cells. Their edges are integers of the grid, at which its distribution function is that of
        the continuous noise.
        """
        if epsilon > LARGEST_EPSILON:
            return []
        edges = np.unique(np.round(np.linspace(0, steps, min(steps, LAPLACE_CELLS) + 1)))
        # probabilities beyond an edge, and between two of them, by their distances from the lower and from the upper end
        unit = epsilon / steps
        between = -np.expm1(-unit * np.diff(edges))
        above, below = np.exp(-unit * edges) / 2, np.exp(-unit * (steps - edges)) / 2
        rows = [
            np.concatenate([[0.5], above[:-1] * between, above[-1:]]),
            np.concatenate([below[:1], below[1:] * between, [0.5]]),
        ]
        found = []
        for row in rows:
            masses = row * (1 - LAPLACE_ROUNDING)
            found.append(cls(masses, rows[0] / row * (1 - LAPLACE_ROUNDING), rows[1] / row * (1 + LAPLACE_ROUNDING)))
        return found

    def delta(self, n: int, epsilon: float) -> float:
        """Return a number that the divergence of n shuffled reports of this dataset is not below."""
        order = math.exp(epsilon) * (1 + 8 * UNIT)
        if max(float(self.first.max()), float(self.second.max()) * order) > LARGEST_VALUE:
            return 0.0
        second = order * self.second
        values = self.first - second - 8 * UNIT * (self.first + second)  # a smaller value decreases the result
        largest = float(values.max())
        if largest <= 0:
            return 0.0
        if n == 1:
            return float(self.masses @ np.maximum(values, 0.0)) * (1 - 1e-12)
        size = float(np.abs(values).max())
        tilt = min(tilt_of(self.masses, values, n), LARGEST_EXPONENT / size)
        weights = self.masses * np.exp(tilt * values)
        total = math.fsum(weights)
        tilted = weights / total
        below, above = end(tilted, 0.0, -values, n), end(tilted, 0.0, values, n)
        period = max(2 * EXPONENT / tilt, 2.1 * max(below, above))
        far = tail(tilted, 0.0, values, n, period / 2) + tail(tilted, 0.0, -values, n, period / 2)
        # The function is at most 1 / (e tilt), and within half a period of 0 its other periods are at most this in total.
        repeated = 2 * period * math.exp(-tilt * period / 2) + 3 * far / (math.e * tilt)
        root = FEW_NODES
        left_out = period / (2 * math.pi**2 * (root**2 - 1))
        value = _periodic_mean(tilted, values, n, tilt, period, root)
        if left_out > SMALL_PART * value:  # more nodes
            ratio = left_out / (0.8 * SMALL_PART * max(value, left_out / 100))
            root = min(MOST_NODES, math.ceil(root * math.sqrt(ratio)))
            left_out = period / (2 * math.pi**2 * (root**2 - 1))
            value = _periodic_mean(tilted, values, n, tilt, period, root)
        value -= left_out + repeated
        slack = 1e-9 + 16 * UNIT * n * (1 + tilt * size) / min(1.0, total)
        logarithm = n * math.log(total)
        if value <= 0 or slack >= 1 or logarithm < -LARGEST_LOG:
            return 0.0
        return math.exp(min(LARGEST_LOG, logarithm)) / n * value * (1 - slack)


def _periodic_mean(tilted: Floats, values: Floats, n: int, tilt: float, period: float, root: int) -> float:
    """Return a lower bound on the sum of root^2 terms of the periodic function, and of those with the opposite sign of k."""
    unit = 2 * math.pi / period
    size = float(np.abs(values).max())
    # e^(i t v) for all nodes t as products of two factors: a product of two small matrices
    coarse = np.exp(1j * np.multiply.outer(root * unit * np.arange(root), values))
    fine = np.exp(1j * np.multiply.outer(unit * np.arange(root), values))
    transform = ((coarse * tilted) @ fine.T).ravel()
    nodes = unit * np.arange(root**2)
    error = ANGLE_ERROR * (1 + tilt * size + nodes * size) + 4 * UNIT * len(values)
    absolute = np.abs(transform)
    kept = (absolute + error > 0) & (n * np.log(np.maximum(absolute + error, 1e-300)) > -NEGLIGIBLE)
    transform, absolute = transform[kept], absolute[kept]
    nodes, error = nodes[kept], error[kept]
    weight = 1 / (tilt + 1j * nodes) ** 2
    twice = np.where(nodes == 0, 1.0, 2.0) / period
    powers = power(transform, n)
    sizes = np.abs(weight) * twice
    near = np.minimum(absolute + error, 1.0) ** (n - 1)
    wrong = float(sizes @ (n * error * near + 64 * UNIT * np.abs(powers))) + math.exp(-NEGLIGIBLE) / tilt
    return float(twice @ (powers * weight).real) - wrong
