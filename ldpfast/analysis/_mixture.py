"""The likelihood of an outcome that depends on an answer which people have randomized."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import _threads
from .._typing import Floats
from ._likelihood import Likelihood
from ._maximum import LikelihoodSums, total
from ._rows import ROWS

LARGEST = 300.0  # logarithm of a standard deviation


@dataclass(frozen=True, eq=False)
class PosteriorBlock:
    """Some people at some parameters. Lists have one entry per category of the answer.

    Attributes
    ----------
    x, weights : ndarray
        Covariates and weights.
    shares : ndarray, shape (n, k)
        Probabilities of the answers, from the covariates alone.
    posterior : ndarray, shape (n, k)
        The same, from the covariates, the report and the outcome.
    logs : ndarray, shape (n,)
        Logarithm of the density of the report and the outcome.
    scores : list of ndarray, shape (n, parameters)
        Gradients of the logarithm of the density for a known answer.
    curvatures : list of tuple of three ndarray
        Minus the second derivatives of that of the outcome: by the linear predictor, by it and the logarithm of the standard
        deviation, by the latter.
    """

    x: Floats
    weights: Floats
    shares: Floats
    posterior: Floats
    logs: Floats
    scores: list[Floats]
    curvatures: list[tuple[Floats, Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Mixture:
    """The likelihood of the outcomes and reports of people, whose true answers are not known.

    The parameters are, in this order: the coefficients of the outcome, for the columns and for every category but the first;
    for a linear model the logarithm of the standard deviation; the coefficients of the answer, as for `Likelihood`.

    Attributes
    ----------
    answers : Likelihood
        The model of the answers: rows, codes, table and weights.
    outcome : ndarray, shape (n,)
        Numbers for a linear model; 0 and 1 for a logit model.
    linear : bool
        Whether the outcome has a linear model with normal errors, and not a logit model.
    """

    answers: Likelihood
    outcome: Floats
    linear: bool

    @property
    def coefficients(self) -> int:
        """Number of coefficients of the outcome."""
        return sum(self.answers.shape)

    @property
    def size(self) -> int:
        """Number of parameters."""
        classes, columns = self.answers.shape
        return self.coefficients + self.linear + classes * columns

    @property
    def effects(self) -> Floats:
        """Effects of the categories of the answer but the first: each has one of its own."""
        return np.eye(self.answers.shape[0])

    def of_kinds(self, params: Floats) -> Floats:
        """Return the coefficients of these categories, which are the parameters."""
        return params

    def sums(self, params: Floats, *, observed: bool) -> LikelihoodSums:
        """Return the log-likelihood and its derivatives; unless `observed`, the information of known answers."""
        rows = self.answers.rows

        def work(start: int, stop: int) -> LikelihoodSums:
            return total([self._sums(self._people(params, part), observed) for part in rows.parts(start, stop)])

        return total(_threads.parallel_map(work, len(rows), ROWS, len(rows) * self.size))

    def scores(self, params: Floats) -> Iterator[tuple[slice, Floats]]:
        """Yield the gradients of people, with their places."""
        for part in self.answers.rows.parts():
            people = self._people(params, part)
            yield part, _mean_score(people) * people.weights[:, np.newaxis]

    def _sums(self, people: PosteriorBlock, observed: bool) -> LikelihoodSums:
        """Return the sums over some people."""
        x, w = people.x, people.weights
        classes, columns = self.answers.shape
        outcome, deviation = slice(self.coefficients), self.coefficients
        information = np.zeros((self.size, self.size))
        # First the information of the outcome, a mean over the possible answers with their posterior probabilities; then that
        # of the answers, as in a multinomial logit model.
        for z, (both, cross, own) in enumerate(people.curvatures):
            weight = w * people.posterior[:, z]
            category = np.broadcast_to(np.eye(classes + 1)[z, 1:], (len(x), classes))
            inside = np.column_stack([x, category])
            information[outcome, outcome] += (inside * (weight * both)[:, np.newaxis]).T @ inside
            if self.linear and observed:
                slope = (weight * cross) @ inside
                information[outcome, deviation] += slope
                information[deviation, outcome] += slope
                information[deviation, deviation] += weight @ own
            elif self.linear:  # the means over the outcome
                information[deviation, deviation] += 2 * weight.sum()
        first = self.coefficients + self.linear
        for y in range(classes):
            for other in range(classes):
                factor = w * people.shares[:, y + 1] * ((y == other) - people.shares[:, other + 1])
                place = slice(first + y * columns, first + (y + 1) * columns)
                beside = slice(first + other * columns, first + (other + 1) * columns)
                information[place, beside] = (x * factor[:, np.newaxis]).T @ x
        mean = _mean_score(people)
        if observed:  # less the variance of the gradient, as the answers are not known
            information += (mean * w[:, np.newaxis]).T @ mean
            for z, score in enumerate(people.scores):
                information -= (score * (w * people.posterior[:, z])[:, np.newaxis]).T @ score
        return LikelihoodSums(float(w @ people.logs), w @ mean, information)

    def _people(self, params: Floats, part: slice) -> PosteriorBlock:
        """Return some people at some parameters."""
        answers, y = self.answers, self.outcome[part]
        classes, columns = answers.shape
        first = self.coefficients + self.linear
        x = answers.rows.block(part)
        shares = answers.shares(x, params[first:].reshape(answers.shape))
        middle, effects = x @ params[:columns], np.concatenate([[0.0], params[columns : self.coefficients]])
        spread = math.exp(np.clip(params[self.coefficients], -LARGEST, LARGEST)) if self.linear else 1.0
        scores = []
        curvatures = []
        densities = []
        # For every possible answer z: the density of the outcome if z is the true answer, its gradient and its second
        # derivatives. The posterior is proportional to the prior share, the probability of the report, and this density.
        for z, effect in enumerate(effects):
            eta = middle + effect
            score = np.zeros((len(x), self.size))
            if self.linear:
                error = (y - eta) / spread
                densities.append(-0.5 * error**2 - math.log(spread) - 0.5 * math.log(2 * math.pi))
                slope = error / spread
                score[:, self.coefficients] = error**2 - 1
                curvatures.append((np.full(len(x), spread**-2), 2 * slope, 2 * error**2))
            else:
                densities.append(-np.logaddexp(0, np.where(y > 0, -eta, eta)))
                probability = np.exp(-np.logaddexp(0, -eta))
                slope = y - probability
                curvatures.append((probability * (1 - probability), np.zeros(0), np.zeros(0)))
            score[:, :columns] = x * slope[:, np.newaxis]
            score[:, columns : self.coefficients] = slope[:, np.newaxis] * np.eye(classes + 1)[z, 1:]
            rest = np.eye(classes + 1)[z, 1:] - shares[:, 1:]
            score[:, first:] = (rest[:, :, np.newaxis] * x[:, np.newaxis]).reshape(len(x), -1)
            scores.append(score)
        logs = np.stack(densities, axis=1)
        highest = logs.max(axis=1)
        joint = shares * answers.table[:, answers.codes[part]].T * np.exp(logs - highest[:, np.newaxis])
        sums = np.maximum(joint.sum(axis=1), np.finfo(np.float64).tiny)
        posterior = joint / sums[:, np.newaxis]
        return PosteriorBlock(
            x, answers.weights_of(part), shares, posterior, np.log(sums) + highest, scores, curvatures
        )


def _mean_score(people: PosteriorBlock) -> Floats:
    """Return the gradients of people, shape (n, parameters)."""
    parts = (score * people.posterior[:, z, np.newaxis] for z, score in enumerate(people.scores))
    return np.asarray(sum(parts))
