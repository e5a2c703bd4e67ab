"""Finite channels: a row of report probabilities for each input."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _coins


def _common_integers(entries: list[Any], shape: tuple[int, ...]) -> NDArray[np.object_]:
    """Rational entries times their common denominator; the rows must have one positive sum."""
    if any(v < 0 for v in entries):
        raise ValueError("matrix must have entries >= 0")
    common = math.lcm(*{int(v.denominator) for v in entries})
    exact = np.empty(len(entries), dtype=object)
    exact[:] = [int(v.numerator) * (common // int(v.denominator)) for v in entries]
    exact = exact.reshape(shape)
    sums = exact.sum(axis=1).tolist()
    if sums[0] <= 0 or any(s != sums[0] for s in sums):
        raise ValueError("matrix must have rows with the same positive sum")
    return exact


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
        # As objects first: NumPy would make doubles of integers beyond 63 bits.
        rows = matrix if isinstance(matrix, np.ndarray) else np.array(matrix, dtype=object)
        if rows.ndim != 2 or 0 in rows.shape:
            raise ValueError(f"matrix must have shape (inputs, reports), got shape {rows.shape}")
        self._exact: NDArray[np.object_] | None = None
        entries = rows.ravel().tolist()
        if all(isinstance(v, Rational) for v in entries):
            self._exact = _common_integers(entries, rows.shape)
            total = int(self._exact[0].sum())
            self.matrix = np.array([[v / total for v in row] for row in self._exact.tolist()])
        elif all(isinstance(v, float | np.floating | Rational) for v in entries):
            self.matrix = rows.astype(np.float64)
            if not (np.isfinite(self.matrix).all() and (self.matrix >= 0).all()):
                raise ValueError("matrix must have finite entries >= 0")
            off = np.abs(self.matrix.sum(axis=1) - 1)
            if off.max() > 1e-9:
                raise ValueError(f"matrix must have rows that sum to 1, row {int(off.argmax())} does not")
        else:
            raise TypeError("matrix must hold real numbers: integers, fractions or floats")
        self.matrix.flags.writeable = False

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
            return float((np.log(most) - np.log(least)).max())
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
