"""The search for prefixes that many people have, level by level."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _threads
from ..._typing import Floats
from ._decoded import DecodedSketch
from ._independent import Independent, independent
from ._search_levels import MAX_SURVIVORS, Level, continuations, quantile_of

CAPACITY = 1 << 16  # continuations of one prefix that are kept
MAX_SCORES = 1 << 14  # continuations above the next limit, if more were found than are kept
PASSES, MIN_GAIN = 3, 0.9  # over all candidates, and by how much a pass must lower the threshold
MAX_SCANS = 6  # of all candidates in a pass, each above the limit of the one before
MARGIN = 6  # thresholds: a larger sum of squared shares cannot be that of strings that were missed
FEWEST_REPORTS = 20  # of a function on average, for which the limits of honest people hold


@dataclass(frozen=True)
class SearchStep:
    """What a level of the search did.

    Attributes
    ----------
    length : int
        Length of the prefixes.
    candidates : int
        Number of prefixes that were scored.
    kept : int
        Number of those that were continued.
    threshold : float
        Estimated share from which on prefixes were continued.
    raised : bool
        Whether the threshold was raised because there were too many, or too much work.
    possible : bool
        Whether people can have sent these reports, each one once.

    Examples
    --------
    >>> from ldpfast.estimation import HeavyHitters
    >>> estimate = HeavyHitters(4.0, max_bytes=2, alphabet="abc", n=9000).run(["ab", "c", "ab"] * 3000, rng=1)
    >>> estimate.steps[0].candidates, estimate.steps[0].raised
    (13, False)
    """

    length: int
    candidates: int
    kept: int
    threshold: float
    raised: bool
    possible: bool = True


def search_level(
    decoded: DecodedSketch, level: Level, most: int, parents: NDArray[np.uint8], least: float = 0.0
) -> tuple[NDArray[np.uint8], SearchStep, float]:
    """Return the continuations of prefixes whose score is above what noise gives to one of all candidates.

    The other results say what was done, and bound the sum of the squared shares of all other strings.

    Parameters
    ----------
    decoded : DecodedSketch
        Of the level.
    level : Level
    most : int
        Largest number of continuations that are returned, those with the largest scores.
    parents : ndarray of uint8, shape (n, start)
    least : float
        Largest threshold of the levels before.
    """
    symbols, functions = decoded.mechanism.domain.symbols, decoded.mechanism.functions
    ended = parents[:, -1] == 0 if level.start else np.zeros(len(parents), np.bool_)
    candidates = int(ended.sum()) + int((~ended).sum()) * continuations(symbols, level.stop - level.start)
    start = level.start
    if not start:  # the empty prefix, divided among threads
        parents, start = np.arange(symbols + 1, dtype=np.uint8)[:, np.newaxis], 1
    z = quantile_of(candidates)
    moment = decoded.second_moment
    factor = functions / (functions - 1)  # of a score, which lacks one function, in a share
    for _ in range(PASSES):
        threshold = z * decoded.absent(decoded.n, functions, moment)
        rows, scores, cut = _best(decoded, parents, start, threshold / factor)
        chosen = independent(decoded, decoded.buckets(rows), scores, z, decoded.second_moment)
        if chosen.cut > -math.inf:
            break  # another pass would be as long
        # Frequent strings explain most collisions, so that less frequent ones can be told from absent ones.
        if decoded.absent(decoded.n, functions, chosen.second_moment) > MIN_GAIN * threshold / z:
            break
        moment = chosen.second_moment
    raised = max(threshold, factor * cut, factor * chosen.cut)
    kept = chosen.places[:most]
    if len(kept) < len(chosen.places):
        raised = max(raised, float(chosen.scores[len(kept)]))
    possible = are_possible(decoded, chosen, max(least, raised))
    step = SearchStep(level.stop, candidates, len(kept), raised, raised > threshold, possible)
    return rows[kept], step, chosen.second_moment


def are_possible(decoded: DecodedSketch, chosen: Independent, threshold: float) -> bool:
    """Return whether people can have sent reports, each one once, of which some strings were found above a threshold.

    Reports that are sent again, or forged, add to the squares of the counts what no strings below the threshold can add: the
    sum of the squares of shares is at most the largest of them.
    """
    if decoded.n < FEWEST_REPORTS * len(decoded.people):
        return True
    return chosen.possible and decoded.least_moment <= chosen.squares + MARGIN * threshold


def _best(
    decoded: DecodedSketch, parents: NDArray[np.uint8], start: int, least: float
) -> tuple[NDArray[np.uint8], Floats, float]:
    """Return continuations with a score of at least `least`, their scores, and the score below which some are missing.

    If there are too many, they are the best of them.
    """
    lowest = least
    rows, scores, count = _scored(decoded, parents, start, least)
    for scan in range(MAX_SCANS):
        if count == len(rows):
            break  # all were returned
        if scan == MAX_SCANS - 1:
            return rows, scores, float(scores.max())
        place = len(scores) - MAX_SCORES
        above = float(np.partition(scores, place)[place])
        if above <= least:
            break  # they have the same score
        least = above
        rows, scores, count = _scored(decoded, parents, start, least)
    missing = least if least > lowest or count > len(rows) else -np.inf
    return rows, scores, missing


def _scored(
    decoded: DecodedSketch, parents: NDArray[np.uint8], start: int, least: float
) -> tuple[NDArray[np.uint8], Floats, int]:
    """Return continuations of prefixes with a score of at least `least`, their scores, and how many there are."""
    hashes, table = decoded.mechanism._hashes[decoded.part], decoded.table
    symbols = decoded.mechanism.domain.symbols

    def work(first: int, stop: int) -> list[tuple[Any, Any, int]]:
        # One prefix after another: what is returned does not depend on the number of threads.
        found = []
        for at in range(first, stop):
            rows, scores, count = hashes.search(table, parents[at : at + 1], start, symbols, least, CAPACITY)
            found.append((rows.copy(), scores.copy(), count))
        return found

    found = [part for parts in _threads.parallel_map(work, len(parents), 1, len(parents) << 16) for part in parts]
    rows, scores = (np.concatenate([part[i] for part in found]) for i in (0, 1))
    return rows, scores, sum(part[2] for part in found)


def search(parts: list[DecodedSketch], levels: list[Level]) -> tuple[NDArray[np.uint8], list[SearchStep], list[float]]:
    """Return the strings that passed all levels, what each level did, and its bound of the sum of other squared shares.

    Parameters
    ----------
    parts : list of DecodedSketch
        One per level.
    levels : list of Level
    """
    rows, moments = np.zeros((1, 0), np.uint8), []
    steps: list[SearchStep] = []
    for number, (decoded, level) in enumerate(zip(parts, levels, strict=True)):
        most = levels[number + 1].survivors if number + 1 < len(levels) else MAX_SURVIVORS
        least = max((step.threshold for step in steps), default=0.0)
        if decoded.n and len(rows):
            rows, step, moment = search_level(decoded, level, most, rows, least)
        else:
            rows, moment = np.zeros((0, level.stop), np.uint8), decoded.second_moment
            z = quantile_of(level.candidates(decoded.mechanism.domain.symbols))
            absent = decoded.absent(decoded.n, decoded.mechanism.functions, moment) if decoded.n else np.inf
            step = SearchStep(level.stop, 0, 0, z * absent, False)
        steps.append(step)
        moments.append(moment)
    return rows, steps, moments
