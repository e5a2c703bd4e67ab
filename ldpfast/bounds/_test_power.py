"""The number of people that a test needs to find a difference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._labels import in_order
from .._typing import Floats
from ..results._test_result import ALTERNATIVES

if TYPE_CHECKING:
    from ..mechanisms import Mechanism

SUM_ERROR = 1e-9  # of shares, from rounding
MAX_ENUMERATED = 1e6  # reports up to which the power of the exact test is computed for each number


def plan_test(
    target: Any,
    effect: Any,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    groups: int = 2,
    alternative: str = "two-sided",
) -> int:
    """Return the number of people with which a test finds a difference.

    Parameters
    ----------
    target : Survey or Mechanism
        What people are asked.
    effect : mapping, float, or pair of array_like
        The difference that the test is to find. For a survey: differences of a share or a mean, by question. For a mechanism of
        categories: the shares of the categories in the two groups, each of shape (k,). For a mechanism of numbers: the
        difference of the means.
    alpha : float, default 0.05
        Level of the test, in (0, 1).
    power : float, default 0.8
        Probability that the test finds the difference, in (alpha, 1), or in (2 alpha, 1) for a one-sided test.
    groups : {1, 2}, default 2
        2 for a comparison of two groups of equal size; 1 for a test of all people against given shares or a given mean, which
        are the first of the pair. A survey compares two groups.
    alternative : {"two-sided", "less", "greater"}, default "two-sided"
        Whether the test is for any difference, or for a number that is less or greater than the first of the pair: a mean, a
        share of yes, or the share of the second of two categories.

    Returns
    -------
    n : int
        Number of people, in both groups together.

    Raises
    ------
    TypeError, ValueError
        If `target` is neither a survey nor a mechanism of categories or of numbers; if `effect` has no difference, one that is
        not possible, or does not fit the target or the alternative; if several labels have a one-sided alternative; if 2^53
        people are not enough.

    See Also
    --------
    ldpfast.survey.Survey.plan : Differences that a given number of people finds.

    Notes
    -----
    For one group and reports with two values, this is the exact binomial test of `Estimate.test`, and every larger number of
    people has the power, too. Other categories have the test of `survey.two_sample` or `Answer.goodness_of_fit`: the
    statistic has the variances of the hypothesis, and its distribution, that of a sum of weighted noncentral chi-square
    variables, those of the alternative; it is approximated from four cumulants [1]_. Numbers have the test of the limits of the
    estimate, for the worst population, and surveys that of `Survey.plan`.

    References
    ----------
    .. [1] H. Liu, Y. Tang, H. H. Zhang, "A new chi-square approximation to the distribution of non-negative definite quadratic
       forms in non-central normal variables", Computational Statistics & Data Analysis 53 (2009).

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast import bounds
    >>> from ldpfast.survey import Mean, Survey, YesNo
    >>> bounds.plan_test(Survey({"clicked": YesNo(), "minutes": Mean(0, 60)}, 2.0), {"clicked": 0.05})
    11072
    >>> bounds.plan_test(ldp.RandomizedResponse(3, 2.0), ([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]))
    1376
    >>> bounds.plan_test(ldp.Warner(2.0), ([0.9, 0.1], [0.8, 0.2]), groups=1, alternative="greater")
    206
    >>> bounds.plan_test(ldp.SignBit(0, 60, 2.0), 1.0)
    49092
    """
    from ..domains import Categories
    from ..mechanisms import Mechanism
    from ..reports import recipe_of
    from ..survey import Survey

    groups = _check.integer("groups", groups, 1, 2)
    sides = 2 if _check.choice("alternative", alternative, ALTERNATIVES) == "two-sided" else 1
    alpha, power = _check.probability("alpha", alpha), _check.probability("power", power)
    significance = alpha * 2 / sides  # of the test with two sides that rejects in one direction as often
    if power <= significance:
        raise ValueError(f"power must be above {significance!r}, the level of the test with two sides, got {power!r}")
    if isinstance(target, Survey):
        if not isinstance(effect, Mapping) or not effect:
            raise TypeError(f"effect must be a mapping from questions to differences for a survey, got {effect!r}")
        if groups != 2:
            raise ValueError(f"groups must be 2 for a survey, got {groups}")
        columns = recipe_of(target).declared
        for name in target.mechanisms if sides == 1 else ():
            if name in effect and not (name in columns and columns[name].scalar):
                raise ValueError(
                    f"alternative must be 'two-sided' for several labels, got {alternative!r} for {name!r}"
                )
        return target.plan(compare=effect, alpha=significance, power=power).n
    if not isinstance(target, Mechanism):
        raise TypeError(f"target must be a survey or a mechanism, got {type(target).__name__}")
    if not isinstance(target.domain, Categories):
        return _people_for_numbers(target, effect, significance, power, groups)
    before, after = _shares(effect, target.domain.k)
    if np.abs(after - before).max() <= SUM_ERROR:
        raise ValueError("effect must have shares that differ, got equal ones")
    if sides == 1:
        if len(before) > 2:
            raise ValueError(f"alternative must be 'two-sided' for {len(before)} categories, got {alternative!r}")
        if (after[1] > before[1]) != (alternative == "greater"):
            raise ValueError(
                f"effect must have a share of category 1 that is {alternative} in the second group, got {effect!r}"
            )
    hits = _hit_probabilities(target, before, after)
    if hits is not None and groups == 1:
        return _people_of_binomial_test(*hits, significance / 2, power)
    people = _people_of_quadratic_form(target, before, after, significance, power, groups)
    if hits is None:
        return people
    # Counts of two groups are discrete: the correction for continuity of Casagrande, Pike and Smith (1978).
    half = people / 2
    return 2 * _check.people("n", math.ceil(half / 4 * (1 + math.sqrt(1 + 4 / (half * abs(hits[1] - hits[0])))) ** 2))


# One group with two reports: the exact binomial test ------------------------------------------------------------------


def _hit_probabilities(mechanism: Mechanism, before: Floats, after: Floats) -> tuple[float, float] | None:
    """Return the probabilities of one of two reports under the hypothesis and the alternative; None for other reports."""
    from ..reports import Codes, recipe_of

    if len(before) > 2 or not isinstance(mechanism.report, Codes) or recipe_of(mechanism).law.rows() is None:
        return None
    matrix = mechanism.channel().matrix
    used = np.flatnonzero(matrix.max(axis=0) > 0)
    return (float(before @ matrix[:, used[1]]), float(after @ matrix[:, used[1]])) if len(used) == 2 else None


def _people_of_binomial_test(null: float, other: float, tail: float, power: float) -> int:
    """Return the smallest number of reports from which on the exact test, with a level on one side, has the power."""
    from scipy.special import ndtri

    if other < null:
        null, other = 1 - null, 1 - other
    error = [math.sqrt(p * (1 - p)) for p in (null, other)]
    margin = float(-ndtri(tail) * error[0] + ndtri(power) * error[1])
    about = (
        (margin / (other - null)) ** 2 + 1 / (other - null) + 1
    )  # the normal approximation, corrected for continuity
    if about > MAX_ENUMERATED:
        return _check.people("n", math.ceil(about))
    n = np.arange(1, math.ceil(1.5 * about) + 64)
    short = np.flatnonzero(_binomial_power(n, null, other, tail) < power)
    return int(short[-1]) + 2 if len(short) else 1


def _binomial_power(n: NDArray[np.int64], null: float, other: float, tail: float) -> Floats:
    """Return the probability of so many hits that as many or more have a probability of at most `tail` under the hypothesis."""
    from scipy.special import bdtr, bdtrik

    # At most `most` misses reject. The inverse of the distribution is right up to one miss.
    most = np.nan_to_num(np.floor(bdtrik(tail, n, 1 - null)), nan=0.0) - 2
    for _ in range(3):
        most = most + ((most < -1) | (bdtr(np.maximum(most + 1, 0), n, 1 - null) <= tail))
    return np.where(most < 0, 0.0, bdtr(np.maximum(most, 0), n, 1 - other))


# Other categories: a quadratic form -----------------------------------------------------------------------------------


def _people_of_quadratic_form(
    mechanism: Mechanism, before: Floats, after: Floats, alpha: float, power: float, groups: int
) -> int:
    """Return the number of people with which the squared distance of shares exceeds its quantile with a probability."""
    from scipy.special import chdtri

    df, difference = len(before) - 1, after - before
    null = groups * _covariance(mechanism, before if groups == 1 else (before + after) / 2)
    other = np.sum([_covariance(mechanism, share) for share in (before, after)[2 - groups :]], axis=0)
    # Estimated shares that do not add up to 1 are corrected by generalized least squares, as under the hypothesis.
    spread = null.sum(axis=0)
    if spread.sum() > SUM_ERROR * np.trace(null):
        fix = np.eye(df + 1) - np.outer(spread, np.ones(df + 1)) / spread.sum()
        null, other = fix @ null @ fix.T, fix @ other @ fix.T
    root = np.linalg.inv(np.linalg.cholesky(null[:df, :df]))
    weights, vectors = np.linalg.eigh(root @ other[:df, :df] @ root.T)
    weights = np.maximum(weights, SUM_ERROR)
    means = (vectors.T @ (root @ difference[:df])) ** 2 / weights
    limit = float(chdtri(df, alpha))

    def is_found(people: int) -> bool:
        return _exceeds(weights, people // groups * means, limit) >= power

    high = groups
    while not is_found(high):
        high = _check.people("n", 2 * high)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_found(middle) else (middle, high)
    return high


def _exceeds(weights: Floats, noncentrality: Floats, limit: float) -> float:
    """Return the probability that a weighted sum of noncentral chi-square variables exceeds a limit, from four cumulants."""
    from scipy.special import chndtr

    c1, c2, c3, c4 = (float((weights**k * (1 + k * noncentrality)).sum()) for k in (1, 2, 3, 4))
    skewness, excess = c3 / c2**1.5, c4 / c2**2
    a, shift = 1 / skewness, 0.0
    if skewness**2 > excess:
        a = 1 / (skewness - math.sqrt(skewness**2 - excess))
        shift = skewness * a**3 - a**2
    df = a**2 - 2 * shift
    place = (limit - c1) / math.sqrt(c2) * a + df + shift
    return 1 - float(chndtr(max(place, 0.0), df, shift))


def _covariance(mechanism: Mechanism, share: Floats) -> Floats:
    """Return the covariance of the decoded report of a person who is drawn from a population with some shares."""
    from ..mechanisms import decoding_of
    from ..survey._mechanisms import SymbolMechanism
    from ..survey._shares import Shares

    if isinstance(mechanism, SymbolMechanism):
        return np.asarray(Shares.expected(mechanism, share).covariance.matrix)
    matrix, decoded = mechanism.channel().matrix, decoding_of(mechanism)
    return np.asarray((decoded.T * (share @ matrix)) @ decoded - np.outer(share, share))


# Numbers --------------------------------------------------------------------------------------------------------------


def _people_for_numbers(mechanism: Mechanism, effect: Any, alpha: float, power: float, groups: int) -> int:
    """Return the number of people with which the limits of a mean, or of a difference of two, exclude 0, at the worst."""
    from ..domains import Interval
    from ..results import Debiasing
    from ..survey._answer_precision import planned_number

    difference = _check.positive("effect", effect)
    if not isinstance(mechanism.domain, Interval):
        raise TypeError(f"target must be a mechanism of categories or of numbers, got {mechanism!r}")
    low, high = mechanism.domain.range
    if difference > high - low:
        raise ValueError(f"effect must be at most the length of the range, {high - low:g}, got {effect!r}")
    line = mechanism.debiasing
    if groups == 1 and isinstance(
        line, Debiasing
    ):  # one bit, for means around the center, where its variance is largest
        step = difference / (line.one - line.zero) / 2
        return _people_of_binomial_test(0.5 - step, 0.5 + step, alpha / 2, power)
    return planned_number(mechanism, groups).people_needed(difference / (high - low), alpha, power)


def _shares(effect: Any, k: int) -> tuple[Floats, Floats]:
    """Return the shares of both groups."""
    if isinstance(effect, str | Mapping) or not hasattr(effect, "__len__") or len(effect) != 2:
        raise TypeError("effect must be a pair of shares of the categories")
    found = []
    for place, part in enumerate(effect):
        ordered = in_order(f"effect[{place}]", part, range(k))
        share = np.asarray(_check.numbers(f"effect[{place}]", _check.array(f"effect[{place}]", ordered)), np.float64)
        if share.shape != (k,):
            raise ValueError(f"effect[{place}] must have shape ({k},), got shape {share.shape}")
        if not (share >= 0).all() or abs(share.sum() - 1) > SUM_ERROR:
            raise ValueError(f"effect[{place}] must be shares >= 0 with the sum 1, got the sum {float(share.sum())!r}")
        found.append(share / share.sum())
    return found[0], found[1]
