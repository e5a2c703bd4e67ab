"""Functions of the problems: a class with the records first.

``vector_mean(x, epsilon, ...)`` is ``VectorMean(dim, epsilon, ...).run(x)`` with the dim of the records. Parameters that the
records determine (n, dim) are left out; the others have the names and defaults of the class.
"""

from __future__ import annotations

from collections.abc import Sized
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from ..results import Estimate
from ._distribution_estimate import DistributionEstimate
from ._distribution_problem import Distribution
from ._frequencies import Frequencies, FrequencyEstimate
from ._histogram_density import HistogramDensity, HistogramEstimate
from ._range_queries import RangeEstimate, RangeQueries
from ._series_density import SeriesDensity, SeriesEstimate
from ._sparse_mean import SparseEstimate, SparseMean
from ._truncated_mean import TruncatedMean
from ._vector_mean import VectorEstimate, VectorMean, row_width
from .gaussian import GaussianEstimate, GaussianMean
from .strings import HeavyHitters, HeavyHittersEstimate

if TYPE_CHECKING:
    from .._random import RNGLike


def size(x: ArrayLike) -> int:
    """Return the number of records, at least 1."""
    return max(1, np.size(_check.array("x", x)))


def people(x: ArrayLike) -> int:
    """Return the number of records; raise ValueError if there is none."""
    n = np.size(_check.array("x", x))
    if n == 0:
        raise ValueError("x must hold at least 1 record, got none")
    return int(n)


def truncated_mean(
    x: ArrayLike,
    epsilon: float,
    *,
    moment: float,
    radius: float,
    method: str | float = "optimal",
    noise: str = "laplace",
    lower: float | None = None,
    upper: float | None = None,
    rng: RNGLike = None,
    clip: bool = False,
) -> Estimate[float]:
    """Return the mean of numbers with a bounded moment, each privatized separately.

    The same as ``TruncatedMean(...).run(x)``, with the n of the records; see `TruncatedMean`, also for errors and privacy.

    Parameters
    ----------
    x : array_like, shape (n,)
        Finite numbers.
    epsilon, moment, radius, method, noise, lower, upper
        As for `TruncatedMean`.
    rng, clip
        As for `TruncatedMean.run`.

    Returns
    -------
    estimate : Estimate

    Warns
    -----
    SmallSampleWarning
        For fewer than 100 people.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import truncated_mean
    >>> x = np.random.default_rng(1).exponential(2.0, 100_000)  # third moment 48
    >>> estimate = truncated_mean(x, 1.0, moment=3, radius=4, lower=0, rng=1)
    >>> bool(abs(estimate.value - 2.0) < 0.5)
    True
    """
    problem = TruncatedMean(
        epsilon, moment=moment, radius=radius, n=size(x), method=method, noise=noise, lower=lower, upper=upper
    )
    estimate: Estimate[float] = problem.run(x, rng=rng, clip=clip)
    return estimate


def vector_mean(
    x: ArrayLike,
    epsilon: float,
    *,
    norm: str = "l2",
    radius: float | None = None,
    lower: Any = None,
    upper: Any = None,
    mechanism: Any = "auto",
    rng: RNGLike = None,
    clip: bool = False,
) -> VectorEstimate:
    """Return the mean of vectors in a ball or a box, each privatized separately.

    The same as ``VectorMean(...).run(x)``, with the dim of the records; see `VectorMean`, also for errors and privacy.

    Parameters
    ----------
    x : array_like of float, shape (n, dim)
        One row per person.
    epsilon, norm, radius, lower, upper, mechanism
        As for `VectorMean`.
    rng, clip
        As for `VectorMean.run`.

    Returns
    -------
    estimate : VectorEstimate

    Warns
    -----
    SmallSampleWarning
        For fewer than 100 people.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import vector_mean
    >>> answers = np.random.default_rng(1).random((100_000, 3)) < [0.2, 0.5, 0.9]
    >>> estimate = vector_mean(answers.astype(float), 1.0, norm="linf", lower=0, upper=1, rng=1)
    >>> bool(abs(estimate.value - [0.2, 0.5, 0.9]).max() < 0.05)
    True
    """
    problem = VectorMean(row_width(x), epsilon, norm=norm, radius=radius, lower=lower, upper=upper, mechanism=mechanism)
    estimate: VectorEstimate = problem.run(x, rng=rng, clip=clip)
    return estimate


def sparse_mean(
    x: ArrayLike,
    epsilon: float,
    *,
    radius: float,
    penalty: float | None = None,
    rng: RNGLike = None,
    clip: bool = False,
) -> SparseEstimate:
    """Return a mean vector with few nonzero coordinates, each row privatized separately.

    The same as ``SparseMean(...).run(x)``, with the dim of the records; see `SparseMean`, also for errors and privacy.

    Parameters
    ----------
    x : array_like of float, shape (n, dim)
        One row per person.
    epsilon, radius, penalty
        As for `SparseMean`.
    rng, clip
        As for `SparseMean.run`.

    Returns
    -------
    estimate : SparseEstimate

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import sparse_mean
    >>> x = np.zeros((100_000, 10))
    >>> x[:, 2] = 0.8
    >>> sparse_mean(x, 1.0, radius=1, rng=1).support.tolist()
    [2]
    """
    problem = SparseMean(row_width(x), epsilon, radius=radius, penalty=penalty)
    estimate: SparseEstimate = problem.run(x, rng=rng, clip=clip)
    return estimate


def frequencies(
    x: ArrayLike,
    k: Any,
    epsilon: float,
    *,
    mechanism: Any = "auto",
    project: bool = False,
    max_bits: int | None = None,
    rng: RNGLike = None,
    clip: bool = False,
) -> FrequencyEstimate:
    """Return the shares of categories, each answer privatized separately.

    The same as ``Frequencies(...).run(x)``; see `Frequencies`, also for errors and privacy.

    Parameters
    ----------
    x : array_like, shape (n,)
        Integers in [0, k), or declared labels in any container that `Frequencies` accepts.
    k, epsilon, mechanism, project, max_bits
        As for `Frequencies`.
    rng, clip
        As for `Frequencies.run`.

    Returns
    -------
    estimate : FrequencyEstimate

    Examples
    --------
    >>> from ldpfast.estimation import frequencies
    >>> estimate = frequencies(["yes"] * 7000 + ["no"] * 3000, ["yes", "no"], 2.0, rng=1)
    >>> bool(abs(estimate.value[0] - 0.7) < 0.05)
    True
    """
    problem = Frequencies(k, epsilon, mechanism=mechanism, project=project, max_bits=max_bits)
    estimate: FrequencyEstimate = problem.run(x, rng=rng, clip=clip)
    return estimate


def range_queries(
    x: ArrayLike,
    k: int,
    epsilon: float,
    *,
    branching: int | str = "auto",
    method: str = "hierarchy",
    rng: RNGLike = None,
    clip: bool = False,
) -> RangeEstimate:
    """Return the shares of ordered bins for questions about ranges, each number privatized separately.

    The same as ``RangeQueries(...).run(x)``; see `RangeQueries`, also for errors and privacy.

    Parameters
    ----------
    x : array_like of int, shape (n,)
        Integers in [0, k).
    k, epsilon, branching, method
        As for `RangeQueries`.
    rng, clip
        As for `RangeQueries.run`.

    Returns
    -------
    estimate : RangeEstimate

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import range_queries
    >>> estimate = range_queries(np.arange(100_000) % 100, 100, 1.0, rng=1)
    >>> bool(abs(estimate.range(20, 50).value - 0.3) < 0.05)
    True
    """
    problem = RangeQueries(k, epsilon, branching=branching, method=method)
    estimate: RangeEstimate = problem.run(x, rng=rng, clip=clip)
    return estimate


def distribution(
    x: ArrayLike,
    lower: float,
    upper: float,
    epsilon: float,
    *,
    cells: int = 256,
    integers: bool = False,
    rng: RNGLike = None,
    clip: bool = False,
) -> DistributionEstimate:
    """Return the distribution of numbers in an interval, each number privatized separately.

    The same as ``Distribution(...).run(x)``; see `Distribution`, also for errors and privacy.

    Parameters
    ----------
    x : array_like of float, shape (n,)
        Numbers in [lower, upper].
    lower, upper, epsilon, cells, integers
        As for `Distribution`.
    rng, clip
        As for `Distribution.run`.

    Returns
    -------
    estimate : DistributionEstimate

    Warns
    -----
    SmallSampleWarning
        For fewer than 100 people.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import distribution
    >>> x = np.random.default_rng(1).beta(5, 2, 100_000)
    >>> estimate = distribution(x, 0, 1, 1.0, rng=1)
    >>> bool(abs(estimate.quantile(0.9).value - np.quantile(x, 0.9)) < 0.02)
    True
    """
    problem = Distribution(lower, upper, epsilon, cells=cells, integers=integers)
    estimate: DistributionEstimate = problem.run(x, rng=rng, clip=clip)
    return estimate


def heavy_hitters(
    x: Sized,
    epsilon: float,
    *,
    max_bytes: int,
    alphabet: str | None = None,
    false_discovery: float = 0.05,
    buckets: int = 1 << 16,
    functions: int = 16,
    salt: str = "",
    rng: RNGLike = None,
    clip: bool = False,
) -> HeavyHittersEstimate:
    """Return the strings that many people have, without a list of candidates, each string privatized separately.

    The same as ``HeavyHitters(...).run(x)``, with the n of the records; see `HeavyHitters`, also for errors and privacy.

    Parameters
    ----------
    x : array_like of str or bytes, shape (n,)
        Strings in a list, a NumPy or Arrow array, or a pandas series.
    epsilon, max_bytes, alphabet, false_discovery, buckets, functions, salt
        As for `HeavyHitters`.
    rng, clip
        As for `HeavyHitters.run`.

    Returns
    -------
    estimate : HeavyHittersEstimate

    Warns
    -----
    UserWarning
        If more prefixes passed a level of the search than can be continued.
    SmallSampleWarning
        If not even a string that everybody has would be found.

    Examples
    --------
    >>> from ldpfast.estimation import heavy_hitters
    >>> x = ["new"] * 40_000 + ["word"] * 20_000
    >>> heavy_hitters(x, 4.0, max_bytes=4, alphabet="abcdefghijklmnopqrstuvwxyz", rng=1).strings
    ('new', 'word')
    """
    problem = HeavyHitters(
        epsilon,
        max_bytes=max_bytes,
        alphabet=alphabet,
        n=len(x),
        false_discovery=false_discovery,
        buckets=buckets,
        functions=functions,
        salt=salt,
    )
    estimate: HeavyHittersEstimate = problem.run(x, rng=rng, clip=clip)
    return estimate


def series_density(
    x: ArrayLike,
    epsilon: float,
    *,
    smoothness: float | None = None,
    radius: float = 1.0,
    n_terms: int | None = None,
    lower: float = 0.0,
    upper: float = 1.0,
    rng: RNGLike = None,
    clip: bool = False,
) -> SeriesEstimate:
    """Return the density of numbers in an interval by a trigonometric series, each number privatized separately.

    The same as ``SeriesDensity(...).run(x)``, with the n of the records; see `SeriesDensity`, also for errors and privacy.

    Parameters
    ----------
    x : array_like of float, shape (n,)
        Numbers in [lower, upper].
    epsilon, smoothness, radius, n_terms, lower, upper
        As for `SeriesDensity`.
    rng, clip
        As for `SeriesDensity.run`.

    Returns
    -------
    estimate : SeriesEstimate

    Warns
    -----
    SmallSampleWarning
        For fewer than 100 people.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import series_density
    >>> density = series_density(np.random.default_rng(1).beta(2, 2, 100_000), 1.0, rng=1)
    >>> bool(abs(density(0.5) - 1.5) < 0.3)
    True
    """
    problem = SeriesDensity(
        epsilon,
        n=size(x) if n_terms is None else None,
        smoothness=smoothness,
        radius=radius,
        n_terms=n_terms,
        lower=lower,
        upper=upper,
    )
    estimate: SeriesEstimate = problem.run(x, rng=rng, clip=clip)
    return estimate


def histogram_density(
    x: ArrayLike,
    epsilon: float,
    *,
    bins: int | None = None,
    lower: float = 0.0,
    upper: float = 1.0,
    noise: str = "unary",
    lipschitz: float = 1.0,
    rng: RNGLike = None,
    clip: bool = False,
) -> HistogramEstimate:
    """Return the density of numbers in an interval by a histogram, each number privatized separately.

    The same as ``HistogramDensity(...).run(x)``, with the n of the records; see `HistogramDensity`,
    also for errors and privacy.

    Parameters
    ----------
    x : array_like of float, shape (n,)
        Numbers in [lower, upper].
    epsilon, bins, lower, upper, noise, lipschitz
        As for `HistogramDensity`.
    rng, clip
        As for `HistogramDensity.run`.

    Returns
    -------
    estimate : HistogramEstimate

    Warns
    -----
    SmallSampleWarning
        For fewer than 100 people with ``noise="laplace"``.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import histogram_density
    >>> density = histogram_density(np.random.default_rng(1).random(100_000), 1.0, bins=4, rng=1)
    >>> bool(abs(density(0.5) - 1.0) < 0.2)
    True
    """
    problem = HistogramDensity(
        epsilon,
        n=size(x) if bins is None else None,
        bins=bins,
        lower=lower,
        upper=upper,
        noise=noise,
        lipschitz=lipschitz,
    )
    estimate: HistogramEstimate = problem.run(x, rng=rng, clip=clip)
    return estimate


def gaussian_mean(
    x: ArrayLike,
    epsilon: float,
    *,
    sigma: float | None = None,
    sigma_bounds: tuple[float, float] | None = None,
    mu_bound: float,
    beta: float = 0.05,
    rounds: int = 2,
    method: str = "robust",
    rng: RNGLike = None,
    clip: bool = False,
) -> GaussianEstimate:
    """Return the mean of normal numbers, each privatized separately, in one process.

    The same as ``GaussianMean(...).run(x)``, with the n of the records; see `GaussianMean`, also for errors and privacy.

    Parameters
    ----------
    x : array_like, shape (n,)
        Finite numbers, from about a normal distribution.
    epsilon, sigma, sigma_bounds, mu_bound, beta, rounds, method
        As for `GaussianMean`.
    rng, clip
        As for `GaussianMean.run`.

    Returns
    -------
    estimate : GaussianEstimate

    Warns
    -----
    SmallSampleWarning, DoubtfulWarning
        If n is too small for the search, or the answers contradict the model.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import gaussian_mean
    >>> heights = np.random.default_rng(1).normal(171.0, 7.0, 100_000)
    >>> bool(abs(gaussian_mean(heights, 1.0, sigma=7.0, mu_bound=1000.0, rng=1).value - 171) < 0.3)
    True
    """
    problem = GaussianMean(
        epsilon,
        sigma=sigma,
        sigma_bounds=sigma_bounds,
        mu_bound=mu_bound,
        beta=beta,
        rounds=rounds,
        method=method,
        n=people(x),
    )
    return problem.run(x, rng=rng, clip=clip)
