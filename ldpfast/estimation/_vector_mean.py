"""Means of vectors in a ball or a box (Duchi, Jordan, Wainwright 2018, corollary 4)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import AnyArray, Floats
from ..domains import Ball, Box, Domain
from ..mechanisms import L2Ball, LinfBall
from ..results import Estimate
from .protocols import FEW_REPORTS, Problem, warn_few

if TYPE_CHECKING:
    from .._typing import RNGLike


@dataclass(frozen=True, eq=False, repr=False)
class VectorEstimate(Estimate[Floats]):
    """The estimate of a mean vector.

    Attributes
    ----------
    center : ndarray
        Middle of the ball or box that the records are in.
    scale : ndarray
        Standard deviation of each coordinate of a decoded report of a record in the middle.
    """

    center: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    scale: Floats = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def shrunken(self) -> Floats:
        """The value moved towards the center by the factor max(0, 1 - noise / size), in units of `scale`: the center itself
        where n is too small to see anything, and then the better estimate; biased."""
        away = (self.value - self.center) / self.scale
        size = float(away @ away) * self.n
        return np.asarray(
            self.center + (self.value - self.center) * max(0.0, 1 - len(away) / size if size > 0 else 0.0)
        )

    def region(self, confidence: float = 0.95) -> Region:
        """A region that contains the mean vector with the given probability, by the chi-square law.

        Parameters
        ----------
        confidence : float, default 0.95

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


@dataclass(frozen=True, eq=False)
class Region:
    """All means m with (value - m)^T C(m)^-1 (value - m) at most a quantile of chi-square.

    C(m) is the covariance of the value if m is the mean: that of the noise, which is diagonal, minus the outer product
    of m from the center over n. About an ellipsoid.
    """

    value: Floats
    stderr: Floats
    center: Floats
    n: int
    limit: float

    @property
    def radii(self) -> Floats:
        """Half axes, along the coordinates, of the ellipsoid of the noise alone, which contains this region."""
        return math.sqrt(self.limit) * self.stderr

    def contains(self, points: ArrayLike) -> Any:
        """Whether points are inside.

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
        norm = np.minimum((mean**2).sum(axis=-1), 1 - 1e-9)  # below 1 for every mean that is possible
        distance = (away**2).sum(axis=-1) + (away * mean).sum(axis=-1) ** 2 / (1 - norm)
        return distance <= self.limit


@dataclass(frozen=True)
class VectorMean(Problem[VectorEstimate]):
    """The mean of vectors in a Euclidean ball, or in a box.

    Parameters
    ----------
    dim : int
        d >= 1.
    epsilon : float
        Privacy parameter of the whole vector, > 0.
    norm : {"l2", "linf"}
        "l2": Euclidean ball, `L2Ball`. "linf": box, `LinfBall`.
    radius : float, optional
        r > 0: the ball or box around zero. By default 1, if no `lower` and `upper` are given.
    lower, upper : float or sequence of float, optional
        Ends of the box ("linf"), for all coordinates or for each. Records are centerd and scaled first: for data in [0,
        1] this divides the variance by four.

    Raises
    ------
    TypeError, ValueError
        If both a radius and ends are given, or ends with norm "l2"; if not every lower < upper; as the mechanism.

    Notes
    -----
    Records: floats, shape (n, dim). The estimate is unbiased, with `interval` (simultaneous too), `region`, and
    `shrunken`. E|value - mean|^2 = (B^2 - |mean|^2) / n for the ball. Sufficient n for the intervals: 100.

    Privacy
    -------
    That of the mechanism; centring the own record is free.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
    JASA
       113 (2018), eq. 25 and 26, corollary 4.
    """

    dim: int
    epsilon: float
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
                L2Ball(dim, self.epsilon, radius) if norm == "l2" else LinfBall(dim, self.epsilon, radius)
            )
            domain: Domain = Ball(dim, ball.radius, norm)
            center, half = np.zeros(dim), np.ones(dim)
        else:
            if norm == "l2" or self.radius is not None:
                raise ValueError(
                    "lower and upper must be left out with norm 'l2' or a radius: they are the ends of a box"
                )
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
        return np.asarray((records - self._center.astype(records.dtype)) / self._half.astype(records.dtype))

    def _conclude(self, raw: Estimate[Any]) -> VectorEstimate:
        warn_few(raw.n, FEW_REPORTS, "the interval of a vector mean")
        noise = self.mechanism.scale / (math.sqrt(self.dim) if self.norm == "l2" else 1)
        return VectorEstimate(
            self._center + self._half * raw.value,
            self._half * raw.stderr,
            raw.n,
            raw.guarantee,
            None,
            _Moved(raw, self._center, self._half),
            self._center,
            self._half * noise,
        )


@dataclass(frozen=True, eq=False, repr=False)
class _Moved:
    """The interval rule of an estimate, for its linear image."""

    raw: Estimate[Floats]
    center: Floats
    half: Floats

    def bounds(self, value: Floats, stderr: Floats, tail: float) -> tuple[Floats, Floats]:
        low, high = self.raw.rule.bounds(self.raw.value, self.raw.stderr, tail)
        return self.center + self.half * low, self.center + self.half * high


def _ends(name: str, values: Any, dim: int) -> tuple[float, ...]:
    """One end for each coordinate."""
    ends = [values] * dim if np.ndim(values) == 0 else list(values)
    if len(ends) != dim:
        raise ValueError(f"{name} must be a number, or one for each of dim={dim} coordinates, got {len(ends)}")
    return tuple(_check.real(name, end) for end in ends)


def row_width(x: ArrayLike) -> int:
    """Number of columns of an array of rows."""
    shape = np.shape(_check.array("x", x))
    if len(shape) != 2 or shape[1] == 0:
        raise ValueError(f"x must have shape (n, dim) with dim >= 1, got shape {shape}")
    return int(shape[1])


def vector_mean(
    x: ArrayLike,
    epsilon: float,
    *,
    norm: str = "l2",
    radius: float | None = None,
    lower: Any = None,
    upper: Any = None,
    clip: bool = False,
    rng: RNGLike = None,
) -> VectorEstimate:
    """The mean of vectors, each of them privatized by itself.

    Parameters
    ----------
    x : array_like of float, shape (n, dim)
    epsilon, norm, radius, lower, upper
        As for `VectorMean`.
    clip : bool, default False
        Project rows that are outside, instead of refusing them.
    rng : None, int, SeedSequence, Generator or BitGenerator

    Returns
    -------
    estimate : VectorEstimate
        With `shrunken` and `region` beside value and intervals.

    Raises
    ------
    TypeError, ValueError
        As `VectorMean`; if a row is outside and `clip` is false.

    Warns
    -----
    SmallSampleWarning
        For fewer than 100 people.

    Privacy
    -------
    Each row is epsilon-LDP by itself; everything else is a function of the reports.
    """
    return VectorMean(row_width(x), epsilon, norm, radius, lower, upper).run(x, rng=rng, clip=clip)
