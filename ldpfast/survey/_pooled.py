"""The shares of a question that is asked several times."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from ._covariance import Covariance
from ._shares import Shares


def pooled(sources: list[Shares], together: Callable[[int, int], int]) -> Shares:
    """Return the shares of one variable from several estimates of them, by generalized least squares.

    Parameters
    ----------
    sources : list of Shares
        Estimates of the same shares, each from a sample of the same population.
    together : callable
        Function of the numbers of two sources that returns how many people are in both samples.

    Returns
    -------
    shares : Shares
        The weights are computed from the covariances, all at the same shares: otherwise a source that is low by accident would
        get more weight. The shares add up to 1. The number of people is exact for two sources, and a lower bound for more.

    Notes
    -----
    The covariance of all estimates is a small matrix per symbol plus products of two vectors per source, so its inverse is
    computed by the formula of Woodbury, in O(k) time. The error of a source whose shares add up to 1 has no component along
    1, and adding a multiple of 1 1^T to its covariance does not change the result.
    """
    k, number, n = len(sources[0].value), len(sources), np.array([source.n for source in sources], float)
    share = np.clip(sum(np.multiply(source.value, source.n) for source in sources) / n.sum(), 0, 1)
    share = share / share.sum() if share.any() else np.full(k, 1 / k)
    blocks, vectors, middle = (
        np.zeros((k, number, number)),
        np.zeros((k, number, 2 * number)),
        np.zeros((2 * number,) * 2),
    )
    for i, source in enumerate(sources):
        assert source.response is not None
        own = source.response.covariance(share, n[i])
        blocks[:, i, i] = own.diagonal
        vectors[:, i, 2 * i : 2 * i + 2] = np.stack(own.vectors, axis=-1)
        middle[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = own.middle
        if source.response.ones is not None:
            middle[2 * i, 2 * i] += own.diagonal.mean()
    for i, j in itertools.permutations(range(number), 2):
        both = together(i, j) / (n[i] * n[j])
        blocks[:, i, j] = both * share
        middle[2 * i + 1, 2 * j + 1] = -both
    seen = np.stack([source.value for source in sources], axis=-1)[..., np.newaxis]
    solved = np.linalg.solve(blocks, np.concatenate([vectors, seen, np.ones((k, number, 1))], axis=2))
    by_vector, by_seen, by_one = solved[..., :-2].sum(axis=1), solved[..., -2].sum(axis=1), solved[..., -1].sum(axis=1)
    # The inverse of the whole covariance is that of the blocks minus (blocks^-1 vectors) inner (blocks^-1 vectors)^T.
    products = np.einsum("ksa,ksb->ab", vectors, solved)
    inner = np.linalg.solve(np.eye(2 * number) + middle @ products[:, :-2], middle)
    precise = by_seen - by_vector @ (inner @ products[:, -2])
    # The covariance of the result is that of free shares, then of shares that add up to 1.
    ratios = by_vector / by_one[:, np.newaxis]
    outer = np.linalg.solve(np.eye(2 * number) - inner @ (by_vector.T @ ratios), inner)
    free = precise / by_one + ratios @ (outer @ (ratios.T @ precise))
    ones = 1 / by_one + ratios @ (outer @ ratios.sum(axis=0))
    value = free + ones * (1 - free.sum()) / ones.sum()
    covariance = Covariance(
        1 / by_one,
        (*ratios.T, ones),
        np.block([[outer, np.zeros((2 * number, 1))], [np.zeros((1, 2 * number)), -1 / ones.sum()]]),
    )
    guarantee = max((source.guarantee for source in sources), key=lambda g: g.epsilon)
    overlap = sum(together(i, j) for i, j in itertools.combinations(range(number), 2))
    people = max(*(source.n for source in sources), sum(source.n for source in sources) - overlap)
    return Shares(value, people, covariance, guarantee)
