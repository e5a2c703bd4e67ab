"""Estimate of the shares of ordered cells: a mixture of a smooth estimate and of such with less and less smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from .._typing import Floats
from ._cell_likelihood import CellLikelihood

FUNCTIONS = 39  # of the basis of the logarithm of a smooth estimate
PENALTIES: Floats = 10.0 ** np.arange(4.0, -7.0, -1.0)  # of the third differences of that logarithm
FREE = 1e-2  # penalty of functions whose third differences are 0: normal shapes
PILOT = (0.05, 0.002)  # pseudo-people of the pilot estimate, as shares of n
PATH = (0.3, 0.05, 0.01, 0.002, 3e-4, 4e-5)  # pseudo-people of the candidates, as shares of n
TARGET_FLOOR = 0.3  # share of the uniform distribution in what pseudo-people follow, times the root of n
HOPELESS = 12.0  # distance from the best score from which on fewer pseudo-people are not tried
STEPS = 40  # at most, of Newton's method
ENOUGH, ENOUGH_SMOOTH = 0.02, 0.1  # gains of a step below which it stops, in units of the logarithm of the likelihood
TO_BOUNDARY = 0.95  # largest part of the way to a share of 0
SPACING = 1e-3  # of the logarithm of the number of pseudo-people, for its derivative


@lru_cache(maxsize=8)
def smooth_basis(k: int) -> tuple[Floats, Floats]:
    """Return the smoothest functions of k cells but the constant one, as columns, and their penalties.

    The penalty is the sum of the squares of the third differences. It is 0 for polynomials of degree 1 and 2.
    """
    from scipy.linalg import eigh

    size = min(FUNCTIONS, k - 1) + 1
    third = np.diff(np.eye(k), 3, axis=0) if k > 3 else np.zeros((1, k))
    values, functions = eigh(third.T @ third, subset_by_index=(0, size - 1))
    powers = min(3, size)
    middle = (np.arange(k) - (k - 1) / 2) / k * 2
    functions[:, :powers] = np.linalg.qr(np.vander(middle, powers, increasing=True))[0]
    values[:powers] = 0
    basis, penalties = functions[:, 1:] * math.sqrt(k), np.maximum(values[1:], 0) * float(k) ** 4
    basis.flags.writeable = penalties.flags.writeable = False
    return basis, penalties


@lru_cache(maxsize=8)
def basis_with_missing(k: int) -> tuple[Floats, Floats]:
    """Return the functions of k cells of which the last one is apart, that of people without an answer: its own is free."""
    inner, penalties = smooth_basis(k - 1)
    basis = np.zeros((k, inner.shape[1] + 1))
    basis[:-1, :-1], basis[-1, -1] = inner, 1.0
    basis.flags.writeable = False
    return basis, np.append(penalties, 0.0)


@dataclass(frozen=True, eq=False)
class SmoothShares:
    """A penalized estimate: shares, penalty, coefficients in the basis, degrees of freedom, evidence."""

    shares: Floats
    penalty: float
    coefficients: Floats
    freedom: float
    evidence: float


def smooth_shares(
    likelihood: CellLikelihood, penalties: Floats, start: Floats | None = None, *, has_missing: bool = False
) -> SmoothShares:
    """Return the estimate whose logarithm is smooth, with the penalty of the largest evidence (Laplace's method).

    With `has_missing`, the last cell is that of people without an answer.
    """
    basis, roughness = (basis_with_missing if has_missing else smooth_basis)(likelihood.k)
    theta = np.zeros(basis.shape[1]) if start is None else start
    best: SmoothShares | None = None
    falls = 0

    def shares(at: Floats) -> Floats:
        logarithm = basis @ at
        p = np.exp(logarithm - logarithm.max())
        return np.asarray(p / p.sum())

    # Fisher scoring for the coefficients with each penalty, from those with the one before. The evidence is the value at
    # the maximum with the volumes of the prior and of the posterior distribution; after two falls the search ends.
    for penalty in penalties:
        weights = np.where(roughness > 0, penalty * roughness, FREE)
        p = shares(theta)
        value = likelihood.value(p) - 0.5 * weights @ theta**2
        for _ in range(STEPS):
            directions = p[:, np.newaxis] * (basis - p @ basis)
            matrix = likelihood.projected(directions, p)
            matrix[np.diag_indices_from(matrix)] += weights
            slope = directions.T @ likelihood.gradient(p) - weights * theta
            step = np.linalg.solve(matrix, slope)
            gain = slope @ step
            if gain < ENOUGH_SMOOTH:
                break
            length = min(1.0, 3 / np.abs(basis @ step).max())
            while length > 1e-4:
                new = theta + length * step
                found = likelihood.value(shares(new)) - 0.5 * weights @ new**2
                if found >= value + 1e-4 * length * gain:
                    break
                length /= 2
            else:
                break
            theta, p = new, shares(new)
            value = found
        evidence = value + 0.5 * np.log(weights).sum() - 0.5 * np.linalg.slogdet(matrix)[1]
        falls = falls + 1 if best is not None and evidence < best.evidence - 10 else 0
        if best is None or evidence > best.evidence:
            freedom = len(weights) - np.trace(np.linalg.solve(matrix, np.diag(weights)))
            best = SmoothShares(p, float(penalty), theta.copy(), float(freedom), float(evidence))
        if falls == 2:
            break
    assert best is not None
    return best


class PseudoPeople:
    """Maximum of the likelihood with pseudo-people who follow a target: the more there are, the closer is it to the target."""

    def __init__(self, likelihood: CellLikelihood, target: Floats) -> None:
        self.likelihood, self.target = likelihood, target

    def _factor(self, information: Floats, diagonal: Floats) -> Floats:
        """Return the Cholesky factor of the information plus a diagonal, in the lower triangle of its memory, transposed."""
        from scipy.linalg.lapack import dpotrf

        information[np.diag_indices_from(information)] += diagonal
        factor, failed = dpotrf(information.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            raise ArithmeticError("the information of the reports is not positive definite")
        return np.asarray(factor)

    def maximum(self, people: float, p: Floats) -> Floats:
        """Return the estimate with a number of pseudo-people, from some shares.

        A primal-dual interior-point method: the multipliers z of p >= 0, which are weights / p at the maximum, are steps of
        their own, so that shares that become tiny need few steps.
        """
        from scipy.linalg.lapack import dpotrs

        likelihood = self.likelihood
        weights = people * self.target + 1e-8
        value = likelihood.value(p) + weights @ np.log(p)
        z = weights / p
        for _ in range(STEPS):
            factor = self._factor(likelihood.information(p, observed=True), z / p)
            slope = likelihood.gradient(p) + weights / p
            solved = dpotrs(factor, np.column_stack([slope, np.ones(len(p))]), lower=1)[0]
            step = solved[:, 0] - solved[:, 1] * (solved[:, 0].sum() / solved[:, 1].sum())
            gain = slope @ step
            dual = weights / p - z - z / p * step
            length = min(1.0, TO_BOUNDARY / max(1e-9, (-step / p).max()))
            if gain < ENOUGH and length == 1.0:
                break
            z = z + min(1.0, TO_BOUNDARY / max(1e-9, (-dual / z).max())) * dual
            while length > 1e-6:
                new = p + length * step
                found = likelihood.value(new) + weights @ np.log(new)
                if found >= value + 1e-4 * length * gain:
                    break
                length /= 2
            else:
                break
            p, value = new / new.sum(), found
        return p

    def freedom(self, people: float, p: Floats) -> float:
        """Return the degrees of freedom of the estimate: the trace of the influence of the reports on it.

        With M = H + t D, for t times the pseudo-people, the trace of M^-1 D on vectors with the sum 0 is the derivative of the
        logarithm of the determinant on them, which is that of M plus the logarithm of 1' M^-1 1.
        """
        from scipy.linalg.lapack import dpotrs

        information, ones = self.likelihood.information(p), np.ones((len(p), 1))
        found = []
        for t in (1 + SPACING, 1 - SPACING):
            factor = self._factor(information.copy(), t * (people * self.target + 1e-8) / p**2)
            found.append(2 * np.log(np.diag(factor)).sum() + math.log(dpotrs(factor, ones, lower=1)[0].sum()))
        return len(p) - 1 - float(found[0] - found[1]) / (2 * SPACING)


def target_of(smooth: SmoothShares, n: int) -> Floats:
    """Return what pseudo-people follow: the smooth estimate, with a small share of all cells, which may have spikes."""
    share = min(0.5, TARGET_FLOOR / math.sqrt(n))
    return np.asarray((1 - share) * smooth.shares + share / len(smooth.shares))


def estimated_shares(likelihood: CellLikelihood, *, has_missing: bool = False) -> Floats:
    """Return the shares of the cells: candidates with different numbers of pseudo-people, mixed by Akaike's weights.

    With `has_missing`, the last cell is that of people without an answer. The weights of decoded shares in the likelihood are
    computed twice, the second time at a pilot estimate.
    """
    n = likelihood.n
    smooth = smooth_shares(likelihood, PENALTIES, has_missing=has_missing)
    target = target_of(smooth, n)
    if likelihood.has_weights:
        path, pilot = PseudoPeople(likelihood, target), target
        for share in PILOT:
            pilot = path.maximum(share * n, pilot)
        likelihood.weigh(0.9 * pilot + 0.1 * target)
        smooth = smooth_shares(likelihood, np.array([smooth.penalty]), smooth.coefficients, has_missing=has_missing)
        target = target_of(smooth, n)
    path, p = PseudoPeople(likelihood, target), target
    candidates = [smooth.shares]
    scores = [smooth.freedom - likelihood.value(smooth.shares)]
    for share in PATH:
        p = path.maximum(share * n, p)
        candidates.append(p)
        scores.append(path.freedom(share * n, p) - likelihood.value(p))
        if scores[-1] > min(scores) + HOPELESS:
            break
    weights = np.exp(min(scores) - np.array(scores))
    return np.asarray(weights @ np.array(candidates) / weights.sum())
