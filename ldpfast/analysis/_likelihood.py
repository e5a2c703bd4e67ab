"""The likelihood of randomized reports, with a multinomial logit model for the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _threads
from .._core import logit
from .._typing import Floats
from ._links import Link
from ._maximum import LikelihoodSums, total
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
    blocks : ndarray of int, shape (codes,), optional
        The design of each code, if people have several.
    constant : float
        What the log-likelihood has too much, because codes also tell the design.
    """

    rows: Rows
    codes: NDArray[Any]
    table: Floats
    weights: Floats | None
    ridge: Floats | None = None
    blocks: NDArray[Any] | None = None
    constant: float = 0.0

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

    def sums(self, params: Floats, *, observed: bool) -> LikelihoodSums:
        """Return the log-likelihood, its gradient and information at coefficients of shape (k - 1, columns)."""
        params, size = np.ascontiguousarray(params), params.size

        def work(start: int, stop: int) -> LikelihoodSums:
            return total([self._lower(params, part, observed) for part in self.rows.parts(start, stop)])

        found = total(_threads.parallel_map(work, len(self.rows), ROWS, len(self.rows) * size))
        information = _symmetric(found.information, self.shape)
        if self.ridge is None:
            return LikelihoodSums(found.value, found.score, information)
        slope = self.ridge @ params.ravel()
        value = found.value - float(params.ravel() @ slope) / 2
        return LikelihoodSums(value, found.score - slope, information + self.ridge)

    def value_and_score(self, params: Floats) -> tuple[float, Floats]:
        """Return the log-likelihood and its gradient."""
        value, score = 0.0, np.zeros(self.shape)
        for part in self.rows.parts():
            x, w = self.rows.block(part), self.weights_of(part)
            seen, factors = self._seen_and_factors(x, self.codes[part], params)
            value += float(w @ np.log(seen))
            score += (factors * w[:, np.newaxis]).T @ x
        slope = np.zeros(params.size) if self.ridge is None else self.ridge @ params.ravel()
        return value - float(params.ravel() @ slope) / 2, score.ravel() - slope

    def information_of_shares(self, shares: Floats) -> Floats:
        """Return the expected information at coefficients for which all people have these probabilities of the categories."""
        seen = shares @ self.table
        slopes = shares[1:, np.newaxis] * (self.table[1:] - seen)  # derivatives of the probability of each report
        each = (slopes / np.maximum(seen, np.finfo(np.float64).tiny)) @ slopes.T
        gram = np.zeros((self.shape[1], self.shape[1]))
        for part in self.rows.parts():
            x = self.rows.block(part)
            gram += (x * self.weights_of(part)[:, np.newaxis]).T @ x
        information = np.kron(each, gram)
        return np.asarray(information if self.ridge is None else information + self.ridge)

    def _lower(self, params: Floats, part: slice, observed: bool) -> LikelihoodSums:
        """Return the sums over some people, with the lower triangles of the lower blocks of the information only."""
        score, information = np.zeros(params.size), np.zeros((params.size, params.size))
        rows, weights = self.rows, None if self.weights is None else self.weights[part]
        columns = (rows.x[part], *rows.standardization, rows.intercept)
        codes = self.codes[part].astype(np.intp)
        value = logit.sums(*columns, codes, self.table, weights, params, observed, score, information)
        return LikelihoodSums(value, score, information)

    def weights_of(self, part: slice) -> Floats:
        """Return the weights of some people, which are 1 if there are none."""
        return np.ones(len(self.codes[part])) if self.weights is None else self.weights[part]

    def own_factors(self, x: Floats, codes: NDArray[Any], params: Floats) -> Floats:
        """Return the derivatives of the log-likelihoods of people by the linear predictor of each category but the first."""
        return self._seen_and_factors(x, codes, params)[1]

    def _seen_and_factors(self, x: Floats, codes: NDArray[Any], params: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of the reports of people, and `own_factors`."""
        shares = self.shares(x, params)
        joint = shares * self.table[:, codes].T
        seen = np.maximum(joint.sum(axis=1), np.finfo(np.float64).tiny)
        return seen, np.asarray((joint / seen[:, np.newaxis] - shares)[:, 1:])

    def report_slopes(self, x: Floats, params: Floats) -> tuple[Floats, Floats]:
        """Return the probabilities of all reports of people, and [i, r, z]: their derivatives by the linear predictors."""
        shares, table = self.shares(x, params), self.table
        seen = shares @ table
        slopes = shares[:, np.newaxis, 1:] * (table.T[np.newaxis, :, 1:] - seen[:, :, np.newaxis])
        return np.maximum(seen, np.finfo(np.float64).tiny), slopes

    def scores(self, params: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield the gradients of people, with their places."""
        for part in self.rows.parts():
            x = self.rows.block(part)
            factors = self.own_factors(x, self.codes[part], params)
            weighted = self.weights_of(part)[:, np.newaxis] * x
            yield part, (factors[:, :, np.newaxis] * weighted[:, np.newaxis]).reshape(-1, params.size)

    def randomization(self, params: Floats, share_of: Callable[[slice], Floats | float]) -> Floats:
        """Return the covariance matrix of the sum of the scores that is due to the randomness of reports for given truths.

        The variance of the score of each person is multiplied by a share of this person, and is the mean over the truths with
        their probabilities in the model.
        """
        classes, columns = self.shape
        found = np.zeros((classes, columns, classes, columns))
        for part in self.rows.parts():
            x, w = self.rows.block(part), self.weights_of(part)
            seen, slopes = self.report_slopes(x, params)
            factors = slopes / seen[:, :, np.newaxis]
            table = np.broadcast_to(self.table, (len(x), *self.table.shape))
            if self.blocks is not None:  # only the reports of the own design, whose share divides all probabilities
                inside = self.blocks[self.codes[part]][:, np.newaxis] == self.blocks
                table = table * inside[:, np.newaxis]
                table = table / table.sum(axis=2, keepdims=True)
            means = np.einsum("iyr,irz->iyz", table, factors, optimize=True)
            spread = np.einsum("iyr,irz,irl->iyzl", table, factors, factors, optimize=True)
            spread = spread - means[:, :, :, np.newaxis] * means[:, :, np.newaxis]
            weight = self.shares(x, params) * (share_of(part) * np.square(w))[:, np.newaxis]
            found += np.einsum("iy,iyzl,ij,ik->zjlk", weight, spread, x, x, optimize=True)
        return found.reshape(params.size, params.size)

    def jackknifed_scores(self, params: Floats, bread: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield gradients whose sums of squares are those of the coefficients without one person each.

        With the inverse information B, the coefficients without a person with score a x and information V (x) x x' are smaller
        by B ((1 - V H)^-1 a (x) x) in one step of Newton's method, where H are the numbers x' B x of the blocks of B. For
        direct answers V H is the leverage of a logit, and this is HC3.

        Parameters
        ----------
        params : ndarray, shape (k - 1, columns)
        bread : ndarray, shape (coefficients, coefficients)
        """
        classes, columns = self.shape
        blocks = bread.reshape(classes, columns, classes, columns)
        for part, scores in self.scores(params):
            x = self.rows.block(part)
            seen, slopes = self.report_slopes(x, params)
            weight = self.weights_of(part)[:, np.newaxis] / seen
            if self.blocks is not None:  # only the reports of the own design, whose share divides all probabilities
                inside = self.blocks[self.codes[part]][:, np.newaxis] == self.blocks
                weight = weight * inside / (seen * inside).sum(axis=1, keepdims=True)
            information = np.einsum("iry,irz,ir->iyz", slopes, slopes, weight, optimize=True)
            size = np.einsum("ij,yjzl,il->iyz", x, blocks, x, optimize=True)
            factor = np.linalg.inv(np.eye(classes) - information @ size)
            yield part, (factor @ scores.reshape(-1, classes, columns)).reshape(scores.shape)


@dataclass(frozen=True, eq=False)
class LinkLikelihood(Likelihood):
    """The same for two categories with another link than the logit.

    Attributes
    ----------
    link : Link
    """

    link: Link = field(kw_only=True)

    @classmethod
    def of(cls, likelihood: Likelihood, link: Link) -> LinkLikelihood:
        """Return the likelihood of the same reports with a link."""
        return cls(**{part.name: getattr(likelihood, part.name) for part in fields(likelihood)}, link=link)

    def shares(self, x: Floats, params: Floats) -> Floats:
        return np.column_stack(self.link.both(x @ params[0]))

    def sums(self, params: Floats, *, observed: bool) -> LikelihoodSums:
        def work(start: int, stop: int) -> LikelihoodSums:
            return total([self._sums(params, part, observed) for part in self.rows.parts(start, stop)])

        return total(_threads.parallel_map(work, len(self.rows), ROWS, len(self.rows) * params.size))

    def _sums(self, params: Floats, part: slice, observed: bool) -> LikelihoodSums:
        """Return the sums over some people."""
        x, w = self.rows.block(part), self.weights_of(part)
        codes = self.codes[part]
        eta = x @ params[0]
        seen, slopes = self.report_slopes(x, params)
        rows = np.arange(len(x))
        own, factors = seen[rows, codes], slopes[rows, codes, 0] / seen[rows, codes]
        if observed:
            lines = (self.table[1] - self.table[0])[codes]
            curvature = np.square(factors) - lines * self.link.curvature(eta) / own
        else:
            curvature = (np.square(slopes[:, :, 0]) / seen).sum(axis=1)
        information = (x * (w * curvature)[:, np.newaxis]).T @ x
        return LikelihoodSums(float(w @ np.log(own)), (w * factors) @ x, information)

    def own_factors(self, x: Floats, codes: NDArray[Any], params: Floats) -> Floats:
        seen, slopes = self.report_slopes(x, params)
        rows = np.arange(len(x))
        return np.asarray(slopes[rows, codes] / seen[rows, codes, np.newaxis])

    def report_slopes(self, x: Floats, params: Floats) -> tuple[Floats, Floats]:
        seen = np.maximum(self.shares(x, params) @ self.table, np.finfo(np.float64).tiny)
        density = self.link.density(x @ params[0])
        return seen, density[:, np.newaxis, np.newaxis] * (self.table[1] - self.table[0])[np.newaxis, :, np.newaxis]


def _symmetric(lower: Floats, shape: tuple[int, int]) -> Floats:
    """Return a symmetric matrix of symmetric blocks, of which the lower triangles of the lower blocks are given."""
    classes, columns = shape
    blocks = lower.reshape(classes, columns, classes, columns).transpose(0, 2, 1, 3)  # [y, z] is a block
    blocks = blocks + np.tril(blocks, -1).transpose(0, 1, 3, 2)
    upper = np.triu_indices(classes, 1)
    blocks[upper] = blocks[upper[::-1]]
    return np.asarray(blocks.transpose(0, 2, 1, 3).reshape(lower.shape))
