"""The likelihood of randomized reports, with a multinomial logit model for the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _threads
from .._typing import AnyArray, Floats
from ._rows import Rows

ROWS = 1 << 14  # rows that are in memory as float64 at a time


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over people at some coefficients.

    Attributes
    ----------
    value : float
        Log-likelihood.
    score : ndarray, shape (coefficients,)
        Its gradient.
    information : ndarray, shape (coefficients, coefficients)
        Minus its Hessian, or the expectation of that.
    """

    value: float
    score: Floats
    information: Floats


@dataclass(frozen=True, eq=False)
class Likelihood:
    """The likelihood of the reports of people.

    Attributes
    ----------
    rows : Rows
    codes : ndarray of int, shape (n,)
        Reports.
    table : ndarray, shape (k, codes)
        Probability of each code for each category.
    weights : ndarray, shape (n,), or None
    """

    rows: Rows
    codes: NDArray[np.intp]
    table: Floats
    weights: Floats | None

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the coefficients: one row for each category but the first."""
        return len(self.table) - 1, len(self.rows.names)

    def shares(self, x: Floats, params: Floats) -> Floats:
        """Return the probabilities of the categories of people, shape (n, k)."""
        odds = np.zeros((len(self.table), len(x)))  # one row per category: sums over few categories are fast then
        np.matmul(params, x.T, out=odds[1:])
        odds -= odds.max(axis=0)
        np.exp(odds, out=odds)
        odds /= odds.sum(axis=0)
        return odds.T

    def sums(self, params: Floats, *, observed: bool) -> Sums:
        """Return the log-likelihood, its gradient and information at coefficients of shape (k - 1, columns)."""
        size = params.size

        def work(start: int, stop: int) -> tuple[float, Floats, Floats]:
            value, score, information = 0.0, np.zeros(size), np.zeros((size, size))
            for first in range(start, stop, ROWS):
                parts = self._block(params, first, min(first + ROWS, stop), observed)
                value, score, information = value + parts[0], score + parts[1], information + parts[2]
            return value, score, information

        parts = _threads.parallel_map(work, len(self.rows), ROWS, len(self.rows) * size)
        values, scores, information = zip(*parts, strict=True)
        return Sums(sum(values), np.sum(scores, axis=0), np.sum(information, axis=0))

    def _block(self, params: Floats, start: int, stop: int, observed: bool) -> tuple[float, Floats, Floats]:
        x, w, shares, after, seen = self._at(params, start, stop)
        score = ((after - shares)[:, 1:] * w[:, np.newaxis]).T @ x
        if observed:
            prior, updated = shares, after
        else:
            reports = self.table.T @ shares.T  # probabilities of all codes
        classes, columns = params.shape
        information = np.empty((classes, columns, classes, columns))
        for y in range(1, classes + 1):
            for z in range(1, y + 1):
                if observed:
                    factor = updated[:, y] * updated[:, z] - prior[:, y] * prior[:, z]
                    if y == z:
                        factor = factor + prior[:, y] - updated[:, y]
                else:
                    products = (self.table[y] * self.table[z])[:, np.newaxis]
                    ratio = np.divide(products, reports, out=np.zeros_like(reports), where=reports > 0)
                    factor = shares[:, y] * shares[:, z] * (ratio.sum(axis=0) - 1)
                part = (x * (w * factor)[:, np.newaxis]).T @ x
                information[y - 1, :, z - 1], information[z - 1, :, y - 1] = part, part.T
        size = classes * columns
        return float(w @ np.log(seen)), score.ravel(), information.reshape(size, size)

    def _at(self, params: Floats, start: int, stop: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Return covariates, weights, shares before and after the report, and its probability, for some people."""
        x = self.rows.block(start, stop)
        w = np.ones(len(x)) if self.weights is None else self.weights[start:stop]
        shares = self.shares(x, params)
        joint = shares * self.table[:, self.codes[start:stop]].T
        seen = np.maximum(joint.sum(axis=1), np.finfo(np.float64).tiny)
        return x, w, shares, joint / seen[:, np.newaxis], seen

    def squared_scores(self, params: Floats, clusters: AnyArray | None) -> Floats:
        """Return the sum of the squares of the gradients of people, or of clusters of people."""
        size, total = params.size, np.zeros((params.size, params.size))
        grouped = None if clusters is None else np.zeros((int(clusters.max()) + 1, size))
        for start in range(0, len(self.rows), ROWS):
            stop = min(start + ROWS, len(self.rows))
            x, w, shares, after, _ = self._at(params, start, stop)
            scores = ((after - shares)[:, 1:, np.newaxis] * (w[:, np.newaxis] * x)[:, np.newaxis]).reshape(-1, size)
            if grouped is None:
                total += scores.T @ scores
            else:
                np.add.at(grouped, clusters[start:stop], scores)  # type: ignore[index]
        if grouped is None:
            return total
        count = len(grouped)
        return np.asarray(grouped.T @ grouped * (count / (count - 1)))
