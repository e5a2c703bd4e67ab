"""Means and quantiles of known numbers within categories that are known by reports only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._typing import Floats
from .._warnings import warn
from ..designs._reading import codes_of, mechanism_of
from ..mechanisms._decoding import decoding_of
from ..privacy import Guarantee
from ..results import DoubtfulWarning, Estimate, Normal
from ..results._fieller import Fieller
from ..results._intervals import ONE_SIGMA
from ._from_reports import from_reports

CERTAIN = 3.0  # standard errors by which a share must be above 0 for a conditional mean


def conditional_means(
    values: ArrayLike, reports: ArrayLike, design: Any = None, *, rates: ArrayLike | None = None
) -> Estimate[Any]:
    """Estimate the mean of a known number within each category, where the categories are known by reports only.

    Parameters
    ----------
    values : array_like, shape (n,)
        A number of each person that is not private, or that was made private separately, such as a decoded report. For the
        share of a subgroup within each category, 0 or 1.
    reports : array_like of int, shape (n,)
        Code that each person reported, in the same order.
    design : Design, Mechanism, privacy.Channel, or sequence of sequences of int, Fraction or float, optional
        As for `from_reports`.
    rates : array_like of float, shape (n,), or float, optional
        In the place of `design`, for reports that are flags 0 and 1: the probability in [0, 1) that the flag of a person is a
        fair coin instead of the truth, such as the ``randomizedTriggerRate`` of a browser. It must not depend on the truth.

    Returns
    -------
    estimate : Estimate
        Means of the categories, with their covariance. Each is a ratio of two unbiased estimates, so it has a bias of order
        1 / n. With `rates`, the mean of the people whose true flag is 1, with Fieller's limits.

    Raises
    ------
    TypeError, ValueError
        If the arrays do not have the same length, at least 1; if `values` are not finite numbers, or `reports` not codes.

    Warns
    -----
    DoubtfulWarning
        If the share of a category is not clearly above 0: its mean is then unreliable. If a share is outside of [0, 1] by
        more than noise explains.

    Privacy
    -------
    None is added: it is a function of the reports and of the values.

    Notes
    -----
    The mean of category j is sum of y_i w_ij over sum of w_ij, where row i of w is the decoded report of person i. The
    covariance is the covariance of (y_i - mean_j) w_ij over the share of j (delta method).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast.estimation import conditional_means
    >>> rng = np.random.default_rng(1)
    >>> smoker = (rng.random(200_000) < 0.3).astype(int)
    >>> age = 50 - 10 * smoker + rng.normal(0, 5, 200_000)
    >>> channel = ldp.FiniteChannel([[3, 1], [1, 3]])
    >>> conditional_means(age, channel.privatize(smoker, rng=1), channel).value.round().tolist()
    [50.0, 40.0]
    """
    numbers = _values(values)
    n = len(numbers)
    if rates is not None:
        return _mean_of_flagged(numbers, _weights_of_flags(reports, rates, design, n), _guarantee_of(rates))
    mechanism, codes = _coded(reports, design, n)
    table, counts = decoding_of(mechanism), np.bincount(codes, minlength=mechanism.report.k)
    from_reports(counts, mechanism)  # it warns of shares that noise does not explain
    weights, shares = table[codes], counts @ table / n
    _warn_rare(weights)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = (numbers @ weights) / n / shares
        residuals = (numbers[:, np.newaxis] - means) * weights / shares
    covariance = residuals.T @ residuals / n**2
    # Number of reports that would tell as much without privacy, over n (Kish 1965).
    effective = float(min(weights.mean(axis=0) ** 2 / (weights**2).mean(axis=0)))
    rule = Normal.of_sum(n, max(effective, 1 / n))
    return Estimate(means, np.sqrt(np.diag(covariance)), n, mechanism.guarantee, covariance, rule)


def conditional_quantiles(
    values: ArrayLike,
    reports: ArrayLike,
    quantiles: ArrayLike,
    design: Any = None,
    *,
    rates: ArrayLike | None = None,
) -> Estimate[Any]:
    """Estimate quantiles of a known number within each category, where the categories are known by reports only.

    Parameters
    ----------
    values, reports, design, rates
        As for `conditional_means`.
    quantiles : array_like of float, shape (m,), or float
        Probabilities in (0, 1).

    Returns
    -------
    estimate : Estimate
        Shape (k, m), or (m,) with `rates`, without the axis of m for a single number. Limits are values of the data, and
        infinite where the reports do not exclude that.

    Raises
    ------
    TypeError, ValueError
        As for `conditional_means`; if `quantiles` are not in (0, 1).

    Warns
    -----
    DoubtfulWarning
        If the share of a category is not clearly above 0: its quantiles are then unreliable.

    Privacy
    -------
    None is added: it is a function of the reports and of the values.

    Notes
    -----
    With the decoded reports v_i of a category, the sum of v_i ([y_i <= u] - q) has mean 0 at its true quantile u. The estimate
    is the quantile of the isotonic regression of the weighted distribution function, whose weights may be negative. The
    interval holds all u at which the sum is within z standard errors of 0. It takes as long as sorting.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast.estimation import conditional_quantiles
    >>> rng = np.random.default_rng(1)
    >>> high = rng.random(100_000) < 0.4  # confidence of a page load, which the browser reports as a flag
    >>> seconds = np.where(high, rng.exponential(1.0, 100_000), rng.exponential(3.0, 100_000))
    >>> flag = np.where(rng.random(100_000) < 0.1, rng.random(100_000) < 0.5, high)
    >>> found = conditional_quantiles(seconds, flag, [0.5, 0.75], rates=0.1)
    >>> low, high = found.interval()
    >>> bool((low < np.log([2, 4])).all()), bool((np.log([2, 4]) < high).all())
    (True, True)
    """
    numbers = _values(values)
    n, q = len(numbers), np.asarray(_check.within("quantiles", quantiles, 0, 1, "()"), np.float64)
    if q.ndim > 1 or not q.size:
        raise ValueError(f"quantiles must have shape (m,) or be a number, got shape {q.shape}")
    if rates is not None:
        weights, guarantee = _weights_of_flags(reports, rates, design, n)[:, np.newaxis], _guarantee_of(rates)
    else:
        mechanism, codes = _coded(reports, design, n)
        weights = decoding_of(mechanism)[codes]
        guarantee = mechanism.guarantee
    _warn_rare(weights)
    order = np.argsort(numbers, kind="stable")
    ordered = numbers[order]
    last = np.append(np.flatnonzero(np.diff(ordered)), n - 1)  # of equal values
    curves = [
        [_Crossing.of(ordered, column[order], last, float(level)) for level in np.ravel(q)] for column in weights.T
    ]
    shape = (*(() if rates is not None else (len(curves),)), *q.shape)
    rule = _Crossings(tuple(curve for row in curves for curve in row), shape)
    value = np.reshape([curve.value for row in curves for curve in row], shape)
    low, high = rule.bounds(value, value, ONE_SIGMA)
    with np.errstate(invalid="ignore"):
        stderr = (high - low) / 2
    if value.ndim == 0:
        return Estimate(float(value), float(stderr), n, guarantee, None, rule)
    return Estimate(value, np.asarray(stderr), n, guarantee, None, rule)


@dataclass(frozen=True, eq=False)
class _Crossing:
    """Where a weighted distribution function reaches a probability.

    Attributes
    ----------
    values : ndarray, shape (different values,)
        The different values, ascending.
    sums, squares : ndarray, shape (different values + 1,)
        The sum that has mean 0 at the quantile, and its variance, below all values and from each value on.
    value : float
        The estimated quantile.
    """

    values: Floats
    sums: Floats
    squares: Floats
    value: float

    @classmethod
    def of(cls, ordered: Floats, weights: Floats, last: NDArray[np.intp], q: float) -> _Crossing:
        """Return the crossing of values in ascending order, whose equal ones end at some places."""
        total, square = weights.sum(), np.square(weights).sum()
        below, squares = (np.concatenate([[0.0], np.cumsum(part)[last]]) for part in (weights, np.square(weights)))
        sums = below - q * total
        spread = squares * (1 - q) ** 2 + (square - squares) * q**2
        # The isotonic regression of a function reaches 0 after the smallest of its partial sums.
        steps = np.diff(last, prepend=-1) * np.sign(total)
        partial = np.concatenate([[0.0], np.cumsum(sums[1:] * steps)])
        place = min(int(np.argmin(partial)), len(last) - 1)
        values = ordered[last]
        return cls(values, sums, spread, float(values[place]))

    def bounds(self, z: float) -> tuple[float, float]:
        """Return the ends of the values at which the sum is within z standard errors of 0."""
        inside = np.flatnonzero(np.abs(self.sums) <= z * np.sqrt(self.squares))
        if not len(inside):
            return self.value, self.value
        first, final = int(inside[0]), int(inside[-1])
        low = -math.inf if first == 0 else float(self.values[first - 1])
        high = math.inf if final == len(self.values) else float(self.values[final])
        return min(low, self.value), max(high, self.value)


@dataclass(frozen=True, eq=False)
class _Crossings:
    """Limits of several quantiles.

    Attributes
    ----------
    curves : tuple of _Crossing
    shape : tuple of int
        Shape of the estimate.
    """

    curves: tuple[_Crossing, ...]
    shape: tuple[int, ...]
    by_coordinate: ClassVar[bool] = False

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        from scipy.special import ndtri

        limits = np.array([curve.bounds(-float(ndtri(tail))) for curve in self.curves])
        return limits[:, 0].reshape(self.shape), limits[:, 1].reshape(self.shape)


def _values(values: ArrayLike) -> Floats:
    """Return numbers of people as a vector."""
    numbers = _check.numbers("values", _check.floats("values", _check.array("values", values)))
    if numbers.ndim != 1 or len(numbers) == 0:
        raise ValueError(f"values must have shape (n,) with n >= 1, got shape {numbers.shape}")
    return numbers


def _coded(reports: ArrayLike, design: Any, n: int) -> tuple[Any, NDArray[Any]]:
    """Return the mechanism of reports, and their codes."""
    if design is None:
        raise TypeError("design or rates must be given")
    mechanism = mechanism_of(design)
    codes = codes_of(reports, design, mechanism)
    if codes.shape != (n,):
        raise ValueError(f"reports must have shape ({n},), like values, got shape {codes.shape}")
    return mechanism, codes


def _weights_of_flags(reports: ArrayLike, rates: ArrayLike, design: Any, n: int) -> Floats:
    """Return unbiased estimates of true flags, from flags that are fair coins with some probabilities."""
    if design is not None:
        raise TypeError("design must be None if rates are given")
    chance = _check.within("rates", rates, 0, 1, "[)")
    if chance.shape not in ((), (n,)):
        raise ValueError(f"rates must be a number or have shape ({n},), like values, got shape {chance.shape}")
    _, flags = _coded(reports, [[1, 0], [0, 1]], n)
    return np.asarray((flags - chance / 2) / (1 - chance))


def _guarantee_of(rates: ArrayLike) -> Guarantee:
    """Return the guarantee of the person with the smallest rate."""
    least = float(np.min(np.asarray(rates, np.float64)))
    return Guarantee("local", math.nextafter(math.log((2 - least) / least), math.inf) if least else math.inf)


def _mean_of_flagged(numbers: Floats, weights: Floats, guarantee: Guarantee) -> Estimate[float]:
    """Return the mean of the people whose true flag is 1."""
    n = len(numbers)
    _warn_rare(weights[:, np.newaxis])
    center = float(numbers.mean())  # the mean of numbers far from 0 has no large errors that cancel
    pair = np.stack([weights * (numbers - center), weights])
    top, bottom = pair.mean(axis=1)
    (vn, c), (_, vd) = np.cov(pair, bias=True) / n
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = top / bottom
        stderr = np.sqrt(vn - 2 * ratio * c + ratio**2 * vd) / abs(bottom)
    effective = float(bottom**2 / np.square(weights).mean())
    needed = Normal.of_sum(n, max(effective, 1 / n)).needed
    parts = (np.asarray(part) for part in (top, bottom, vn, vd, c))
    rule = Fieller(*parts, needed=needed, start=center)  # type: ignore[misc, arg-type]
    return Estimate(center + float(ratio), float(stderr), n, guarantee, None, rule)


def _warn_rare(weights: Floats) -> None:
    """Warn if the share of a category, shape (n, categories), is not clearly above 0."""
    shares, n = weights.mean(axis=0), len(weights)
    uncertain = np.flatnonzero(shares < CERTAIN * weights.std(axis=0) / np.sqrt(n))
    if len(uncertain):
        warn(
            f"the share of category {int(uncertain[0])} is not clearly above 0, so its mean and quantiles are not reliable: "
            "ask more people",
            DoubtfulWarning,
        )
