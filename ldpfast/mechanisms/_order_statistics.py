"""Moments of the order statistics of independent standard normal numbers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from .._typing import AnyArray, Floats

NODES = 32  # of a Gauss rule


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
    independent of it. Each has a Gauss rule, for the covariances; these are accurate to about 1e-4.
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
    """Return nodes and weights of the Gauss rules of beta distributions on [0, 1], from the eigenvalues of Jacobi matrices.

    Parameters
    ----------
    a, b : ndarray of int, shape (m,)
        Parameters of the distributions, >= 1.

    Returns
    -------
    nodes, weights : ndarray, shape (m, NODES)
    """
    p, q = a[:, np.newaxis] - 1.0, b[:, np.newaxis] - 1.0
    k = np.arange(NODES)
    twice = 2 * k + p + q
    middle = (p + 1) / (p + q + 2)  # of the first diagonal entry; the others are 0 / 0 for it if p = q = 0
    diagonal = np.where(k == 0, 2 * middle - 1, (p**2 - q**2) / np.maximum(twice * (twice + 2), 1))
    k, twice = k[1:], twice[:, 1:]
    # The first factor is 0 / 0 if p = q = 0, where k (k + p + q) / (twice - 1) is 1.
    square = 4 * (k + p) * (k + q) / (twice**2 * (twice + 1)) * (k * (k + p + q) / np.maximum(twice - 1, 1))
    matrix = np.zeros((len(a), NODES, NODES))
    matrix[:, range(NODES), range(NODES)] = diagonal
    matrix[:, k, k - 1] = matrix[:, k - 1, k] = np.sqrt(square)
    nodes, vectors = np.linalg.eigh(matrix)
    return (nodes + 1) / 2, vectors[:, 0, :] ** 2
