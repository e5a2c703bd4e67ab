"""Histogram of the unit cube, with integer noise on the counts (Barber and Duchi, corrected)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _coins
from .._plots import axes, draw_band
from .._random import open_stream
from .._typing import AnyArray, Floats
from ..estimation import project_simplex
from ..privacy import Guarantee
from ..results import SHARES, Estimate
from ._count_limits import NoisyCounts
from ._curator_records import PIECE_NUMBERS, array, invalid_error
from ._noise import MAX_NOISE, laplace_numbers

if TYPE_CHECKING:
    from .._random import RNGLike

MAX_BINS = 1 << 26  # number of cells
MAX_AXES = 32


@dataclass(frozen=True, eq=False)
class CubeHistogram(Estimate[Floats]):
    """Private histogram of the unit cube, callable on points.

    `value` holds the shares of the cells, with shape (bins,) * dim.

    Attributes
    ----------
    risk : float
        Upper bound on the expected integrated squared error, for densities with slopes of at most `lipschitz`.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> x = np.random.default_rng(1).beta(2, 5, 10_000)
    >>> density = ldp.central.histogram_density(x, epsilon=1.0, bins=10, rng=1)
    >>> density(0.25) > density(0.75)
    True
    >>> round(float(density.project().value.sum()), 9)
    1.0
    """

    risk: float = field(default=0.0, kw_only=True)

    @property
    def bins(self) -> int:
        """Number of bins per axis."""
        return int(self.value.shape[0])

    def __call__(self, points: ArrayLike) -> Any:
        """Return the density at points.

        It is constant on each cell, unbiased for the mean density of the cell, and may be negative.

        Parameters
        ----------
        points : array_like
            Points of shape (..., dim), or of any shape if dim is 1.

        Returns
        -------
        density : float or ndarray
            Density at each point; 0 outside the cube.

        Raises
        ------
        TypeError, ValueError
            If `points` are not real numbers or have another dimension.
        """
        dim = self.value.ndim
        x = _check.floats("points", _check.array("points", points)).astype(np.float64)
        if dim == 1:
            x = x[..., np.newaxis]
        if x.ndim == 0 or x.shape[-1] != dim:
            raise ValueError(f"points must have shape (..., {dim}), got shape {np.shape(points)}")
        inside = ((x >= 0) & (x <= 1)).all(axis=-1)
        cells = np.minimum(np.clip(np.nan_to_num(x), 0, 1) * self.bins, self.bins - 1).astype(np.intp)
        density = np.where(inside, self.value[tuple(np.moveaxis(cells, -1, 0))] * self.bins**dim, 0.0)
        return float(density) if density.ndim == 0 else density

    def project(self) -> CubeHistogram:
        """Return the nearest histogram with shares >= 0 that sum to 1. Its risk is no larger.

        Returns
        -------
        density : CubeHistogram
            Histogram computed from the private shares, at no further privacy cost. Its standard errors and intervals are those
            of the released shares, which are unbiased.
        """
        shares = project_simplex(self.value.ravel()).reshape(self.value.shape)
        return CubeHistogram(shares, self.stderr, self.n, self.guarantee, None, self.rule, risk=self.risk)

    def plot(self, ax: Any = None, *, confidence: float = 0.95, simultaneous: bool = False) -> Any:
        """Draw a density of one dimension with its intervals, or one of two dimensions as a heat map without them.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.
        confidence : float, default 0.95
            Confidence level of the intervals.
        simultaneous : bool, default False
            Whether the intervals hold for all cells at once.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        TypeError, ValueError
            If there are more than two dimensions, or `confidence` is not a number in (0, 1).
        ImportError
            If matplotlib is not installed (extra "plot").
        """
        if self.value.ndim > 2:
            raise ValueError(f"plot requires a histogram of at most 2 dimensions, got {self.value.ndim}")
        limits = self.interval(confidence, simultaneous)
        ax, density = axes(ax), self.value * self.bins**self.value.ndim
        if self.value.ndim == 1:
            ends = [self.bins * np.append(part, part[-1]) for part in (self.value, *limits)]
            label, band = f"private estimate, {self._source_text()}", self._interval_text(confidence, simultaneous)
            draw_band(ax, np.linspace(0, 1, self.bins + 1), *ends, label=label, band=band, drawstyle="steps-post")
            ax.set_xlim(0, 1)
            ax.set_xlabel("value of the record (unit of the records)")
            ax.set_ylabel("density (per unit of the records)")
        else:
            image = ax.imshow(density.T, origin="lower", extent=(0, 1, 0, 1), aspect="auto", cmap="cividis")
            ax.figure.colorbar(image, ax=ax, label=f"density (per squared unit of the records)\n{self._source_text()}")
            ax.set_xlabel("first coordinate (unit of the records)")
            ax.set_ylabel("second coordinate (unit of the records)")
        return ax

    def _unit(self) -> str:
        return ""

    def _names(self) -> tuple[str, str]:
        is_released = isinstance(self.rule, NoisyCounts) and np.array_equal(self.value, self.rule.counts / self.n)
        return "share" if is_released else "projected share, and share", "cell"

    __repr__ = Estimate.__repr__


def histogram_density(
    x: ArrayLike,
    *,
    epsilon: float,
    bins: int | None = None,
    lipschitz: float = 1.0,
    nan: str = "raise",
    rng: RNGLike = None,
) -> CubeHistogram:
    """Estimate a density on the unit cube by a histogram with discrete Laplace noise.

    Parameters
    ----------
    x : array_like, shape (n,) or (n, dim)
        Records, clipped to [0, 1] in each coordinate; n is public.
    epsilon : float
        Privacy parameter, > 0.
    bins : int, optional
        Number of bins per axis, >= 1. By default the number with the least bound on the risk.
    lipschitz : float, default 1.0
        Bound L on the slope of the density, used for the default of `bins` and for the bound on the risk.
    nan : {"raise", "center"}
        Treatment of numbers that are not finite: an error, which is outside the guarantee, or replacement by 1/2.
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness; only ``None`` is private.

    Returns
    -------
    density : CubeHistogram
        Histogram. Its standard errors include noise and sampling, with the sampling error at the estimated shares. Its
        intervals invert the exact distribution of a noisy count, so they cover for every n and for cells of few records.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, there are more than 2^26 cells, or `x` is empty, has a wrong shape or (if `nan`
        is "raise") is not finite.

    Privacy
    -------
    `guarantee.epsilon`-differential privacy for the replacement of one record, which changes two counts by one. The
    guarantee is exact: the noise is drawn with integer coins. See docs/proofs/central.md. Running time is not
    protected.

    Notes
    -----
    O(n dim) time.

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, section 4; k
       in eq. 19 has to be read as the number of bins per axis.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> x = np.random.default_rng(1).beta(2, 5, 10_000)
    >>> density = central.histogram_density(x, epsilon=1.0, rng=1)
    >>> density(0.25) > density(0.75)
    True
    """
    epsilon, lipschitz = _check.positive("epsilon", epsilon), _check.positive("lipschitz", lipschitz)
    records = array(x, nan, rows=True)
    n, dim = len(records), 1 if records.ndim == 1 else records.shape[1]
    if dim > MAX_AXES:
        raise ValueError(f"x must have at most {MAX_AXES} columns, got {dim}")
    bins = best_bins(n, epsilon, dim, lipschitz) if bins is None else _check.integer("bins", bins, 1)
    if bins**dim > MAX_BINS:
        raise ValueError(f"bins must be at most 2^26 in total, got {bins} for each of {dim} axes")
    counts = _counts(records, bins, dim, nan).astype(np.float64)
    coins = _coins.geometric(epsilon, 2, 1, 2)
    added = laplace_numbers(coins, bins**dim, open_stream(rng))
    limit = MAX_NOISE - n - 1  # the kernel clamps the noise only beyond this limit
    noisy = np.clip(counts + added, -limit, limit).reshape((bins,) * dim)
    shares = noisy / n
    known = np.clip(shares, 0, 1)
    stderr = np.sqrt(known * (1 - known) / n + coins.noise_variance / n**2)
    guarantee = Guarantee("pure", coins.epsilon_realized)
    return CubeHistogram(
        shares,
        stderr,
        n,
        guarantee,
        None,
        NoisyCounts(noisy, n, float(coins.rate_and_error[0])),
        risk=_risk(bins, n, coins.noise_variance, dim, lipschitz),
        _span=SHARES,
    )


def _risk(bins: int, n: int, variance: float, dim: int, lipschitz: float) -> float:
    """Return a bound on the integrated squared error, from sampling, noise and the width of the cells."""
    cells = float(bins) ** dim
    return (cells - 1) / n + cells**2 * variance / n**2 + lipschitz * lipschitz * dim / (12 * bins**2)


def risk_of(bins: int, n: int, epsilon: float, dim: int) -> float:
    """Return the bound on the risk of a histogram of a density of Lipschitz constant 1."""
    return _risk(bins, n, _coins.geometric(epsilon, 2, 1, 2).noise_variance, dim, 1.0)


def best_bins(n: int, epsilon: float, dim: int = 1, lipschitz: float = 1.0) -> int:
    """Return the number of bins per axis with the least bound on the risk.

    It is about min(n^(1 / (dim + 2)), (n epsilon)^(1 / (dim + 1))).

    Parameters
    ----------
    n : int
        Number of records, >= 1.
    epsilon : float
        Privacy parameter, > 0.
    dim : int, default 1
        Dimension, >= 1.
    lipschitz : float, default 1.0
        Bound on the slope of the density, > 0.

    Returns
    -------
    bins : int
        Number of bins per axis; there are at most 2^26 cells.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.

    Examples
    --------
    >>> from ldpfast.central._cube_histogram import best_bins
    >>> best_bins(10_000, 1.0), best_bins(10_000, 1.0, dim=2)
    (12, 6)
    """
    n, dim = _check.people("n", n), _check.integer("dim", dim, 1)
    epsilon, lipschitz = _check.positive("epsilon", epsilon), _check.positive("lipschitz", lipschitz)
    variance = _coins.geometric(epsilon, 2, 1, 2).noise_variance
    low, high = 1, max(1, math.floor(MAX_BINS ** (1 / dim) + 1e-9))
    while low < high:  # the bound is unimodal
        middle = (low + high) // 2
        if _risk(middle, n, variance, dim, lipschitz) <= _risk(middle + 1, n, variance, dim, lipschitz):
            high = middle
        else:
            low = middle + 1
    return low


def _counts(records: AnyArray, bins: int, dim: int, nan: str) -> NDArray[np.int64]:
    """Return the number of records in each cell. The upper ends belong to the last cells."""
    counts, rows = np.zeros(bins**dim, np.int64), max(1, PIECE_NUMBERS // dim)
    for start in range(0, len(records), rows):
        piece = records[start : start + rows].astype(np.float64).reshape(-1, dim)
        bad = ~np.isfinite(piece)
        if bad.any():
            if nan == "raise":
                raise invalid_error(records)
            piece[bad] = 0.5
        cells = np.minimum(np.clip(piece, 0, 1) * bins, bins - 1).astype(np.intp)
        places = np.ravel_multi_index(tuple(cells.T), (bins,) * dim)
        counts += np.bincount(places, minlength=len(counts))
    return counts
