"""Means of vectors in a ball or a box (Duchi, Jordan, Wainwright 2018, corollary 4)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._described import chooses_again
from .._typing import AnyArray, Floats
from ..domains import Ball, Box, Domain
from ..mechanisms import (
    L2Ball,
    LinfBall,
    Mechanism,
    RankCodebook,
    RankedSigns,
    RotatedSigns,
    SampledCube,
    for_ball,
    for_box,
)
from ..results import Estimate
from ._region import HALF_SPACES, Region, Spread
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
        Standard deviation of each coordinate of a decoded report, for a record at the center. For `RotatedSigns` its square
        contains n times the variance of the error that all reports share.

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
    _spread: Spread = field(default=HALF_SPACES, repr=False)

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
        """Return a confidence region for the mean vector, from the covariance that follows from the mechanism.

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
        confidence = _check.probability("confidence", confidence)
        return Region(self.value, self.scale / math.sqrt(self.n), self.center, self.n, confidence, _spread=self._spread)

    def _unit(self) -> str:
        return " (unit of the records)"

    def _names(self) -> tuple[str, str]:
        return "mean", "coordinate"


@chooses_again
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
        "l2": Euclidean ball. "linf": box.
    radius : float, optional
        Radius r > 0 of the ball or box around zero. The default is 1 if `lower` and `upper` are not given.
    lower, upper : float or sequence of float, optional
        Ends of the box ("linf"), for all coordinates or for each. Records are centered and scaled before they are
        privatized; for data in [0, 1] this divides the variance by four.
    mechanism : {"auto", "half-space"} or Mechanism
        "auto": the mechanism with the smallest error (`mechanisms.for_ball` or `mechanisms.for_box`).
        "half-space": `L2Ball` or `LinfBall`. Half-spaces of a ball are much faster. A mechanism for this ball or box is taken
        as it is: an `L2Ball`, `RankCodebook`, `RankedSigns`, `RotatedSigns`, `LinfBall` or `SampledCube`. "auto" is never a
        `RotatedSigns`, which needs the number of a public rotation: give ``mechanisms.for_ball(dim, epsilon, rotation=...)``,
        which takes it where it is nearly the best. In repr and descriptions, "auto" is replaced by the mechanism.

    Raises
    ------
    TypeError, ValueError
        If ends are given with a radius or with norm "l2"; if not every lower < upper; if the mechanism rejects a
        parameter; if a given mechanism is for other records or another epsilon.

    Notes
    -----
    Records are floats of shape (n, dim). The estimate is unbiased, with `interval` (also simultaneous), `region` and
    `shrunken`. For the ball, E|value - mean|^2 = (B^2 - |mean|^2) / n, where B is the scale of the mechanism. 100
    reports are sufficient for the intervals. The time per person is a few nanoseconds per coordinate for half-spaces, 16 to
    16,384 times as long for `RankCodebook`, and the number of signs times as long for `RankedSigns`, but about the same for
    `RotatedSigns` in many dimensions.

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
    mechanism: Any = "auto"
    _center: Floats = field(init=False, repr=False, compare=False)
    _half: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim = _check.integer("dim", self.dim, 1)
        norm = _check.choice("norm", self.norm, ("l2", "linf"))
        if (self.lower is None) != (self.upper is None):
            raise ValueError("lower and upper must be given together")
        if self.lower is None:
            ball = self._ball(1.0 if self.radius is None else self.radius)
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
            ball = self._ball(1.0)
        for name in ("lower", "upper"):
            if np.ndim(getattr(self, name)) == 1:
                self._set(**{name: tuple(map(float, getattr(self, name)))})
        self._set(mechanism=ball)
        self._define(ball, domain, _center=center, _half=half)

    def _ball(self, radius: float) -> Any:
        """Return the mechanism for the ball or box around zero."""
        half_spaces = L2Ball if self.norm == "l2" else LinfBall
        if not isinstance(self.mechanism, Mechanism):
            name = _check.choice("mechanism", self.mechanism, ("auto", "half-space"))
            if name == "auto":
                self._set_chosen(mechanism=None)
                choose = for_ball if self.norm == "l2" else for_box
                return choose(self.dim, self.epsilon, radius=radius)
            return half_spaces(self.dim, self.epsilon, radius=radius)
        kinds = (L2Ball, RankCodebook, RankedSigns, RotatedSigns) if self.norm == "l2" else (LinfBall, SampledCube)
        if not isinstance(self.mechanism, kinds):
            names = ", ".join(kind.__name__ for kind in kinds)
            raise TypeError(
                f"mechanism must be a name or one of {names} for norm={self.norm!r}, got {type(self.mechanism).__name__}"
            )
        asked = self.dim, _check.positive("epsilon", self.epsilon), _check.positive("radius", radius)
        if (self.mechanism.dim, self.mechanism.epsilon, self.mechanism.radius) != asked:
            raise ValueError(
                f"mechanism must be for dim={self.dim}, epsilon={self.epsilon!r} and radius={radius!r}, got {self.mechanism!r}"
            )
        return self.mechanism

    def _encode(self, records: AnyArray) -> AnyArray:
        if self.lower is None:
            return records
        with np.errstate(over="ignore", invalid="ignore"):  # numbers outside, and signaling NaN
            # In double precision, because a narrow box and its center have no good approximation in single precision.
            scaled = (records.astype(np.float64, copy=False) - self._center) / self._half
            return np.asarray(scaled.astype(records.dtype, copy=False))

    def _convert(self, raw: Estimate[Any]) -> VectorEstimate:
        warn_few(raw.n, FEW_REPORTS, "the interval of a vector mean")
        ball, spread = self.mechanism, HALF_SPACES
        if self.norm == "l2":
            noise, length = ball.scale / math.sqrt(self.dim), ball.radius
        else:
            noise, length = math.sqrt(ball.worst_variance), ball.radius * math.sqrt(self.dim)
        shared = (
            raw.n * ball.shared_variance if isinstance(ball, RotatedSigns) else 0.0
        )  # as if every report had its part
        noise = math.sqrt(noise**2 + shared)
        if not isinstance(ball, L2Ball | LinfBall):
            # A record in a box is a mixture of vertices, whose reports spread less than those of two opposite vertices.
            moment = ball.moment if isinstance(ball, SampledCube) else ball.report.moment
            along = (moment + shared) / noise**2
            spread = Spread(along, (self.dim - along) / max(1, self.dim - 1), length / noise)
        return VectorEstimate(
            self._center + self._half * raw.value,
            self._half * raw.stderr,
            raw.n,
            raw.guarantee,
            None,
            _AffineRule(raw, self._center, self._half),
            self._center,
            self._half * noise,
            spread,
        )


@dataclass(frozen=True, eq=False, repr=False)
class _AffineRule:
    """Interval rule of an estimate, for an affine image of the estimate."""

    raw: Estimate[Floats]
    center: Floats
    half: Floats

    @property
    def by_coordinate(self) -> bool:
        """Whether the rule of the estimate has limits for every coordinate by itself."""
        return bool(getattr(self.raw.rule, "by_coordinate", False))

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
