"""The two rounds of Gaussian estimation in NumPy, decoded by pairs of cells."""

from __future__ import annotations

import numpy as np

from ldpfast._typing import AnyArray
from ldpfast.bench._case import Task
from ldpfast.estimation import GaussianMean
from ldpfast.mechanisms import Bins
from ldpfast.reports import recipe_of

from .numpy_mechanisms import CHUNK, NumpyResponse


def inverted(model: GaussianMean, edge: float, ones: float, people: int) -> float:
    """Return the mean estimated from the number of ones among the sign bits at `edge`."""
    from scipy.special import ndtri

    coin = recipe_of(Bins((edge,), model.epsilon)).coin
    share = (ones / people - float(coin.q)) / float(coin.p - coin.q)
    return edge + (model.sigma or 0.0) * float(ndtri(min(max(share, 0.001), 0.999)))


def search_edge(model: GaussianMean, levels: AnyArray) -> float:
    """Return the location of the mean that the first round finds, decoded by pairs of cells."""
    edge, _ = model._variant.levels.by_pairs(levels.ravel(), np.array([model.sigma]))
    return edge


def numpy_gaussian(model: GaussianMean, x: AnyArray) -> Task:
    """Return a call that estimates a normal mean in two rounds.

    People are assigned to groups by the same rule as in the library. The columns of a chunk are the groups.
    """
    plan, questions = model.plan(len(x)), model._variant.levels.questions
    period, slots, groups = plan.second.stop, plan.search.slots, plan.search.groups
    first, second = (
        NumpyResponse(recipe_of(question).coin) for question in (questions[0], Bins((0.0,), model.epsilon))
    )
    periods = max(1, CHUNK // period)
    table = x[: len(x) // period * period].reshape(-1, period)
    per_width = 1 / np.repeat([question.width for question in questions], slots)[:, None]

    def run() -> float:
        levels, ones, people = np.zeros((groups, 4), np.int64), 0, 0
        offset = 4 * np.repeat(np.arange(groups, dtype=np.intp), slots)[:, None]
        for start in range(0, len(table), periods):
            cells = np.multiply(table[start : start + periods, : plan.search.stop].T, per_width, order="C")
            np.floor(cells, out=cells)
            symbols = (cells.astype(np.int32).view(np.uint32) & np.uint32(3)).astype(np.uint8)
            report = np.empty_like(symbols)
            first(symbols.ravel(), report.ravel())
            levels += np.bincount((report + offset).ravel(), minlength=4 * groups).reshape(groups, 4)
        edge = search_edge(model, levels)
        for start in range(0, len(table), periods):
            bits = (table[start : start + periods, plan.search.stop :] >= edge).view(np.uint8).ravel()
            report = np.empty_like(bits)
            second(bits, report)
            ones, people = ones + int(np.count_nonzero(report)), people + len(bits)
        return inverted(model, edge, ones, people)

    return run
