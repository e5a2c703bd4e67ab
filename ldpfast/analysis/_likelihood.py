"""The likelihood of randomized reports, with a multinomial logit model for the truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _threads
from .._typing import Floats
from ._maximum import Sums
from ._rows import ROWS, Rows


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
    ridge : ndarray, shape (coefficients, coefficients), optional
        Half of its quadratic form in the coefficients is subtracted from the log-likelihood.
    """

    rows: Rows
    codes: NDArray[np.intp]
    table: Floats
    weights: Floats | None
    ridge: Floats | None = None

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
            for part in self.rows.parts(start, stop):
                sums = self._block(params, part, observed)
                value, score, information = value + sums[0], score + sums[1], information + sums[2]
            return value, score, information

        parts = _threads.parallel_map(work, len(self.rows), ROWS, len(self.rows) * size)
        values, scores, informations = zip(*parts, strict=True)
        value, score, information = sum(values), np.sum(scores, axis=0), np.sum(informations, axis=0)
        if self.ridge is not None:
            slope = self.ridge @ params.ravel()
            value, score, information = value - params.ravel() @ slope / 2, score - slope, information + self.ridge
        return Sums(float(value), score, information)

    def _block(self, params: Floats, place: slice, observed: bool) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood of some people, its gradient and information."""
        x, w, shares, after, seen = self._at(params, place)
        score = ((after - shares)[:, 1:] * w[:, np.newaxis]).T @ x
        if not observed:
            chances = self.table.T @ shares.T  # of all codes
            inverse = np.divide(1.0, chances, out=np.zeros_like(chances), where=chances > 0)
        classes, columns = params.shape
        information = np.empty((classes, columns, classes, columns))
        for y in range(1, classes + 1):
            for z in range(1, y + 1):
                if observed:
                    factor = after[:, y] * after[:, z] - shares[:, y] * shares[:, z]
                    if y == z:
                        factor = factor + shares[:, y] - after[:, y]
                else:
                    factor = shares[:, y] * shares[:, z] * ((self.table[y] * self.table[z]) @ inverse - 1)
                part = (x * (w * factor)[:, np.newaxis]).T @ x
                information[y - 1, :, z - 1], information[z - 1, :, y - 1] = part, part.T
        size = classes * columns
        return float(w @ np.log(seen)), score.ravel(), information.reshape(size, size)

    def _at(self, params: Floats, part: slice) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Return covariates, weights, shares before and after the report, and its probability, for some people."""
        x = self.rows.block(part)
        w = np.ones(len(x)) if self.weights is None else self.weights[part]
        shares = self.shares(x, params)
        joint = shares * self.table[:, self.codes[part]].T
        seen = np.maximum(joint.sum(axis=1), np.finfo(np.float64).tiny)
        return x, w, shares, joint / seen[:, np.newaxis], seen

    def scores(self, params: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield the gradients of people, with their places."""
        for part in self.rows.parts():
            x, w, shares, after, _ = self._at(params, part)
            yield (
                part,
                ((after - shares)[:, 1:, np.newaxis] * (w[:, np.newaxis] * x)[:, np.newaxis]).reshape(-1, params.size),
            )
