"""Shares of ranges, distribution functions and quantiles over ordered domains."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _plots
from .._typing import Floats
from ..domains import Categories
from ..mechanisms import TreeResponse
from ..mechanisms._distribution_response import MAX_CELLS
from ..mechanisms._tree_levels import tree_levels
from ..mechanisms._tree_response import MAX_BINS, METHODS
from ..results import SHARES, Binomial, BoundedSum, Estimate
from ._cell_likelihood import CellLikelihood
from ._distribution_estimate import DistributionEstimate, NumberCells, distribution_of
from ._range_tree import Haar, Hierarchy, Tree, Weights, mean_range_variance
from .protocols import FEW_REPORTS, Problem, warn_few

COVARIANCE_LIMIT = 256  # largest number of bins for which the covariance matrix is computed
MAX_AUTOMATIC = 16  # largest number of children that "auto" considers, besides that of a flat histogram
ONE_SIGMA = math.erfc(math.sqrt(0.5)) / 2  # probability beyond one standard deviation, on one side


@dataclass(frozen=True)
class QuantileLimits:
    """Limits of a quantile: the bins between which a distribution function can reach a probability.

    The quantile x is the first bin with F(x) >= q. The lower limit is above x only if the upper limit of F(x) is too low, and
    the upper limit is below x only if the lower limit of F(x - 1) is too high. So each limit fails with the probability of
    one limit of the function.
    """

    cdf: Estimate[Floats]
    q: Floats
    rounding: ClassVar[float] = 1.0  # a quantile that two neighboring bins are equally near to can be either

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        low, high = self.cdf.rule.bounds(self.cdf.value, self.cdf.stderr, tail)
        return _crossings(high, self.q)[0], _crossings(low, self.q)[1]


def _crossings(function: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return the first bin at which a function is at least q, and the first one from which on it is, as floats.

    The last bin if there is none.
    """
    upper, lower = np.maximum.accumulate(function), np.minimum.accumulate(function[::-1])[::-1]
    first, last = (np.minimum(np.searchsorted(part, q), len(part) - 1).astype(np.float64) for part in (upper, lower))
    return first, last


@dataclass(frozen=True, eq=False, repr=False)
class RangeEstimate(Estimate[Floats]):
    """Estimated shares of ordered bins, with those of ranges, the distribution function and quantiles.

    `value` are the shares of the k bins. They add up to 1, and some may be negative. All standard errors are for the
    population that the records were drawn from, by chance and independently. They contain the noise, the choice of the
    levels and the drawing of the people; they are exact at the estimated shares of the nodes of the tree. Limits follow
    `results.BoundedSum`: nearly normal, and wider for ranges of few people.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import RangeQueries
    >>> estimate = RangeQueries(100, 1.0).run(np.arange(100_000) % 100, rng=1)
    >>> bool(abs(estimate.range(20, 50).value - 0.3) < 0.05)
    True
    >>> bool(abs(estimate.quantile(0.5).value - 50) < 5)
    True
    """

    _tree: Tree = field(default=None, compare=False)  # type: ignore[assignment]

    def range(self, low: ArrayLike, high: ArrayLike) -> Estimate[Any]:
        """Return the share of records in half-open ranges [low, high).

        Parameters
        ----------
        low, high : int or array_like of int
            Ends of the ranges, 0 <= low <= high <= k. Arrays are broadcast.

        Returns
        -------
        shares : Estimate
            In the shape of the ranges.

        Raises
        ------
        TypeError, ValueError
            If the ends are not integers in [0, k], or `low` is above `high`.
        """
        k = len(self.value)
        first, last = _integers("low", low, k), _integers("high", high, k)
        try:
            first, last = np.broadcast_arrays(first, last)
        except ValueError:
            raise ValueError(
                f"low and high must have shapes that broadcast, got {first.shape} and {last.shape}"
            ) from None
        if (first > last).any():
            index = int(np.argmax(first > last))
            raise ValueError(f"low must be at most high, got {first.flat[index]} and {last.flat[index]}")
        total = np.concatenate([[0.0], self._cumulative])
        return self._linear(total[last] - total[first], Weights.ranges(first.reshape(-1), last.reshape(-1), k))

    def cdf(self, points: ArrayLike | None = None) -> Estimate[Any]:
        """Return the distribution function: the share of records that are at most a bin.

        Parameters
        ----------
        points : int or array_like of int, optional
            Bins in [0, k). The default is all bins.

        Returns
        -------
        cdf : Estimate
            In the shape of `points`, or of shape (k,) with the last entry 1.

        Raises
        ------
        TypeError, ValueError
            If `points` are not integers in [0, k).
        """
        if points is None:
            return self._all
        bins, k = _integers("points", points, len(self.value) - 1), len(self.value)
        return self._linear(self._cumulative[bins], Weights.prefixes(bins.reshape(-1) + 1, k))

    def quantile(self, q: ArrayLike = 0.5) -> Estimate[Any]:
        """Return quantiles of the records; the default is the median.

        The quantile is the first bin at which the distribution function is at least `q`. The estimated function is not always
        ascending: the estimate is the middle between the first bin at which it is at least `q`, and the first one from which
        on it is.

        Parameters
        ----------
        q : float or array_like of float, default 0.5
            Probabilities, in (0, 1).

        Returns
        -------
        quantile : Estimate
            Bins, in the shape of `q`. The limits are the first bin at which the upper limit of the distribution function
            reaches `q`, and the first one from which on the lower limit does. They contain the true quantile with at least
            the given probability. The standard error is half the width of a 68 % interval.

        Raises
        ------
        TypeError, ValueError
            If `q` are not numbers in (0, 1).
        """
        probabilities = _check.within("q", q, 0, 1, "()")
        first, last = _crossings(self._cumulative, probabilities)
        value, rule = np.floor((first + last) / 2), QuantileLimits(self._all, probabilities)
        low, high = rule.bounds(value, value, ONE_SIGMA)
        return _estimate(value, (high - low) / 2, self, rule, (0.0, len(self.value) - 1.0))

    def distribution(self) -> DistributionEstimate:
        """Return the distribution with the largest likelihood, smooth where the reports allow it.

        Its shares are not negative, and its distribution function ascends. For smooth populations it has about half of the
        error of the linear estimates of `range` and `cdf`. Its limits are those of linear estimates, too.
        docs/proofs/distribution.md.

        Returns
        -------
        distribution : DistributionEstimate
            Of the bins, which are integers from 0.

        Raises
        ------
        ValueError
            If there are more than 4096 bins.
        """
        k, tree = len(self.value), self._tree
        if k > MAX_CELLS:
            raise ValueError(f"a distribution must have at most {MAX_CELLS} bins, got {k}: declare fewer bins")
        likelihood = CellLikelihood.of_tree(tree.levels, [int(count) for count in tree.counts], tree.numbers)
        return distribution_of(likelihood, NumberCells(0.0, k - 1.0, k, True), self)

    def plot(self, ax: Any = None, *, confidence: float = 0.95, simultaneous: bool = False) -> Any:
        """Draw the distribution function with its band, both cut at 0 and 1.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.
        confidence : float, default 0.95
            Confidence level of the band.
        simultaneous : bool, default False
            Whether the band holds for all numbers at once.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        TypeError, ValueError
            If `confidence` is not a number in (0, 1).
        """
        cdf = self.cdf()
        low, high = cdf._bounds(cdf.interval(confidence, simultaneous))
        ax = _plots.axes(ax)
        label, band = f"estimate, {self._source_text()}", self._band_text(confidence, simultaneous)
        bins = np.arange(len(cdf.value), dtype=np.float64)
        _plots.draw_band(
            ax, bins, np.clip(cdf.value, *SHARES), low, high, label=label, band=band, drawstyle="steps-post"
        )
        ax.set_xlabel("bin (number from 0)")
        ax.set_ylabel("share of records up to this bin")
        return ax

    def _unit(self) -> str:
        return ""

    def _names(self) -> tuple[str, str]:
        return "share", "bin"

    @cached_property
    def _cumulative(self) -> Floats:
        total = np.cumsum(self.value)
        total[-1] = 1.0
        return total

    @cached_property
    def _all(self) -> Estimate[Floats]:
        k = len(self.value)
        return self._linear(self._cumulative, Weights.prefixes(np.arange(1, k + 1), k))

    def _linear(self, value: Floats, weights: Weights) -> Estimate[Any]:
        stderr, rule = _stderr_and_rule(self._tree, weights, np.shape(value))
        return _estimate(value, stderr, self, rule, SHARES)


def _stderr_and_rule(tree: Tree, weights: Weights, shape: tuple[int, ...]) -> tuple[Floats, BoundedSum]:
    """Return the standard errors of functions of the shares and the rule for their limits, in the given shape."""
    variance, step = tree.variance_and_step(weights).reshape(2, *shape)
    return np.sqrt(variance), BoundedSum(step, step)


def _estimate(
    value: Floats, stderr: Floats, like: Estimate[Any], rule: Any, span: tuple[float, float]
) -> Estimate[Any]:
    """Return an estimate with n and the guarantee of another one; floats instead of arrays without axes."""
    if np.ndim(value) == 0:
        return Estimate(float(value), float(stderr), like.n, like.guarantee, None, rule, _span=span)
    return Estimate(np.array(value), np.array(stderr), like.n, like.guarantee, None, rule, _span=span)


def _integers(name: str, values: ArrayLike, largest: int) -> NDArray[np.int64]:
    """Return integers in [0, most]."""
    integers = _check.integers(name, _check.array(name, values))
    outside = (integers < 0) | (integers > largest)
    if outside.any():
        raise ValueError(f"{name} must be integers in [0, {largest}], got {integers[outside].flat[0]}")
    return np.asarray(integers, np.int64)


def best_branching(k: int, epsilon: float) -> int:
    """Return the branching with the smallest `mean_range_variance`: one of 2 to 16, or k, which is a flat histogram."""
    candidates = sorted({min(b, k) for b in (*range(2, MAX_AUTOMATIC + 1), k)})
    costs: list[tuple[float, int]] = []
    for b in candidates:
        costs.append((mean_range_variance(tree_levels(k, epsilon, b, "hierarchy"), b), b))
    return min(costs)[1]


@dataclass(frozen=True)
class RangeQueries(Problem[RangeEstimate]):
    """Shares of ranges, distribution function and quantiles of integers in a large ordered domain.

    Parameters
    ----------
    k : int
        Number of ordered bins, in [2, 2^20].
    epsilon : float
        Privacy parameter of a record, > 0.
    branching : "auto" or int
        Number of children of a node of the tree. "auto": among 2, ..., 16 and k (a flat histogram) the one with the smallest
        variance of the share of a range, as the mean over all ranges, if all nodes of a level are equally frequent. It
        depends on k and epsilon only. Must be "auto" or 2 for "haar".
    method : {"hierarchy", "haar"}
        "hierarchy": a report tells the node of the record at a level of a tree, and least squares combines the levels.
        "haar": it tells one coefficient of the Haar wavelet.

    Raises
    ------
    TypeError, ValueError
        If `k` or `branching` is not an integer in its range; if `method` is not one of the above; if the mechanism rejects
        `epsilon`.

    Notes
    -----
    Records are integers in [0, k). Each person reports the node of their record at one level of the tree (`TreeResponse`).
    The level is drawn at random and public. The shares of the bins are estimated by generalized least squares from the
    shares of all nodes, given that they add up to 1; the variance of a level is inversely proportional to its number of
    reports. The estimates are unbiased if each level has a report. A level without reports is ignored. Where the other
    levels do not replace it, standard errors are then far above 1.

    The variance of a range is of order log(k)^2, and that of a flat histogram of order k. The mean and the largest variance
    over all ranges are below those of `Frequencies` (with shares that are shifted to add up to 1) from 32 bins on for
    epsilon up to 2, and from 64 bins on for epsilon = 4, for numbers of bins that are powers of two. With 1024 bins and
    epsilon = 1 the mean variance is 9.4 times as small. With fewer bins use `Frequencies`. For epsilon up to 0.5 the variance
    of "haar" is 10 to 20 % smaller than that of "hierarchy"; from epsilon = 1 on it is larger.
    docs/proofs/range_queries.md has a table.

    With 2^20 bins and 10^6 people, `run` takes about three seconds. `cdf()` and `quantile` take another one or two.

    Privacy
    -------
    The guarantee of `TreeResponse`.

    References
    ----------
    .. [1] M. Hay, V. Rastogi, G. Miklau, D. Suciu, "Boosting the accuracy of differentially private histograms through
       consistency", VLDB 2010 (least squares on the tree).
    .. [2] G. Cormode, T. Kulkarni, D. Srivastava, "Answering range queries under local differential privacy", VLDB 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import RangeQueries
    >>> ages = np.random.default_rng(1).binomial(128, 0.3, 100_000)
    >>> estimate = RangeQueries(129, epsilon=2.0).run(ages, rng=1)
    >>> bool(abs(estimate.range(30, 40).value - np.mean((ages >= 30) & (ages < 40))) < 0.05)
    True
    >>> low, high = estimate.quantile(0.5).interval()
    >>> bool(low <= 38 <= high)
    True
    """

    k: int
    epsilon: float
    _: KW_ONLY
    branching: int | str = "auto"
    method: str = "hierarchy"

    def __post_init__(self) -> None:
        k, epsilon = _check.integer("k", self.k, 2, MAX_BINS), _check.positive("epsilon", self.epsilon)
        method = _check.choice("method", self.method, METHODS)
        if isinstance(self.branching, str):
            _check.choice("branching", self.branching, ("auto",))
            branching = 2 if method == "haar" else best_branching(k, epsilon)
        else:
            branching = _check.integer("branching", self.branching, 2, MAX_BINS)
        mechanism = TreeResponse(k, epsilon, branching=branching, method=method)
        self._set(k=k, epsilon=epsilon, branching=self.branching if self.branching == "auto" else mechanism.branching)
        self._define(mechanism, Categories(k))

    def _convert(self, raw: Estimate[Any]) -> RangeEstimate:
        mechanism: Any = self.mechanism
        assert isinstance(raw.rule, Binomial)
        warn_few(raw.n, FEW_REPORTS * len(mechanism.levels), "the interval of a range")
        parts = np.split(raw.rule.hits, mechanism.first_codes[1:])
        numbers = [level.decode(part) for level, part in zip(mechanism.levels, parts, strict=True)]
        kind = Haar if self.method == "haar" else Hierarchy
        tree = kind(mechanism.levels, mechanism.branching, numbers, [int(part.sum()) for part in parts])
        value = tree.shares[-1]
        stderr, rule = _stderr_and_rule(tree, Weights.single(np.arange(self.k)), value.shape)
        covariance = _covariance(tree, self.k) if self.k <= COVARIANCE_LIMIT else None
        return RangeEstimate(value, stderr, raw.n, raw.guarantee, covariance, rule, tree, _span=SHARES)


def _covariance(tree: Tree, k: int) -> Floats:
    """Return the covariance of the shares of the bins, from the variances of all ranges."""
    low, high = np.triu_indices(k + 1)
    ranges = np.zeros((k + 1, k + 1))
    ranges[low, high] = ranges[high, low] = tree.variance(Weights.ranges(low, high, k))
    prefixes = (ranges[:1] + ranges[:, :1] - ranges) / 2
    return np.asarray(np.diff(np.diff(prefixes, axis=0), axis=1))
