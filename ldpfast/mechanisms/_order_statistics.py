"""Moments of the order statistics of independent standard normal numbers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .._typing import AnyArray, Floats

NODES, STEP = 40, 0.6  # of the rule for a beta distribution


@lru_cache(maxsize=64)
def moments_of_order(n: int) -> tuple[Floats, Floats]:
    """Return the means and the mean squares of the n order statistics, from the smallest on, by the trapezoidal rule."""
    from scipy.special import gammaln, log_ndtr

    x, step = np.linspace(
        -10, 10, 4001, retstep=True
    )  # integrands are smooth and vanish at both ends: the error is tiny
    rank = np.arange(1, n + 1)[:, np.newaxis]
    orders = gammaln(n + 1) - gammaln(rank) - gammaln(n - rank + 1)
    density = (
        np.exp(orders + (rank - 1) * log_ndtr(x) + (n - rank) * log_ndtr(-x) - x**2 / 2) * step / np.sqrt(2 * np.pi)
    )
    means = density @ x
    return (means - means[::-1]) / 2, density @ x**2


@lru_cache(maxsize=16)
def products_of_order(n: int) -> Floats:
    """Return E[g_(i) g_(j)] for all pairs of order statistics, shape (n, n).

    Number j of n ordered uniform numbers has a beta distribution. For i < j the ratio of number i to it has one, too, and is
    independent of it. Each has a rule, for the covariances; these are accurate to about 1e-5.
    """
    from scipy.special import ndtri

    means, squares = moments_of_order(n)
    covariances = np.diag(squares - means**2)
    for j in range(2, n + 1):
        outer, weight = _beta_rule(np.array([j]), np.array([n + 1 - j]))
        inner, weights = _beta_rule(np.arange(1, j), j - np.arange(1, j))
        smaller = ndtri(outer[0][:, np.newaxis] * inner[:, np.newaxis, :])  # shape (i, outer, inner)
        larger, given = ndtri(outer[0]), np.einsum("ioq,iq->io", smaller, weights)
        row = given @ (weight[0] * (larger - weight[0] @ larger))
        covariances[: j - 1, j - 1] = covariances[j - 1, : j - 1] = row
    return np.asarray(covariances + np.outer(means, means))


def _beta_rule(a: AnyArray, b: AnyArray) -> tuple[Floats, Floats]:
    """Return nodes and weights for means over beta distributions, by the trapezoidal rule for the logit.

    Parameters
    ----------
    a, b : ndarray of int, shape (m,)
        Parameters of the distributions, >= 1.

    Returns
    -------
    nodes, weights : ndarray, shape (m, NODES)
    """
    from scipy.special import expit, log_expit

    a, b = a[:, np.newaxis], b[:, np.newaxis]
    steps = STEP * (np.arange(NODES) - (NODES - 1) / 2)  # in standard deviations of the logit, nearly
    logits = np.log(a / b) + np.sqrt(1 / a + 1 / b) * steps
    logs = a * log_expit(logits) + b * log_expit(-logits)  # of the density, which is smooth and vanishes at both ends
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return expit(logits), weights / weights.sum(axis=1, keepdims=True)
