"""Means of vectors in a ball or a box (Duchi, Jordan, Wainwright 2018, corollary 4)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import AnyArray, Floats
from ..domains import Ball, Box, Domain
from ..mechanisms import L2Ball, LinfBall
from ..results import Estimate
from .protocols import FEW_REPORTS, Problem, warn_few

MAX_BOX_DIM = 1 << 20  # coordinates of a box, whose ends are kept as numbers of Python


@dataclass(frozen=True, eq=False, repr=False)
class VectorEstimate(Estimate[Floats]):
    """Estimate of a mean vector.

    Attributes
    ----------
    center : ndarray
        Center of the ball or box that contains the records.
    scale : ndarray
        Standard deviation of each coordinate of a decoded report, for a record at the center.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import vector_mean
    >>> estimate = vector_mean(np.full((10_000, 3), 0.5), 1.0, rng=1)
    >>> low, high = estimate.interval(simultaneous=True)
    >>> bool((low < 0.5).all() and (high > 0.5).all())
    True
    >>> estimate.shrunken.shape
    (3,)
    """

    center: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    scale: Floats = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def shrunken(self) -> Floats:
        """Value shrunk toward the center, which is biased and has a smaller error where n is small.

        The difference from the center is multiplied by max(0, 1 - dim / (n |u|^2)), where u is this difference in units
        of `scale`. The result is the center itself where n is too small to detect a difference.
        """
        away = (self.value - self.center) / self.scale
        size = float(away @ away) * self.n
        return np.asarray(
            self.center + (self.value - self.center) * max(0.0, 1 - len(away) / size if size > 0 else 0.0)
        )

    def region(self, confidence: float = 0.95) -> Region:
        """Return a confidence region for the mean vector, by the chi-square distribution.

        Parameters
        ----------
        confidence : float, default 0.95
            Probability that the region contains the mean vector.

        Returns
        -------
        region : Region

        Raises
        ------
        TypeError, ValueError
            If `confidence` is not a number in (0, 1).
        """
        from scipy.special import chdtri

        dim = len(self.value)
        limit = float(chdtri(dim, 1 - _check.probability("confidence", confidence)))
        return Region(self.value, self.scale / math.sqrt(self.n), self.center, self.n, limit)

    def _unit(self) -> str:
        return " (unit of the records)"

    def _names(self) -> tuple[str, str]:
        return "mean", "coordinate"


@dataclass(frozen=True, eq=False)
class Region:
    """Confidence region for a mean vector, which is nearly an ellipsoid.

    It contains all m for which (value - m)^T C(m)^-1 (value - m) is at most a quantile of the chi-square distribution.
    C(m) is the covariance of the value if m is the mean: the diagonal covariance of the noise, minus the outer product
    of m - center with itself over n.

    Attributes
    ----------
    value : ndarray
        Estimated mean.
    stderr : ndarray
        Standard deviation of each coordinate of the noise.
    center : ndarray
        Center of the ball or box that contains the records.
    n : int
        Number of reports.
    limit : float
        Quantile of the chi-square distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import vector_mean
    >>> region = vector_mean(np.full((10_000, 3), 0.5), 1.0, rng=1).region()
    >>> bool(region.contains([0.5, 0.5, 0.5])), bool(region.contains([0.0, 0.0, 0.0]))
    (True, False)
    """

    value: Floats
    stderr: Floats
    center: Floats
    n: int
    limit: float

    @property
    def radii(self) -> Floats:
        """Half-axes of the ellipsoid for the noise alone, which contains this region and is parallel to the axes."""
        return math.sqrt(self.limit) * self.stderr

    def contains(self, points: ArrayLike) -> Any:
        """Return whether points are in the region.

        Parameters
        ----------
        points : array_like, shape (dim,) or (m, dim)

        Returns
        -------
        inside : bool or ndarray of bool
        """
        tested = np.asarray(points, np.float64)
        away = (tested - self.value) / self.stderr
        mean = (tested - self.center) / self.stderr / math.sqrt(self.n)
        norm = np.minimum((mean**2).sum(axis=-1), 1 - 1e-9)  # below 1 for every possible mean
        distance = (away**2).sum(axis=-1) + (away * mean).sum(axis=-1) ** 2 / (1 - norm)
        return distance <= self.limit


@dataclass(frozen=True)
class VectorMean(Problem[VectorEstimate]):
    """Mean of vectors in a Euclidean ball or in a box.

    Parameters
    ----------
    dim : int
        Dimension d >= 1; at most 2^20 with `lower` and `upper`.
    epsilon : float
        Privacy parameter of the whole vector, > 0.
    norm : {"l2", "linf"}
        "l2": Euclidean ball, privatized by `L2Ball`. "linf": box, privatized by `LinfBall`.
    radius : float, optional
        Radius r > 0 of the ball or box around zero. The default is 1 if `lower` and `upper` are not given.
    lower, upper : float or sequence of float, optional
        Ends of the box ("linf"), for all coordinates or for each. Records are centered and scaled before they are
        privatized; for data in [0, 1] this divides the variance by four.

    Raises
    ------
    TypeError, ValueError
        If ends are given with a radius or with norm "l2"; if not every lower < upper; if the mechanism rejects a
        parameter.

    Notes
    -----
    Records are floats of shape (n, dim). The estimate is unbiased, with `interval` (also simultaneous), `region` and
    `shrunken`. For the ball, E|value - mean|^2 = (B^2 - |mean|^2) / n, where B is the scale of the mechanism. 100
    reports are sufficient for the intervals.

    Privacy
    -------
    The guarantee of the mechanism. The client centers and scales before it randomizes, which costs no privacy.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), eq. 25 and 26, corollary 4.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import VectorMean
    >>> problem = VectorMean(2, 1.0, norm="linf", lower=[0, 0], upper=[1, 10])
    >>> estimate = problem.estimate(problem.privatize(np.tile([0.5, 2.0], (20_000, 1)), rng=1))
    >>> low, high = estimate.interval(simultaneous=True)
    >>> bool((low < [0.5, 2.0]).all() and (high > [0.5, 2.0]).all())
    True
    """

    dim: int
    epsilon: float
    _: KW_ONLY
    norm: str = "l2"
    radius: float | None = None
    lower: Any = None
    upper: Any = None
    mechanism: L2Ball | LinfBall = field(init=False, repr=False, compare=False)
    _center: Floats = field(init=False, repr=False, compare=False)
    _half: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim = _check.integer("dim", self.dim, 1)
        norm = _check.choice("norm", self.norm, ("l2", "linf"))
        if (self.lower is None) != (self.upper is None):
            raise ValueError("lower and upper must be given together")
        if self.lower is None:
            radius = 1.0 if self.radius is None else self.radius
            ball: L2Ball | LinfBall = (
                L2Ball(dim, self.epsilon, radius=radius) if norm == "l2" else LinfBall(dim, self.epsilon, radius=radius)
            )
            domain: Domain = Ball(dim, ball.radius, norm)
            center, half = np.broadcast_to(0.0, dim), np.broadcast_to(1.0, dim)  # without memory for each coordinate
        else:
            if norm == "l2" or self.radius is not None:
                raise ValueError(
                    "lower and upper must be left out with norm 'l2' or a radius: they are the ends of a box"
                )
            _check.integer("dim", dim, 1, MAX_BOX_DIM)
            lower, upper = _ends("lower", self.lower, dim), _ends("upper", self.upper, dim)
            for low, high in zip(lower, upper, strict=True):
                _check.interval(low, high)
            domain = Box(lower, upper)
            center, half = (np.array(upper) + lower) / 2, (np.array(upper) - lower) / 2
            ball = LinfBall(dim, self.epsilon)
        for name in ("lower", "upper"):
            if np.ndim(getattr(self, name)) == 1:
                self._set(**{name: tuple(map(float, getattr(self, name)))})
        self._define(ball, domain, _center=center, _half=half)

    def _encode(self, records: AnyArray) -> AnyArray:
        if self.lower is None:
            return records
        with np.errstate(over="ignore", invalid="ignore"):  # numbers outside, and signaling NaN
            # In double precision, because a narrow box and its center have no good approximation in single precision.
            scaled = (records.astype(np.float64, copy=False) - self._center) / self._half
            return np.asarray(scaled.astype(records.dtype, copy=False))

    def _convert(self, raw: Estimate[Any]) -> VectorEstimate:
        warn_few(raw.n, FEW_REPORTS, "the interval of a vector mean")
        noise = self.mechanism.scale / (math.sqrt(self.dim) if self.norm == "l2" else 1)
        return VectorEstimate(
            self._center + self._half * raw.value,
            self._half * raw.stderr,
            raw.n,
            raw.guarantee,
            None,
            _AffineRule(raw, self._center, self._half),
            self._center,
            self._half * noise,
        )


@dataclass(frozen=True, eq=False, repr=False)
class _AffineRule:
    """Interval rule of an estimate, for an affine image of the estimate."""

    raw: Estimate[Floats]
    center: Floats
    half: Floats

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        low, high = self.raw.rule.bounds(self.raw.value, self.raw.stderr, tail)
        return self.center + self.half * low, self.center + self.half * high


def _ends(name: str, values: Any, dim: int) -> tuple[float, ...]:
    """Return one end for each coordinate."""
    ends = [values] * dim if np.ndim(values) == 0 else list(values)
    if len(ends) != dim:
        raise ValueError(f"{name} must be a number, or one for each of dim={dim} coordinates, got {len(ends)}")
    return tuple(_check.real(name, end) for end in ends)


def row_width(x: ArrayLike) -> int:
    """Return the number of columns of an array of rows."""
    shape = np.shape(_check.array("x", x))
    if len(shape) != 2 or shape[1] == 0:
        raise ValueError(f"x must have shape (n, dim) with dim >= 1, got shape {shape}")
    return int(shape[1])
