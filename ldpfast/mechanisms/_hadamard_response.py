"""Hadamard response for many categories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins, _finite_field
from .._core import privatize, transform
from .._typing import AnyArray
from ._draws import PeopleCounts
from ._hyperplanes import draw_vector_counts
from ._set_response import SetResponse

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_CATEGORIES = (1 << 31) - 1  # codes have at most 31 bits


def walsh(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the Walsh-Hadamard transform of integers, whose number is a power of two."""
    values = np.array(counts, np.int64)
    transform.walsh(values)
    return values


def draw_parities(even: PeopleCounts, odd: PeopleCounts, bits: int, generator: Generator) -> PeopleCounts:
    """Return the numbers of codes of people whose code is uniform among those with a given parity.

    Parameters
    ----------
    even, odd : ndarray of int64
        Entry a - 1 holds the people whose code has an even or odd number of common binary ones with a.
    bits : int
        Length of a code. There are at most 2^bits - 1 entries.
    generator : numpy.random.Generator

    Returns
    -------
    counts : ndarray of int64, shape (2^bits,)
    """
    planes = np.zeros(((1 << bits) - 1, 2), np.int64)  # over the field of two elements, point a - 1 is the vector a
    planes[: len(even), 0], planes[: len(odd), 1] = even, odd
    return draw_vector_counts(generator, _finite_field.table_field(2), bits, planes, 0)


@dataclass(frozen=True)
class HadamardResponse(SetResponse):
    """Hadamard response: a code whose parity with the category is even with probability e^epsilon / (e^epsilon + 1).

    Use it for many categories where reports must be short and `epsilon` is at most about 1: a report has at most
    log2(k) + 1 bits, and its kernel is the fastest. For larger `epsilon`, `ProjectiveGeometryResponse` has a smaller
    variance.

    Parameters
    ----------
    k : int
        Number of categories, in [2, 2^31).
    epsilon : float
        Privacy parameter, > 0 and at most about 44.

    Raises
    ------
    TypeError, ValueError
        If `k` is not an integer in the range; if `epsilon` is not a finite number > 0, or too small or large for exact
        coins.

    Notes
    -----
    Records: integers in [0, k), shape (n,). Reports: codes in [0, K), where K is the smallest power of two above k, in the
    smallest unsigned dtype. S(x) is the set of the codes z for which z and x + 1 have an even number of common binary
    ones. It has K / 2 codes, and two sets have K / 4 in common. The variance of a share near zero is
    coth(epsilon / 2)^2. O(n) time, 4 random bytes per person (8 or 12 if fewer bits would lose more than 1e-5 of epsilon).
    Counts are decoded by a Walsh-Hadamard transform, in O(K log K) time and up to 16 K bytes.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP. No branch and no address depends on the record or the coin.
    docs/proofs/hadamard_response.md.

    References
    ----------
    .. [1] J. Acharya, Z. Sun, H. Zhang, "Hadamard response: estimating distributions privately, efficiently, and with
       little communication", AISTATS 2019.

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.HadamardResponse(1000, epsilon=1.0)
    >>> mechanism.report_bits
    10
    >>> estimate = mechanism.run(np.full(20_000, 123), rng=1)
    >>> bool(abs(estimate.value[123] - 1) < 0.1)
    True
    """

    k: int
    epsilon: float

    def __post_init__(self) -> None:
        k = _check.integer("k", self.k, 2, MAX_CATEGORIES)
        self._set(k=k, epsilon=_check.positive("epsilon", self.epsilon))
        codes = 1 << k.bit_length()
        # The coin shares a word of 32 bits with the code, or has a word of its own.
        coin = _coins.of_set(self.epsilon, codes // 2, codes, shorter=(32 - k.bit_length(), 32))
        self.define_sets(k, coin, codes // 4, privatize.HadamardResponse(k, codes, coin.heads, coin.bits))

    def _supports(self, codes: AnyArray, items: AnyArray) -> NDArray[np.bool_]:
        common = codes.astype(np.uint64)[:, np.newaxis] & (items + 1).astype(np.uint64)
        return np.asarray(np.bitwise_count(common) % 2 == 0)

    def _draw_codes(self, inside: PeopleCounts, outside: PeopleCounts, generator: Generator) -> PeopleCounts:
        return draw_parities(inside, outside, self.k.bit_length(), generator)

    def _hits(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        values = walsh(counts)
        return np.asarray((values[0] + values[1 : self.k + 1]) // 2)
