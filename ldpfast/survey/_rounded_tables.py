"""Whole numbers of people for the cells of tables, which add up as the tables do (controlled rounding)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from .._typing import Floats

WIDEST = 64  # units by which a cell may move beyond the two whole numbers around it


def rounded(cells: Floats, equations: Floats, right: Floats, total: int) -> NDArray[np.int64]:
    """Return whole numbers that are near to shares times a total, and satisfy the same equations.

    Parameters
    ----------
    cells : ndarray, shape (cells,)
        Shares that satisfy ``equations @ cells = right`` and are not negative.
    equations : ndarray, shape (equations, cells)
    right : ndarray, shape (equations,)
    total : int

    Notes
    -----
    One table: the largest remainders are rounded up. Several tables with common margins: an integer program for the smallest
    sum of the changes.
    """
    exact = np.maximum(cells, 0.0) * total
    low = np.floor(exact + 1e-9)
    rest = np.clip(exact - low, 0.0, 1.0)
    if len(equations) == 1:
        missing = total - int(low.sum())
        low[np.argsort(-rest, kind="stable")[:missing]] += 1
        return np.asarray(low, np.int64)
    # A cell is low + up + more - less. The cost of `up`, 0 or 1, is that of the larger whole number above that of the smaller.
    cost = np.concatenate([1 - 2 * rest, np.ones(2 * len(low))])
    matrix = np.concatenate([equations, equations, -equations], axis=1)
    needed = right * total - equations @ low
    for width in (0, 1, WIDEST):
        upper = np.concatenate([np.ones(len(low)), np.full(len(low), width), np.minimum(low, width)])
        found = milp(
            cost,
            integrality=np.ones(len(cost), np.int64),
            bounds=Bounds(0, upper),
            constraints=LinearConstraint(matrix, needed, needed),
        )
        if found.success:
            up, more, less = np.round(found.x).reshape(3, -1)
            return np.asarray(low + up + more - less, np.int64)
    raise ValueError("round must leave whole numbers that add up in all tables, got none: use a smaller base")
