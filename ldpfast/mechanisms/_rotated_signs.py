"""Ranked signs for the rows of a public rotation, for many vectors of many dimensions."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache, partial

import numpy as np

from .. import _check, _coins
from .._core import privatize
from ..domains import Ball
from ..reports import BLOCK_ROWS, RotatedRows, signs_of_rotation, size_of_rotation
from ._half_space import DirectionLaw, check_ball, check_scale
from ._mechanism import Mechanism
from ._order_statistics import moments_of_order
from ._ranked_signs import (
    MAX_DIM,
    best_least,
    expected_signs,
    limits_of,
    scaling_of,
    second_moments_of,
    two_level_of,
    weights_of,
)

MAX_ROTATED = 512  # signs
MAX_ROTATION = (1 << 64) - 1


@lru_cache(maxsize=64)
def shared_error(coin: _coins.RankedSignsCoin, least: int) -> float:
    """Return a bound of the error that all reports of a rotation share, for a unit vector.

    Given the rotation, the mean of a report differs from the record by a vector whose mean square is at most this
    (docs/proofs/rotated_signs.md): `first_order` is the part of the rows one by one, `fixed_frames` the error if the rows of a
    block were divided into frames once and for all.
    """
    from scipy.special import gammaln, log_ndtr

    signs, means = len(coin.weights), expected_signs(coin, least)
    product, step = np.linspace(-8, 8, 1601, retstep=True)
    others = np.arange(signs)[:, np.newaxis]  # below the product
    log_counts = gammaln(signs) - gammaln(others + 1) - gammaln(signs - others)
    ranks = np.exp(log_counts + others * log_ndtr(product) + (signs - 1 - others) * log_ndtr(-product))
    expected, density = means @ ranks, np.exp(-(product**2) / 2) * step / math.sqrt(2 * math.pi)
    first_order = density @ expected**2 / (density @ (product * expected)) ** 2 - 1
    fixed_frames = signs * (means @ means) / (means @ moments_of_order(signs)[0]) ** 2 - 1
    return float(first_order + (fixed_frames - first_order) * signs / BLOCK_ROWS)


def _shared_variance(coin: _coins.RankedSignsCoin, least: int, radius: float, size: int) -> float:
    """Return the mean square of the shared error of a coordinate, in a rotation of so many rows."""
    return shared_error(coin, least) * radius**2 / size


@dataclass(frozen=True)
class RotatedSigns(Mechanism):
    """`RankedSigns` whose vectors are rows of one public rotation: for long vectors of many people, as in federated learning.

    Reports have the guarantee and the size of `RankedSigns` and nearly its error. The client needs one fast transform, and the
    server adds integers and inverts the rotation once for all reports.

    Parameters
    ----------
    dim : int
        Dimension d, in [1, 2^24].
    epsilon : float
        Privacy parameter of the whole vector, > 0.
    rotation : int
        Number of the rotation, in [0, 2^64). The server draws it at random and announces it before anybody has a vector: one
        number for each round. Reports of different rotations are not added up; average their estimates.
    signs : int, default 256
        Number L of signs of a report, a power of two in [2, 512].
    radius : float, default 1.0
        Radius r > 0 of the ball.

    Attributes
    ----------
    least : int
        Smallest weighted sum of the more probable patterns of signs: the best one.
    scale : float
        Upper bound B of the root mean square of the length of a decoded report; nearly equal for records on the sphere.

    Raises
    ------
    TypeError, ValueError
        If an integer is not in its range, `radius` not in [1e-18, 1e18], or `epsilon` not a finite number > 0 that a coin of 64
        bits can certify.

    Notes
    -----
    Records: floats, shape (n, dim), with Euclidean norm at most `radius`, up to a relative tolerance of 8 u sqrt(dim) for
    rounding, u the unit roundoff. Reports: uint64, shape (n, 1 + ceil(L / 64)): a public random seed, then the signs.

    The rotation has D rows, the power of two from max(4096, dim) on: two Hadamard transforms with random signs. A report uses
    one row of each of L strata of 4096 consecutive rows, which follow from its seed. For unit vectors the total error is
    larger than that of `PrivUnit` by 1 to 3 % with 256 signs for epsilon from 2 to 8 and by 5 % for 16; with 512 signs by 1.6
    and 2.9 % for 8 and 16. Nothing is truncated: the ranks do not depend on the length of the projection.

    Decoded reports are unbiased over uniform rotations. For the fast one this is measured, not proved: the bias is below 1e-3
    of the length of the vector. Given the rotation, all reports share an error, whose mean square over all coordinates is at
    most 0.2 % of r^2 for epsilon up to 4, 0.3 % for 8 and 0.6 % for 16, with 256 signs. Standard errors include it, and it
    averages out over rounds with new rotations.

    O(D log D) time for the client: about 1 ns per coordinate in 10^6 dimensions. The server needs half a microsecond per
    report, and for each call of `update` the time to add D integers, so it should get many reports at once; the estimate takes
    about 15 ns per coordinate. `decode` inverts the rotation for each report. Memory: 8 D bytes for a state, and 4 D for each
    thread. In fewer than 500 dimensions other mechanisms have a smaller error (`mechanisms.for_ball`).

    Privacy
    -------
    Exactly `epsilon_realized`-LDP for every rotation, also one that a malicious server chooses, and for every rounding of the
    transform: the products only permute the signs of a pattern that was drawn without the record. No branch and no address
    depends on the record, the coin or the pattern. If reports are shuffled, the seed is a part of the report. A malicious
    rotation can make the estimate wrong. docs/proofs/rotated_signs.md.

    References
    ----------
    .. [1] H. Asi, V. Feldman, J. Nelson, H. L. Nguyen, K. Talwar, "Fast optimal locally private mean estimation via random
       projections", NeurIPS 2023 (rotations for `PrivUnit`).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.RotatedSigns(10_000, epsilon=8.0, rotation=2024)
    >>> x = np.full((1000, 10_000), 0.01, np.float32)
    >>> reports = mechanism.privatize(x, rng=1)
    >>> reports.shape, reports.nbytes
    ((1000, 5), 40000)
    >>> estimate = mechanism.estimate(reports)
    >>> error = ((estimate.value - 0.01) ** 2).sum()
    >>> print(f"squared error {error:.2f}, expected {mechanism.variance(x[0]).sum() / 1000:.2f}")
    squared error 1.38, expected 1.37
    """

    dim: int
    epsilon: float
    _: KW_ONLY
    rotation: int
    signs: int = 256
    radius: float = 1.0
    least: int = field(init=False, repr=False, compare=False)
    scale: float = field(init=False, repr=False, compare=False)
    _report: RotatedRows = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        dim, epsilon, radius = check_ball(_check.integer("dim", self.dim, 1, MAX_DIM), self.epsilon, self.radius)
        rotation = _check.integer("rotation", self.rotation, 0, MAX_ROTATION)
        signs = _check.integer("signs", self.signs, 2, MAX_ROTATED)
        if signs & (signs - 1):
            raise ValueError(f"signs must be a power of two in [2, {MAX_ROTATED}], got {signs}")
        least, size = best_least(signs, epsilon), size_of_rotation(dim)
        coin = _coins.ranked_signs(epsilon, weights_of(signs), least)
        self._set(dim=dim, epsilon=epsilon, rotation=rotation, signs=signs, radius=radius)
        scaling = scaling_of(coin, least, radius, size)
        moments = partial(second_moments_of, size, coin, least, scaling.unit, True)
        total = signs * scaling.unit**2
        across = (total - scaling.along) / (size - 1)
        shared = partial(_shared_variance, coin, least, radius, size)
        report = RotatedRows(dim, signs, rotation, scaling.unit, scaling.along, radius, moments, shared)
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=Ball(dim, radius, "l2"),
            report=report,
            kernel=privatize.RotatedSigns(dim, radius, coin, limits_of(signs), signs_of_rotation(rotation, size)),
            law=DirectionLaw(moments, total / size, two_level_of(coin)),
            coin=coin,
            least=least,
            scale=check_scale(math.sqrt(scaling.along + (dim - 1) * across)),
            _report=report,
        )

    @property
    def second_moments(self) -> tuple[float, float]:
        """Second moments of a decoded report along the record and in each direction across it."""
        return self._report.moments()

    @property
    def shared_variance(self) -> float:
        """Mean square of the error of a coordinate that all reports of a rotation share, for records on the sphere."""
        return self._report.shared()
