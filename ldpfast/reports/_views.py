"""Reports about some of many questions."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import tally
from .._limits import along
from .._typing import AnyArray, Floats
from ..results import AnyDebiasing, Estimate, ViewDebiasing
from ._format import CountFormat, Decoding


@dataclass(frozen=True)
class Views(CountFormat):
    """The questions that a person was asked, and one symbol for the answers.

    A report is the mask of the questions, a byte with the kind of the view (0: plain, 1: flip), and the symbol in one or two
    bytes, little-endian. Plain views have `plain` questions; the symbol is the number of their answers, whose lowest digit
    is the answer to the first question. Flip views have `flip` questions with two answers each; bit j of the symbol says
    whether the answers to the first question of the view and to question j + 1 of the view differ, questions counted from 0.

    The state is one array of counts, `split` into two. `cells`, for plain views: the reports with two answers, in the row of
    the smaller number; on the diagonal those with one. `pairs`, for flip views: the reports about questions i < j in row i,
    and those of them with equal answers in row j.

    Examples
    --------
    >>> from ldpfast.mechanisms import ViewResponse
    >>> format = ViewResponse([2] * 20, 1.0).report
    >>> format.plain, format.flip, format.nbytes
    (2, 3, 5)
    """

    sizes: tuple[int, ...]
    plain: int
    flip: int = 0
    counts_of_answers: NDArray[np.uint32] = field(init=False, repr=False, compare=False)
    first: NDArray[np.int64] = field(init=False, repr=False, compare=False)
    most: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "counts_of_answers", np.array(self.sizes, np.uint32))
        set_(self, "first", np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64))
        largest = sorted(self.sizes)[-self.plain :]
        set_(self, "most", max(math.prod(largest), 1 << max(0, self.flip - 1)))

    @property
    def questions(self) -> int:
        """Number of questions."""
        return len(self.sizes)

    @property
    def answers(self) -> int:
        """Number of the answers to all questions together."""
        return int(self.first[-1])

    @property
    def mask_bytes(self) -> int:
        """Number of bytes of the mask of the questions."""
        return (self.questions + 7) // 8

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.mask_bytes + 2 + (self.most > 256),)

    def dtype(self, records: np.dtype[Any]) -> np.dtype[Any]:
        return np.dtype(np.uint8)

    @property
    def bits(self) -> int:
        return self.questions + (self.flip > 0) + (self.most - 1).bit_length()

    # Counts -----------------------------------------------------------------------------------------------------------

    @property
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (self.answers**2 + self.questions**2,), np.int64

    def split(self, state: AnyArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the `cells` and `pairs` of states with any leading axes, as views."""
        d, q = self.answers, self.questions
        lead = state.shape[:-1]
        return state[..., : d * d].reshape(*lead, d, d), state[..., d * d :].reshape(*lead, q, q)

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_views(reports, self.counts_of_answers, self.plain, self.flip, state)

    def tally_valid(self, reports: AnyArray, state: AnyArray) -> bool:
        return tally.add_views(reports, self.counts_of_answers, self.plain, self.flip, state)

    def invalidity(self, reports: AnyArray) -> str | None:
        row = tally.first_invalid_view(reports, self.counts_of_answers, self.plain, self.flip)
        return None if row < 0 else f"be about {self._describe()}, with a possible symbol; row {row} is not"

    def _describe(self) -> str:
        either = f"{self.plain} or {self.flip}" if self.flip else str(self.plain)
        return f"{either} of {self.questions} questions"

    def is_possible(self, state: AnyArray, n: int) -> bool:
        if not super().is_possible(state, n):
            return False
        cells, pairs = self.split(state)
        if np.tril(cells, -1).any() or not (self.flip or not pairs.any()):
            return False
        owner = np.repeat(np.arange(self.questions), self.sizes)
        one = np.diagonal(cells)
        both = np.triu(cells, 1)
        if both[owner[:, np.newaxis] == owner].any():  # two answers to one question
            return False
        asked, agree = np.triu(pairs, 1), np.tril(pairs, -1).T
        if (agree > asked).any() or np.diagonal(pairs).any():
            return False
        # Each plain report has `plain` answers and, with each of them, plain - 1 others.
        plain, flips = sum(one.tolist()), sum(asked[asked > 0].tolist())
        per_flip = max(1, math.comb(self.flip, 2))
        total = plain * per_flip + flips * self.plain == n * self.plain * per_flip
        partners = _sums(both + both.T) == (self.plain - 1) * one.astype(object)
        return bool(total and plain % self.plain == 0 and partners.all())

    # Decoding ---------------------------------------------------------------------------------------------------------

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        assert isinstance(debiasing, ViewDebiasing)
        random = 1 / np.repeat(self.sizes, self.sizes)
        decoded = np.tile(random, (len(reports), 1))
        plain = np.flatnonzero(reports[:, self.mask_bytes] == 0)
        asked = np.unpackbits(reports[plain, : self.mask_bytes], axis=1, count=self.questions, bitorder="little")
        questions = np.nonzero(asked)[1].reshape(len(plain), self.plain)
        symbol = reports[plain, self.mask_bytes + 1].astype(np.int64)
        if self.most > 256:
            symbol += reports[plain, self.mask_bytes + 2].astype(np.int64) << 8
        for place in range(self.plain):
            question = questions[:, place]
            partner = questions[:, place - 1] if self.plain > 1 else (question + 1) % self.questions
            size, weight = self.counts_of_answers[question].astype(np.int64), debiasing.weight[question, partner]
            symbol, answer = np.divmod(symbol, size)
            decoded[plain, self.first[question] + answer] += weight
            spread = np.zeros((len(plain), self.questions))
            spread[np.arange(len(plain)), question] = weight
            decoded[plain] -= np.repeat(spread, self.sizes, axis=1) * random
        return decoded

    def mean(self, decoding: Decoding, state: AnyArray, n: Any) -> Estimate[Any]:
        debiasing = decoding.debiasing
        assert isinstance(debiasing, ViewDebiasing)
        cells, _ = self.split(state)
        starts = self.first[:-1]
        if self.plain == 2:
            both = np.triu(cells, 1).astype(np.float64)
            per_question = np.add.reduceat(both + np.swapaxes(both, -1, -2), starts, axis=-1)
            hits = (per_question * np.repeat(debiasing.weight, self.sizes, axis=0)).sum(axis=-1)
        else:
            one = np.diagonal(cells, axis1=-2, axis2=-1)
            hits = one * np.repeat(debiasing.weight.max(axis=1), self.sizes)
        random = 1 / np.repeat(self.sizes, self.sizes)
        total = along(n, 1)
        asked = np.repeat(np.add.reduceat(hits, starts, axis=-1), self.sizes, axis=-1)
        value = random + (hits - random * asked) / total
        # The variance at the possible share nearest to the estimate is never zero, even for one report.
        share = np.clip(value, *decoding.value_range)
        second = np.repeat(debiasing.moments, self.sizes, axis=0)
        stderr = np.sqrt((second[:, 0] + second[:, 1] * share - (share - random) ** 2) / total)
        return Estimate(value, stderr, n, decoding.guarantee, _span=decoding.value_range)


def _sums(counts: NDArray[np.int64]) -> NDArray[Any]:
    """Return the sums of the rows as Python integers, without overflow."""
    low = (counts & ((1 << 31) - 1)).sum(axis=-1).astype(object)
    return np.asarray((counts >> 31).sum(axis=-1).astype(object) * (1 << 31) + low)
