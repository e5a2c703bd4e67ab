"""The result of a test of a hypothesis, and p-values from limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from .._typing import Floats
from ._intervals import IntervalRule, Normal, StudentT, has_tails

ALTERNATIVES = ("two-sided", "less", "greater")
LARGEST_Z = 37.0  # standard errors; smaller p-values than that of this distance, 5.7e-300, are given as it
BISECTIONS = 50


@dataclass(frozen=True, eq=False)
class TestResult:
    """The result of a test of a hypothesis.

    Attributes
    ----------
    statistic : float or ndarray
        The test statistic: the distance from the hypothesis in standard errors, or a sum of squares.
    pvalue : float or ndarray
        Probability of a statistic at least as extreme if the hypothesis is true.
    alternative : {"two-sided", "less", "greater"}
        What the test is meant to find.
    null : float or ndarray
        The value under the hypothesis, or its shares.
    n : int
        Number of reports.
    df : int or None
        Degrees of freedom of a chi-square distribution.
    method : str
        Where the p-value comes from: "limits", "chi-square", "permutation", "simulation" or "bootstrap".

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> estimate = ldp.Warner(1.0).run(np.arange(10_000) % 4 == 0, rng=1)
    >>> result = estimate.test(0.5, alternative="less")
    >>> bool(result.pvalue < 1e-9), result.method
    (True, 'limits')
    """

    __test__: ClassVar[bool] = False  # it is no test of pytest

    statistic: Any
    pvalue: Any
    alternative: str
    null: Any
    n: int
    df: int | None = field(default=None, kw_only=True)
    method: str = field(default="limits", kw_only=True)

    def __repr__(self) -> str:
        freedom = f", df={self.df}" if self.df is not None else ""
        with np.printoptions(precision=4, threshold=8):
            statistic, pvalue = (f"{x:.4g}" if np.ndim(x) == 0 else f"{x}" for x in (self.statistic, self.pvalue))
        return (
            f"TestResult(statistic={statistic}, pvalue={pvalue}, alternative={self.alternative!r}, n={self.n}{freedom}, "
            f"method={self.method!r})"
        )


def p_values(rule: IntervalRule, value: Floats, stderr: Floats, null: Floats, alternative: str) -> Floats:
    """Return the p-values of single numbers: the largest level at which an interval excludes the value of the hypothesis.

    A test is one-sided where the alternative is; else its p-value is twice the smaller of the two one-sided ones. So a test at
    level a rejects exactly where the interval with confidence 1 - a excludes the value.
    """
    if alternative == "two-sided":
        sides = (p_values(rule, value, stderr, null, side) for side in ("less", "greater"))
        return np.asarray(np.minimum(2 * np.minimum(*sides), 1.0))
    from scipy.special import ndtr

    value, null = np.broadcast_arrays(np.asarray(value, np.float64), np.asarray(null, np.float64))
    sign = -1.0 if alternative == "less" else 1.0
    if has_tails(rule):
        found: Any = rule
        tails = found.tails(value, np.asarray(stderr), null, -int(sign))
        return np.asarray(tails if isinstance(rule, Normal | StudentT) else np.maximum(tails, ndtr(-LARGEST_Z)))
    if is_by_coordinate(rule):
        tails = _inverted(lambda tail: rule.bounds(value, np.asarray(stderr), tail), null, sign)
        return np.where(np.isnan(stderr), np.nan, tails)
    single = [_single(rule, value, np.asarray(stderr), null, sign, at) for at in np.ndindex(value.shape)]
    return np.reshape(single, value.shape)


def is_by_coordinate(rule: IntervalRule) -> bool:
    """Return whether a rule takes one tail for every coordinate."""
    return bool(getattr(rule, "by_coordinate", False))


def _single(rule: IntervalRule, value: Floats, stderr: Floats, null: Floats, sign: float, at: tuple[int, ...]) -> float:
    """Return the p-value of one coordinate, for a rule that has one tail for all."""

    def limits(tail: Floats) -> tuple[Floats, ...]:
        return tuple(np.asarray(limit)[at] for limit in rule.bounds(value, stderr, float(tail)))

    p = [float(_inverted(limits, null[at], side, lowest=0.0)) for side in (sign, -sign)]
    return p[0] if p[0] < 0.5 else max(0.5, 1 - p[1])


def _inverted(
    limits: Callable[[Floats], tuple[Floats, ...]], null: Floats, sign: float, lowest: float = -LARGEST_Z
) -> Floats:
    """Return the tail at which the lower limit (sign 1) or the upper one (sign -1) reaches a number, by bisection."""
    from scipy.special import ndtr

    low, high = np.full(np.shape(null), lowest), np.full(np.shape(null), LARGEST_Z)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        found = limits(ndtr(-middle))
        excluded = found[0] > null if sign > 0 else found[1] < null
        low, high = np.where(excluded, middle, low), np.where(excluded, high, middle)
    return np.asarray(ndtr(-low))
