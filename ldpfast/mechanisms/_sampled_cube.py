"""The sampled cube for vectors in a box."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from .. import _check, _coins
from .._core import privatize
from .._described import chooses_again
from .._typing import AnyArray, Floats
from ..domains import Ball
from ..privacy import TwoLevel
from ..reports import Bits, Decoding, Format, SampledSigns
from ..results import Debiasing, Kinds
from ._draws import PeopleCounts
from ._half_space import check_ball, check_scale
from ._law import Law, NoExactFormError
from ._mechanism import CHANNEL_ENTRIES, Mechanism
from ._vertices import MAX_COLUMNS, draw_sampled_sign_counts, draw_sign_counts

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_SAMPLED = 62  # patterns of the signs are numbers of 64 bits
MAX_DIM = 4096  # if the signs of all coordinates are reported
RARE_BITS = 12  # more than 62 signs are drawn until they are in a set that has at least 2^-12 of all patterns
LARGEST_DIM = 1 << 30


@lru_cache(maxsize=4096)
def tail(k: int, threshold: int) -> tuple[int, int]:
    """Return the number of sign patterns that agree with a given one in at least so many places, and the sum of 2 a - k.

    a is the number of places where they agree.
    """
    patterns = excess = 0
    count = 1
    for a in range(k, threshold - 1, -1):
        patterns, excess = patterns + count, excess + count * (2 * a - k)
        count = count * a // (k - a + 1)
    return patterns, excess


def _signal(k: int, threshold: int, epsilon: float) -> float:
    """Return m, the mean of the share of agreements minus that of disagreements, in floating point."""
    patterns, excess = tail(k, threshold)
    gain, whole = math.expm1(min(epsilon, 300.0)), 1 << k
    return gain * (excess / whole / k) / (1 + gain * (patterns / whole))


def _is_drawn(k: int, threshold: int) -> bool:
    """Return whether the patterns that agree in so many places can be drawn in a reasonable time."""
    return k <= MAX_SAMPLED or tail(k, threshold)[0] << RARE_BITS >= 1 << k


def _best_threshold(k: int, epsilon: float) -> int:
    """Return the threshold with the largest signal among those that can be drawn.

    The signal is largest at the smallest a with (2 a - k) / k above the signal at a.
    """
    low, high = k // 2 + 1, k
    while low < high:
        middle = (low + high) // 2
        if not _is_drawn(k, middle) or (2 * middle - k) / k > _signal(k, middle, epsilon):
            high = middle
        else:
            low = middle + 1
    return low if _is_drawn(k, low) else low - 1


@lru_cache(maxsize=256)
def best_design(dim: int, epsilon: float, sampled: int | None, threshold: int | None) -> tuple[int, int]:
    """Return the number of sampled coordinates and the threshold with the smallest variance d / (k m^2)."""
    sizes = [sampled] if sampled is not None else list(range(1, min(dim, MAX_SAMPLED) + 1))
    if sampled is None and MAX_SAMPLED < dim <= MAX_DIM:
        sizes.append(dim)
    if threshold is not None:
        sizes = [k for k in sizes if k // 2 < threshold <= k and _is_drawn(k, threshold)]
    if not sizes:
        raise ValueError(
            f"threshold must be above half of the number k of signs and at most k, with k <= {MAX_SAMPLED}, or k = dim <="
            f" {MAX_DIM} and at least 1 of {1 << RARE_BITS} patterns with so many agreements, got {threshold}"
        )
    designs = [(k, _best_threshold(k, epsilon) if threshold is None else threshold) for k in sizes]
    return max(designs, key=lambda design: design[0] * _signal(design[0], design[1], epsilon) ** 2)


@chooses_again
@dataclass(frozen=True)
class SampledCube(Mechanism):
    """Signs of a few sampled coordinates of a vector in a box [-r, r]^d, which share the whole `epsilon`.

    Use it instead of `LinfBall`: its variance is never larger, and smaller for every `epsilon` if `dim` is above 2. At
    epsilon 4 and `dim` 10 or more it is a quarter of that of `LinfBall`.

    Parameters
    ----------
    dim : int
        Dimension d, in [1, 2^30].
    epsilon : float
        Privacy parameter of the whole vector, > 0.
    radius : float, default 1.0
        Half-width r > 0 of the box. For data in [lower, upper]^d, subtract the center first.
    sampled : int, optional
        Number k of sampled coordinates: at most 62, or `dim` with `dim` <= 4096. The default has the smallest variance.
    threshold : int, optional
        Smallest number of agreements of the more probable signs, in (k / 2, k]. If k is above 62, at least one of 4096
        patterns must have so many. The default has the smallest variance.

    Attributes
    ----------
    scale : float
        A reported sign decodes to +-scale.

    Raises
    ------
    TypeError, ValueError
        If an integer is not in its range or `threshold` not one that can be drawn, `radius` not in [1e-18, 1e18], or
        `epsilon` not a finite number > 0 that a coin of 64 bits can certify.

    Notes
    -----
    Records: floats, shape (n, dim), with max-norm at most `radius`. Reports: with k < `dim`, shape (n, k), the items
    2 j + 1 (plus) and 2 j (minus) for the sampled coordinates j, in the smallest unsigned dtype; with k = `dim`, packed
    signs as those of `LinfBall`. Only sampled coordinates are read and checked, so NaN or a number out of range in another
    coordinate has no effect. The variance of a coordinate is r^2 d / (k m^2) - x^2, with m the mean share of agreements
    minus that of disagreements. O(n k) time; if more than 62 signs are reported, a row is drawn about
    1 / (2 P(at least `threshold` agreements)) times, which is at most 2048.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, by exact uniform integers. The signs are a uniform pattern from one of two
    sets. The time depends on the private coin, not on the record given the coin. docs/proofs/sampled_cube.md.

    References
    ----------
    .. [1] W.-N. Chen, P. Kairouz, A. Ozgur, "Breaking the communication-privacy-accuracy trilemma", NeurIPS 2020
       (patterns of sampled signs).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> x = np.random.default_rng(1).integers(0, 2, (50_000, 20)) - 0.5  # centered, in [-0.5, 0.5]^20
    >>> mechanism = ldp.SampledCube(20, epsilon=4.0, radius=0.5)
    >>> mechanism.sampled, mechanism.threshold
    (4, 4)
    >>> estimate = mechanism.run(x, rng=1)
    >>> estimate.value.shape, bool(abs(estimate.value).max() < 0.05)
    ((20,), True)
    """

    dim: int
    epsilon: float
    _: KW_ONLY
    radius: float = 1.0
    sampled: int | None = None
    threshold: int | None = None
    scale: float = field(init=False, repr=False, compare=False)
    _coin: _coins.BinaryCoin = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim, epsilon, radius = check_ball(_check.integer("dim", self.dim, 1, LARGEST_DIM), self.epsilon, self.radius)
        if self.sampled is not None:
            _check.integer("sampled", self.sampled, 1, dim)
            if self.sampled > MAX_SAMPLED and not self.sampled == dim <= MAX_DIM:
                raise ValueError(
                    f"sampled must be at most {MAX_SAMPLED}, or dim with dim <= {MAX_DIM}, got {self.sampled}"
                )
        if self.threshold is not None:
            largest = dim if self.sampled is None else self.sampled
            _check.integer("threshold", self.threshold, 1 if self.sampled is None else largest // 2 + 1, largest)
        self._set_chosen(sampled=self.sampled, threshold=self.threshold)
        k, threshold = best_design(dim, epsilon, self.sampled, self.threshold)
        coin = _coins.of_set(epsilon, tail(k, threshold)[0], 1 << k)
        law = SampledCubeLaw.of(dim, k, threshold, radius, coin)
        scale = check_scale(law.scale)
        report: Format = Bits(dim) if k == dim else SampledSigns(dim, k, scale)
        self._set(dim=dim, epsilon=epsilon, radius=radius, sampled=k, threshold=threshold)
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=Ball(dim, radius, "linf"),
            report=report,
            debiasing=Debiasing(-scale, scale) if k == dim else None,
            kernel=privatize.CapCube(dim, radius, coin.heads, threshold, law.up_to)
            if k == dim
            else privatize.SampledCube(dim, k, radius, coin.heads, threshold, law.up_to),
            law=law,
            scale=scale,
            coin=law.coin,
        )

    @property
    def moment(self) -> float:
        """Mean square of the product of a decoded report and a unit vector in the direction of the record, for a vertex."""
        return self._recipe.law.moment  # type: ignore[attr-defined, no-any-return]


@dataclass(frozen=True)
class SampledCubeLaw(Law):
    """The distribution of the signs of sampled coordinates, by the number of them that agree with the record.

    Attributes
    ----------
    dim, sampled, threshold : int
        As for `SampledCube`.
    radius, scale : float
    coin : BinaryCoin
    patterns : int
        Number of patterns of signs that agree often enough.
    """

    dim: int
    sampled: int
    threshold: int
    radius: float
    scale: float
    coin: _coins.BinaryCoin
    patterns: int

    @classmethod
    def of(cls, dim: int, sampled: int, threshold: int, radius: float, coin: _coins.SetCoin) -> SampledCubeLaw:
        """Return the law of a design with a coin for its patterns."""
        _, excess = tail(sampled, threshold)
        # The sum of 2 a - k over all patterns is zero.
        scale = radius * (1 / float((coin.inside - coin.outside) * excess / sampled)) * (dim / sampled)
        binary = _coins.BinaryCoin(coin.heads, coin.bits, coin.epsilon_realized)
        return cls(dim, sampled, threshold, radius, scale, binary, coin.size)

    def largest_probability(self) -> float:
        inside, outside = self.weights
        whole = self.patterns * inside + ((1 << self.sampled) - self.patterns) * outside
        return float(Fraction(max(inside, outside), whole * math.comb(self.dim, self.sampled)))

    def kinds_of(self, reports: AnyArray) -> Kinds | None:
        """Return how many reports have each coordinate; a report has each one with the same probability."""
        if self.sampled == self.dim:
            return None
        counts = np.bincount((reports >> 1).astype(np.intp).ravel(), minlength=self.dim)
        return Kinds(counts, np.full(self.dim, self.sampled / self.dim))

    @property
    def up_to(self) -> list[int]:
        """Numbers of patterns with at most 0, 1, ... disagreements, if patterns are drawn as numbers."""
        if self.sampled > MAX_SAMPLED:
            return []
        return [tail(self.sampled, a)[0] for a in range(self.sampled, self.threshold - 1, -1)]

    @property
    def weights(self) -> tuple[int, int]:
        """Weights of a pattern of signs that agrees with the record often enough, and of another one."""
        return self.coin.heads * ((1 << self.sampled) - self.patterns), self.coin.tails * self.patterns

    def two_level(self) -> TwoLevel:
        # S(x) are the signs that agree often enough, disjoint for opposite vertices. Another vector is a mixture of vertices,
        # and the sampled coordinates are a part of the report.
        inside, outside = self.weights
        return TwoLevel.of_sets(Fraction(inside, outside), self.patterns, 1 << self.sampled, self.patterns)

    def variance(self, decoding: Decoding, records: Floats) -> Floats:
        return np.asarray(self.scale**2 * (self.sampled / self.dim) - records.astype(np.float64) ** 2)

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        k = self.sampled
        inside, outside = self.weights
        if self.dim > MAX_COLUMNS:
            raise NoExactFormError(f"dim must be at most {MAX_COLUMNS}")
        plus = np.clip((1 + records.astype(np.float64) / self.radius) / 2, 0, 1)
        weights = [math.comb(k, a) * (inside if a >= self.threshold else outside) for a in range(k + 1)]
        draw = draw_sign_counts if k == self.dim else draw_sampled_sign_counts
        return draw(generator, people, plus, weights)

    def worst_variance(self, decoding: Decoding) -> float:
        return self.scale**2 * self.sampled / self.dim

    @property
    def moment(self) -> float:
        """As `SampledCube.moment`."""
        return self.scale**2 * float(self._square) / self.dim

    @property
    def pair_moment(self) -> float:
        """Mean of the product of two reported signs, for two of the sampled coordinates where the record has the same sign."""
        k = self.sampled
        return float((self._square - k) / (k * (k - 1)))

    @property
    def _square(self) -> Fraction:
        """Mean square of the number of agreements minus that of disagreements."""
        k, weights = self.sampled, self.weights
        numbers = [math.comb(k, a) * weights[a < self.threshold] for a in range(k + 1)]
        squares = sum(number * (2 * a - k) ** 2 for a, number in enumerate(numbers))
        return Fraction(squares, sum(numbers))

    def rows(self) -> list[list[int]] | None:
        """Return the channel from vertices to sets of sampled coordinates, in lexicographic order, and their signs."""
        dim, k = self.dim, self.sampled
        if dim > 17 or (math.comb(dim, k) << k + dim) > CHANNEL_ENTRIES:
            return None
        inside, outside = self.weights
        rows = []
        for vertex in range(1 << dim):
            signs = [
                sum((vertex >> j & 1) << i for i, j in enumerate(coordinates))
                for coordinates in combinations(range(dim), k)
            ]
            rows.append(
                [inside if k - (v ^ z).bit_count() >= self.threshold else outside for v in signs for z in range(1 << k)]
            )
        return rows
