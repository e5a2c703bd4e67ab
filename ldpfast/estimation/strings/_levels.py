"""Levels of prefixes: their lengths, the numbers of candidates, and the smallest share that is found."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...domains import MAX_BYTES, Strings
from ...mechanisms import SketchResponse

MAX_CANDIDATES = 1 << 24  # that are scored at a level
MAX_SURVIVORS = 1 << 12  # prefixes that a level keeps, at most
FOUND = 0.95  # probability with which a string of the stated share is found
SECOND_MOMENT = 0.01  # of the shares of a population in plans: frequency lists of words have about this value
BIAS = 0.45  # of a score without its largest number, in its standard errors downwards, for 16 functions


def continuations(symbols: int, step: int) -> int:
    """Return the number of strings of at most `step` symbols."""
    return sum(symbols**i for i in range(step + 1))


def largest_step(symbols: int, survivors: int) -> int:
    """Return by how many symbols so many prefixes can be continued with at most 2^24 candidates; 0 if by none."""
    step = 0
    while step < MAX_BYTES and survivors * continuations(symbols, step + 1) <= MAX_CANDIDATES:
        step += 1
    return step


def kept_survivors(symbols: int, step: int) -> int:
    """Return how many prefixes can be continued by a number of symbols."""
    return min(MAX_SURVIVORS, MAX_CANDIDATES // continuations(symbols, step))


@dataclass(frozen=True)
class Level:
    """A step of the search.

    Attributes
    ----------
    start, stop : int
        Lengths of the prefixes before and after the step.
    survivors : int
        Largest number of prefixes that are continued.
    """

    start: int
    stop: int
    survivors: int

    def candidates(self, symbols: int) -> int:
        """Return the largest number of candidates."""
        return (self.survivors if self.start else 1) * continuations(symbols, self.stop - self.start)


def levels_of(domain: Strings, prefixes: tuple[int, ...]) -> list[Level]:
    """Return the steps between prefixes of these lengths."""
    starts = (0, *prefixes[:-1])
    return [
        Level(start, stop, kept_survivors(domain.symbols, stop - start) if start else 1)
        for start, stop in zip(starts, prefixes, strict=True)
    ]


def spread(domain: Strings, count: int, needed: int) -> tuple[int, ...] | None:
    """Return the lengths of `count` prefixes such that `needed` of them can always be continued; None if there are none."""
    length, first = domain.max_bytes, largest_step(domain.symbols, 1)
    step = largest_step(domain.symbols, needed)
    first = min(first, length)
    if first + (count - 1) * step < length or first + count - 1 > length:
        return None
    rest = [first + math.ceil((length - first) * i / (count - 1)) for i in range(count)] if count > 1 else [length]
    return tuple(rest)


@dataclass(frozen=True)
class Detection:
    """What a sketch with levels finds among n people.

    Attributes
    ----------
    mechanism : SketchResponse
    false_discovery : float
        Probability of any false discovery.
    """

    mechanism: SketchResponse
    false_discovery: float

    def stderr(self, share: float, people: float) -> float:
        """Return the standard deviation of the score of a string, without its largest number."""
        line, m, functions = self.mechanism.line, self.mechanism.buckets, self.mechanism.functions
        scale = m / (m - 1)
        noise = scale**2 * line.variance(share / scale + 1 / m) / people
        collisions = max(SECOND_MOMENT - share**2, 0) / (functions * (m - 1))
        return math.sqrt((noise + collisions) * functions / (functions - 1))

    def smallest_share(self, n: int, levels: list[Level]) -> float:
        """Return the share of a string that is found with probability 0.95; infinite if there is none up to 1."""
        from scipy.special import ndtr, ndtri

        symbols = self.mechanism.domain.symbols
        of_level, whole = n / (2 * len(levels)), n / 2
        least = [-ndtri(1 / max(2, level.candidates(symbols))) * self.stderr(0, of_level) for level in levels]
        kept = min(MAX_SURVIVORS, max(1, math.ceil(1 / max(min(least), 1e-6))))
        last = -ndtri(self.false_discovery / kept) * self.stderr(0, whole)

        def missed(share: float) -> float:
            parts = [(threshold, of_level) for threshold in least] + [(last, whole)]
            chances = [ndtr(-((share - threshold) / self.stderr(share, people) - BIAS)) for threshold, people in parts]
            return float(sum(chances))

        low, high = 0.0, 1.0
        if missed(high) > 1 - FOUND:
            return math.inf
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if missed(middle) <= 1 - FOUND else (middle, high)
        return high


def best_prefixes(domain: Strings, sketch: SketchResponse, n: int) -> tuple[int, ...]:
    """Return the lengths of the prefixes: as few levels as are possible, because each has a part of the people only.

    Parameters
    ----------
    domain : Strings
    sketch : SketchResponse
        Of whole strings, with the functions and buckets of the levels.
    n : int
        Number of people.

    Raises
    ------
    ValueError
        If there are too many levels.
    """
    for count in range(1, domain.max_bytes + 1):
        # Prefixes above the threshold have a sum of shares of at most 1, so that their number is bounded.
        scale = Detection(sketch, 0.05).stderr(0, n / (2 * count))
        needed = int(np.clip(math.ceil(1 / (5 * scale)), 1, MAX_SURVIVORS))
        if (lengths := spread(domain, count, needed)) is not None:
            return lengths
    raise ValueError(f"max_bytes must be smaller for this alphabet, got {domain.max_bytes}")
