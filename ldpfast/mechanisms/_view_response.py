"""View response: the answers to a random view of many questions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check, _coins
from .._core import privatize
from .._typing import AnyArray, Floats
from ..domains import Tuples
from ..privacy import ReportLaw, TwoLevel
from ..reports import Decoding, Views
from ..results import Kinds, ViewDebiasing
from ._draws import PeopleCounts, heads, multinomial, uniform
from ._law import CHANNEL_ENTRIES, Law, NoExactFormError
from ._mechanism import Mechanism
from ._view_design import MAX_SYMBOLS, SHARES, ViewDesign, view_design

if TYPE_CHECKING:
    from numpy.random import Generator

MAX_QUESTIONS = 256
MAX_ANSWERS = 1024  # to all questions together
MAX_NUMBERS = 64  # different numbers of answers
DRAWN_COUNTS = 1 << 24  # of simulated reports: views times symbols, or times records


@dataclass(frozen=True)
class ViewCoins:
    """The integers of the coins.

    Attributes
    ----------
    plain, flip, share : int
        The design: questions of both kinds of views, and the probability of a plain view, times 256.
    coins : tuple of tuple of int
        Symbols, bits, `keep` and `words_per_symbol` of the coins of plain views in ascending order of the symbols, then of
        flip views.
    """

    plain: int
    flip: int
    share: int
    coins: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ViewResponse(Mechanism):
    """The answers to a random view of many questions, for all tables of two of them.

    `survey.Pairs` estimates the tables from the reports.

    Parameters
    ----------
    sizes : sequence of int
        Number of answers to each question, each >= 2; of 2 to 256 questions, with at most 1,024 answers and 64 different
        numbers of answers. The product of the largest two is at most 2^16.
    epsilon : float
        Privacy parameter of all answers together, > 0.

    Attributes
    ----------
    design : ViewDesign
        Number of questions of the two kinds of views, and how often each kind is drawn. It follows from the parameters.

    Raises
    ------
    TypeError, ValueError
        If `sizes` are not such integers; if `epsilon` is not a finite number > 0 that exact coins can certify.

    Notes
    -----
    Records: rows of integers in [0, sizes[i]), shape (n, questions). `clip` is refused. A person is asked a few of the
    questions, the view, which is drawn without the record. The symbol of a plain view is the number of its answers. Questions
    with two answers each have flip views, too, whose symbol is the answers up to a flip of all of them: a flip view says
    nothing about single questions, but more about pairs. The symbol is reported by k-ary response. Plain views of two
    questions have the coin of their own number of symbols, larger ones that of the largest number.

    Decoded reports and estimates are the shares of the answers to all questions, one after the other. O(n questions) time.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP for all answers together, the largest loss of the coins. With keys of persons the view has
    coins of the person, and the report has coins of the view and its symbol: answers that were not asked for change nothing.
    No branch or address of the compiled kernel depends on the record or the coin. docs/proofs/view_response.md.

    References
    ----------
    .. [1] Z. Zhang, T. Wang, N. Li, S. He, J. Chen, "CALM: consistent adaptive local marginal for marginal release under local
       differential privacy", CCS 2018 (plain views).

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.mechanisms import ViewResponse
    >>> mechanism = ViewResponse([2] * 20, epsilon=1.0)
    >>> mechanism.design
    ViewDesign(plain=2, flip=3, share=121)
    >>> answers = np.random.default_rng(0).random((100_000, 20)) < 0.3
    >>> reports = mechanism.privatize(answers, rng=1)
    >>> reports.shape
    (100000, 5)
    >>> mechanism.estimate(reports).value.shape  # shares of no and yes
    (40,)
    """

    sizes: tuple[int, ...]
    epsilon: float
    design: ViewDesign = field(init=False, repr=False, compare=False)
    debiasing: ViewDebiasing = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sizes = tuple(_check.integer("sizes", size, 2, MAX_ANSWERS) for size in _sequence(self.sizes))
        if not 2 <= len(sizes) <= MAX_QUESTIONS or sum(sizes) > MAX_ANSWERS or len(set(sizes)) > MAX_NUMBERS:
            raise ValueError(
                f"sizes must be those of 2 to {MAX_QUESTIONS} questions with at most {MAX_ANSWERS} answers together and"
                f" {MAX_NUMBERS} different numbers of answers, got {len(sizes)} questions with {sum(sizes)} answers"
            )
        if math.prod(sorted(sizes)[-2:]) > MAX_SYMBOLS:
            raise ValueError(f"sizes must be at most {MAX_SYMBOLS} for the product of any two, got {max(sizes)}")
        epsilon = _check.positive("epsilon", self.epsilon)
        self._set(sizes=sizes, epsilon=epsilon)
        law = ViewLaw.of(sizes, epsilon)
        self.define(
            epsilon_realized=max(coin.epsilon_realized for coin in law.coins),
            domain=Tuples(sizes),
            report=law.report,
            debiasing=law.debiasing(),
            kernel=law.kernel(),
            law=law,
            coin=law.integers(),
            design=law.design,
        )


def _sequence(sizes: Any) -> Sequence[Any]:
    if isinstance(sizes, str | bytes) or not hasattr(sizes, "__len__"):
        raise TypeError(f"sizes must be a sequence of integers, got {type(sizes).__name__}")
    return sizes.tolist() if hasattr(sizes, "tolist") else list(sizes)


@dataclass(frozen=True, eq=False)
class ViewLaw(Law):
    """The distribution of reports about a random view.

    Attributes
    ----------
    sizes : tuple of int
    design : ViewDesign
    by_symbols : dict
        Coins of plain views by their number of symbols; with one entry for views of one or of more than two questions.
    of_flip : ResponseCoin or None
    """

    sizes: tuple[int, ...]
    design: ViewDesign
    by_symbols: dict[int, _coins.ResponseCoin]
    of_flip: _coins.ResponseCoin | None

    @classmethod
    def of(cls, sizes: tuple[int, ...], epsilon: float) -> ViewLaw:
        """Return the law of the best design."""
        design = view_design(sizes, epsilon)
        repeated = {size for size in sizes if sizes.count(size) > 1}
        different = combinations(sorted(set(sizes)), 2)
        symbols = {a * b for a, b in different} | {size**2 for size in repeated}
        if design.plain != 2:
            symbols = {design.symbols(sizes)}
        coins = {k: _coins.response(k, epsilon) for k in sorted(symbols)}
        flip = _coins.response(1 << (design.flip - 1), epsilon) if design.flip else None
        return cls(sizes, design, coins, flip)

    @property
    def coins(self) -> list[_coins.ResponseCoin]:
        """All coins, those of plain views in ascending order of the symbols."""
        return [*self.by_symbols.values(), *([self.of_flip] if self.of_flip else [])]

    def integers(self) -> ViewCoins:
        """Return the integers from which the guarantee is computed."""
        design = self.design
        coins = tuple((coin.k, coin.bits, coin.keep, coin.words_per_symbol) for coin in self.coins)
        return ViewCoins(design.plain, design.flip, design.share, coins)

    @cached_property
    def report(self) -> Views:
        """Format of the reports."""
        return Views(self.sizes, self.design.plain, self.design.flip)

    def kernel(self) -> Any:
        """Return the compiled kernel."""
        design, numbers = self.design, sorted(set(self.sizes))
        if design.plain == 2:  # numbers that occur once have no view with themselves
            table = [[self.by_symbols.get(a * b) for b in numbers] for a in numbers]
        else:
            table, numbers = [[*self.by_symbols.values()]], []
        direct = [[0 if coin is None else direct_words(coin) for coin in row] for row in table]
        places = [numbers.index(size) if numbers else 0 for size in self.sizes]
        flip = direct_words(self.of_flip) if self.of_flip else 0
        return privatize.ViewResponse(self.sizes, design.plain, design.flip, design.share, places, direct, flip)

    # Probabilities ----------------------------------------------------------------------------------------------------

    def coin_of(self, sizes: Sequence[int]) -> _coins.ResponseCoin:
        """Return the coin of a plain view of questions with some numbers of answers."""
        if len(self.by_symbols) == 1:
            return next(iter(self.by_symbols.values()))
        return self.by_symbols[math.prod(sizes)]

    @cached_property
    def _kept(self) -> dict[tuple[int, int], Fraction]:
        """Probabilities of keeping the true symbol of a plain view with two questions, by their numbers of answers."""
        counts = Counter(self.sizes)
        return {(a, b): kept_of(self.coin_of((a, b))) for a in counts for b in counts if a != b or counts[a] > 1}

    @cached_property
    def kept(self) -> Floats:
        """The same as doubles by the questions, shape (questions, questions), with 0 on the diagonal."""
        return self._by_questions(self._kept)

    def _by_questions(self, values: dict[tuple[int, int], Fraction]) -> Floats:
        """Return numbers for pairs of numbers of answers as a matrix by the questions, with 0 on the diagonal."""
        numbers = sorted(set(self.sizes))
        table = np.array([[float(values.get((a, b), 0)) for b in numbers] for a in numbers])
        places = np.searchsorted(numbers, self.sizes)
        found = table[np.ix_(places, places)]
        np.fill_diagonal(found, 0.0)
        return np.asarray(found)

    @property
    def flip_kept(self) -> Fraction:
        """Probability of keeping the true symbol of a flip view."""
        return kept_of(self.of_flip) if self.of_flip else Fraction(0)

    def debiasing(self) -> ViewDebiasing:
        """Return the weights of the answers and the second moments of decoded ones.

        A question is in a plain view together with another one with probability P. Its answer is decoded with the weight c / D,
        where c is the probability of keeping a symbol and D the sum of P c^2 over its views.
        """
        q, plain = len(self.sizes), self.design.plain
        share, counts = Fraction(self.design.share, SHARES), Counter(self.sizes)
        weights: dict[tuple[int, int], Fraction] = {}
        moments = {}
        for size in counts:
            # The views of a question with so many answers: a probability, a coin and a weight for each kind of partner.
            partners = {other: count - (other == size) for other, count in counts.items() if count > (other == size)}
            if plain == 2:
                views = {b: (share * count / math.comb(q, 2), self._kept[size, b]) for b, count in partners.items()}
            else:
                views = {0: (share * plain / q, kept_of(next(iter(self.by_symbols.values()))))}
            total = sum((p * c * c for p, c in views.values()), Fraction(0))
            r = Fraction(1, size)
            at_zero = slope = Fraction(0)
            for p, c in views.values():
                second = p * (c / total) ** 2
                at_zero += second * ((1 - c) * r * (1 - 2 * r) + r * r)
                slope += second * c * (1 - 2 * r)
            moments[size] = float(at_zero), float(slope)
            for other in partners:
                _, c = views.get(other) or views[0]
                weights[size, other] = c / total
        return ViewDebiasing(self._by_questions(weights), np.array([moments[size] for size in self.sizes]))

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        assert isinstance(decoding.debiasing, ViewDebiasing)
        moments = np.repeat(decoding.debiasing.moments, self.sizes, axis=0)
        random = 1 / np.repeat(self.sizes, self.sizes)
        truth = np.concatenate(
            [records[:, i, np.newaxis] == np.arange(size) for i, size in enumerate(self.sizes)], axis=1
        )
        return np.asarray(moments[:, 0] + moments[:, 1] * truth - (truth - random) ** 2)

    def worst_variance(self, decoding: Decoding) -> float:
        assert isinstance(decoding.debiasing, ViewDebiasing)
        moments, random = decoding.debiasing.moments, 1 / np.array(self.sizes)
        share = np.clip(random + moments[:, 1] / 2, 0, 1)
        return float((moments[:, 0] + moments[:, 1] * share - (share - random) ** 2).max())

    def two_level(self) -> TwoLevel:
        return TwoLevel.of_kinds(self._kinds())

    def report_laws(self) -> Sequence[ReportLaw]:
        return [ReportLaw.of_kinds(self._kinds())]

    def _kinds(self) -> list[tuple[Fraction, ...]]:
        q, share = len(self.sizes), Fraction(self.design.share, SHARES)
        kinds: list[tuple[Fraction, ...]] = []
        for k, count in self._numbers_of_views().items():
            kept = kept_of(self.by_symbols.get(k) or next(iter(self.by_symbols.values())))
            probability = share * Fraction(count, math.comb(q, self.design.plain))
            kinds.append((probability, 1 + k * kept / (1 - kept), Fraction(1), Fraction(k), Fraction(1)))
        if self.of_flip:
            odds = Fraction(self.of_flip.keep, self.of_flip.words_per_symbol)
            kinds.append((1 - share, odds, Fraction(1), Fraction(self.of_flip.k), Fraction(1)))
        return kinds

    def _numbers_of_views(self) -> dict[int, int]:
        """Return the numbers of plain views by their number of symbols."""
        chosen: list[dict[int, int]] = [{1: 1}, *({} for _ in range(self.design.plain))]
        for size in self.sizes:
            for length in range(self.design.plain, 0, -1):
                for symbols, count in chosen[length - 1].items():
                    chosen[length][symbols * size] = chosen[length].get(symbols * size, 0) + count
        return chosen[-1]

    def largest_probability(self) -> float:
        q, share = len(self.sizes), self.design.share / SHARES
        found = [
            share / math.comb(q, self.design.plain) * float(kept_of(coin) + (1 - kept_of(coin)) / coin.k)
            for coin in self.by_symbols.values()
        ]
        if self.of_flip:
            kept = self.flip_kept + (1 - self.flip_kept) / self.of_flip.k
            found.append((1 - share) / math.comb(q, self.design.flip) * float(kept))
        return max(found)

    def kinds_of(self, reports: AnyArray) -> Kinds:
        """Return how many plain and flip views have each question, which has the same probability for all questions."""
        report, q = self.report, len(self.sizes)
        share = self.design.share / SHARES
        asked = np.unpackbits(reports[:, : report.mask_bytes], axis=1, count=q, bitorder="little")
        flips = reports[:, report.mask_bytes].astype(np.bool_)
        counts = np.concatenate([asked[~flips].sum(axis=0, dtype=np.int64), asked[flips].sum(axis=0, dtype=np.int64)])
        probabilities = np.repeat([share * self.design.plain / q, (1 - share) * self.design.flip / q], q)
        return Kinds(counts, probabilities)

    # Channel and simulation -------------------------------------------------------------------------------------------

    def kinds(self) -> Iterator[tuple[int, int, Fraction]]:
        """Yield the kinds of views, with their numbers of questions and probabilities."""
        share = Fraction(self.design.share, SHARES)
        yield 0, self.design.plain, share
        if self.of_flip:
            yield 1, self.design.flip, 1 - share

    def symbols(self, kind: int, view: Sequence[int], records: AnyArray) -> tuple[AnyArray, int]:
        """Return the symbols of records for a view, and the number of all symbols."""
        answers = records[:, list(view)].astype(np.int64)
        if kind == 1:
            return (answers[:, 1:] ^ answers[:, :1]) @ (1 << np.arange(len(view) - 1)), 1 << (len(view) - 1)
        base = np.cumprod([1, *(self.sizes[i] for i in view)])
        return answers @ base[:-1], int(base[-1])

    def rows(self) -> list[list[Fraction]] | None:
        """Return the channel from records, the first answer fastest, to reports in the order of their bytes, little-endian."""
        inputs, outputs = math.prod(self.sizes), math.comb(len(self.sizes), self.design.plain) * self.report.most
        if self.of_flip:
            outputs += math.comb(len(self.sizes), self.design.flip) * self.of_flip.k
        if inputs * outputs > CHANNEL_ENTRIES:
            return None
        records = np.array([x[::-1] for x in product(*(range(size) for size in self.sizes[::-1]))])
        columns = {}
        for kind, size, share in self.kinds():
            probability = share / math.comb(len(self.sizes), size)
            for view in combinations(range(len(self.sizes)), size):
                truth, k = self.symbols(kind, view, records)
                kept = self.flip_kept if kind else kept_of(self.coin_of([self.sizes[i] for i in view]))
                for symbol in range(k):
                    code = sum(1 << i for i in view) | (kind | symbol << 8) << 8 * self.report.mask_bytes
                    columns[code] = [
                        probability * (kept * int(own == symbol) + (1 - kept) / k) for own in truth.tolist()
                    ]
        return [list(row) for row in zip(*(columns[code] for code in sorted(columns)), strict=True)]

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        q, state = len(self.sizes), self.report.new_state()
        cells, pairs = self.report.split(state)
        share = Fraction(self.design.share, SHARES)
        plain = heads(generator, people, share.numerator, share.denominator - share.numerator)
        for kind, size, _ in self.kinds():
            views = math.comb(q, size)
            if views * max(len(records), self.report.most) > DRAWN_COUNTS:
                raise NoExactFormError(f"there are {views} views")
            asked = uniform(generator, people - plain if kind else plain, views)
            for number, view in enumerate(combinations(range(q), size)):
                if not asked[:, number].any():
                    continue
                truth, k = self.symbols(kind, view, records)
                counts = np.zeros(k, np.int64)
                np.add.at(counts, truth, asked[:, number])
                coin = self.of_flip if kind else self.coin_of([self.sizes[i] for i in view])
                assert coin is not None
                direct = coin.keep - coin.words_per_symbol
                kept = heads(generator, counts, direct, (1 << coin.bits) - direct)
                counts = kept + multinomial(generator, np.asarray((counts - kept).sum()), np.ones(k))
                self._add(kind, view, counts, cells, pairs)
        return state

    def _add(self, kind: int, view: Sequence[int], counts: PeopleCounts, cells: AnyArray, pairs: AnyArray) -> None:
        """Add the counts of the symbols of one view to a state."""
        symbol = np.arange(len(counts))
        if kind == 1:
            differ = symbol << 1
            for (a, i), (b, j) in combinations(enumerate(view), 2):
                pairs[i, j] += counts.sum()
                pairs[j, i] += counts[((differ >> a ^ differ >> b) & 1) == 0].sum()
            return
        first = self.report.first
        answers = []
        for i in view:
            symbol, answer = np.divmod(symbol, self.sizes[i])
            answers.append(first[i] + answer)
        for place, later in enumerate(answers):
            for earlier in answers[: place + 1]:
                np.add.at(cells, (earlier, later), counts)


def kept_of(coin: _coins.ResponseCoin) -> Fraction:
    """Return the probability of keeping the true symbol; otherwise all symbols are equally probable."""
    return Fraction(coin.keep - coin.words_per_symbol, 1 << coin.bits)


def direct_words(coin: _coins.ResponseCoin) -> int:
    """Return the number of words of 64 bits for which the true symbol is kept."""
    return (coin.keep - coin.words_per_symbol) << (64 - coin.bits)
