"""Levels of prefixes: their lengths, the numbers of candidates, and the smallest share that is found."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...domains import MAX_BYTES, Strings
from ...mechanisms import SketchResponse
from ...mechanisms._sketch_response import MAX_LEVELS

MAX_CANDIDATES = 1 << 24  # that are scored at a level
MAX_SURVIVORS = 1 << 12  # prefixes that a level keeps, at most
FEWEST_CANDIDATES = 20  # for which a threshold is computed, so that a few are not all kept
FOUND = 0.95  # probability with which a string of the stated share is found
SECOND_MOMENT = 0.01  # of the shares of a population in plans: frequency lists of words have about this value
LEAST_VARIANCE = 1e-12  # of a decoded bit, at very large epsilon
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


def quantile_of(candidates: int) -> float:
    """Return how many standard deviations fewer than one of so many absent candidates is expected to exceed."""
    from scipy.special import ndtri

    return float(-ndtri(1 / max(FEWEST_CANDIDATES, candidates)))


@dataclass(frozen=True)
class Test:
    """A test that a string must pass: its score, without the largest number, must be above a threshold.

    Attributes
    ----------
    threshold : float
        As a share.
    people : float
        Number of reports.
    second_moment : float
        Sum of the squared shares of the other strings that it can collide with.
    candidates : int
        Number of strings that are tested with it.
    """

    threshold: float
    people: float
    second_moment: float
    candidates: int

    def missed(self, mechanism: SketchResponse, share: float) -> float:
        """Return the probability that a string with a share does not pass."""
        from scipy.special import ndtr

        deviation = score_deviation(mechanism, share, self.people, self.second_moment)
        return float(ndtr(-((share - self.threshold) / deviation - BIAS)))


def doubles(mechanism: SketchResponse, candidates: int) -> float:
    """Return how many of the other candidates are expected to share all buckets with a string, or all but one.

    Their scores cannot be told from that of the string, so that one of them may be taken for it.
    """
    m, functions = mechanism.buckets, mechanism.functions
    return candidates * math.exp(math.log(functions * (m - 1) + 1) - functions * math.log(m))


def score_deviation(mechanism: SketchResponse, share: float, people: float, second_moment: float) -> float:
    """Return the standard deviation of the score of a string, without its largest number."""
    line = mechanism.line
    m = mechanism.buckets
    functions = mechanism.functions
    scale = m / (m - 1)
    inside = min(max(line.zero, share / scale + 1 / m), line.one)
    noise = max(scale**2 * line.variance(inside), LEAST_VARIANCE) / people
    collisions = max(second_moment - share**2, 0) / (functions * (m - 1))
    return math.sqrt((noise + collisions) * functions / (functions - 1))


def smallest_share(mechanism: SketchResponse, tests: list[Test]) -> float:
    """Return the share of a string that passes all tests with probability 0.95; infinite if there is none up to 1."""
    if not all(math.isfinite(test.threshold) and test.people for test in tests):
        return math.inf
    confused = sum(doubles(mechanism, test.candidates) for test in tests)

    def missed(share: float) -> float:
        return confused + sum(test.missed(mechanism, share) for test in tests)

    low, high = 0.0, 1.0
    if missed(high) > 1 - FOUND:
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if missed(middle) <= 1 - FOUND else (middle, high)
    return high


def planned_tests(mechanism: SketchResponse, levels: list[Level], n: int, false_discovery: float) -> list[Test]:
    """Return the tests of n people, in equal numbers at each level, of a population as in plans."""
    from scipy.special import ndtri

    symbols, tests = mechanism.domain.symbols, []
    for level in levels:
        people = n / (2 * len(levels))
        absent = score_deviation(mechanism, 0.0, people, SECOND_MOMENT)
        candidates = level.candidates(symbols)
        tests.append(Test(quantile_of(candidates) * absent, people, SECOND_MOMENT, candidates))
    kept = min(MAX_SURVIVORS, max(1, math.ceil(1 / max(min(test.threshold for test in tests), 1e-6))))
    absent = score_deviation(mechanism, 0.0, n / 2, SECOND_MOMENT)
    return [*tests, Test(float(-ndtri(false_discovery / kept)) * absent, n / 2, SECOND_MOMENT, kept)]


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
    for count in range(1, min(domain.max_bytes, MAX_LEVELS) + 1):
        # Prefixes above the threshold have a sum of shares of at most 1, so that their number is bounded.
        scale = score_deviation(sketch, 0.0, n / (2 * count), SECOND_MOMENT)
        needed = int(np.clip(math.ceil(1 / (5 * scale)), 1, MAX_SURVIVORS))
        if (lengths := spread(domain, count, needed)) is not None:
            return lengths
    raise ValueError(f"max_bytes must be smaller for this alphabet, got {domain.max_bytes}")
