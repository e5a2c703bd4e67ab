"""Truncated means: rows are moved into a ball and added exactly, then noise is added once.

The constants are from Barber and Duchi, corrected.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _threads
from .._core import tally
from .._formulas import clipping_constant
from .._random import open_stream
from .._typing import AnyArray, Floats
from ..domains import Reals
from ..results import Estimate, Normal
from ._curator_records import PIECE_NUMBERS, array, invalid_error
from ._definitions import LEAST, MOST, Definition, Pure, definition_of
from ._noise import FINE, Noise

if TYPE_CHECKING:
    from .._random import RNGLike


@dataclass(frozen=True, eq=False)
class MeanEstimate(Estimate[Any]):
    """Private mean of numbers or rows.

    Attributes
    ----------
    level : float
        Truncation radius T: rows were moved into the ball of this radius.
    noise : float
        Standard deviation of the noise added to each coordinate.
    risk : float
        Upper bound on the expected squared Euclidean error, from public parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import central
    >>> estimate = central.mean(np.ones(10_000), epsilon=1.0, moment=2, radius=2, rng=1)
    >>> bool(abs(estimate.value - 1) < 0.1), estimate.noise > 0
    (True, True)
    """

    level: float = field(default=0.0, kw_only=True)
    noise: float = field(default=0.0, kw_only=True)
    risk: float = field(default=0.0, kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """Return the attributes as plain types."""
        return {**super().to_dict(), "level": self.level, "noise": self.noise, "risk": self.risk}

    def _unit(self) -> str:
        return " (unit of the records)"

    def _names(self) -> tuple[str, str]:
        return "mean", "coordinate"

    __repr__ = Estimate.__repr__


def mean(
    x: ArrayLike,
    *,
    privacy: str = "pure",
    epsilon: float,
    delta: float = 0.0,
    moment: float | None = None,
    radius: float | None = None,
    lower: float | None = None,
    upper: float | None = None,
    method: str | float = "optimal",
    noise: str = "grid",
    nan: str = "raise",
    rng: RNGLike = None,
) -> MeanEstimate:
    """Return a private mean of numbers in an interval, or of numbers or rows with a bounded moment.

    Either the ends of the interval are declared, or a moment: the assumption is then ``E|X|^moment <= radius^moment``, in the
    Euclidean norm.

    Parameters
    ----------
    x : array_like, shape (n,) or (n, dim)
        Records; n is public. A memory map is read once, in pieces.
    privacy : {"pure", "smooth", "approximate", "kl", "tv"}
        Definition of privacy.

        - "pure": differential privacy.
        - "smooth": differential privacy with a loss proportional to the distance that a row moves, in the l2 ball of
          radius `level` on a grid of 2^40 steps; the loss is epsilon at the diameter.
        - "approximate": (epsilon, delta)-differential privacy.
        - "kl": bounded Kullback-Leibler divergence.
        - "tv": bounded total variation.
    epsilon : float
        Parameter of the definition, > 0; in (0, 1) for "tv", at most 64 for "pure" and "smooth".
    delta : float
        In (0, 1) for "approximate", else 0.
    moment : float, optional
        Order of the bounded moment, > 1; ``inf`` if the rows themselves are bounded.
    radius : float, optional
        Bound on the moment, > 0.
    lower, upper : float, optional
        Public bounds in the place of a moment, for numbers, which are clipped to them. What is averaged are the distances from
        the center of the interval, with the radius (upper - lower) / 2.
    method : {"optimal", "paper"} or float
        Truncation radius: "optimal" minimizes the bound on the risk, "paper" is the published rate, and a number > 0 is
        used as it is. For bounded rows, "optimal" and "paper" are equal to `radius`.
    noise : {"grid", "l2"}
        "grid": integers on a grid, about 2 ns per coordinate. "l2", for "pure" and "smooth": noise with density
        exp(-c |w|), rounded down to integers, which has about half the variance in high dimension and takes 0.05 ms
        per coordinate.
    nan : {"raise", "center"}
        Treatment of rows with numbers that are not finite: an error, which is outside the guarantee, or replacement by
        zero; by the center of [lower, upper], if these are given.
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness; only ``None`` is private.

    Returns
    -------
    estimate : MeanEstimate
        Mean. `stderr` and the interval are for the mean of the population; they depend only on public parameters, and
        include the largest bias of the truncation.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, the truncation radius is not in [1e-18, 1e18], or `x` is empty, has a wrong
        dtype or shape or (if `nan` is "raise") is not finite; unless either `moment` and `radius` or `lower` and `upper`
        are given.

    Privacy
    -------
    For the replacement of one row. The guarantee is exact: sensitivities are counted in steps after all rounding, and
    the noise is integer (discrete Laplace for "pure" and "smooth", or rounded l2 noise; discrete Gaussian for the
    others). Running time is not protected. See docs/proofs/central.md; docs/central.md lists published constants that
    do not give the stated guarantee.

    Notes
    -----
    One pass with all threads, O(dim) memory. Rows are added as integers, so the sum does not depend on their order or
    on how they are split.

    References
    ----------
    .. [1] R. F. Barber, J. C. Duchi, "Privacy and statistical risk: formalisms and minimax bounds", 2014, section 3.1.
    .. [2] C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> x = np.random.default_rng(1).exponential(1.0, 100_000)
    >>> estimate = ldp.central.mean(x, epsilon=1.0, moment=4, radius=24**0.25, rng=1)
    >>> bool(abs(estimate.value - 1) < 0.02)
    True
    >>> bool(abs(ldp.central.mean(x, epsilon=1.0, lower=0, upper=20, rng=1).value - 1) < 0.02)
    True
    """
    _check.choice("noise", noise, ("grid", "l2"))
    definition = definition_of(privacy, epsilon, delta)
    bounds = _bounds(moment, radius, lower, upper)
    center = 0.0
    if bounds is None:
        order, ball = _check_moment(moment), _check.positive("radius", radius)
    else:
        order, ball = math.inf, (bounds[1] - bounds[0]) / 2
        if not LEAST <= ball <= MOST:
            raise ValueError(
                f"lower and upper must be between {2 * LEAST:g} and {2 * MOST:g} apart, got {lower!r} and {upper!r}"
            )
        center = bounds[0] + ball
    records = array(x, nan, rows=bounds is None)
    n, dim = len(records), 1 if records.ndim == 1 else records.shape[1]
    release = Release.of(definition, noise, method, order, ball, n, dim)
    added, threshold = release.noise, release.threshold
    total = clipped_sum(records, dim, threshold, nan, bounds)
    value = center + added.add(total, n, open_stream(rng)) * (added.grid.step / FINE * threshold) / n
    stderr = math.sqrt(release.spread / n + release.deviation**2)
    return MeanEstimate(
        float(value[0]) if records.ndim == 1 else value,
        stderr if records.ndim == 1 else np.full(dim, stderr),
        n,
        added.guarantee,
        None,
        Normal(release.bias),
        level=threshold,
        noise=release.deviation,
        risk=release.risk,
        _span=(-math.inf, math.inf) if bounds is None else bounds,
    )


def _bounds(moment: Any, radius: Any, lower: Any, upper: Any) -> tuple[float, float] | None:
    """Return the ends of the interval of the records; None if a moment is given."""
    given = [name for name, value in zip(("moment", "radius"), (moment, radius), strict=True) if value is not None]
    ends = [name for name, value in zip(("lower", "upper"), (lower, upper), strict=True) if value is not None]
    if sorted([len(given), len(ends)]) != [0, 2]:
        raise ValueError(
            f"either moment and radius or lower and upper must be given, got {', '.join([*given, *ends]) or 'none'}"
        )
    return _check.interval(lower, upper) if ends else None


@dataclass(frozen=True)
class Release:
    """What a private mean does, from public numbers alone.

    Attributes
    ----------
    noise : Noise
        Noise of the sum.
    threshold : float
        Truncation radius.
    deviation : float
        Standard deviation of the noise of a coordinate of the mean.
    bias, spread : float
        Bounds on the bias of the truncation and on the mean squared norm of truncated rows.
    risk : float
        Bound on the expected squared Euclidean error.
    """

    noise: Noise
    threshold: float
    deviation: float
    bias: float
    spread: float
    risk: float

    @classmethod
    def of(
        cls, definition: Definition, noise: str, method: str | float, order: float, radius: float, n: int, dim: int
    ) -> Release:
        """Return the release of the mean of n rows; the arguments are as for `mean`."""
        if noise == "l2":
            if not isinstance(definition, Pure):
                raise ValueError(f'noise must be "grid" for privacy={definition.name!r}, got "l2"')
            added = definition.ball_noise(dim)
        else:
            added = definition.noise(dim)
        nu = dim * (added.variance + 0.25) * (added.grid.step / FINE / n) ** 2  # 1/4 for the rounding of the sum
        threshold = truncation(method, order, radius, nu, n, dim, definition)
        if not LEAST <= threshold <= MOST:
            raise ValueError(
                f"radius and method must give a truncation radius in [{LEAST:g}, {MOST:g}], got {threshold!r}"
            )
        bias, spread = _truncated(order, radius, threshold)
        risk = spread / n + bias**2 + nu * threshold**2
        return cls(added, threshold, math.sqrt(nu / dim) * threshold, bias, spread, risk)


def _check_moment(moment: float | None) -> float:
    """Return the order of a moment, if it is > 1."""
    if isinstance(moment, float) and math.isinf(moment) and moment > 0:
        return math.inf
    order = _check.real("moment", moment)
    if not order > 1:
        raise ValueError(f"moment must be > 1, or inf, got {moment!r}")
    return order


def _truncated(order: float, radius: float, threshold: float) -> tuple[float, float]:
    """Return bounds on the bias and on the mean squared norm of rows moved into the ball of radius `threshold`."""
    if math.isinf(order):
        return max(radius - threshold, 0.0), min(radius, threshold) ** 2
    log_bias = math.log(clipping_constant(order)) + (order - 1) * math.log(radius / threshold)
    bias = radius * math.exp(min(log_bias, 0.0))
    square = radius**2 if order >= 2 else math.pow(radius, order) * math.pow(threshold, 2 - order)
    return bias, min(square, threshold**2)


def truncation(
    method: str | float,
    order: float,
    radius: float,
    nu: float,
    n: int,
    dim: int,
    definition: Definition,
) -> float:
    """Return the truncation radius T, given or chosen; nu T^2 is the variance of the noise."""
    if not isinstance(method, str):
        return _check.positive("method", method)
    _check.choice("method", method, ("optimal", "paper"))
    if math.isinf(order):
        return radius
    if method == "optimal":
        threshold = radius * math.pow((order - 1) * clipping_constant(order) ** 2 / nu, 1 / (2 * order))
        return threshold if order >= 2 else _best_radius(order, radius, nu, n, threshold)
    return radius * math.pow(definition.published_rate(n, dim), 1 / order)


def _best_radius(order: float, radius: float, nu: float, n: int, start: float) -> float:
    """Return the truncation radius with the least bound on the risk, for a moment below 2.

    The second moment of truncated rows increases with the radius. The bound is a sum of exponentials of the logarithm
    of the radius, so it is convex.
    """
    from scipy.optimize import minimize_scalar

    def risk(more: float) -> float:
        log_ratio = math.log(start / radius) + more
        spread = math.exp((2 - order) * log_ratio) / n
        bias = clipping_constant(order) ** 2 * math.exp((2 - 2 * order) * log_ratio)
        return spread + bias + nu * math.exp(2 * log_ratio)

    return start * math.exp(
        float(minimize_scalar(risk, bounds=(-20.0, 20.0), method="bounded", options={"xatol": 1e-8}).x)
    )


def clipped_sum(
    records: AnyArray, dim: int, radius: float, nan: str, bounds: tuple[float, float] | None = None
) -> NDArray[np.object_]:
    """Return the sum of rows moved into the ball, as integers in steps of radius 2^-40.

    With bounds, records are numbers, and the ball is around the center of the bounds.
    """
    n, rows = len(records), max(1, PIECE_NUMBERS // dim)
    convert = Reals().convert

    def work(start: int, stop: int) -> NDArray[np.uint64]:
        state, scratch = np.zeros((dim, 2), np.uint64), np.empty(2 * dim)
        for row in range(start, stop, rows):
            piece = convert(records[row : min(stop, row + rows)])
            piece = piece if bounds is None else _centered(piece, *bounds)
            if tally.add_clipped(piece, dim, radius, scratch, state) and nan == "raise":
                raise invalid_error(records)
        return state

    total = np.zeros(dim, dtype=object)
    for state in _threads.parallel_map(work, n, 1, records.size):
        total += [
            int(low) + (int(high) << 64) for low, high in zip(state[:, 0], state[:, 1].view(np.int64), strict=True)
        ]
    return total


def _centered(numbers: AnyArray, lower: float, upper: float) -> Floats:
    """Return the distances of numbers from the center of an interval, after clipping; NaN for what is not finite."""
    distances: Floats = np.clip(numbers, lower, upper, dtype=np.float64) - (lower + (upper - lower) / 2)
    distances[~np.isfinite(numbers)] = np.nan
    return distances
