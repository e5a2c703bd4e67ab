"""The search for prefixes that many people have, level by level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _threads
from ..._typing import Floats
from ._decoded import DecodedSketch
from ._levels import MAX_SURVIVORS, Level, continuations

CAPACITY = 1 << 16  # continuations that one thread keeps at a time


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
        Whether the threshold was raised because there were too many.

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


def search_level(
    decoded: DecodedSketch, level: Level, most: int, parents: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], SearchStep]:
    """Return the continuations of prefixes whose score is above what noise gives to one of all candidates.

    Parameters
    ----------
    decoded : DecodedSketch
        Of the level.
    level : Level
    most : int
        Largest number of continuations that are returned, those with the largest scores.
    parents : ndarray of uint8, shape (n, start)
    """
    from scipy.special import ndtri

    symbols, functions = decoded.mechanism.domain.symbols, decoded.mechanism.functions
    ended = parents[:, -1] == 0 if level.start else np.zeros(len(parents), np.bool_)
    step = level.stop - level.start
    candidates = int(ended.sum()) + int((~ended).sum()) * continuations(symbols, step)
    start = level.start
    if not start:  # the empty prefix, divided among threads
        parents, start = np.arange(symbols + 1, dtype=np.uint8)[:, np.newaxis], 1
    absent = float(decoded.stderr(np.zeros(1), decoded.n, functions)[0]) * np.sqrt(functions / (functions - 1))
    factor = functions / (functions - 1)  # of a score, which lacks one function, in a share
    least = lowest = float(-ndtri(1 / max(2, candidates)) * absent) / factor
    rows, scores, count = _scored(decoded, parents, start, least)
    while count > len(rows) > most:  # not all were returned
        # At least as many as are kept have the score of the last of the best among those that were returned.
        above = float(np.partition(scores, len(scores) - most)[len(scores) - most])
        if above <= least:
            break  # they have the same score
        least = above
        rows, scores, count = _scored(decoded, parents, start, least)
    if len(rows) > most:
        chosen = np.argsort(-scores, kind="stable")[:most]
        rows, least = rows[chosen], float(scores[chosen[-1]])
    return rows, SearchStep(level.stop, candidates, len(rows), least * factor, least > lowest or count > len(rows))


def _scored(
    decoded: DecodedSketch, parents: NDArray[np.uint8], start: int, least: float
) -> tuple[NDArray[np.uint8], Floats, int]:
    """Return continuations of prefixes with a score of at least `least`, their scores, and how many there are."""
    hashes, table = decoded.mechanism._hashes[decoded.part], decoded.table
    symbols = decoded.mechanism.domain.symbols

    def work(first: int, stop: int) -> tuple[Any, Any, int]:
        return hashes.search(table, parents[first:stop], start, symbols, least, CAPACITY)

    found = _threads.parallel_map(work, len(parents), 1, len(parents) << 16)
    rows, scores = (np.concatenate([part[i] for part in found]) for i in (0, 1))
    return rows, scores, sum(part[2] for part in found)


def search(parts: list[DecodedSketch], levels: list[Level]) -> tuple[NDArray[np.uint8], list[SearchStep]]:
    """Return the strings that passed all levels, and what each level did.

    Parameters
    ----------
    parts : list of DecodedSketch
        One per level.
    levels : list of Level
    """
    rows, steps = np.zeros((1, 0), np.uint8), []
    for number, (decoded, level) in enumerate(zip(parts, levels, strict=True)):
        most = levels[number + 1].survivors if number + 1 < len(levels) else MAX_SURVIVORS
        if not decoded.n or not len(rows):
            rows = np.zeros((0, level.stop), np.uint8)
            steps.append(SearchStep(level.stop, 0, 0, np.inf, False))
            continue
        rows, step = search_level(decoded, level, most, rows)
        steps.append(step)
    return rows, steps
