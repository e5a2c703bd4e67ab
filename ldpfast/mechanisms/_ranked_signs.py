"""Ranked signs for vectors in a Euclidean ball."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins
from .._core import privatize
from .._described import chooses_again
from .._typing import Floats
from ..domains import Ball
from ..privacy import TwoLevel
from ..reports import FrameSigns
from ._half_space import DirectionLaw, check_ball, check_scale, half_space_constant
from ._mechanism import Mechanism
from ._order_statistics import moments_of_order, products_of_order
from ._rank_codebook import MAX_DIM as MAX_ORTHOGONAL

MAX_DIM = 1 << 24
MAX_SIGNS = 256
WEIGHTS = 400  # least sum of the sizes of the weights, to which the tables of limits are proportional
WEIGHT = 4  # least mean size; larger weights would reduce the error by 0.3 % at most
LARGEST_NORMAL = 6.0  # no normal number of a frame is larger


@lru_cache(maxsize=64)
def weights_of(signs: int) -> tuple[int, ...]:
    """Return integers in proportion to the expected order statistics, with an approximation of Blom that is close enough."""
    scores = [NormalDist().inv_cdf((rank - 0.375) / (signs + 0.25)) for rank in range(signs // 2 + 1, signs + 1)]
    unit = max(WEIGHTS, WEIGHT * signs) / 2 / sum(scores)
    upper = [round(abs(score) * unit) for score in scores]
    return (*(-weight for weight in reversed(upper)), *upper[signs % 2 :])


@lru_cache(maxsize=64)
def limits_of(signs: int) -> NDArray[np.uint64]:
    """Return the largest words for which a size is a member, as the kernel needs them (ranked_signs.h)."""
    rows = _coins.sampler_of(weights_of(signs)).words
    return np.array([heads - 1 for row in rows for heads in row], np.uint64)


@lru_cache(maxsize=64)
def tail_moments(signs: int) -> tuple[Floats, Floats, Floats]:
    """Return moments of t = sum c_i e_i over uniform signs c, with e_i the expected order statistics.

    Returns
    -------
    shares, sums, squares : ndarray, shape (most + 1,)
        A pattern counts for entry k if the sizes of the weights whose signs it agrees with sum to at least k. The entries are
        the probability of these patterns, and their parts of E t and E t^2.
    """
    weights, means = weights_of(signs), moments_of_order(signs)[0]
    share, total, square = (np.zeros(sum(map(abs, weights)) + 1) for _ in range(3))
    share[0] = 1.0
    for weight, mean in zip(weights, np.abs(means).tolist(), strict=True):
        by_sign = []
        for step in (-mean, mean):
            by_sign.append((share, total + step * share, square + 2 * step * total + step**2 * share))
        share, total, square = (
            (without + _shifted(member, abs(weight))) / 2 for without, member in zip(*by_sign, strict=True)
        )
    shares, sums, squares = (part[::-1].cumsum()[::-1] for part in (share, total, square))
    return shares, sums, squares


def _shifted(values: Floats, by: int) -> Floats:
    result = np.zeros_like(values)
    result[..., by:] = values[..., : values.shape[-1] - by]
    return result


@lru_cache(maxsize=256)
def best_least(signs: int, epsilon: float) -> int:
    """Return the limit of the sums of the more probable patterns with the largest signal."""
    shares, sums, _ = tail_moments(signs)
    excess = math.expm1(min(epsilon, 300.0))
    signal = sums * excess / (1 + excess * shares)
    first = len(shares) // 2 + 1  # at most half of the patterns
    return first + int(np.argmax(signal[first:]))


def pattern_products(signs: int, least: int) -> Floats:
    """Return the parts of E[c_i c_j] from uniform patterns with a sum of at least `least`; shape (signs, signs)."""
    weights = weights_of(signs)
    sizes, agree = [abs(weight) for weight in weights], np.where(np.array(weights) < 0, -1.0, 1.0)
    most = sum(sizes)
    after = [np.zeros(most + 1)]  # distributions of the sums of the last sizes
    after[0][0] = 1.0
    for size in reversed(sizes):
        after.append((after[-1] + _shifted(after[-1], size)) / 2)
    before = np.zeros(most + 1)
    before[0] = 1.0
    # Row i: the distribution of the sum of the sizes so far, where size i is a member.
    member, joint = np.zeros((signs, most + 1)), np.zeros((signs, signs))
    for j, size in enumerate(sizes):
        rest = after[signs - 1 - j][::-1].cumsum()[::-1]  # P(the sum of the sizes after j is at least k)
        needed = np.clip(least - size - np.arange(most + 1), 0, most)
        reached = np.where(least - size - np.arange(most + 1) > most, 0, rest[needed])
        joint[:j, j] = joint[j, :j] = member[:j] @ reached / 2
        member[:j] = (member[:j] + _shifted(member[:j], size)) / 2
        member[j] = _shifted(before, size) / 2
        before = (before + _shifted(before, size)) / 2
    own, inside = member[:, least:].sum(axis=1), before[least:].sum()
    products = 4 * joint - 2 * own[:, np.newaxis] - 2 * own + inside
    np.fill_diagonal(products, inside)
    return np.asarray(products * np.outer(agree, agree))


def expected_signs(coin: _coins.RankedSignsCoin, least: int) -> Floats:
    """Return the expected sign of each rank, in the order of the weights."""
    sizes = [abs(weight) for weight in coin.weights]
    most = sum(sizes)
    start = np.eye(1, most + 1)[0]
    before, after = [start], [start]  # distributions of the sums of the first and of the last sizes
    for first, last in zip(sizes, reversed(sizes), strict=True):
        before.append((before[-1] + _shifted(before[-1], first)) / 2)
        after.append((after[-1] + _shifted(after[-1], last)) / 2)
    inside = before[-1][least:].sum()
    members = []  # P(size i is a member and the sum is at least `least`)
    for i, size in enumerate(sizes):
        reached = np.append(after[len(sizes) - 1 - i][::-1].cumsum()[::-1], 0.0)  # P(the later sizes sum to k or more)
        needed = np.clip(least - size - np.arange(most + 1), 0, most + 1)
        members.append(before[i] @ reached[needed] / 2)
    agree = np.where(np.array(coin.weights) < 0, -1.0, 1.0)
    return np.asarray(mix(coin, agree * (2 * np.array(members) - inside), 0.0))


def mix(coin: _coins.RankedSignsCoin, inside: Any, everywhere: Any) -> Any:
    """Return the expectation for a report, from the parts of the more probable and of all uniform patterns."""
    patterns, members = coin.patterns, coin.inside
    heads = Fraction(coin.heads, _coins.WORD)
    own, other = heads * Fraction(patterns, members), (1 - heads) * Fraction(patterns, patterns - members)
    return float(own - other) * inside + float(other) * everywhere


def two_level_of(coin: _coins.RankedSignsCoin) -> TwoLevel:
    """Return the two levels of the probability of a report. The seed is a part of it.

    The more probable patterns of opposite records are disjoint.
    """
    return TwoLevel.of_sets(coin.ratio, coin.inside, coin.patterns, coin.inside)


@dataclass(frozen=True)
class Scaling:
    """Factor and second moments of the sum of the vectors of a frame with their signs.

    Attributes
    ----------
    unit : float
        Factor of the sum, whose mean is then the record.
    along : float
        Upper bound of the second moment along a record on the sphere.
    """

    unit: float
    along: float


def scaling_of(coin: _coins.RankedSignsCoin, least: int, radius: float, orthonormal: int | None) -> Scaling:
    """Return the scaling for orthonormal vectors in so many dimensions, or for rows of normal numbers (None)."""
    _, sums, squares = tail_moments(len(coin.weights))
    signal, square = mix(coin, float(sums[least]), 0.0), mix(coin, float(squares[least]), float(squares[0]))
    # The variance of the weighted sum of normal numbers is at most the number of signs (docs/proofs/ranked_signs.md).
    along = square + len(coin.weights)
    if orthonormal is not None:
        # The row of a product is normal, divided by its norm, which is c(d) sqrt(2 / pi) in the mean.
        signal /= half_space_constant(orthonormal) * math.sqrt(2 / math.pi)
        along /= orthonormal
    unit = check_scale(radius / signal)
    return Scaling(unit, along * unit**2)


@lru_cache(maxsize=64)
def second_moments_of(
    dim: int, coin: _coins.RankedSignsCoin, least: int, unit: float, orthonormal: bool
) -> tuple[float, float]:
    """Return the second moments of a decoded report along the record and in each direction across it.

    Parameters
    ----------
    dim : int
    coin : RankedSignsCoin
        Integers of the patterns.
    least : int
        Smallest weighted sum of the more probable patterns.
    unit : float
        Factor of the sum of the vectors of a frame with their signs.
    orthonormal : bool
        Whether these are orthonormal, or rows of normal numbers.
    """
    signs = len(coin.weights)
    products = mix(coin, pattern_products(signs, least), np.eye(signs))
    along = float((products * products_of_order(signs)).sum()) * unit**2
    if not orthonormal:
        return along, signs * unit**2
    along /= dim
    return along, (signs * unit**2 - along) / (dim - 1)


@chooses_again
@dataclass(frozen=True)
class RankedSigns(Mechanism):
    """Signs for the vectors of a public random frame: probably those that point to the vector, by the ranks of its products.

    At every epsilon its error is close to the smallest possible of all unbiased mechanisms, that of `PrivUnit`, and its
    guarantee is exact.

    Parameters
    ----------
    dim : int
        Dimension d, in [2, 2^24].
    epsilon : float
        Privacy parameter of the whole vector, > 0.
    radius : float, default 1.0
        Radius r > 0 of the ball.
    signs : int, optional
        Number L of vectors of the frame, in [2, min(dim, 256)]. The default is the largest. The time is proportional.

    Attributes
    ----------
    least : int
        Smallest weighted sum of the more probable patterns of signs: the best one.
    scale : float
        Euclidean norm B of a decoded report. In more than 16384 dimensions an upper bound of its root mean square.

    Raises
    ------
    TypeError, ValueError
        If an integer is not in its range, `radius` not in [1e-18, 1e18], or `epsilon` not a finite number > 0 that a coin of 64
        bits can certify.

    Notes
    -----
    Records: floats, shape (n, dim), with Euclidean norm at most `radius`, up to a relative tolerance of 8 u sqrt(dim) for
    rounding, u the unit roundoff. Reports: uint64, shape (n, 1 + ceil(L / 64)): a public random seed, then the signs.

    Both sides compute the frame from the seed: the first L columns of a uniform orthogonal matrix, or in more than 16384
    dimensions L rows of normal numbers. A pattern of L signs with a large weighted sum is more probable. The client orders the
    vectors by their inner products with the record, and gives the first sign of the pattern to the smallest one. For unit
    vectors the total error is larger than that of `PrivUnit` by 1 to 3 % with 256 signs and 4 to 10 % with 64, for epsilon
    from 1 to 8. O(n L dim) time for client and server.

    Standard errors come from the sample, and are at least what the mean implies: a report far from its record can be so rare
    that the sample has none. Limits allow for these reports (`results.BoundedSum`). Fewer than 30 reports have at least the
    standard error of the worst population.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP for every rounding of the inner products: they only permute the signs of a pattern that was
    drawn without the record. No branch and no address depends on the record, the coin or the pattern. If reports are shuffled,
    the seed is a part of the report. docs/proofs/ranked_signs.md.

    References
    ----------
    .. [1] A. Bhowmick, J. Duchi, J. Freudiger, G. Kapoor, R. Rogers, "Protection against reconstruction and its applications in
       private federated learning", 2018 (`PrivUnit`, whose error is the standard of comparison).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.RankedSigns(100, epsilon=16.0)
    >>> reports = mechanism.privatize(np.eye(100), rng=1)
    >>> reports.shape, reports.dtype
    ((100, 3), dtype('uint64'))
    >>> x = np.eye(100)[0]
    >>> print(f"{mechanism.variance(x).sum():.2f}, 16 vectors: {ldp.RankCodebook(100, 16.0).variance(x).sum():.2f}")
    4.42, 16 vectors: 22.42
    """

    dim: int
    epsilon: float
    _: KW_ONLY
    radius: float = 1.0
    signs: int | None = None
    least: int = field(init=False, repr=False, compare=False)
    scale: float = field(init=False, repr=False, compare=False)
    _coin: _coins.RankedSignsCoin = field(init=False, repr=False, compare=False)
    _unit: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim, epsilon, radius = check_ball(_check.integer("dim", self.dim, 2, MAX_DIM), self.epsilon, self.radius)
        most = min(dim, MAX_SIGNS)
        self._set_chosen(signs=self.signs)
        signs = most if self.signs is None else _check.integer("signs", self.signs, 2, most)
        least = best_least(signs, epsilon)
        coin = _coins.ranked_signs(epsilon, weights_of(signs), least)
        self._set(dim=dim, epsilon=epsilon, radius=radius, signs=signs, least=least, _coin=coin)
        # Frames are orthonormal, or in many dimensions rows of normal numbers, whose reports have different lengths.
        orthonormal = dim <= MAX_ORTHOGONAL
        scaling = scaling_of(coin, least, radius, dim if orthonormal else None)
        unit = scaling.unit
        if orthonormal:
            scale = largest = math.sqrt(signs) * unit
        else:
            scale, largest = math.sqrt((dim - 1) * signs * unit**2 + scaling.along), LARGEST_NORMAL * signs * unit
        moments = partial(second_moments_of, dim, coin, least, unit, orthonormal)
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=Ball(dim, radius, "l2"),
            report=FrameSigns(
                dim,
                signs,
                unit,
                check_scale(largest),
                scaling.along,
                radius,
                moments,
            ),
            kernel=privatize.RankedSigns(dim, radius, unit, largest, coin, limits_of(signs)),
            law=DirectionLaw(moments, scale**2 / dim if orthonormal else signs * unit**2, two_level_of(coin)),
            coin=coin,
            scale=check_scale(scale),
            _unit=unit,
        )

    @cached_property
    def second_moments(self) -> tuple[float, float]:
        """Second moments of a decoded report along the record and in each direction across it."""
        return second_moments_of(self.dim, self._coin, self.least, self._unit, self.dim <= MAX_ORTHOGONAL)
