"""Answers of a population from those of groups of people, with weights of the groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..results import Binomial, BoundedSum, Estimate, IntervalRule, Normal
from ._calibration import Calibration
from ._covariance import Covariance, block
from ._shares import Shares


@dataclass(frozen=True, eq=False)
class GroupWeights:
    """The shares of groups in a population, as weights of their results.

    Attributes
    ----------
    names : list
        The groups.
    weights : ndarray, shape (groups,)
        Shares in the population, which add up to 1.
    n : ndarray, shape (groups,)
        Number of people of each group in the survey.
    calibration : Calibration or None
        The margins to which the shares of the groups are fitted; None if the shares are known.
    """

    names: list[Any]
    weights: Floats
    n: NDArray[np.int64]
    calibration: Calibration | None = None

    def on(self, rows: NDArray[np.bool_]) -> GroupWeights | None:
        """Return weights of some of the groups, which stand for the others; None if they do not agree with the population.

        Nobody has to stand for groups without a weight.
        """
        if rows.all():
            return self
        calibration = self.calibration.on(rows) if self.calibration else None
        shares: Floats | None = None
        if not self.leaves_out(rows):
            shares = self.weights[rows]
        elif calibration and rows.any():
            shares = calibration.shares(self.n[rows])
        names = [name for name, chosen in zip(self.names, rows, strict=True) if chosen]
        return None if shares is None else GroupWeights(names, shares, self.n[rows], calibration)

    def leaves_out(self, rows: NDArray[np.bool_]) -> bool:
        """Return whether a group outside the given rows has a weight."""
        return bool(self.weights[~rows].any())

    def shares(self, found: Shares) -> Shares:
        """Return the shares of symbols in the population, from those of every group."""
        w, k = self.weights, found.value.shape[-1]
        value = w @ found.value
        diagonal = np.square(w) @ found.covariance.diagonal
        vectors, middle = self._joined(found.covariance)
        if self.calibration is not None:
            rest = self.residuals(found.value)
            vectors = np.concatenate([vectors, rest])
            middle = block(middle, np.diag(np.square(w) / self.n))
        if len(vectors) > k:
            vectors, middle = np.eye(k), vectors.T @ middle @ vectors
        covariance = Covariance(diagonal, tuple(vectors), middle)
        if found.response is not None and found.response.ones is None:  # generalized least squares, for a sum of 1
            spread = covariance.with_sum
            value = value + (1 - value.sum()) * spread / spread.sum()
            covariance = covariance.of_sum_one()
        step = float(np.max(np.abs(w) * found.step))
        people = self._effective(found.n) / k
        return Shares(value, int(np.sum(found.n)), covariance, found.guarantee, step=step, people_per_symbol=people)

    def mean(self, found: Estimate[Any]) -> Estimate[Any]:
        """Return the mean in the population, from the means of every group."""
        values, w = np.asarray(found.value), self.weights
        column = values[:, np.newaxis]
        n, rule = int(np.sum(found.n)), found.rule
        up: Any = getattr(rule, "up", 0.0)
        down: Any = getattr(rule, "down", 0.0)
        variances = np.square(found.stderr)
        if isinstance(rule, Binomial):
            up = down = (rule.debiasing.one - rule.debiasing.zero) / np.asarray(found.n)
        elif np.any(up) and np.any(down):
            n_of_groups = np.asarray(found.n, np.float64)
            variances = _shared_variances(values, variances, n_of_groups, up, down, np.abs(w))
        variance = float(self.covariance(variances[:, np.newaxis], column, column)[0])
        bounded: IntervalRule = Normal.of_sum(self._effective(found.n))
        if np.any(up) and np.any(down):
            if (w < 0).any():
                up = down = np.maximum(up, down)
            bounded = BoundedSum(float(np.max(np.abs(w) * up)), float(np.max(np.abs(w) * down)))
        return Estimate(float(w @ values), math.sqrt(variance), n, found.guarantee, None, bounded)

    def covariance(self, found: Floats, first: Floats, second: Floats) -> Floats:
        """Return the covariances of weighted estimates, from those of every group and the estimates, shape (groups, k) each."""
        w = np.square(self.weights)
        if self.calibration is None:
            return np.asarray(w @ found)
        return np.asarray(w @ found + (w / self.n) @ (self.residuals(first) * self.residuals(second)))

    def _effective(self, n: Any) -> float:
        """Return the number of people who would tell as much without weights (Kish), from the numbers of answers of groups."""
        return float(1 / np.sum(np.square(self.weights) / n))

    def _joined(self, covariance: Covariance) -> tuple[Floats, Floats]:
        """Return the vectors and the middle of the sum of the covariances of all groups, times the squares of the weights."""
        vectors = np.stack([np.broadcast_to(v, covariance.diagonal.shape) for v in covariance.vectors], axis=1)
        middle = np.square(self.weights)[:, np.newaxis, np.newaxis] * covariance.middle
        groups, count, k = vectors.shape
        if groups * count <= k:
            return vectors.reshape(-1, k), block(*middle)
        return np.eye(k), np.einsum("gri,grs,gsj->ij", vectors, middle, vectors, optimize=True)

    def residuals(self, values: Floats) -> Floats:
        """Return what sums over margins do not explain of the values of groups, shape (groups, k)."""
        assert self.calibration is not None
        # Groups without a weight, as of a value that nobody in the population has, are no part of the fit.
        design, root = self.calibration.design, np.sqrt(self.n * (self.weights != 0))[:, np.newaxis]
        fitted = np.linalg.lstsq(root * design, root * values, rcond=None)[0]
        return np.asarray(values - design @ fitted)


def _shared_variances(values: Floats, variances: Floats, n: Floats, up: Any, down: Any, weights: Floats) -> Floats:
    """Return the variances of the means of groups, with one report in all groups together that widens them.

    The variance of the mean of decoded codes counts one report more, half of each extreme value, so that it is not too small
    for few reports. With one such report in each group, the sum over many small groups is up to twice too large. Here each
    group has its part of one: that of its people, or of its weight, if it stands for more people. Its n reports have a sum of
    squares with n - 1 degrees of freedom; the other two of the n + 1 in the denominator have the pooled variance within groups.

    Parameters
    ----------
    values, variances : ndarray, shape (groups,)
        Means, and their variances with a report more in each group.
    n : ndarray, shape (groups,)
        Numbers of reports.
    up, down : ndarray, shape (groups,)
        Distances of the means from the extreme values, divided by n.
    weights : ndarray, shape (groups,)
        Weights of the groups, >= 0.
    """
    total, groups = float(n.sum()), len(n)
    extremes = (np.square(n * up) + np.square(n * down)) / 2
    squares = np.maximum(variances * n * (n + 1) - extremes, 0.0)
    mean = n @ values / total
    highest, lowest = values[0] + n[0] * up[0], values[0] - n[0] * down[0]
    pooled = (squares.sum() + ((highest - mean) ** 2 + (mean - lowest) ** 2) / 2) / (total - groups + 1)
    part = np.maximum(n / total, weights / max(1.0, float(weights.sum())))
    return np.asarray((squares + part * extremes + 2 * (1 - part) * pooled) / ((n + 1) * n))
