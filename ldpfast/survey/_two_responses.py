"""Two k-ary responses, one applied to the result of the other."""

from __future__ import annotations

import decimal
from dataclasses import KW_ONLY, dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _coins
from .._person_keys import QuestionKeys, category_fields
from .._random import Words
from .._typing import AnyArray, Floats
from ..domains import Categories
from ..mechanisms import Law, Mechanism, RandomizedResponse
from ..mechanisms._law import CHANNEL_ENTRIES
from ..mechanisms._response import one_hot
from ..privacy import TwoLevel
from ..reports import Codes, Decoding, recipe_of
from ..results import Debiasing
from ._covariance import Covariance
from ._round_loss import loss_of_rounds


@dataclass(frozen=True)
class TwoResponses(Mechanism):
    """A k-ary response whose results are permanent, and a second one that is applied to them in every round.

    As a mechanism, it draws both responses afresh.

    Parameters
    ----------
    k : int
        Number of symbols.
    epsilon : float
        Privacy parameter of one round, > 0 and below `permanent`.
    permanent : float
        Privacy parameter of the first response, > 0.

    Attributes
    ----------
    first, second : RandomizedResponse
        The responses to the symbol and to its permanent answer.
    """

    k: int
    epsilon: float
    _: KW_ONLY
    permanent: float
    report: Codes = field(init=False, repr=False, compare=False)
    debiasing: Debiasing = field(init=False, repr=False, compare=False)
    first: RandomizedResponse = field(init=False, repr=False, compare=False)
    second: RandomizedResponse = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        first = RandomizedResponse(self.k, self.permanent)
        second = second_response(first, self.epsilon)
        keep, other = product(first, second)
        self.define(
            epsilon_realized=_coins.log_up(keep / other),
            domain=Categories(self.k),
            report=Codes(self.k),
            debiasing=Debiasing.of(keep, other),
            law=TwoResponsesLaw(self.k, keep, other),
            first=first,
            second=second,
        )

    def loss(self, rounds: int, changes: int, *, rounded: bool) -> float:
        """Return a bound on the loss of several rounds, as `loss_of_rounds`."""
        if rounds == 1:
            return self.epsilon_realized
        found = loss_of_rounds(
            self.k, recipe_of(self.first).coin.p, self.second.epsilon_realized, rounds, changes, rounded=rounded
        )
        return found if changes else min(found, self.first.epsilon_realized)

    # Reports ----------------------------------------------------------------------------------------------------------

    def respond(self, own: AnyArray, fresh: QuestionKeys, start: int, symbols: AnyArray, out: AnyArray) -> None:
        """Write the reports of people in one round.

        Parameters
        ----------
        own : ndarray
            Keys of the permanent answers.
        fresh : QuestionKeys
            Keys of the round.
        start : int
            Number of the first person.
        symbols : ndarray
            Symbol of each person.
        out : ndarray
            The reports.
        """
        answers = np.empty(len(symbols), out.dtype)
        recipe_of(self.first).kernel.privatize_each(own, symbols.astype(out.dtype), answers)
        keys = fresh.derive(start, category_fields(answers))
        recipe_of(self.second).kernel.privatize_each(keys, answers, out)

    def privatize_block(self, records: AnyArray, words: Words) -> AnyArray:
        answers = _response(recipe_of(self.first).coin, records.astype(np.uint64), words)
        return _response(recipe_of(self.second).coin, answers, words)

    def noise_covariance(self, share: Floats, n: int, changed: float, rounded: bool) -> Covariance:
        """Return half of the covariance of the difference of two rounds, given the records of n people.

        Parameters
        ----------
        share : ndarray, shape (k,)
            Share of each symbol among the people.
        n : int
            Number of people.
        changed : float
            Largest share of people with another value in the other round, among those with the same symbol.
        rounded : bool
            Whether the symbols are rounded at random from other records. The covariance is an upper bound then.
        """
        first, second = recipe_of(self.first).coin, recipe_of(self.second).coin
        middle = float(first.q) + float(first.p - first.q) * share  # of the permanent answers
        fresh, fresh_matrix = _covariance_of_response(second, middle)
        kept, kept_matrix = _covariance_of_response(first, share)
        kept_scale = changed / float(first.p - first.q) ** 2
        fresh_scale = 1 / float((first.p - first.q) * (second.p - second.q)) ** 2
        matrix = np.zeros((3, 3))
        matrix[:2, :2] += fresh_scale * fresh_matrix
        if rounded:  # as for people who are drawn from all
            kept = middle
            matrix[1, 1] -= kept_scale
        else:
            matrix[np.ix_((0, 2), (0, 2))] += kept_scale * kept_matrix
        diagonal = fresh_scale * fresh + kept_scale * kept
        return Covariance(diagonal / n, (np.ones(self.k), middle, share), matrix / n)

    def _pinned(self) -> dict[str, Any]:
        return {"coins": {"first": self.first._pinned()["coins"], "second": self.second._pinned()["coins"]}}


@dataclass(frozen=True)
class TwoResponsesLaw(Law):
    """The distribution of a symbol after two k-ary responses.

    Attributes
    ----------
    k : int
    keep, other : Fraction
        Probabilities of the true symbol and of each other one.
    """

    k: int
    keep: Fraction
    other: Fraction

    def rows(self) -> list[list[Fraction]] | None:
        if self.k**2 > CHANNEL_ENTRIES:
            return None
        return [[self.keep if i == j else self.other for j in range(self.k)] for i in range(self.k)]

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        return np.asarray(decoding.line.variance(one_hot(records, self.k).astype(np.float64)))

    def two_level(self) -> TwoLevel:
        return TwoLevel.of_sets(self.keep / self.other, 1, self.k, 1)


def product(first: RandomizedResponse, second: RandomizedResponse) -> tuple[Fraction, Fraction]:
    """Return the probabilities of the true symbol and of each other one after both responses."""
    k = first.k
    a = recipe_of(first).coin
    b = recipe_of(second).coin
    keep = a.p * b.p + (k - 1) * a.q * b.q
    return keep, (1 - keep) / (k - 1)


@lru_cache(maxsize=1024)
def second_response(first: RandomizedResponse, epsilon: float) -> RandomizedResponse:
    """Return the response with the largest epsilon, up to rounding, for which both together have a loss of at most epsilon."""
    with decimal.localcontext(_coins.CONTEXT):
        most = Decimal(epsilon).exp()

    def fits(candidate: float) -> bool:
        try:
            keep, other = product(first, RandomizedResponse(first.k, candidate))
        except ValueError:  # no coin is as large
            return False
        ratio = keep / other
        with decimal.localcontext(_coins.CONTEXT):
            return Decimal(ratio.numerator) <= most * Decimal(ratio.denominator)

    low, high = epsilon, epsilon  # the second response alone has a loss of at most epsilon
    while high < 40 and fits(high):
        low, high = high, 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return RandomizedResponse(first.k, low)


def _response(coin: _coins.ResponseCoin, symbols: NDArray[np.uint64], words: Words) -> NDArray[np.uint64]:
    """Return the responses to symbols."""
    drawn = words.uint64(len(symbols)) >> np.uint64(64 - coin.bits)
    direct = np.uint64(coin.keep - coin.words_per_symbol)
    other = (drawn - direct) // np.uint64(coin.words_per_symbol)
    return np.asarray(np.where(drawn < direct, symbols, other))


def _covariance_of_response(coin: _coins.ResponseCoin, share: Floats) -> tuple[Floats, Floats]:
    """Return the mean covariance of the one-hot responses of people with symbols of some shares.

    It has a diagonal, and the entries of a small matrix for a row of ones and `share`.
    """
    p, q = float(coin.p), float(coin.q)
    diagonal = q + (p - q) * share - (p - q) ** 2 * share
    return diagonal, np.array([[-(q**2), -q * (p - q)], [-q * (p - q), 0.0]])
