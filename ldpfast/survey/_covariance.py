"""Covariance matrices of many shares, without their entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._limits import along
from .._typing import AnyArray, Floats
from ._weighted_sums import WeightedSums


@dataclass(frozen=True, eq=False)
class Covariance:
    """The matrix diag(d) + sum of m_rs v_r v_s^T over pairs of a few vectors v.

    The arrays may have a first axis for groups of people.

    Attributes
    ----------
    diagonal : ndarray, shape (k,)
        The numbers d.
    vectors : tuple of ndarray, shape (k,)
        The vectors v.
    middle : ndarray, shape (vectors, vectors)
        The numbers m.
    """

    diagonal: Floats
    vectors: tuple[Floats, ...]
    middle: Floats

    def of(self, a: WeightedSums, b: WeightedSums) -> Any:
        """Return the covariances of sums of the shares. All symbols of sums `a` have weight 1 in sums `b`, or a is b."""
        same = a.of_squares(self.diagonal) if a is b else a.of(self.diagonal)
        left = [a.of(vector) for vector in self.vectors]
        right = left if a is b else [b.of(vector) for vector in self.vectors]
        if self.middle.ndim == 2:
            return same + (np.stack(left) * np.tensordot(self.middle, np.stack(right), 1)).sum(axis=0)
        rows, columns = range(len(left)), range(len(right))
        return same + sum(along(self.middle[..., r, s], a.ndim) * left[r] * right[s] for r in rows for s in columns)

    def summed(self, add: Callable[[AnyArray], AnyArray]) -> Covariance:
        """Return the covariance of sums over disjoint sets of symbols, whose function `add` is."""
        return Covariance(add(self.diagonal), tuple(map(add, self.vectors)), self.middle)

    @property
    def with_sum(self) -> Floats:
        """Covariances of all shares with their sum, shape (k,)."""
        vectors = np.stack(self.vectors, axis=-1)
        return np.asarray(self.diagonal + vectors @ (self.middle @ vectors.sum(axis=0)))

    def of_sum_one(self) -> Covariance:
        """Return the covariance of the shares that add up to 1 and fit best (generalized least squares)."""
        column = self.with_sum
        return Covariance(self.diagonal, (*self.vectors, column), block(self.middle, np.array([[-1 / column.sum()]])))

    @property
    def matrix(self) -> Floats:
        """All entries, shape (k, k), or (groups, k, k)."""
        diagonal = self.diagonal[..., np.newaxis] * np.eye(self.diagonal.shape[-1])
        vectors = np.stack([np.broadcast_to(vector, self.diagonal.shape) for vector in self.vectors], axis=-1)
        return np.asarray(diagonal + vectors @ self.middle @ vectors.swapaxes(-1, -2))


def block(*matrices: Floats) -> Floats:
    """Return the block diagonal matrix of matrices."""
    size = sum(len(matrix) for matrix in matrices)
    joined, start = np.zeros((size, size)), 0
    for matrix in matrices:
        stop = start + len(matrix)
        joined[start:stop, start:stop] = matrix
        start = stop
    return joined
