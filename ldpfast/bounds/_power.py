"""The number of people that a test needs to find a difference."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._labels import in_order
from .._typing import Floats
from ..results import detectable_distance

if TYPE_CHECKING:
    from ..mechanisms import Mechanism

SUM_ERROR = 1e-9  # of shares, from rounding


def plan_test(target: Any, effect: Any, *, alpha: float = 0.05, power: float = 0.8, groups: int = 2) -> int:
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
        Probability that the test finds the difference, in (alpha, 1).
    groups : {1, 2}, default 2
        2 for a comparison of two groups of equal size; 1 for a test of all people against given shares or a given mean, which
        are the first of the pair. A survey compares two groups.

    Returns
    -------
    n : int
        Number of people, in both groups together.

    Raises
    ------
    TypeError, ValueError
        If `target` is neither a survey nor a mechanism of categories or of numbers; if `effect` has no difference, or does not
        fit the target; if 2^53 people are not enough.

    See Also
    --------
    ldpfast.survey.Survey.plan : Differences that a given number of people finds.

    Notes
    -----
    The statistic of `survey.two_sample` has a noncentral chi-square distribution with k - 1 degrees of freedom; the
    noncentrality is the squared distance of the shares, with the covariance of their estimates. For numbers it is for
    the worst population (`Mechanism.worst_variance`), for surveys the one of `Survey.plan`.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast import bounds
    >>> from ldpfast.survey import Mean, Survey, YesNo
    >>> bounds.plan_test(Survey({"clicked": YesNo(), "minutes": Mean(0, 60)}, 2.0), {"clicked": 0.05})
    10826
    >>> bounds.plan_test(ldp.RandomizedResponse(3, 2.0), ([0.5, 0.3, 0.2], [0.4, 0.3, 0.3]))
    1379
    >>> bounds.plan_test(ldp.SignBit(0, 60, 2.0), 1.0)
    48715
    """
    from ..domains import Categories
    from ..mechanisms import Mechanism
    from ..survey import Survey

    groups = _check.integer("groups", groups, 1, 2)
    if isinstance(target, Survey):
        if not isinstance(effect, Mapping) or not effect:
            raise TypeError(f"effect must be a mapping from questions to differences for a survey, got {effect!r}")
        if groups != 2:
            raise ValueError(f"groups must be 2 for a survey, got {groups}")
        return target.plan(compare=effect, alpha=alpha, power=power).n
    if not isinstance(target, Mechanism):
        raise TypeError(f"target must be a survey or a mechanism, got {type(target).__name__}")
    if isinstance(target.domain, Categories):
        before, after = _shares(effect, target.domain.k)
        df, share = len(before) - 1, before if groups == 1 else (before + after) / 2
        squared = _squared_distance(target, share, after - before)
    else:
        df, difference = 1, _check.positive("effect", effect)
        squared = difference**2 / _variance(target)
    if not squared > 0:
        raise ValueError("effect must have shares that differ, got equal ones")
    people = groups**2 * detectable_distance(df, alpha, power) ** 2 / squared
    return _check.people("n", max(math.ceil(people), groups))


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
            raise ValueError(f"effect[{place}] must be shares >= 0 with the sum 1, got the sum {share.sum()!r}")
        found.append(share / share.sum())
    return found[0], found[1]


def _squared_distance(mechanism: Mechanism, share: Floats, difference: Floats) -> float:
    """Return the squared length of a difference of shares, with the covariance of one report of people with some shares."""
    from ..mechanisms._decoding import decoding_of
    from ..survey._distribution import Distribution, Precision
    from ..survey._mechanisms import SymbolMechanism
    from ..survey._shares import Shares

    if isinstance(mechanism, SymbolMechanism):
        shares = Distribution(Shares.expected(mechanism, share), np.arange(len(share)))
        return float(Precision.of(shares.covariance(share)).squared(difference))
    matrix = mechanism.channel().matrix
    decoded = decoding_of(mechanism)
    covariance = (decoded.T * (share @ matrix)) @ decoded - np.outer(share, share)
    # Estimated shares that do not add up to 1 are corrected by generalized least squares.
    spread = covariance.sum(axis=0)
    if spread.sum() > SUM_ERROR * np.trace(covariance):
        covariance = covariance - np.outer(spread, spread) / spread.sum()
    return float(difference @ np.linalg.pinv(covariance, rcond=SUM_ERROR, hermitian=True) @ difference)


def _variance(mechanism: Mechanism) -> float:
    """Return the largest variance of a decoded report of a number."""
    from ..domains import Interval

    if not isinstance(mechanism.domain, Interval):
        raise TypeError(f"target must be a mechanism of categories or of numbers, got {mechanism!r}")
    return mechanism.worst_variance
