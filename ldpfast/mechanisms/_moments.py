"""Second moments of decoded reports that support several categories."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, TypeVar

Scalar = TypeVar("Scalar", float, Fraction)


@dataclass(frozen=True)
class Moments(Generic[Scalar]):
    """Second moments of the decoded report of a person who is drawn from a population.

    With shares s of the categories, the decoded numbers have the covariance matrix
    diag(base + slope s) + pair 1 1^T + pair_slope (s 1^T + 1 s^T) - s s^T.

    Attributes
    ----------
    support : float or Fraction
        Probability that a report supports a category that is not the record.
    gap : float or Fraction
        Amount by which this probability is larger for the record.
    base, slope : float or Fraction
        Variance of the decoded number of a category without the record that differs between categories, and its increase for
        the category of the record.
    pair, pair_slope : float or Fraction
        Mean of the product of the decoded numbers of two categories without the record, and its increase for either of them.
    """

    support: Scalar
    gap: Scalar
    base: Scalar
    slope: Scalar
    pair: Scalar
    pair_slope: Scalar

    @classmethod
    def of(cls, support: Scalar, gap: Scalar, own: Scalar, other: Scalar) -> Moments[Scalar]:
        """Return the moments from the probabilities that two categories are supported, with the record and without it."""
        pair = (other - support**2) / gap**2
        pair_slope = (own - other - support * gap) / gap**2
        base = support * (1 - support) / gap**2 - pair
        return cls(support, gap, base, (1 - 2 * support) / gap - 2 * pair_slope, pair, pair_slope)

    @classmethod
    def of_sets(cls, k: int, size: int, p: Scalar) -> Moments[Scalar]:
        """Return the moments of reports that are sets of k categories, of a given size.

        The set holds the record with probability p, and is otherwise uniform.
        """
        support = (size - p) / (k - 1)
        own = p * (size - 1) / (k - 1)
        other = (size * (size - 1) - 2 * (k - 1) * own) / ((k - 1) * (k - 2)) if k > 2 else 0 * p
        return cls.of(support, p - support, own, other)

    @classmethod
    def of_bits(cls, p: Scalar, q: Scalar) -> Moments[Scalar]:
        """Return the moments of independent bits, which are 1 with probability p for the record and else q."""
        return cls.of(q, p - q, p * q, q * q)
