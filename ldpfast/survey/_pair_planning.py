"""The variance to expect of the cells of all tables of two of many questions."""

from __future__ import annotations

import math

import numpy as np

from .._typing import Floats
from ..mechanisms import ViewResponse
from ._pair_tables import PairTables

PEOPLE = 1e12  # whose expected counts are used, so that rounding to reports plays no part


def cell_variances(mechanism: ViewResponse, shares: Floats) -> Floats:
    """Return n times the variance of a cell with each of some shares, for the pair of questions where it is the largest.

    The other cells of the table have equal shares.
    """
    tables = expected_tables(mechanism)
    first: dict[tuple[int, int], tuple[int, int]] = {}
    sizes = mechanism.sizes
    for i in range(len(sizes)):
        for j in range(i):
            first.setdefault((min(sizes[i], sizes[j]), max(sizes[i], sizes[j])), (i, j))
    found = []
    for share in shares.tolist():
        variances = []
        for i, j in first.values():
            cells = sizes[i] * sizes[j]
            table = np.full((sizes[i], sizes[j]), (1 - share) / (cells - 1))
            table[0, 0] = share
            variances.append(float(tables.variance(i, j, table)[0, 0]))
        found.append(max(variances) * PEOPLE)
    return np.array(found)


def expected_tables(mechanism: ViewResponse) -> PairTables:
    """Return the tables from the expected counts of people who answer as by fair coins."""
    design = mechanism.design
    questions = len(mechanism.sizes)
    sizes = np.array(mechanism.sizes, np.float64)
    plain = PEOPLE * design.share / 256
    both = plain * math.comb(design.plain, 2) / math.comb(questions, 2)
    each = np.repeat(1 / sizes, mechanism.sizes)
    owner = np.repeat(np.arange(questions), mechanism.sizes)
    cells = np.where(owner[:, np.newaxis] == owner, 0.0, both * np.outer(each, each))
    cells = np.triu(cells) + np.diag(plain * design.plain / questions * each)
    flips = (PEOPLE - plain) * math.comb(design.flip, 2) / math.comb(questions, 2)
    pairs = np.triu(np.full((questions, questions), flips), 1) + np.tril(np.full((questions, questions), flips / 2), -1)
    state = np.concatenate([cells.ravel(), pairs.ravel()])
    assert len(state) == mechanism.report.state_layout[0][0]
    return PairTables.of(mechanism, state)
