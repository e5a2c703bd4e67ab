"""The shares of a question that is asked several times."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._typing import Floats
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
    counts = np.array([source.n for source in sources], np.float64)
    # With half a report for each symbol, so that no source is certain about rare ones.
    share = sum(source.covariance.vectors[1] * source.n for source in sources) / counts.sum()
    share = np.maximum(share, 0.5 / counts.sum())
    share /= share.sum()
    both = np.array([[0 if i == j else together(i, j) for j in range(len(sources))] for i in range(len(sources))])
    seen = np.stack([source.value for source in sources], axis=-1)
    value, covariance = _least_squares(seen, *_joint_covariance(sources, share, both / np.outer(counts, counts)))
    guarantee = max((source.guarantee for source in sources), key=lambda g: g.epsilon)
    people = int(max(*counts, counts.sum() - both.sum() / 2))
    return Shares(value, people, covariance, guarantee)


def _joint_covariance(sources: list[Shares], share: Floats, common: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the covariance of the estimates of all sources, at some shares.

    Parameters
    ----------
    sources : list of Shares
    share : ndarray, shape (k,)
    common : ndarray, shape (sources, sources)
        Number of people in two samples, over the product of their sizes; 0 for a sample and itself.

    Returns
    -------
    blocks : ndarray, shape (k, sources, sources)
        For each symbol, a matrix over sources; its entries are no covariances of different symbols.
    vectors : ndarray, shape (k, sources, 2 sources)
    middle : ndarray, shape (2 sources, 2 sources)
        To the blocks, vectors middle vectors^T is added, where a vector has an entry for each symbol and source.
    """
    k, number = len(share), len(sources)
    blocks, vectors = share[:, np.newaxis, np.newaxis] * common, np.zeros((k, number, 2 * number))
    middle = np.zeros((2 * number, 2 * number))
    middle[1::2, 1::2] = -common
    for i, source in enumerate(sources):
        assert source.response is not None
        own, place = source.response.covariance(share, source.n), slice(2 * i, 2 * i + 2)
        blocks[:, i, i] = own.diagonal
        vectors[:, i, place] = np.stack(own.vectors, axis=-1)
        middle[place, place] = own.middle
        if source.response.ones is not None:
            middle[2 * i, 2 * i] += own.diagonal.mean()
    return blocks, vectors, middle


def _least_squares(seen: Floats, blocks: Floats, vectors: Floats, middle: Floats) -> tuple[Floats, Covariance]:
    """Return the shares that add up to 1 and fit all estimates best, shape (k, sources), and their covariance."""
    right = np.concatenate([vectors, seen[..., np.newaxis], np.ones((*seen.shape, 1))], axis=2)
    solved = np.linalg.solve(blocks, right)
    by_vector = solved[..., :-2].sum(axis=1)
    by_seen = solved[..., -2].sum(axis=1)
    by_one = solved[..., -1].sum(axis=1)
    # The inverse of the whole covariance is blocks^-1 - (blocks^-1 vectors) inner (blocks^-1 vectors)^T.
    products, eye = np.einsum("ksa,ksb->ab", vectors, solved), np.eye(len(middle))
    inner = np.linalg.solve(eye + middle @ products[:, :-2], middle)
    precise = by_seen - by_vector @ (inner @ products[:, -2])
    # Shares without the condition have the covariance diag(1 / by_one) + ratios outer ratios^T.
    ratios = by_vector / by_one[:, np.newaxis]
    outer = np.linalg.solve(eye - inner @ (by_vector.T @ ratios), inner)
    free = precise / by_one + ratios @ (outer @ (ratios.T @ precise))
    ones = 1 / by_one + ratios @ (outer @ ratios.sum(axis=0))
    value = free + ones * (1 - free.sum()) / ones.sum()
    bordered = np.zeros((len(middle) + 1, len(middle) + 1))
    bordered[:-1, :-1], bordered[-1, -1] = outer, -1 / ones.sum()
    return value, Covariance(1 / by_one, (*ratios.T, ones), bordered)
