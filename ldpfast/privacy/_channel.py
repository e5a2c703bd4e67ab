"""Finite channels: a row of report probabilities for each input."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _coins


class Channel:
    """A finite channel: row i holds the probabilities of the reports of input i.

    Parameters
    ----------
    matrix : array_like, shape (inputs, reports)
        Probabilities. Integers with equal row sums (the integers of coins) and `fractions.Fraction` are kept exactly;
        floats are taken as they are, rows that sum to 1 within 1e-9. All rows are neighbours of each other.

    Attributes
    ----------
    matrix : ndarray of float64, shape (inputs, reports)
        The probabilities as doubles.

    Raises
    ------
    TypeError, ValueError
        If the matrix is not two-dimensional, has negative entries, or rows that do not sum to 1 (or to the same integer).

    Examples
    --------
    >>> from ldpfast.privacy import Channel
    >>> Channel([[3, 1], [1, 3]]).epsilon()
    1.0986122886681098
    """

    def __init__(self, matrix: ArrayLike) -> None:
        rows = np.asarray(matrix)
        if rows.ndim != 2 or 0 in rows.shape:
            raise ValueError(f"matrix must have shape (inputs, reports), got shape {rows.shape}")
        self._exact: NDArray[np.object_] | None = None
        if rows.dtype.kind in "iuO":
            self._exact = self._integers(rows)
            total = sum(self._exact[0])
            self.matrix = np.array([[float(Fraction(int(v), total)) for v in row] for row in self._exact])
        elif rows.dtype.kind == "f":
            if not (np.isfinite(rows).all() and (rows >= 0).all()):
                raise ValueError("matrix must have finite entries >= 0")
            sums = rows.sum(axis=1, dtype=np.float64)
            if np.abs(sums - 1).max() > 1e-9:
                raise ValueError(f"matrix must have rows that sum to 1, row {int(np.abs(sums - 1).argmax())} does not")
            self.matrix = rows.astype(np.float64)
        else:
            raise TypeError(f"matrix must hold real numbers, got dtype {rows.dtype}")
        self.matrix.flags.writeable = False

    @staticmethod
    def _integers(rows: NDArray[Any]) -> NDArray[np.object_]:
        """The rows as integers with one common sum."""
        try:
            fractions = [[Fraction(v) for v in row] for row in rows.tolist()]
        except (TypeError, ValueError):
            raise TypeError("matrix must hold integers or fractions") from None
        if any(v < 0 for row in fractions for v in row):
            raise ValueError("matrix must have entries >= 0")
        common = math.lcm(*(v.denominator for row in fractions for v in row))
        exact = np.array([[int(v * common) for v in row] for row in fractions], dtype=object)
        sums = [sum(row) for row in exact]
        if sums[0] <= 0 or any(s != sums[0] for s in sums):
            raise ValueError("matrix must have rows with the same positive sum")
        return exact

    def epsilon(self) -> float:
        """The tightest pure epsilon: the logarithm of the largest ratio of two entries of a column.

        Returns
        -------
        epsilon : float
            For an exact channel the logarithm of the exact ratio, rounded up to a double; infinite where one input can
            produce a report and another cannot.
        """
        if self._exact is None:
            reachable = self.matrix[:, self.matrix.max(axis=0) > 0]
            least, most = reachable.min(axis=0), reachable.max(axis=0)
            if (least == 0).any():
                return math.inf
            return float(np.log(most / least).max())
        worst = Fraction(1)
        for column in self._exact.T:
            most = max(column)
            if most > 0:
                least = min(column)
                if least == 0:
                    return math.inf
                worst = max(worst, Fraction(most, least))
        return _coins.log_up(worst)

    def __repr__(self) -> str:
        inputs, reports = self.matrix.shape
        return f"<Channel: {inputs} inputs, {reports} reports, epsilon = {self.epsilon():.6g}>"
