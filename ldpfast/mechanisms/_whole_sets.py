"""Randomized response of whole sets of options."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._core import privatize
from .._typing import AnyArray, Floats
from ..domains import Sets
from ..privacy import TwoLevel
from ..reports import Codes
from ..results import Debiasing, SupportDebiasing
from ._draws import PeopleCounts
from ._response import ResponseLaw
from ._sets_law import SetsLaw, among_answers
from ._sets_mechanism import SetsMechanism

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_SETS = 1 << 16


@dataclass(frozen=True)
class WholeSets(SetsMechanism):
    """Randomized response of whole sets: the true set with probability p, else a uniform choice among the others.

    `for_sets` returns it where it is better than `SetSelection` and `SetCube`: if there are fewer sets than about e^epsilon.

    Parameters
    ----------
    k : int
        Number of options, >= 2.
    most : int
        Largest number of options of a set, in [1, k]. There must be at most 65536 sets.
    epsilon : float
        Privacy parameter of the whole set, > 0 and at most about 44.
    optional : bool, default False
        Whether a set may be missing, which is different from an empty set.

    Raises
    ------
    TypeError, ValueError
        If an integer is not in its range, if there are more than 65536 sets, or if `epsilon` is not a finite number > 0, or
        too small or large for exact coins.

    Notes
    -----
    Records: those of `SetSelection`. Reports: codes of the smallest unsigned dtype that holds the number of sets. They are
    ordered by the number of options, then by the largest option, the next one and so on; a missing set is the last one.
    Estimates are the shares of the options, and `sizes` the distribution of their number. O(n k `most`) time.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP for the whole set, as `RandomizedResponse`. The compiled kernel has no branch, loop or
    address that depends on the record or the coin. docs/proofs/whole_sets.md.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.mechanisms import for_sets
    >>> mechanism = for_sets(5, 2, epsilon=4.0)
    >>> mechanism
    WholeSets(k=5, most=2, epsilon=4.0, optional=False)
    >>> counted = mechanism.collect([{0, 3}, {3}] * 50_000, rng=1)
    >>> bool(abs(counted.estimate().value[3] - 1) < 0.03)
    True
    >>> bool(abs(mechanism.sizes(counted).value[2] - 0.5) < 0.03)
    True
    """

    k: int
    most: int
    epsilon: float
    _: KW_ONLY
    optional: bool = False
    debiasing: SupportDebiasing = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        domain = self._set_checked()
        k, most = self.k, self.most
        optional = self.optional
        sets = number_of_sets(k, most) + optional
        if sets > MAX_SETS:
            raise ValueError(f"k and most must give at most {MAX_SETS} sets, got k={k} and most={most}")
        coin = _coins.response(sets, self.epsilon)
        law = WholeSetsLaw(domain, coin)
        self.define(
            epsilon_realized=coin.epsilon_realized,
            domain=domain,
            report=Codes(sets),
            debiasing=SupportDebiasing(k, law.supported, law.options, law.option_line),
            kernel=privatize.WholeSets(coin, k, most, optional),
            law=law,
            coin=coin,
        )


def number_of_sets(k: int, most: int) -> int:
    """Return the number of sets of at most `most` of k options, or a larger number than can be coded."""
    total = 0
    for size in range(most + 1):
        total += math.comb(k, size)
        if total > MAX_SETS:
            break
    return total


@dataclass(frozen=True)
class WholeSetsLaw(SetsLaw):
    """The distribution of the code of a set, the true one or any other.

    Attributes
    ----------
    domain : Sets
    coin : ResponseCoin
    """

    domain: Sets
    coin: _coins.ResponseCoin

    # Codes ------------------------------------------------------------------------------------------------------------

    @cached_property
    def sets(self) -> AnyArray:
        """Converted records of all sets, in the order of their codes."""
        k, most = self.domain.k, self.domain.most
        parts = []
        for size in range(most + 1):
            chosen = np.array(list(combinations(range(k), size)), np.uint16).reshape(math.comb(k, size), size)
            chosen = chosen[np.lexsort(tuple(chosen.T))] if size else chosen
            fillers = np.broadcast_to(k + np.arange(most - size, dtype=np.uint16), (len(chosen), most - size))
            parts.append(np.concatenate([chosen, fillers], axis=1))
        if self.domain.optional:
            parts.append(np.append(k + np.arange(most - 1), k + most).astype(np.uint16)[np.newaxis])
        return np.concatenate(parts)

    def symbols(self, records: AnyArray) -> AnyArray:
        """Return the codes of converted records."""
        k, most = self.domain.k, self.domain.most
        options = records.astype(np.int64)
        chosen = options < k
        codes = np.zeros(len(records), np.int64)
        for place in range(most):
            rank = np.array([math.comb(option, place + 1) for option in range(k)])
            option = np.where(chosen[:, place], options[:, place], 0)
            codes += np.where(chosen[:, place], math.comb(k, place) + rank[option], 0)
        if self.domain.optional:
            codes[options[:, -1] == k + most] = self.coin.k - 1
        return codes

    def supported(self, codes: AnyArray) -> NDArray[np.bool_]:
        """Return which options are in the sets with these codes."""
        return self.domain.ticks(self.sets[codes])

    def options(self, counts: AnyArray) -> AnyArray:
        """Return the numbers of reports of sets with each option, from the numbers of codes."""
        return self._by_position(counts)[..., : self.domain.k]

    def _by_position(self, counts: AnyArray) -> AnyArray:
        """Return the numbers of reports with each position, from the numbers of codes, shape (..., sets)."""
        found = np.zeros((*counts.shape[:-1], self.domain.positions), np.int64)
        for column in self.sets.T:
            np.add.at(found.T, column.astype(np.intp), counts.T)
        return found

    # Estimates --------------------------------------------------------------------------------------------------------

    def _line(self, sets: int) -> Debiasing:
        """Return the debiasing of the share of the reports that are in a given number of sets."""
        p, q = self.coin.p, self.coin.q
        return Debiasing.of(p + (sets - 1) * q, sets * q)

    @property
    def option_line(self) -> Debiasing:
        """Debiasing of the share of the reports with an option."""
        return self._line(number_of_sets(self.domain.k - 1, self.domain.most - 1))

    @cached_property
    def line(self) -> Debiasing:
        option = self.option_line
        if not self.domain.optional:
            return option
        missing, k = self._line(1), self.domain.k
        ends: Any = (np.append(np.full(k, a), b) for a, b in ((option.zero, missing.zero), (option.one, missing.one)))
        return Debiasing(*ends)

    def hits(self, counts: AnyArray, n: Any) -> tuple[AnyArray, AnyArray]:
        hits = self.options(counts)
        if self.domain.optional:
            hits = np.concatenate([hits, counts[..., -1:]], axis=-1)
        return hits, np.broadcast_to(np.asarray(n, np.int64)[..., np.newaxis], hits.shape)

    def covariance(
        self, first: Floats, second: Floats, both: Floats, *, with_missing: bool | NDArray[np.bool_] = False
    ) -> Floats:
        k, most = self.domain.k, self.domain.most
        line, missing = self.option_line, self._line(1)
        gain = line.one - line.zero
        common = number_of_sets(k - 2, most - 2) if most > 1 else 0
        options = gain * gain * common * float(self.coin.q) + gain * both
        # A report has a pair of options with the probability common q + (p - q) both, and none with both an option and nothing.
        one = options - (first - line.zero) * (second - line.zero)
        other = -(first - line.zero) * (second - missing.zero)
        return np.asarray(np.where(with_missing, other, one))

    def sizes(self, counts: AnyArray, n: int) -> tuple[Floats, Floats]:
        k, most = self.domain.k, self.domain.most
        numbers = [math.comb(k, size) for size in range(most + 1)] + [1] * self.domain.optional
        hits = np.add.reduceat(counts, np.cumsum([0, *numbers[:-1]]))
        p, q = float(self.coin.p), float(self.coin.q)
        base = q * np.array(numbers)
        share = (hits / n - base) / (p - q)
        # The probabilities at the nearest possible shares, so that no variance is zero.
        expected = base + (p - q) * np.clip(share, 0, 1)
        covariance = (np.diag(expected) - np.outer(expected, expected)) / ((p - q) ** 2 * n)
        value, step = share[: most + 1], np.eye(most + 1, len(share))
        if self.domain.optional:
            value, step = among_answers(value, step, share[-1])
        return value, step @ covariance @ step.T

    # Reports ----------------------------------------------------------------------------------------------------------

    @property
    def response(self) -> ResponseLaw:
        """The distribution of the codes."""
        return ResponseLaw(self.coin, self.symbols)

    def rows(self) -> list[list[int]] | None:
        rows = self.response.rows()
        return None if rows is None else [rows[code] for code in self.symbols(np.array(list(self.records())))]

    def largest_probability(self) -> float:
        return self.response.largest_probability()

    def two_level(self) -> TwoLevel:
        return self.response.two_level()

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        return self.response.draw(records, people, generator)
