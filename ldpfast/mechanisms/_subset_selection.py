"""Subset selection."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
from ..domains import Categories
from ..privacy import ReportLaw, TwoLevel
from ..reports import Bits, Decoding
from ..results import Debiasing
from ._draws import PeopleCounts, bincount, sample
from ._law import CHANNEL_ENTRIES, Law
from ._mechanism import Mechanism
from ._response import one_hot
from ._set_response import scaled_variance

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_CATEGORIES = 1 << 16  # a row of bits and the working memory of the kernel stay in cache


def subset_variance(k: int, epsilon: float, size: int) -> float:
    """Return `scaled_variance` for random sets of a size, each of which supports its members."""
    return scaled_variance(k, epsilon, size, k, size * (size - 1) / (k - 1))


@lru_cache(maxsize=256)
def best_size(k: int, epsilon: float) -> int:
    """Return the size of the sets with the smallest total variance, one of the two integers next to k / (e^epsilon + 1)."""
    below = math.floor(k / (math.exp(min(epsilon, 300.0)) + 1))
    sizes = {min(max(1, size), k - 1) for size in (below, below + 1)}
    return min(sizes, key=lambda size: subset_variance(k, epsilon, size))


@dataclass(frozen=True)
class SubsetLaw(Law):
    """The law of a random set that probably holds the category."""

    k: int
    coin: _coins.SetCoin

    def two_level(self) -> TwoLevel:
        k = self.k
        size = self.coin.size
        coin = self.coin
        # S(x) are the sets that hold x.
        return TwoLevel.of_sets(coin.inside / coin.outside, size * (k - 1), k * (k - 1), size * (k - size))

    def largest_probability(self) -> float:
        size, p = self.coin.size, self.coin.inside * self.coin.size
        return float(max(p / math.comb(self.k - 1, size - 1), (1 - p) / math.comb(self.k - 1, size)))

    def report_laws(self) -> Sequence[ReportLaw]:
        # all others have one of the two categories, or a third one
        k, size = self.k, self.coin.size

        def share(held: int, of: int) -> Fraction:
            """Return the share of the sets that hold some of a few categories, and no others of them."""
            return Fraction(math.comb(k - of, size - held) if size >= held else 0, math.comb(k, size))

        none = Fraction(0)
        others = [(share(2, 2), share(1, 2), none, none), (share(2, 2), none, share(1, 2), none)]
        if k > 2:
            others.append((share(3, 3), share(2, 3), share(2, 3), share(1, 3)))
        return [ReportLaw.of_two_level(self.two_level(), others)]

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        return np.asarray(decoding.line.variance(one_hot(records, self.k).astype(np.float64)))

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        """Return the number of sets with each category.

        The set is uniform among all sets with probability k (1 - p) / (k - size), else among those with the true category.
        The columns are drawn one after another. People are counted by the number of their ones
        that are left. Those who are still to have a one in the column of their own category are counted apart, and a
        uniform sample of them has it in the next column. In another column, someone with s ones left for c columns has one
        with probability s / c.
        """
        k, size = self.k, self.coin.size
        owners = bincount(records, people, k)
        anything = generator.binomial(owners, float(k * self.coin.outside))
        waiting, others = np.zeros(size + 1, np.int64), np.zeros(size + 1, np.int64)
        owners, others[size] = owners - anything, anything.sum()
        waiting[size - 1] = owners.sum()
        state, numbers = np.zeros(k, np.int64), np.arange(size + 1)
        first, stop = max(0, size - 1), size + 1  # numbers of ones that somebody has left
        for column in range(k):
            active, left = slice(first, stop), k - column
            taken = sample(generator, waiting[active], int(owners[column]))
            waiting[active] -= taken
            ones = np.zeros(stop - first, np.int64)
            for group, columns in ((waiting, max(1, left - 1)), (others, left)):
                drawn = generator.binomial(group[active], np.minimum(numbers[active] / columns, 1.0))
                group[active] -= drawn
                group[max(1, first) - 1 : stop - 1] += drawn[int(first == 0) :]
                ones += drawn
            others[active] += taken
            state[column] = taken.sum() + ones.sum()
            first = max(0, first - 1)
            present = np.flatnonzero(waiting[first:stop] + others[first:stop])
            first, stop = first + int(present[0]), first + int(present[-1]) + 1
        return state

    def rows(self) -> list[list[int]] | None:
        """Return the channel from categories to sets, numbered by their bits. Numbers with another size have weight 0."""
        k = self.k
        size = self.coin.size
        coin = self.coin
        if k << k > CHANNEL_ENTRIES:
            return None
        inside = coin.heads * math.comb(k - 1, size)
        outside = ((1 << coin.bits) - coin.heads) * math.comb(k - 1, size - 1)
        rows = [[0] * (1 << k) for _ in range(k)]
        for members in combinations(range(k), size):
            code = sum(1 << member for member in members)
            for x in range(k):
                rows[x][code] = inside if x in members else outside
        return rows


@chooses_again
@dataclass(frozen=True)
class SubsetSelection(Mechanism):
    """Subset selection: a random set of categories that probably holds the true one.

    Its total variance is the smallest of all mechanisms for frequencies here. With sets of one category it is
    `RandomizedResponse`.

    Parameters
    ----------
    k : int
        Number of categories, in [2, 65536].
    epsilon : float
        Privacy parameter, > 0.
    size : int, optional
        Number of categories of a set, in [1, k). The default has the smallest total variance: about
        k / (e^epsilon + 1).

    Raises
    ------
    TypeError, ValueError
        If `k` or `size` is not an integer in its range; if `epsilon` is not a finite number > 0, or too small or large for
        exact coins.

    Notes
    -----
    Records: integers in [0, k), shape (n,). Reports: packed bits, uint8, shape (n, ceil(k / 8)), little bit order; the ones
    are the members of the set; rows with another number of ones are refused. The set holds the true category with probability
    p = size e^epsilon / (size e^epsilon + k - size), and is otherwise uniform. The variance of a share near zero is a
    little below 4 e^epsilon / (e^epsilon - 1)^2. O(n k / 64 + n sqrt(size)) time.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP. A set of other categories is drawn without the record, and no branch, loop or address
    depends on the record or the coin. docs/proofs/subset_selection.md.

    References
    ----------
    .. [1] M. Ye, A. Barg, "Optimal schemes for discrete distribution estimation under locally differential privacy", IEEE
       Transactions on Information Theory 64 (2018).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.SubsetSelection(128, epsilon=1.0)
    >>> mechanism.size
    34
    >>> reports = mechanism.privatize(np.array([5, 100]), rng=1)
    >>> np.bitwise_count(reports).sum(axis=1)
    array([34, 34], dtype=uint64)
    """

    k: int
    epsilon: float
    _: KW_ONLY
    size: int | None = None
    debiasing: Debiasing = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        k, epsilon = _check.integer("k", self.k, 2, MAX_CATEGORIES), _check.positive("epsilon", self.epsilon)
        self._set_chosen(size=self.size)
        size = best_size(k, epsilon) if self.size is None else _check.integer("size", self.size, 1, k - 1)
        self._set(k=k, epsilon=epsilon, size=size)
        coin = _coins.of_set(epsilon, size, k)
        p = coin.inside * size
        q = (p * (size - 1) + (1 - p) * size) / (k - 1)
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=Categories(k),
            report=Bits(k, onehot=True, ones=size),
            debiasing=Debiasing.of(p, q),
            kernel=privatize.SubsetSelection(k, size, coin.heads, first_density(k - 1, size)),
            law=SubsetLaw(k, coin),
            coin=coin,
        )


def first_density(others: int, size: int) -> int:
    """Return the density of the first draw of the kernel, in 64ths: one standard deviation less than `size` members."""
    share = size / others
    expected = size - math.sqrt(others * share * (1 - share))
    return min(63, max(0, math.floor(64 * expected / others)))
