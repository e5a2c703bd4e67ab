"""Histogram of the unit cube: counts with integer noise (Barber and Duchi, corrected)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _coins
from .._plots import axes
from .._random import open_stream
from .._typing import AnyArray, Floats
from ..estimation import project_simplex
from ..privacy import Guarantee
from ..results import Estimate, Normal
from ._noise import MOST_NOISE, laplace_numbers
from ._records import PIECE_NUMBERS, array, invalid_error

if TYPE_CHECKING:
    from .._typing import RNGLike

MOST_BINS, MOST_AXES = 1 << 26, 32  # in all


@dataclass(frozen=True, eq=False)
class CubeHistogram(Estimate[Floats]):
    """A private histogram of the unit cube: call it on points. `value` are the shares of the cells, shape (bins,) * dim.

    Attributes
    ----------
    risk : float
        A bound on the expected integrated squared error, for densities with slopes of at most `lipschitz`.
    """

    risk: float = field(default=0.0, kw_only=True)

    @property
    def bins(self) -> int:
        """Per axis."""
        return int(self.value.shape[0])

    def __call__(self, points: ArrayLike) -> Any:
        """The density: unbiased for the mean density of the cell of each point; it may be negative.

        Parameters
        ----------
        points : array_like
            Shape (..., dim), or any shape where dim is 1.

        Returns
        -------
        density : float or ndarray
            Zero outside of the cube.

        Raises
        ------
        TypeError, ValueError
            If they are not real numbers, or of another dimension.
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
        """The nearest histogram of a density: shares >= 0 that sum to 1. Its risk is no larger.

        Returns
        -------
        density : CubeHistogram
            No further privacy is spent.
        """
        shares = project_simplex(self.value.ravel()).reshape(self.value.shape)
        return CubeHistogram(shares, self.stderr, self.n, self.guarantee, None, self.rule, risk=self.risk)

    def plot(self, ax: Any = None) -> Any:
        """Draw the density, of one or two dimensions.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            By default a new one.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ValueError
            If there are more than two dimensions.
        ImportError
            If matplotlib is not installed (extra "plot").
        """
        density = self.value * self.bins**self.value.ndim
        if self.value.ndim > 2:
            raise ValueError(f"a histogram of at most 2 dimensions can be drawn, not of {self.value.ndim}")
        ax = axes(ax)
        if self.value.ndim == 1:
            ax.stairs(density, np.linspace(0, 1, self.bins + 1), fill=True, alpha=0.6)
            ax.set_ylabel("density")
        else:
            image = ax.imshow(density.T, origin="lower", extent=(0, 1, 0, 1), aspect="auto")
            ax.figure.colorbar(image, ax=ax, label="density")
        return ax

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
    """The density of records in the unit cube, by a histogram with integer noise.

    Parameters
    ----------
    x : array_like, shape (n,) or (n, dim)
        Records of a trusted curator, clipped to [0, 1] in each coordinate; n is public.
    epsilon : float
        Privacy parameter, > 0.
    bins : int, optional
        Per axis, >= 1. By default the number with the least bound on the risk (`best_bins`).
    lipschitz : float, default 1.0
        L, a bound on the slope of the density: for the choice of `bins` and the bound on the risk.
    nan : {"raise", "centre"}
        Records that are not finite are refused, which is outside of the guarantee, or count as 1/2 there.
    rng : None, int, SeedSequence, Generator or BitGenerator

    Returns
    -------
    density : CubeHistogram

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range; if there would be more than 2^26 cells; if `x` is empty, of a wrong shape, or
        (`nan` = "raise") not finite.

    Notes
    -----
    O(n dim) time. Standard errors are those of the noise and of sampling, at the share that was found.

    Privacy
    -------
    Neighbours differ in one record, which is replaced: two counts change by one. Discrete Laplace noise with exact
    coins, exactly `guarantee.epsilon`. docs/proofs/central.md. Nothing is claimed about time.

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, section 4:
    there k is
       the number of bins of an axis.
    """
    epsilon, lipschitz = _check.positive("epsilon", epsilon), _check.positive("lipschitz", lipschitz)
    records = array(x, nan, rows=True)
    n, dim = len(records), 1 if records.ndim == 1 else records.shape[1]
    if dim > MOST_AXES:
        raise ValueError(f"x must have at most {MOST_AXES} columns, got {dim}")
    bins = best_bins(n, epsilon, dim, lipschitz) if bins is None else _check.integer("bins", bins, 1)
    if bins**dim > MOST_BINS:
        raise ValueError(f"bins must be fewer than 2^26 in all, got {bins} for each of {dim} axes")
    counts = _counts(records, bins, dim, nan).astype(np.float64)
    coins = _coins.geometric(epsilon, 2, 1, 2)
    added = laplace_numbers(coins, bins**dim, open_stream(rng))
    limit = MOST_NOISE - n  # the noise itself is cut off nowhere short of that
    shares = (np.clip(counts + added, -limit, limit) / n).reshape((bins,) * dim)
    known = np.clip(shares, 0, 1)
    stderr = np.sqrt(known * (1 - known) / n + coins.noise_variance / n**2)
    guarantee = Guarantee("pure", coins.epsilon_realized)
    return CubeHistogram(
        shares, stderr, n, guarantee, None, Normal(), risk=_risk(bins, n, coins.noise_variance, dim, lipschitz)
    )


def _risk(bins: int, n: int, variance: float, dim: int, lipschitz: float) -> float:
    """A bound on the integrated squared error: sampling, noise, and what cells cannot resolve."""
    cells = float(bins) ** dim
    return (cells - 1) / n + cells**2 * variance / n**2 + lipschitz * lipschitz * dim / (12 * bins**2)


def best_bins(n: int, epsilon: float, dim: int = 1, lipschitz: float = 1.0) -> int:
    """The number of bins per axis with the least bound on the risk: about min(n^(1 / (dim + 2)), (n epsilon)^(1 / (dim + 1))).

    Parameters
    ----------
    n : int
    epsilon : float
    dim : int
    lipschitz : float

    Returns
    -------
    bins : int
        At most as many as give 2^26 cells.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range.
    """
    n, dim = _check.integer("n", n, 1), _check.integer("dim", dim, 1)
    epsilon, lipschitz = _check.positive("epsilon", epsilon), _check.positive("lipschitz", lipschitz)
    variance = _coins.geometric(epsilon, 2, 1, 2).noise_variance
    low, high = 1, max(1, math.floor(MOST_BINS ** (1 / dim) + 1e-9))
    while low < high:  # the bound has one valley
        middle = (low + high) // 2
        if _risk(middle, n, variance, dim, lipschitz) <= _risk(middle + 1, n, variance, dim, lipschitz):
            high = middle
        else:
            low = middle + 1
    return low


def _counts(records: AnyArray, bins: int, dim: int, nan: str) -> NDArray[np.int64]:
    """How many records are in each cell; the upper ends belong to the last."""
    counts, rows = np.zeros(bins**dim, np.int64), max(1, PIECE_NUMBERS // dim)
    for at in range(0, len(records), rows):
        piece = records[at : at + rows].astype(np.float64).reshape(-1, dim)
        bad = ~np.isfinite(piece)
        if bad.any():
            if nan == "raise":
                raise invalid_error(records)
            piece[bad] = 0.5
        cells = np.minimum(np.clip(piece, 0, 1) * bins, bins - 1).astype(np.intp)
        places = np.ravel_multi_index(tuple(cells.T), (bins,) * dim)
        counts += np.bincount(places, minlength=len(counts))
    return counts
