"""The mean of a normal distribution in numba: both rounds of the protocol, privatized and counted in one pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ldpfast import _coins
from ldpfast.bench._case import EPSILON, Case, Task

from .numba_privatize import respond, response_parameters
from .numba_tools import counter, fill, njit, stream
from .numpy_gaussian import inverted, search_edge


@njit(nogil=True)
def levels_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    """Count the residues that the groups of the search report, 4 counts per group in `out`.

    Only whole periods of people are used. In each period, every group has `slots` people.
    """
    keep, words_per_symbol, reciprocal = np.uint32(p[0]), np.uint32(p[1]), np.uint32(p[2])
    period, slots, groups, per_width = int(p[3]), int(p[4]), int(p[5]), p[6]
    m = x.size // period
    words, symbol, report = np.empty(m // 2 + 1, np.uint64), np.empty(m, np.uint8), np.empty(m, np.uint8)
    for slot in range(slots * groups):
        group = slot // slots
        scale = per_width * 0.5**group
        for i in range(m):
            symbol[i] = np.uint8(np.int32(math.floor(x[i * period + slot] * scale)) & 3)
        fill(words, stream(seed, 200 + slot))
        respond(symbol, words.view(np.uint32), report, keep, words_per_symbol, reciprocal)
        one, two, three = 0, 0, 0
        for i in range(m):
            one += report[i] == 1
            two += report[i] == 2
            three += report[i] == 3
        out[4 * group] += m - one - two - three
        out[4 * group + 1] += one
        out[4 * group + 2] += two
        out[4 * group + 3] += three


@njit(nogil=True)
def bits_chunk(x: Any, out: Any, seed: Any, p: Any) -> None:
    """Count sign bits at `edge`; `out` has the number of ones and the number of people.

    Only whole periods of people are used. In each period, the people from `first` on report a bit.
    """
    keep, period, first, edge = np.uint32(p[0]), int(p[1]), int(p[2]), p[3]
    m, width = x.size // period, period - first
    words = np.empty((m * width + 1) // 2, np.uint64)
    fill(words, seed)
    word, ones = words.view(np.uint32), 0
    for i in range(m):
        for j in range(width):
            ones += (x[i * period + first + j] >= edge) ^ (word[i * width + j] >= keep)
    out[0] += ones
    out[1] += m * width


def gaussian_case(case: Case, threads: int) -> Task:
    """Return a call that estimates a normal mean in two rounds."""
    model, plan = case.mechanism, case.mechanism.plan(len(case.x))
    levels, period = model._variant.levels, plan.second.stop
    four, two = levels.questions[0]._coin, _coins.response(2, EPSILON)
    shape = (float(period), float(plan.search.slots), float(plan.search.groups), 1 / float(levels.widths[0]))
    rows = 2048 * period
    search = counter(levels_chunk, case, rows, 4 * len(levels), (*response_parameters(four), *shape), threads)

    def call() -> float:
        edge = search_edge(model, search())
        p = (float(two.keep), float(period), float(plan.search.stop), edge)
        ones, people = counter(bits_chunk, case, rows, 2, p, threads)()
        return inverted(model, edge, ones, people)

    return call
