"""Projective geometry response for many categories."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins
from .._typing import AnyArray
from ._draws import PeopleCounts
from ._projective_space import Geometry, geometries
from ._set_response import SetResponse, scaled_variance

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_CATEGORIES = 1 << 24
MAX_POINTS = 1 << 26  # their counts must fit memory
FREE_POINTS = 1 << 24  # for which no accuracy is given up
MAX_LOSS = 0.01  # of variance, for fewer points


@lru_cache(maxsize=256)
def best_geometry(k: int, epsilon: float) -> Geometry:
    """Return the space with the smallest total variance, or with fewer points if that has more than 2^24.

    Then it is the one with the fewest points among those whose total variance is at most 1 % above the smallest one.
    """
    variances = {
        space: scaled_variance(k, epsilon, space.hyperplane, space.points, space.common)
        for space in geometries(k, MAX_POINTS)
    }
    limit = min(variances.values()) * (1 + MAX_LOSS)
    good = (space for space, variance in variances.items() if variance <= limit)
    return min(good, key=lambda space: (max(space.points, FREE_POINTS), variances[space]))


@dataclass(frozen=True)
class ProjectiveGeometryResponse(SetResponse):
    """Projective geometry response: a point of a projective space that is probably orthogonal to that of the category.

    Use it for many categories: its reports have about log2(k) bits, and its total variance is at most 2 % above that of
    `SubsetSelection` for k from 1024 and `epsilon` up to 3, and at most 8 % for k from 65,536 and `epsilon` up to 6. For
    `epsilon` from 6 to 8 and millions of categories it is up to 28 % above; beyond, the field has fewer than e^epsilon elements
    and the loss grows. `bounds.compare` shows it.

    Parameters
    ----------
    k : int
        Number of categories, in [2, 2^24].
    epsilon : float
        Privacy parameter, > 0.

    Attributes
    ----------
    order : int
        Number q of elements of the field: a prime power of at most 64 or a prime of at most 8191.
    length : int
        Number t of elements of a vector. There are K = (q^t - 1) / (q - 1) points, k <= K <= 2^26. The space is the one
        with the smallest total variance; above 2^24 points, the one with the fewest points among those whose total variance
        is at most 1 % above the smallest one. Where another space is chosen for a larger `epsilon`, the total is smaller, but
        `worst_variance`, that of a share near 1/2, can jump up.

    Raises
    ------
    TypeError, ValueError
        If `k` is not an integer in the range; if `epsilon` is not a finite number > 0, or too small or large for exact
        coins.

    Notes
    -----
    Records: integers in [0, k), shape (n,). Reports: codes in [0, K), of the smallest unsigned dtype. S(x) is the set of
    the points that are orthogonal to point x. It has (q^(t-1) - 1) / (q - 1) points, and two sets have
    (q^(t-2) - 1) / (q - 1) in common. O(n t) time, 16 random bytes per person. Counts are decoded by sums of integers, in
    O(K q t) time, about 0.1 s for K = 3.3 million and q = 149, and 24 K bytes up to 2^32 reports; a few reports are decoded
    in O(n k / q) time.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, by exact uniform integers. The time may depend on the record and the coin.
    docs/proofs/projective_geometry_response.md.

    References
    ----------
    .. [1] V. Feldman, J. Nelson, H. L. Nguyen, K. Talwar, "Private frequency estimation via projective geometry", ICML
       2022.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.ProjectiveGeometryResponse(1000, epsilon=2.0)
    >>> mechanism.order, mechanism.length, mechanism.report_bits
    (8, 5, 13)
    >>> estimate = mechanism.run(np.full(20_000, 123), rng=1)
    >>> bool(abs(estimate.value[123] - 1) < 0.1)
    True
    """

    k: int
    epsilon: float
    order: int = field(init=False, repr=False, compare=False)
    length: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        k = _check.integer("k", self.k, 2, MAX_CATEGORIES)
        self._set(k=k, epsilon=_check.positive("epsilon", self.epsilon))
        space = self._best_space(k, self.epsilon)
        self._set(order=space.order, length=space.length)
        coin = _coins.of_set(self.epsilon, space.hyperplane, space.points)
        self.define_sets(k, coin, space.common, space.kernel(k, coin))

    @classmethod
    def _best_space(cls, k: int, epsilon: float) -> Geometry:
        """Return the space of the codes."""
        return best_geometry(k, epsilon)

    @property
    def _space(self) -> Geometry:
        return Geometry(self.order, self.length)

    def _supports(self, codes: AnyArray, items: AnyArray) -> NDArray[np.bool_]:
        return self._space.are_orthogonal(codes, items)

    def _draw_codes(self, inside: PeopleCounts, outside: PeopleCounts, generator: Generator) -> PeopleCounts:
        return self._space.draw_codes(np.arange(self.k), inside, outside, generator)

    def _hits(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._space.hits(counts, self.k)
