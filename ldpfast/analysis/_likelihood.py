"""The likelihood of randomized reports, with a multinomial logit model for the truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _threads
from .._core import logit
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
        params, size = np.ascontiguousarray(params), params.size

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

    def _block(self, params: Floats, part: slice, observed: bool) -> tuple[float, Floats, Floats]:
        """Return the log-likelihood of some people, its gradient and information."""
        classes, columns = params.shape
        score, lower = np.zeros(params.size), np.zeros((params.size, params.size))
        rows, weights = self.rows, None if self.weights is None else self.weights[part]
        shift, scale = rows.standardization
        value = logit.sums(
            rows.x[part],
            shift,
            scale,
            rows.intercept,
            self.codes[part],
            self.table,
            weights,
            params,
            observed,
            score,
            lower,
        )
        information = lower.reshape(classes, columns, classes, columns)
        information += np.tril(lower.reshape(information.shape).transpose(0, 2, 1, 3), -1).transpose(0, 3, 1, 2)
        for y in range(classes):
            for z in range(y):
                information[z, :, y] = information[y, :, z]
        return value, score, lower

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
