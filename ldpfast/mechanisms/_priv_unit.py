"""The cap mechanism PrivUnit for vectors in a Euclidean ball, with a guarantee for real numbers only."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._formulas import half_space_constants
from .._random import Words
from .._typing import AnyArray, Floats
from ..domains import Ball
from ..privacy import Guarantee, TwoLevel
from ..reports import Decoding, Vectors
from ._half_space import check_ball, check_scale
from ._law import Law
from ._mechanism import Mechanism
from ._python import PythonKernel

MAX_DIM = 1 << 32  # the words of one row are at most half of a stream
MIN_EPSILON, MAX_EPSILON = 1e-6, 40.0
BLOCK_NUMBERS = 1 << 16  # normal numbers per record block, which stay in cache
FAR = 2.0**40  # coordinates beyond this many radii are clamped, so that no square overflows
TINY = 1e-150  # rows that are shorter than this many radii count as zero: their squares underflow
WORD = 1 << 64


@dataclass(frozen=True)
class PrivUnit(Mechanism):
    """The cap mechanism of Bhowmick and others for a vector in a Euclidean ball, private for real numbers only.

    It has the smallest possible error of an unbiased private report of a unit vector, and is meant for comparison. Use
    `L2Ball` or `RankCodebook` to collect reports: their guarantees hold in floating point.

    Parameters
    ----------
    dim : int
        Dimension d >= 1.
    epsilon : float
        Privacy parameter of the whole vector, in [1e-6, 40].
    radius : float, default 1.0
        Radius r > 0 of the ball.

    Attributes
    ----------
    scale : float
        The constant B, which is the Euclidean norm of every report.
    threshold : float
        The cosine gamma at the edge of the cap: the directions whose inner product with that of the record is at least
        gamma have a density that is e^epsilon times that of the others.
    cap_probability : float
        Probability p that the report is in the cap.

    Raises
    ------
    TypeError, ValueError
        If `dim` is not an integer in [1, 2^32], `radius` not in [1e-18, 1e18], or `epsilon` not in [1e-6, 40].

    Notes
    -----
    Records: floats, shape (n, dim), with Euclidean norm at most `radius`, up to a relative tolerance of 8 u sqrt(dim)
    for rounding, u the unit roundoff. Reports: unbiased floats of the same shape and dtype.

    A record x is replaced by +-r x / |x| with probabilities (1 +- |x| / r) / 2. Gamma is r / B, the value with the smallest
    error. The covariance of a report is ((B^2 - r^2) / d) I + (r^2 - |x|^2) v v^T with v = x / |x|, and (B^2 / d) I at 0. On
    the sphere it is the same in all directions and does not depend on the record. `estimate` sees sums only, so its standard
    errors are for the worst population, whose records are all +-r e_j for coordinate j: the square of each is
    ((B^2 - r^2) / d + r^2) / n. They are too large by about sqrt(1 + d r^2 / B^2) where the records spread over all
    coordinates.

    The time is one normal number per coordinate, by inversion, in NumPy: about 30 ns.

    Privacy
    -------
    epsilon-LDP for real numbers, `Guarantee.ideal`. There is no guarantee for the doubles that are sent: which doubles can
    be sent depends on the record. Rounding a report does not repair this. The time depends on the record and on the
    coin. docs/proofs/priv_unit.md.

    References
    ----------
    .. [1] A. Bhowmick, J. Duchi, J. Freudiger, G. Kapoor, R. Rogers, "Protection against reconstruction and its
       applications in private federated learning", 2018 (the mechanism).
    .. [2] H. Asi, V. Feldman, K. Talwar, "Optimal algorithms for mean estimation under local differential privacy",
       ICML 2022 (its optimality).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.PrivUnit(100, epsilon=4.0)
    >>> x = np.eye(100)[0]
    >>> print(f"{mechanism.variance(x).sum():.1f}, half-spaces: {ldp.L2Ball(100, 4.0).variance(x).sum():.1f}")
    42.8, half-spaces: 167.2
    >>> mechanism.guarantee
    Guarantee(definition='local', epsilon=4.0, delta=0.0, ideal=True)
    """

    dim: int
    epsilon: float
    _: KW_ONLY
    radius: float = 1.0
    scale: float = field(init=False, repr=False, compare=False)
    threshold: float = field(init=False, repr=False, compare=False)
    cap_probability: float = field(init=False, repr=False, compare=False)
    _heads: int = field(init=False, repr=False, compare=False)
    _folds: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim, epsilon, radius = check_ball(_check.integer("dim", self.dim, 1, MAX_DIM), self.epsilon, self.radius)
        if not MIN_EPSILON <= epsilon <= MAX_EPSILON:
            raise ValueError(
                f"epsilon must be in [{MIN_EPSILON:g}, {MAX_EPSILON:g}], where doubles hold the shape of the cap, "
                f"got {epsilon!r}"
            )
        self._set(dim=dim, epsilon=epsilon, radius=radius)
        threshold = _best_threshold(dim, epsilon)
        share, moment = cap_share(dim, threshold), cap_moment(dim, threshold)
        # The relative 2^-40 of the smaller density is more than the errors of `cap_share` and exp.
        tails = Fraction((1 - share) / (1 + share * math.expm1(epsilon))) * (1 + Fraction(1, 1 << 40))
        heads = WORD - math.ceil(tails * WORD)
        p = Fraction(heads, WORD)
        slope = moment * float(p - Fraction(share)) / (share * (1 - share))  # mean of the cosine
        scale = check_scale(radius / slope)
        report = Vectors(dim, scale, _worst_moment(dim, scale, radius))
        self.define(
            epsilon_realized=epsilon,
            domain=Ball(dim, radius, "l2"),
            report=report,
            kernel=PythonKernel(self.privatize_block, report, min(4096, max(1, BLOCK_NUMBERS // dim))),
            law=PrivUnitLaw(dim, scale, radius, p, share, self._directions),
            scale=scale,
            threshold=threshold,
            cap_probability=float(p),
            _heads=heads,
            _folds=threshold <= 2 * moment,  # which of the two draws from the cap is accepted more often
        )

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of each person: local differential privacy of one report, for real numbers only."""
        return Guarantee("local", self.epsilon_realized, ideal=True)

    def privatize_block(self, records: AnyArray, words: Words) -> AnyArray:
        from scipy.special import ndtri

        unit, length = self._directions(records)
        n = len(unit)
        normal = ndtri(_uniform(words, n * self.dim)).reshape(n, self.dim)
        unit[_uniform(words, n) >= (1 + length) / 2] *= -1
        in_cap = words.uint64(n) < np.uint64(self._heads)
        along = _products(normal, unit)
        first = np.clip(along / np.sqrt(_products(normal, normal)), -1.0, 1.0)  # rounding can exceed 1
        cosine = self._cosines(in_cap, first, words)
        cosine[length == 0] = 0.0  # without a direction, the report is the direction of the normal vector
        across = normal - along[:, np.newaxis] * unit
        width = np.sqrt(_products(across, across))
        factor = np.divide(np.sqrt((1 - cosine) * (1 + cosine)), width, out=np.zeros(n), where=width > 0)
        made = cosine[:, np.newaxis] * unit + factor[:, np.newaxis] * across
        # `unit` and `across` are orthogonal unit vectors up to rounding only.
        made *= (self.scale / np.sqrt(_products(made, made)))[:, np.newaxis]
        return np.asarray(made)

    def _directions(self, records: AnyArray) -> tuple[Floats, Floats]:
        """Return x / |x|, or 0 for the center, and min(|x| / r, 1). Rows with NaN count as the center."""
        with np.errstate(invalid="ignore"):  # signaling NaN
            x = records.astype(np.float64) / self.radius
        x[np.isnan(x).any(axis=1)] = 0.0
        np.clip(x, -FAR, FAR, out=x)
        length = np.sqrt(_products(x, x))
        length[length < TINY] = 0.0
        unit = np.divide(x, length[:, np.newaxis], out=np.zeros_like(x), where=length[:, np.newaxis] > 0)
        return unit, np.minimum(length, 1.0)

    def _cosines(self, in_cap: NDArray[np.bool_], first: Floats, words: Words) -> Floats:
        """Return the cosines of the reports, in the cap or outside of it.

        `first` are cosines of uniform directions. They are proposals, and are replaced if they are on the wrong side.
        """
        cosine = np.where(in_cap, np.abs(first), first) if self._folds else first.copy()
        wrong = np.flatnonzero(~self._is_right(in_cap, cosine))
        while len(wrong):
            cosine[wrong] = self._redrawn(in_cap[wrong], words)
            wrong = wrong[~self._is_right(in_cap[wrong], cosine[wrong])]
        return cosine

    def _is_right(self, in_cap: NDArray[np.bool_], cosine: Floats) -> NDArray[np.bool_]:
        """Return which cosines are on their side of the threshold. NaN is on none."""
        return np.asarray(np.where(in_cap, cosine >= self.threshold, cosine < self.threshold))

    def _redrawn(self, in_cap: NDArray[np.bool_], words: Words) -> Floats:
        """Return proposals, some of which are rejected: NaN, or on the wrong side."""
        if self._folds:  # the density of the cosine is even, and the threshold is positive
            proposed = sphere_cosines(self.dim, len(in_cap), words)
            return np.where(in_cap, np.abs(proposed), proposed)
        proposed = np.empty(len(in_cap))
        inside = int(in_cap.sum())
        proposed[in_cap] = cap_cosines(self.dim, self.threshold, inside, words)
        proposed[~in_cap] = sphere_cosines(self.dim, len(in_cap) - inside, words)
        return proposed


@dataclass(frozen=True)
class PrivUnitLaw(Law):
    """The distribution of a direction in a cap about the record, or outside of it."""

    dim: int
    scale: float
    radius: float
    inside: Fraction
    share: float
    directions: Callable[[AnyArray], tuple[Floats, Floats]]

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        unit, length = self.directions(records)
        noise, rest = (self.scale**2 - self.radius**2) / self.dim, self.radius**2 * (1 - length**2)
        variance = noise + rest[:, np.newaxis] * unit**2
        variance[length == 0] = self.scale**2 / self.dim
        return np.asarray(variance)

    def two_level(self) -> TwoLevel:
        # S(x) is the cap, which is disjoint from that of the opposite record.
        odds = self.inside * (1 - Fraction(self.share)) / ((1 - self.inside) * Fraction(self.share))
        return TwoLevel.of_sets(odds, self.share, 1, self.share)

    def largest_probability(self) -> float:
        """Return the largest density, relative to a uniform direction, over 2^d: every sign of such a direction is fair."""
        density = max(float(self.inside) / self.share, float(1 - self.inside) / (1 - self.share))
        return min(1.0, density * 2.0 ** -min(self.dim, 1000))

    def worst_variance(self, decoding: Decoding) -> float:
        return _worst_moment(self.dim, self.scale, self.radius)


def cap_share(dim: int, threshold: float) -> float:
    """Return P(U_1 >= gamma) for U uniform on the unit sphere of R^d and gamma in [0, 1]."""
    from scipy.special import betainc, betaincc

    if dim == 1:
        return 0.5
    half, square = (dim - 1) / 2, threshold * threshold
    if square < 0.5:
        return float(betaincc(0.5, half, square)) / 2
    return float(betainc(half, 0.5, (1 - threshold) * (1 + threshold))) / 2


def cap_moment(dim: int, threshold: float) -> float:
    """Return E[U_1; U_1 >= gamma] for U uniform on the unit sphere of R^d and gamma in [0, 1]."""
    if threshold == 1 or dim == 1:
        return 0.5 if dim == 1 else 0.0
    decay = math.exp((dim - 1) / 2 * _log_complement(threshold))
    return decay / 2 / float(half_space_constants(dim))


def _log_complement(threshold: float) -> float:
    """Return ln(1 - gamma^2) without cancellation."""
    square = threshold * threshold
    return math.log1p(-square) if square < 0.5 else math.log1p(-threshold) + math.log1p(threshold)


def _best_threshold(dim: int, epsilon: float) -> float:
    """Return the root gamma of gamma = m(gamma), where the mean m of the cosine is largest."""
    from scipy.optimize import brentq

    excess = math.expm1(epsilon)

    def distance(gamma: float) -> float:
        return gamma - excess * cap_moment(dim, gamma) / (1 + excess * cap_share(dim, gamma))

    return float(brentq(distance, 0.0, 1.0, xtol=1e-300, rtol=4 * np.finfo(float).eps, maxiter=1000))


def _worst_moment(dim: int, scale: float, radius: float) -> float:
    """Return the second moment of coordinate j of a report where the record is +-r e_j, the largest one."""
    return (scale**2 - radius**2) / dim + radius**2


def _products(a: Floats, b: Floats) -> Floats:
    """Return the inner products of rows."""
    return np.asarray(np.einsum("ij,ij->i", a, b))


def _uniform(words: Words, n: int) -> Floats:
    """Return n uniform numbers, the centers of 2^52 cells of (0, 1)."""
    return np.asarray(((words.uint64(n) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52)


def sphere_cosines(dim: int, n: int, words: Words) -> Floats:
    """Return n draws of U_1 for U uniform on the unit sphere of R^d, with NaN in the place of rejected proposals."""
    from scipy.special import ndtri

    uniform = _uniform(words, n)
    if dim == 1:
        return np.where(uniform < 0.5, -1.0, 1.0)
    if dim == 2:
        return np.asarray(np.cos(math.pi * uniform))
    if dim == 3:
        return 2 * uniform - 1
    power = (dim - 3) / 2  # the density (1 - t^2)^power is below e^(-power t^2), that of a normal number
    proposed = ndtri(uniform) / math.sqrt(dim - 3)
    with np.errstate(invalid="ignore", divide="ignore"):
        accepted = np.log(_uniform(words, n)) < power * (np.log1p(-(proposed**2)) + proposed**2)
    return np.where(accepted, proposed, np.nan)


def cap_cosines(dim: int, threshold: float, n: int, words: Words) -> Floats:
    """Return n draws of U_1 given U_1 >= gamma, for d >= 2, with NaN in the place of rejected proposals."""
    # Proposals have a density proportional to t (1 - t^2)^((d - 3) / 2) on [gamma, 1].
    log_complement = _log_complement(threshold) + np.log(_uniform(words, n)) * (2 / (dim - 1))
    proposed = np.sqrt(-np.expm1(log_complement))
    return np.where(_uniform(words, n) * proposed < threshold, proposed, np.nan)
