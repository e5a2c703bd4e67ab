"""Truncated means: rows are moved into a ball, added up exactly, and noise is added once (Barber and Duchi, corrected)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check, _threads
from .._core import tally
from .._core.stream import Stream
from .._formulas import clipping_constant
from .._random import normals, open_stream
from .._typing import AnyArray, Floats
from ..domains import Reals
from ..results import Estimate, Normal
from ._definitions import LEAST, MOST, Definition, Pure, definition_of
from ._noise import FINE
from ._records import PIECE_NUMBERS, array, invalid_error

if TYPE_CHECKING:
    from .._typing import RNGLike


@dataclass(frozen=True, eq=False)
class MeanEstimate(Estimate[Any]):
    """A private mean.

    Attributes
    ----------
    level : float
        The level T of the truncation: rows were moved into the ball of that radius.
    noise : float
        Standard deviation of what was added to each coordinate for privacy.
    risk : float
        A bound on the expected squared Euclidean error, from public parameters.
    """

    level: float = field(default=0.0, kw_only=True)
    noise: float = field(default=0.0, kw_only=True)
    risk: float = field(default=0.0, kw_only=True)

    def to_dict(self) -> dict[str, Any]:
        """As `Estimate`, with the other attributes."""
        return {**super().to_dict(), "level": self.level, "noise": self.noise, "risk": self.risk}

    __repr__ = Estimate.__repr__


def mean(
    x: ArrayLike,
    *,
    privacy: str = "pure",
    epsilon: float,
    delta: float = 0.0,
    moment: float,
    radius: float,
    rule: str | float = "sharp",
    noise: str = "grid",
    nan: str = "raise",
    rng: RNGLike = None,
) -> MeanEstimate:
    """The mean of numbers or rows of which a moment is bounded: ``E|X|^moment <= radius^moment``, in the Euclidean norm.

    Parameters
    ----------
    x : array_like, shape (n,) or (n, dim)
        Records of a trusted curator; n is public. A memory map is read once, in pieces.
    privacy : {"pure", "smooth", "approximate", "kl", "tv"}
        The definition: differential privacy; the same with a loss that is proportional to how far a row moves
        ("smooth": in the l2 ball of radius `level`, on a grid of 2^40 steps; whole at the diameter); with `delta`;
        bounded Kullback-Leibler divergence; bounded total variation.
    epsilon : float
        Level of that definition, > 0; for "tv" in (0, 1), for "pure" and "smooth" at most 64.
    delta : float
        In (0, 1) for "approximate", else 0.
    moment : float
        Which moment is bounded, > 1; ``inf``: the rows themselves are.
    radius : float
        The bound, > 0.
    rule : {"sharp", "paper"} or float
        The level of truncation: that of the least bound on the risk, the published rate, or a number > 0. For bounded
        rows the first two are the radius.
    noise : {"grid", "l2"}
        Integers on a grid, exact; or, for "pure" and "smooth", noise of density exp(-c |w|), which has about half of
        the variance of the grid's in high dimension, but only in the ideal: it is made of doubles. IDEAL ONLY.
    nan : {"raise", "centre"}
        Rows with numbers that are not finite are refused, which is outside of the guarantee, or count as zero.
    rng : None, int, SeedSequence, Generator or BitGenerator

    Returns
    -------
    estimate : MeanEstimate
        `stderr` and interval are for the mean of the population, from public parameters and the noise alone; they allow
        for the worst bias of the truncation.

    Raises
    ------
    TypeError, ValueError
        If an argument is out of range, or the level of truncation not in [1e-18, 1e18]; if `x` has a wrong dtype or
        shape or is empty, or (`nan` = "raise") not finite.

    Notes
    -----
    One pass, all threads, O(dim) memory. The sum is one of integers: no order or splitting of the rows changes it.

    Privacy
    -------
    Neighbours differ in one row, which is replaced. Exact: sensitivities are counted in steps after all rounding, noise
    is integer (discrete Laplace for "pure" and "smooth"; discrete Gaussian for the others). docs/proofs/central.md; it
    lists the published constants that do not give what they promise. ``noise="l2"`` is ideal only. Nothing is claimed
    about time.

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
    """
    _check.choice("noise", noise, ("grid", "l2"))
    definition, radius = definition_of(privacy, epsilon, delta), _check.positive("radius", radius)
    order = _moment(moment)
    records = array(x, nan, rows=True)
    n, dim = len(records), 1 if records.ndim == 1 else records.shape[1]
    if noise == "l2":
        if not isinstance(definition, Pure):
            raise ValueError(f'noise must be "grid" for privacy={privacy!r}, got "l2"')
        added, nu = None, 4 * dim * (dim + 1) / (n * definition.epsilon) ** 2
        guarantee = definition.guarantee
    else:
        added = definition.noise(dim)
        nu = dim * (added.variance + 0.25) * (added.grid.step / FINE / n) ** 2  # 1/4: random rounding of the sum
        guarantee = added.guarantee
    level = truncation(rule, order, radius, nu, n, dim, definition)
    if not LEAST <= level <= MOST:
        raise ValueError(f"radius and rule must give a level in [{LEAST:g}, {MOST:g}], got {level!r}")
    total = clipped_sum(records, dim, level, nan)
    stream = open_stream(rng)
    if added is None:
        value = np.array([s / FINE * level for s in total]) + ball_noise(dim, 2 * level / definition.epsilon, stream)
    else:
        limit, rounded = added.grid.limit(n), np.array(added.grid.round(total, stream), np.float64)
        value = np.clip(rounded + added.draw(stream), -limit, limit) * (added.grid.step / FINE * level)
    value /= n
    bias, spread = _truncated(order, radius, level)
    noise_deviation = math.sqrt(nu / dim) * level
    stderr = math.sqrt(spread / n + noise_deviation**2)
    return MeanEstimate(
        float(value[0]) if records.ndim == 1 else value,
        stderr if records.ndim == 1 else np.full(dim, stderr),
        n,
        guarantee,
        None,
        Normal(bias),
        level=level,
        noise=noise_deviation,
        risk=spread / n + bias**2 + nu * level**2,
    )


def _moment(moment: float) -> float:
    if isinstance(moment, float) and math.isinf(moment) and moment > 0:
        return math.inf
    order = _check.real("moment", moment)
    if not order > 1:
        raise ValueError(f"moment must be > 1, or inf, got {moment!r}")
    return order


def _truncated(order: float, radius: float, level: float) -> tuple[float, float]:
    """Bounds of the bias of rows moved into the ball of radius `level`, and of their mean squared norm."""
    if math.isinf(order):
        return max(radius - level, 0.0), min(radius, level) ** 2
    log_bias = math.log(clipping_constant(order)) + (order - 1) * math.log(radius / level)
    bias = radius * math.exp(min(log_bias, 0.0))
    square = radius**2 if order >= 2 else math.pow(radius, order) * math.pow(level, 2 - order)
    return bias, min(square, level**2)


def truncation(
    rule: str | float,
    order: float,
    radius: float,
    nu: float,
    n: int,
    dim: int,
    definition: Definition,
) -> float:
    """The level T: a number, or by a rule; nu T^2 is the variance of the noise."""
    if not isinstance(rule, str):
        return _check.positive("rule", rule)
    _check.choice("rule", rule, ("sharp", "paper"))
    if math.isinf(order):
        return radius
    if rule == "sharp":
        level = radius * math.pow((order - 1) * clipping_constant(order) ** 2 / nu, 1 / (2 * order))
        return level if order >= 2 else _best_level(order, radius, nu, n, level)
    return radius * math.pow(definition.published_rate(n, dim), 1 / order)


def _best_level(order: float, radius: float, nu: float, n: int, start: float) -> float:
    """Of the least bound on the risk for a moment below 2, where the spread of truncated rows grows with the level: a sum of
    exponentials of its logarithm, hence convex."""
    from scipy.optimize import minimize_scalar

    def risk(more: float) -> float:
        log_level = math.log(start / radius) + more
        spread = math.exp((2 - order) * log_level) / n
        bias = clipping_constant(order) ** 2 * math.exp((2 - 2 * order) * log_level)
        return spread + bias + nu * math.exp(2 * log_level)

    return start * math.exp(
        float(minimize_scalar(risk, bounds=(-20.0, 20.0), method="bounded", options={"xatol": 1e-8}).x)
    )


def clipped_sum(records: AnyArray, dim: int, radius: float, nan: str) -> NDArray[np.object_]:
    """The sum of rows that are moved into the ball, in integers: steps of radius 2^-40."""
    n, rows = len(records), max(1, PIECE_NUMBERS // dim)
    convert = Reals().convert

    def work(start: int, stop: int) -> NDArray[np.uint64]:
        state, scratch = np.zeros((dim, 2), np.uint64), np.empty(2 * dim)
        for at in range(start, stop, rows):
            piece = convert(records[at : min(stop, at + rows)])
            if tally.add_clipped(piece, dim, radius, scratch, state) and nan == "raise":
                raise invalid_error(records)
        return state

    total = np.zeros(dim, dtype=object)
    for state in _threads.parallel_map(work, n, 1, records.size):
        total += [
            int(low) + (int(high) << 64) for low, high in zip(state[:, 0], state[:, 1].view(np.int64), strict=True)
        ]
    return total


def ball_noise(dim: int, scale: float, stream: Stream) -> Floats:
    """Of density exp(-|w| / scale): a uniform direction, and a length of the gamma law with `dim` degrees. Ideal only."""
    direction, length = normals(stream, dim), normals(stream, 2 * dim)
    return np.asarray(direction / np.linalg.norm(direction) * (scale * 0.5 * float(length @ length)))
