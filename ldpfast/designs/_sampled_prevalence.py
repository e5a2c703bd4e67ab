"""A prevalence in a sample of a survey, with its design effect."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from .. import _check
from .._typing import AnyArray, Floats
from ..results import IntervalRule, JointEstimate, StudentT
from ._sample import Sample

BLOCK = 1 << 14  # people whose scores are in memory at a time


@dataclass(frozen=True, eq=False, repr=False)
class SampledPrevalence(JointEstimate):
    """An estimated prevalence. It is made by the functions of `ldpfast.designs`.

    Attributes
    ----------
    design_effect : float
        Variance, divided by that for as many people drawn one by one with replacement: that of ``svymean`` in the package
        survey of R with ``deff="replace"``. It is 1 without weights, clusters and strata, and not a number if all answers are
        the same.
    freedom : float
        Degrees of freedom of the variance.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import designs
    >>> town, rng = np.arange(4000) // 50, np.random.default_rng(1)
    >>> said = rng.random(4000) < rng.uniform(0.2, 0.6, 80)[town]
    >>> region = np.where(town < 40, "north", "south")  # towns were drawn from each region
    >>> found = designs.warner(0.8).prevalence(said, clusters=town, strata=region)
    >>> round(found.design_effect, 2), round(found.freedom)
    (2.51, 78)
    """

    design_effect: float = field(default=1.0, kw_only=True)
    freedom: float = field(default=float("inf"), kw_only=True)
    _what: ClassVar[str] = "prevalences"

    def _joint_n(self, other: JointEstimate) -> int:
        return self.n + other.n

    def _joint_rule(self, other: JointEstimate) -> IntervalRule:
        assert isinstance(other, SampledPrevalence)
        return StudentT(min(self.freedom, other.freedom))


def design_effect_of(variance: float, share: float, n: int) -> float:
    """Return the variance of a share, divided by that of n people who are drawn with replacement."""
    plain = share * (1 - share) / max(n - 1, 1)
    return variance / plain if plain > 0 else float("nan")


def randomization_variances(p: float, q: float, codes: AnyArray) -> Floats:
    """Return for each answer an unbiased estimate of its variance given the truth.

    The probabilities of the answer 1 are p for people with yes and q for people with no. With (1 - p) (1 - q) for an answer 1
    and p q for an answer 0 the mean is p (1 - p) for yes, and q (1 - q) for no.
    """
    return np.where(codes == 1, (1 - p) * (1 - q), p * q)


def checked_weights(weights: Any, n: int) -> Floats | None:
    """Return weights of n people, if there are any."""
    return None if weights is None else np.asarray(_check.weights(weights, n), np.float64)


def joint_covariance(
    codes: AnyArray,
    members: AnyArray,
    prevalences: list[float],
    sample: Sample,
    probabilities: tuple[Fraction, Fraction],
) -> Floats:
    """Return the covariance matrix of the prevalences of subgroups, whose numbers are `members`."""
    w, k = sample.weights_of(slice(None)), len(prevalences)
    p, q = map(float, probabilities)
    shares = q + (p - q) * np.asarray(prevalences)
    totals = np.bincount(members, w, k)

    def scores() -> Iterator[tuple[slice, Floats]]:
        for start in range(0, len(codes), BLOCK):
            part = slice(start, start + BLOCK)
            own = members[part]
            found = np.zeros((len(own), k))
            found[np.arange(len(own)), own] = w[part] * (codes[part] - shares[own]) / totals[own]
            yield part, found

    def estimate(weights: Floats) -> Floats:
        return np.bincount(members, weights * codes, k) / np.bincount(members, weights, k)

    cov = sample.covariance(scores(), estimate, shares)
    own = sample.fraction_of(slice(None)) * np.square(w / totals[members]) * randomization_variances(p, q, codes)
    cov += np.diag(np.bincount(members, own, k))
    return np.asarray(cov / (p - q) ** 2)
