"""The likelihood of the counts of a list experiment: a logit for the sensitive statement, binomial logits for the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import _threads
from .._typing import AnyArray, Floats
from ._maximum import LikelihoodSums, total
from ._rows import ROWS, Rows

TINY = 1e-300  # probability in the place of 0


@dataclass(frozen=True, eq=False)
class ListBlock:
    """Some people at some parameters. Lists have one entry for people without the sensitive attribute, and one for those with.

    Attributes
    ----------
    x, weights : ndarray
        Covariates and weights.
    share : ndarray, shape (n,)
        Probability of the sensitive attribute, from the covariates alone.
    others : list of ndarray
        Probability that another statement is true.
    densities : list of ndarray
        Probability of the attribute or its absence together with the count.
    total : ndarray
        Probability of the count.
    """

    x: Floats
    weights: Floats
    share: Floats
    others: list[Floats]
    densities: list[Floats]
    total: Floats


@dataclass(frozen=True, eq=False)
class ListLikelihood:
    """The likelihood of the counts of people.

    The parameters are the coefficients of the sensitive attribute, then those of the other statements: once, or for people
    without the attribute and with it.

    Attributes
    ----------
    rows : Rows
    counts : ndarray of int, shape (n,)
    treated : ndarray of bool, shape (n,)
        Whose list has the sensitive statement.
    items : int
        Number of other statements.
    constrained : bool
        Whether the coefficients of the other statements are the same for people with and without the attribute.
    weights : ndarray, shape (n,), or None
    """

    rows: Rows
    counts: AnyArray
    treated: AnyArray
    items: int
    constrained: bool
    weights: Floats | None

    @property
    def columns(self) -> int:
        return len(self.rows.names)

    @property
    def size(self) -> int:
        """Number of parameters."""
        return self.columns * (2 if self.constrained else 3)

    def place(self, attribute: int) -> slice:
        """Return the places of the coefficients of the other statements, of people without the attribute (0) or with it (1)."""
        first = self.columns * (1 if self.constrained else 1 + attribute)
        return slice(first, first + self.columns)

    def sums(self, params: Floats, *, observed: bool) -> LikelihoodSums:
        """Return the log-likelihood and its derivatives; unless `observed`, the information of a known attribute."""

        def work(start: int, stop: int) -> LikelihoodSums:
            return total([self._sums(params, part, observed) for part in self.rows.parts(start, stop)])

        return total(_threads.parallel_map(work, len(self.rows), ROWS, len(self.rows) * self.size))

    def scores(self, params: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield the gradients of people, with their places."""
        for part in self.rows.parts():
            block = self.block(params, part)
            factors = self._factors(block, part)
            mean = sum(factor * self._posterior(block, z)[:, np.newaxis] for z, factor in enumerate(factors))
            yield part, self._spread(np.asarray(mean) * block.weights[:, np.newaxis], block.x)

    def block(self, params: Floats, part: slice) -> ListBlock:
        """Return some people at some parameters."""
        from scipy.special import binom, expit

        x = self.rows.block(part)
        counts, treated = self.counts[part], self.treated[part]
        share = expit(x @ params[: self.columns])
        others = [expit(x @ params[self.place(z)]) for z in (0, 1)]
        densities = []
        for z, rate in enumerate(others):
            true = counts - z * treated  # other statements that are true of a person with this attribute
            inside = (true >= 0) & (true <= self.items)
            y = np.clip(true, 0, self.items)
            chance = binom(self.items, y) * rate**y * (1 - rate) ** (self.items - y)
            densities.append(np.where(inside, chance, 0.0) * (share if z else 1 - share))
        weights = np.ones(len(x)) if self.weights is None else self.weights[part]
        return ListBlock(x, weights, share, others, densities, np.maximum(sum(densities), TINY))

    @staticmethod
    def _posterior(block: ListBlock, z: int) -> Floats:
        return np.asarray(block.densities[z] / block.total)

    def _factors(self, block: ListBlock, part: slice) -> list[Floats]:
        """Return what the covariates are multiplied by in the score of a person with each attribute, one column per model."""
        found = []
        for z, rate in enumerate(block.others):
            true = self.counts[part] - z * self.treated[part]
            factor = np.zeros((len(block.x), self.size // self.columns))
            factor[:, 0] = z - block.share
            factor[:, 1 if self.constrained else 1 + z] = true - self.items * rate
            found.append(factor)
        return found

    @staticmethod
    def _spread(factors: Floats, x: Floats) -> Floats:
        """Return the products of factors and covariates, one row per person."""
        return (factors[:, :, np.newaxis] * x[:, np.newaxis]).reshape(len(x), -1)

    def _sums(self, params: Floats, part: slice, observed: bool) -> LikelihoodSums:
        """Return the sums over some people."""
        block = self.block(params, part)
        x, w = block.x, block.weights
        models, columns = self.size // self.columns, self.columns
        # The information for a known attribute is that of a logit and of binomial logits, a mean over both attributes with
        # their posterior probabilities. The attribute is not known: the variance of the score is subtracted.
        curvature = np.zeros((len(x), models, models))
        curvature[:, 0, 0] = block.share * (1 - block.share)
        factors, posteriors = self._factors(block, part), [self._posterior(block, z) for z in (0, 1)]
        mean = np.zeros((len(x), models))
        for z, (factor, posterior) in enumerate(zip(factors, posteriors, strict=True)):
            own = 1 if self.constrained else 1 + z
            rate = block.others[z]
            curvature[:, own, own] += posterior * self.items * rate * (1 - rate)
            mean += factor * posterior[:, np.newaxis]
        if observed:
            curvature += mean[:, :, np.newaxis] * mean[:, np.newaxis]
            for factor, posterior in zip(factors, posteriors, strict=True):
                curvature -= posterior[:, np.newaxis, np.newaxis] * factor[:, :, np.newaxis] * factor[:, np.newaxis]
        curvature *= w[:, np.newaxis, np.newaxis]
        information = np.einsum("iab,ij,ik->ajbk", curvature, x, x, optimize=True).reshape(self.size, self.size)
        score = np.einsum("i,ia,ij->aj", w, mean, x, optimize=True).ravel()
        return LikelihoodSums(
            float(w @ np.log(block.total)), score, np.asarray(information).reshape(models * columns, -1)
        )
