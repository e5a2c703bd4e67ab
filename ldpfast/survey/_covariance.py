"""Covariance matrices of many shares, without their entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._limits import along
from .._typing import AnyArray, Floats
from ._sums import Sums


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

    def of(self, a: Sums, b: Sums) -> Any:
        """Return the covariances of sums of the shares. All symbols of sums `a` have weight 1 in sums `b`, or a is b."""
        same = a.of_squares(self.diagonal) if a is b else a.of(self.diagonal)
        left = [a.of(vector) for vector in self.vectors]
        right = left if a is b else [b.of(vector) for vector in self.vectors]
        rows, columns = range(len(left)), range(len(right))
        return same + sum(along(self.middle[..., r, s], a.ndim) * left[r] * right[s] for r in rows for s in columns)

    def summed(self, add: Callable[[AnyArray], AnyArray]) -> Covariance:
        """Return the covariance of sums over disjoint sets of symbols, whose function `add` is."""
        return Covariance(add(self.diagonal), tuple(map(add, self.vectors)), self.middle)

    @property
    def matrix(self) -> Floats:
        """All entries, shape (k, k)."""
        vectors = np.stack(self.vectors, axis=-1)
        return np.asarray(np.diag(self.diagonal) + vectors @ self.middle @ vectors.T)
