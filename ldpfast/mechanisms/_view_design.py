"""Designs of view response: how many questions a person answers, and up to a flip or not."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

MAX_PLAIN, MAX_FLIP = 12, 13  # questions of a view
MAX_SYMBOLS = 1 << 16
SHARES = 256  # of which `share` are plain views
LEAST_EPSILON = 1e-9  # below, designs are compared at this one: doubles would lose the probabilities
CLEAR = 1e-9  # relative gain for which a later candidate is taken, far above the rounding of an exponential


@dataclass(frozen=True)
class ViewDesign:
    """How many questions a person is asked.

    Attributes
    ----------
    plain : int
        Questions of a plain view, whose answers are the symbol.
    flip : int
        Questions of a flip view, whose answers are the symbol up to a flip of all of them; 0 without flip views.
    share : int
        Probability of a plain view, times 256.
    """

    plain: int
    flip: int
    share: int

    def symbols(self, sizes: Sequence[int]) -> int:
        """Return the largest number of symbols of a plain view of questions with so many answers."""
        return math.prod(sorted(sizes)[-self.plain :])


def _kept(symbols: float, odds: float) -> float:
    """Return the probability of keeping the true symbol in k-ary response with the given odds, as a double."""
    return (odds - 1) / (odds + symbols - 1)


@lru_cache(maxsize=256)
def pairs_design(questions: int, epsilon: float) -> ViewDesign:
    """Return the design with the smallest mean variance of a cell of the tables of two of many yes-or-no questions.

    The people of the tables answer as by fair coins, for which the variance is largest. It is the smallest among all plain
    views of up to 12 questions, flip views of up to 13, and probabilities of plain views in 256ths; of designs that differ by
    less than 1e-9 of it, the first one in the order of plain, flip and share.

    Parameters
    ----------
    questions : int
        Number of questions, >= 2.
    epsilon : float
    """
    odds = math.exp(min(epsilon, 300.0))
    shares = np.arange(1, SHARES + 1) / SHARES
    pairs = math.comb(questions, 2)
    best, found = math.inf, ViewDesign(2, 0, SHARES)
    for plain in range(1, min(questions, MAX_PLAIN) + 1):
        c = _kept(2.0**plain, odds)
        one = shares * plain / questions * c**2
        for flip in range(2, min(questions, MAX_FLIP) + 1):
            e = _kept(2.0 ** (flip - 1), odds)
            two = (shares * math.comb(plain, 2) * c**2 + (1 - shares) * math.comb(flip, 2) * e**2) / pairs
            with np.errstate(divide="ignore"):
                variance = (2 / one + 1 / two) / 16
            least = int(np.argmax(variance <= variance.min() * (1 + CLEAR)))
            if variance[least] < best * (1 - CLEAR):
                share = least + 1
                best, found = float(variance[least]), ViewDesign(plain, flip if share < SHARES else 0, share)
    return found


@lru_cache(maxsize=256)
def view_design(sizes: tuple[int, ...], epsilon: float) -> ViewDesign:
    """Return the design for questions with any numbers of answers: that of `pairs_design`, or plain views only.

    Plain views have the number of questions for which the mean variance of all cells of all tables of two questions is the
    smallest, among those with at most 2^16 symbols.

    Parameters
    ----------
    sizes : tuple of int
        Number of answers to each question.
    epsilon : float
    """
    questions = len(sizes)
    if max(sizes) == 2:
        return pairs_design(questions, epsilon)
    odds = math.exp(min(max(epsilon, LEAST_EPSILON), 300.0))
    best, found = math.inf, ViewDesign(2, 0, SHARES)
    for plain in range(2, min(questions, MAX_PLAIN) + 1):
        design = ViewDesign(plain, 0, SHARES)
        if design.symbols(sizes) > MAX_SYMBOLS:
            break
        variance = _mean_variance(sizes, design, odds)
        if variance < best * (1 - CLEAR):
            best, found = variance, design
    return found


def _mean_variance(sizes: tuple[int, ...], design: ViewDesign, odds: float) -> float:
    """Return n times the mean variance of a cell of a table of two questions, with fair answers and plain views."""
    questions = len(sizes)
    pairs = list(combinations(range(questions), 2))
    if design.plain == 2:
        kept = [_kept(sizes[i] * sizes[j], odds) for i, j in pairs]
    else:
        kept = [_kept(design.symbols(sizes), odds)] * len(pairs)
    both = [math.comb(design.plain, 2) / len(pairs) * c**2 for c in kept]
    one = [0.0] * questions
    for (i, j), weight in zip(pairs, both, strict=True):
        one[i] += weight / (design.plain - 1)
        one[j] += weight / (design.plain - 1)
    spread = [(r - 1) / r**2 for r in sizes]
    total = cells = 0.0
    for (i, j), weight in zip(pairs, both, strict=True):
        a, b = sizes[i], sizes[j]
        margins = spread[i] / one[i] / b**2 + spread[j] / one[j] / a**2
        total += a * b * (margins + spread[i] * spread[j] / weight)
        cells += a * b
    return total / cells
