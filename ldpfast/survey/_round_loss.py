"""The loss of many rounds of a repeated question, for people whose values change in any rounds.

The permanent answers of different values are independent. So the probability of the reports y is, up to a common factor,
the product over the values a of a person of the sum over permanent answers b of P(b | a) r^(number of rounds with value a and
report b), where r is the ratio of the probabilities of the second response. The loss is the largest logarithm of the ratio of
two such products. docs/proofs/repeated.md shows that all reports in rounds with the same pair of values can be taken as equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from .._typing import Floats

MAX_EXACT_ROUNDS = 128  # with one change; all lengths of the stretches are tried
MAX_EXPONENT = 600.0  # of the largest power of the ratio, in doubles
ROUNDING = 1e-9  # added to the loss, which is computed in doubles


@lru_cache(maxsize=1024)
def loss_of_rounds(k: int, keep: Fraction, second: float, rounds: int, changes: int, *, rounded: bool) -> float:
    """Return a bound on the loss of several rounds, whose second response has the loss `second`.

    It is the exact maximum, rounded up, without a change and for one change in at most 128 rounds.

    Parameters
    ----------
    k : int
        Number of symbols.
    keep : Fraction
        Probability of the true symbol in the permanent answer.
    second : float
        Loss of the second response.
    rounds : int
        Number of rounds.
    changes : int
        Largest number of changes of a person's value between two rounds in a row.
    rounded : bool
        Whether different values can have the same symbol, because they are rounded at random.
    """
    p, q = float(keep), float((1 - keep) / (k - 1))
    everything = rounds * second
    count = min(changes, rounds - 1)
    if count == 0:
        scaled = math.exp(-everything)  # both sums times r^-rounds
        loss = math.log((p + (1 - p) * scaled) / (q + (1 - q) * scaled))
    elif count == 1 and rounds <= MAX_EXACT_ROUNDS and everything <= MAX_EXPONENT:
        loss = _loss_of_one_change(k, p, q, second, rounds, rounded)
    else:
        # The numerator is at most r^min(T, m N) and the denominator at least q^(c + 1) r^N, where a symbol is reported at
        # most N >= T / k times and m symbols can be permanent answers.
        symbols = min(k, count + 1)
        loss = everything * (1 - 1 / symbols) - (count + 1) * math.log(q)
    return min(everything * (1 + ROUNDING), loss * (1 + ROUNDING) + ROUNDING)


def _loss_of_one_change(k: int, p: float, q: float, second: float, rounds: int, rounded: bool) -> float:
    """Return the loss of two persons whose values change at most once each.

    There are three stretches, with the values (a, x), (b, x) and (b, y) of both persons, and one report in each; the other
    order of the changes is the same, backwards.
    """
    first, middle = np.array([(i, j) for i in range(rounds + 1) for j in range(rounds + 1 - i)]).T
    lengths = (first, middle, rounds - first - middle)
    power = np.exp(second * np.arange(rounds + 1))
    worst = 0.0
    for a, b, x, y, *reports in _labels(7, k):
        numerators = [_product(((a, (0,)), (b, (1, 2))), reports, lengths, power, k, p, q)]
        denominators = [_product(((x, (0, 1)), (y, (2,))), reports, lengths, power, k, p, q)]
        if a == b:
            numerators.append(_product(((a, (0, 1, 2)),), reports, lengths, power, k, p, q))
        if x == y:
            denominators.append(_product(((x, (0, 1, 2)),), reports, lengths, power, k, p, q))
        if not rounded:  # equal symbols are equal values
            numerators, denominators = numerators[-1:], denominators[-1:]
        top, bottom = np.max(numerators, axis=0), np.min(denominators, axis=0)
        worst = max(worst, float((top / bottom).max()))
    return math.log(worst)


def _product(
    values: tuple[tuple[int, tuple[int, ...]], ...],
    reports: list[int],
    lengths: tuple[Floats, ...],
    power: Floats,
    k: int,
    p: float,
    q: float,
) -> Floats:
    """Return the probability of the reports of a person, for all lengths of the stretches, up to the common factor.

    Parameters
    ----------
    values : tuple
        Pairs of the symbol of a value and of the stretches in which the person has it.
    reports : list of int
        The report in each stretch.
    lengths : tuple of ndarray
        The length of each stretch.
    power : ndarray
        Powers of the ratio of the second response.
    k, p, q
        Number of symbols; probabilities of the true one and of any other as permanent answer.
    """
    found = np.ones(len(lengths[0]))
    for symbol, stretches in values:
        counts: dict[int, Floats] = {}
        for stretch in stretches:
            counts[reports[stretch]] = counts.get(reports[stretch], np.int64(0)) + lengths[stretch]
        others = 1 - sum(p if report == symbol else q for report in counts)
        found *= others + sum((p if report == symbol else q) * power[count] for report, count in counts.items())
    return found


def _labels(size: int, k: int) -> Iterator[tuple[int, ...]]:
    """Yield sequences of at most k symbols, one for each set that differs by the names of the symbols only."""

    def longer(start: tuple[int, ...], used: int) -> Iterator[tuple[int, ...]]:
        if len(start) == size:
            yield start
            return
        for symbol in range(min(used + 1, k)):
            yield from longer((*start, symbol), max(used, symbol + 1))

    yield from longer((), 0)
