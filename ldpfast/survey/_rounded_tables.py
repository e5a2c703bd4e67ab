"""Whole numbers of people for the cells of tables, which add up as the tables do (controlled rounding)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from .._typing import Floats

WIDEST = 64  # units by which a cell may move beyond the two whole numbers around it


def rounded_groups(
    cells: Floats, equations: Floats, right: Floats, totals: NDArray[np.int64], margins: Floats
) -> NDArray[np.int64]:
    """Return whole numbers for the tables of groups, shape (groups, cells), whose sums are near to those of the cells, too.

    What rounding takes from a cell in some groups is added in the next one. Otherwise no small group would have people in rare
    cells, and all groups together would have none.
    """
    found, rest = [], np.zeros(cells.shape[1])
    for own, total in zip(cells, totals.tolist(), strict=True):
        found.append(rounded(own + rest / total, equations, right, total, margins))
        rest += own * total - found[-1]
    return np.array(found)


def rounded(
    cells: Floats, equations: Floats, right: Floats, total: int, margins: Floats | None = None
) -> NDArray[np.int64]:
    """Return whole numbers that are near to shares times a total, and satisfy the same equations.

    Parameters
    ----------
    cells : ndarray, shape (cells,)
        Shares that satisfy ``equations @ cells = right``. Where they are negative, the number is 0, or near to it.
    equations : ndarray, shape (equations, cells)
    right : ndarray, shape (equations,)
    total : int
    margins : ndarray, shape (sums, cells), optional
        Sums of cells that are rounded up or down as well, where that is possible.

    Notes
    -----
    One table: the largest remainders are rounded up. Where a margin moves by one or more, and for several tables with common
    margins: an integer program for the smallest sum of the changes.
    """
    exact = np.maximum(cells, 0.0) * total
    low = np.floor(exact + 1e-9)
    rest = np.clip(exact - low, 0.0, 1.0)
    sums = np.zeros((0, len(cells))) if margins is None else margins
    wanted = sums @ cells * total
    if len(equations) == 1:
        found = _largest_remainders(low.astype(np.int64), rest, total)
        if np.abs(sums @ found - wanted).max(initial=0) < 1:
            return found
    # A cell is low + up + more - less. The cost of `up`, 0 or 1, is what the larger whole number costs more than the smaller.
    cost = np.concatenate([1 - 2 * rest, np.ones(2 * len(low))])
    needed = right * total - equations @ low
    near = wanted - sums @ low
    limits = [LinearConstraint(_of_parts(sums), np.floor(near + 1e-6), np.ceil(near - 1e-6))] if len(sums) else []
    for width, further in ((0, limits), (1, limits), (1, []), (WIDEST, [])):
        upper = np.concatenate([np.ones(len(low)), np.full(len(low), width), np.minimum(low, width)])
        program = milp(
            cost,
            integrality=np.ones(len(cost), np.int64),
            bounds=Bounds(0, upper),
            constraints=[LinearConstraint(_of_parts(equations), needed, needed), *further],
        )
        if program.success:
            up, more, less = np.round(program.x).reshape(3, -1)
            return np.asarray(low + up + more - less, np.int64)
    raise ValueError("round must leave whole numbers that add up in all tables, got none: use a smaller base")


def _of_parts(sums: Floats) -> Floats:
    """Return the sums of cells as sums of the parts of the cells in the integer program."""
    return np.concatenate([sums, sums, -sums], axis=1)


def _largest_remainders(low: NDArray[np.int64], rest: Floats, total: int) -> NDArray[np.int64]:
    """Return whole numbers with a given sum: those below some numbers, of which the largest remainders are rounded up."""
    while missing := total - int(low.sum()):
        if missing > 0:
            low[np.argsort(-rest, kind="stable")[:missing]] += 1
        else:  # where negative cells became 0
            more = np.flatnonzero(low > 0)
            low[more[np.argsort(rest[more], kind="stable")[:-missing]]] -= 1
    return low
