"""Tests whether reports can come from a mechanism."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ._test_result import TestResult

# Kinds that are all compared. If there are more ordered kinds, only the ones at some probabilities are.
MOST_THRESHOLDS = 64
TAILS = (1e-12, 1e-9, 1e-6, 1e-3, 0.01, 0.05, 0.15, 0.3)
RARE = 1e-6  # probability that n honest reports have one that is called improbable


@dataclass(frozen=True, eq=False)
class Plausibility:
    """Whether reports can come from their mechanism, whatever the records of the people are.

    The tests are exact: with honest reports of different people, a p-value is at most `a` with a probability of at most `a`,
    for every number of reports and every population. They find reports that do not follow the coins. They cannot find people
    who run the mechanism on a false record, nor liars who imitate its distribution: `Estimate.largest_shift` bounds what these
    can do.

    Attributes
    ----------
    pvalue : float
        The smallest p-value of `tests`, times their number; 1 if there is no test for the mechanism.
    statistic : float
        Statistic of the test with the smallest p-value; NaN if there is none.
    n : int
        Number of reports.
    tests : dict of str to TestResult
        "kinds": a public part of a report, or its number of ones, has the same distribution for all records. "shares": the
        numbers of hits are possible for shares in their range. "codes": so is the number of each code. "repeats": no report is
        sent by so many people. The statistic is the number of reports, or of hits, that is least probable, and `null` the
        number to expect, or for repeats 1.
    improbable : int
        Number of reports of kinds that are so rare that n honest reports have one with a probability of at most 1e-6.
    repeated : int
        Number of reports that are equal to an earlier one.
    entropy : float
        Smallest entropy of a report in bits: no report has a larger probability than 2^-entropy. n reports have two equal ones
        by chance with a probability of at most n (n - 1) / 2^(entropy + 1). If this is not small, equal reports say nothing.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.UnaryEncoding(64, epsilon=1.0)
    >>> honest = mechanism.privatize(np.arange(1000) % 64, rng=1)
    >>> found = mechanism.plausibility(honest)
    >>> bool(found.pvalue > 0.01), found.repeated, round(found.entropy)
    (True, 0, 44)
    >>> forged = honest.copy()
    >>> forged[:50] = 255  # all ones
    >>> found = mechanism.plausibility(forged)
    >>> bool(found.pvalue < 1e-9), found.improbable, found.repeated
    (True, 50, 49)
    """

    statistic: float
    pvalue: float
    n: int
    tests: Mapping[str, TestResult]
    improbable: int
    repeated: int
    entropy: float

    @classmethod
    def of(
        cls, n: int, tests: Mapping[str, TestResult | None], improbable: int, repeated: int, entropy: float
    ) -> Plausibility:
        """Return the result of the tests that exist."""
        known = {name: test for name, test in tests.items() if test is not None}
        if not known:
            return cls(math.nan, 1.0, n, known, improbable, repeated, entropy)
        least = min(known.values(), key=lambda test: float(test.pvalue))
        return cls(
            float(least.statistic),
            min(1.0, len(known) * float(least.pvalue)),
            n,
            known,
            improbable,
            repeated,
            entropy,
        )

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={float(test.pvalue):.3g}" for name, test in self.tests.items())
        return (
            f"Plausibility(pvalue={self.pvalue:.3g}, n={self.n}, tests=({parts}), improbable={self.improbable}, "
            f"repeated={self.repeated}, entropy={self.entropy:.4g})"
        )


@dataclass(frozen=True, eq=False)
class Kinds:
    """Numbers of reports of kinds whose probabilities are the same for all records.

    Attributes
    ----------
    counts : ndarray of int, shape (kinds,)
    probabilities : ndarray, shape (kinds,)
    are_ordered : bool
        Whether the kinds are numbers of ones, in ascending order, and the only ones.
    """

    counts: NDArray[np.int64]
    probabilities: Floats
    are_ordered: bool = False

    def improbable(self, n: int) -> int:
        """Return how many of n reports are of kinds so rare that any report is with a probability of at most `RARE`."""
        order = np.argsort(self.probabilities, kind="stable")
        rare = order[np.cumsum(self.probabilities[order]) * n <= RARE]
        return int(self.counts[rare].sum())

    def test(self, n: int) -> TestResult:
        """Test the numbers of reports of each kind; of ordered kinds, those up to some of them."""
        counts, probabilities = self.counts, self.probabilities
        if self.are_ordered:
            below, up_to = np.cumsum(counts)[:-1], np.minimum(np.cumsum(probabilities)[:-1], 1.0)
            above = np.cumsum(probabilities[::-1])[::-1][1:]
            if len(up_to) > MOST_THRESHOLDS:
                chosen = np.unique(
                    [*np.searchsorted(up_to, TAILS), *np.searchsorted(-above, [-tail for tail in TAILS])]
                )
                chosen = chosen[chosen < len(up_to)]
                below = below[chosen]
                up_to, above = up_to[chosen], above[chosen]
            return tail_test(below, n, up_to, up_to, above)
        return tail_test(counts, n, probabilities, probabilities)


def tail_test(
    hits: NDArray[np.int64], n: object, low: Floats, high: Floats, misses: Floats | None = None
) -> TestResult:
    """Test whether numbers of hits among n are possible for independent hits with probabilities in [low, high].

    Sums of independent hits with different probabilities are between the binomial distributions of the ends. With `misses`,
    the probabilities of no hit are given more exactly than by 1 - high. Bonferroni's bound for all numbers and both sides.
    """
    from scipy.stats import binom

    hits, trials, low, high = np.broadcast_arrays(hits, np.asarray(n), np.clip(low, 0, 1), np.clip(high, 0, 1))
    many = binom.sf(hits - 1, trials, high)
    few = binom.cdf(hits, trials, low) if misses is None else binom.sf(trials - hits - 1, trials, misses)
    sides = np.minimum(many, few)
    worst = int(np.argmin(sides))
    expected = (trials * np.where(many < few, high, low)).flat[worst]
    pvalue = min(1.0, 2 * sides.size * float(sides.flat[worst]))
    return TestResult(
        int(hits.flat[worst]), pvalue, "two-sided", float(expected), int(np.max(trials)), method="binomial"
    )


def repeat_test(multiplicities: NDArray[np.intp], entropy: float) -> TestResult:
    """Test whether so many of n reports can be equal, where no report has a probability above 2^-entropy.

    If P is the largest probability, m given people send the same report with a probability of at most P^(m - 1). So some m
    people do with at most C(n, m) P^(m - 1), and the expected number of equal pairs is at most C(n, 2) P. The smaller one of
    both bounds counts, times 2.
    """
    n, most = int(multiplicities.sum()), int(multiplicities.max(initial=0))
    log_largest = -entropy * math.log(2)
    log_choices = math.lgamma(n + 1) - math.lgamma(most + 1) - math.lgamma(n - most + 1)
    bounds = [1.0]
    pairs = int((multiplicities * (multiplicities - 1) // 2).sum())
    if pairs:
        bounds.append(2 * math.exp(min(0.0, log_choices + (most - 1) * log_largest)))
        bounds.append(2 * math.exp(min(0.0, math.log(n * (n - 1) / 2 / pairs) + log_largest)))
    return TestResult(most, min(bounds), "greater", 1.0, n, method="union bound")
