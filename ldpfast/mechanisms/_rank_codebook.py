"""The rank codebook for vectors in a Euclidean ball."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache

from .. import _check, _coins
from .._core import privatize
from ..domains import Ball
from ..privacy import TwoLevel
from ..reports import Directions
from ._half_space import DirectionLaw, check_ball, check_scale
from ._mechanism import Mechanism

MAX_VECTORS = 1 << 14
MAX_DIM = 16384  # a row fits the stack of the kernel
FEWEST_VECTORS = 16  # that are chosen
MAX_PRODUCTS = 1 << 17  # of numbers, for one record
DRAWING_COST = 32  # of a vector with few numbers, in products
MAX_LOSS = 0.01  # of error, for fewer vectors


@lru_cache(maxsize=4096)
def top_moment(dim: int, vectors: int, top: int, power: int) -> float:
    """Return the mean of |t|^power over the `top` largest of J values |t|, t a coordinate of a uniform unit vector."""
    from scipy.integrate import quad
    from scipy.special import bdtr, betaincinv

    if dim == 1:
        return 1.0

    def integrand(root: float) -> float:
        u = root * root  # P(|T| > t); the square root removes the singularity of t at 0
        t = math.sqrt(float(betaincinv(0.5, (dim - 1) / 2, 1 - u)) if u > 1e-8 else _far(u, dim))
        return 2 * root * t**power * float(bdtr(top - 1, vectors - 1, u))

    cut = math.sqrt(min(1.0, (top + 1) / vectors))  # where the probability falls
    parts = [quad(integrand, a, b, epsabs=1e-13, epsrel=1e-12, limit=400)[0] for a, b in ((0.0, cut), (cut, 1.0))]
    return vectors / top * float(sum(parts))


def _far(u: float, dim: int) -> float:
    """Return t^2 with P(|T| > t) = u, for small u."""
    from scipy.special import betaincinv

    return 1 - float(betaincinv((dim - 1) / 2, 0.5, u))


def _signal(dim: int, vectors: int, top: int, epsilon: float) -> float:
    """Return m, the mean inner product of a report of norm 1 with the unit vector of the record."""
    odds = math.exp(min(epsilon, 300.0))
    return top_moment(dim, vectors, top, 1) * top * (odds - 1) / (top * odds + 2 * vectors - top)


@lru_cache(maxsize=256)
def best_top(dim: int, vectors: int, epsilon: float) -> int:
    """Return the size of the top set with the largest signal."""

    def rises(top: int) -> bool:
        return _signal(dim, vectors, top, epsilon) < _signal(dim, vectors, top + 1, epsilon)

    low, high = 1, vectors  # the signal rises, then falls
    if vectors >= 2 * FEWEST_VECTORS:  # about the same share as among half of the vectors
        guess, step = 2 * best_top(dim, vectors // 2, epsilon), 1
        if guess < vectors and rises(guess):
            low = guess + 1
            while low + step < high and rises(low + step):
                low, step = low + step + 1, 2 * step
            high = min(high, low + step)
        else:
            high = guess
            while high - step > low and not rises(high - step):
                high, step = high - step, 2 * step
            low = max(low, high - step)
    while low < high:
        middle = (low + high) // 2
        if rises(middle):
            low = middle + 1
        else:
            high = middle
    return low


@lru_cache(maxsize=256)
def best_vectors(dim: int, epsilon: float) -> int:
    """Return the number of vectors with at most 1 % more error than the best one, among powers of two within the cost."""
    numbers = [FEWEST_VECTORS]
    while 2 * numbers[-1] <= min(MAX_VECTORS, MAX_PRODUCTS // max(dim, DRAWING_COST)):
        numbers.append(2 * numbers[-1])
    # For records on the sphere, in units of the radius.
    signals = [_signal(dim, number, best_top(dim, number, epsilon), epsilon) for number in numbers]
    errors = [signal**-2 - 1 if signal > 1e-150 else math.inf for signal in signals]
    return next(number for number, error in zip(numbers, errors, strict=True) if error <= (1 + MAX_LOSS) * min(errors))


@dataclass(frozen=True)
class RankCodebook(Mechanism):
    """One of 2 J public random directions for a vector in a Euclidean ball: probably one of those closest to the vector.

    With many vectors its error is close to the smallest possible of all unbiased mechanisms, that of `PrivUnit`. Its
    guarantee is exact. With one vector it is the mechanism of `L2Ball` with one bit and a seed as the report.

    Parameters
    ----------
    dim : int
        Dimension d, in [1, 16384].
    epsilon : float
        Privacy parameter of the whole vector, > 0.
    radius : float, default 1.0
        Radius r > 0 of the ball.
    vectors : int, default 16
        Number J of random directions, in [1, 16384]; they and their negatives are the candidates. The time is proportional.

    Attributes
    ----------
    top : int
        Number of candidates that are more probable: the best one.
    scale : float
        Euclidean norm B of a decoded report.
    second_moments : tuple of float
        Second moments of a decoded report along the record and in each direction across it.

    Raises
    ------
    TypeError, ValueError
        If an integer is not in its range, `radius` not in [1e-18, 1e18], or `epsilon` not a finite number > 0 that a coin of
        64 bits can certify.

    Notes
    -----
    Records: floats, shape (n, dim), with Euclidean norm at most `radius`, up to a relative tolerance of 8 u sqrt(dim)
    for rounding, u the unit roundoff. Reports: uint64, shape (n,): a public random seed above the index of a candidate.
    The server computes the direction from the seed. The total error of a report is B^2 - |x|^2. For unit vectors it is
    larger than that of `PrivUnit` by at most 1 % at epsilon 1, 1.2 % at 2, 3 % at 4 and 22 % at 8 with J = 64 and dim = 100
    or more, and by 2.5, 4.5, 12 and 81 % with J = 16. O(n J dim) time for the client, O(n dim) for the server.

    Standard errors come from the sample, and are at least what the mean implies: a report far from its record can be so rare
    that the sample has none. Limits allow for these reports (`results.BoundedSum`). Fewer than 30 reports have at least the
    standard error of the worst population.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP for every rounding of the inner products: exactly `top` candidates are more probable. No
    branch and no address depends on the record or the coin. If reports are shuffled, the seed is a part of the report.
    docs/proofs/rank_codebook.md.

    References
    ----------
    .. [1] A. Shah, W.-N. Chen, J. Balle, P. Kairouz, L. Theis, "Optimal compression of locally differentially private
       mechanisms", AISTATS 2022 (random candidates from a shared seed).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.RankCodebook(100, epsilon=4.0)
    >>> reports = mechanism.privatize(np.eye(100), rng=1)
    >>> reports.shape, reports.dtype
    ((100,), dtype('uint64'))
    >>> x = np.eye(100)[0]
    >>> print(f"{mechanism.variance(x).sum():.1f}, half-spaces: {ldp.L2Ball(100, 4.0).variance(x).sum():.1f}")
    47.7, half-spaces: 167.2
    """

    dim: int
    epsilon: float
    _: KW_ONLY
    radius: float = 1.0
    vectors: int = 16
    top: int = field(init=False, repr=False, compare=False)
    scale: float = field(init=False, repr=False, compare=False)
    second_moments: tuple[float, float] = field(init=False, repr=False, compare=False)
    _coin: _coins.SetCoin = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim, epsilon, radius = check_ball(_check.integer("dim", self.dim, 1, MAX_DIM), self.epsilon, self.radius)
        vectors = _check.integer("vectors", self.vectors, 1, MAX_VECTORS)
        top = best_top(dim, vectors, epsilon)
        coin = _coins.of_set(epsilon, top, 2 * vectors)
        inside = float(coin.inside * top)
        first, second = (top_moment(dim, vectors, top, power) for power in (1, 2))
        # The candidates outside of the top set have the opposite sum of t, and the rest of the sum of t^2.
        signal = first * float((coin.inside - coin.outside) * top)
        along = inside * second + float(coin.outside) * (2 * vectors / dim - top * second)
        scale = check_scale(radius / signal)
        moments = scale**2 * along, scale**2 * (1 - along) / max(1, dim - 1)
        self._set(dim=dim, epsilon=epsilon, radius=radius, vectors=vectors)
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=Ball(dim, radius, "l2"),
            report=Directions(dim, 2 * vectors, scale, *moments, radius),
            kernel=privatize.RankCodebook(dim, radius, scale, coin.heads, vectors, top),
            top=top,
            scale=scale,
            law=DirectionLaw(lambda: moments, scale**2 / dim, _two_level(coin)),
            second_moments=moments,
            coin=coin,
        )


def _two_level(coin: _coins.SetCoin) -> TwoLevel:
    """Return the parameters for `privacy.shuffled`: S(x) are the top candidates. Those of opposite records are disjoint.

    The seed is a part of the report.
    """
    return TwoLevel.of_sets(coin.inside / coin.outside, coin.size, coin.outputs, coin.size)
