"""Means of the positions of stochastic gradient descent, and their standard errors, in constant memory.

The first positions are on their way from the start and would bias the mean, so they are left out: the largest power of two
up to a quarter of all, so that nobody has to know beforehand when the last person has answered. Sums are kept by
segments that end at powers of two; segments are put together by `_join`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..results import random_scaling

Floats = NDArray[np.float64]


class Segment(NamedTuple):
    """Sums over the `size` positions of a segment; S_s is the sum of its first s positions.

    Attributes
    ----------
    size : int
    sums : ndarray, shape (4, dim)
        S_size, sum of S_s, sum of S_s^2, sum of s S_s.
    matrix : ndarray or None, shape (dim, dim)
        Sum of S_s S_s^T.
    """

    size: int
    sums: Floats
    matrix: Floats | None


def _join(first: Segment, then: Segment) -> Segment:
    """Two segments, one after the other, as one."""
    m, n = float(first.size), float(then.size)
    s1, plain1, squares1, cross1 = first.sums
    s2, plain2, squares2, cross2 = then.sums
    sums = np.array(
        [
            s1 + s2,
            plain1 + n * s1 + plain2,
            squares1 + n * s1**2 + 2 * s1 * plain2 + squares2,
            cross1 + s1 * (n * m + n * (n + 1) / 2) + m * plain2 + cross2,
        ]
    )
    matrix = None
    if first.matrix is not None and then.matrix is not None:
        dim = len(first.matrix)
        mixed = np.outer(s1[:dim], plain2[:dim])
        matrix = first.matrix + n * np.outer(s1[:dim], s1[:dim]) + mixed + mixed.T + then.matrix
    return Segment(first.size + then.size, sums, matrix)


class Average:
    """The positions so far.

    Parameters
    ----------
    shape : tuple of int
        Of the running sums that a kernel writes: (4, padded).
    dim : int, optional
        Also keep the sum of S S^T, of so many coordinates.

    Attributes
    ----------
    sums : ndarray, matrix : ndarray or None
        Of the segment that is open: kernels add to them.
    size : int
        Positions in the open segment; count : int, in all.
    """

    def __init__(self, shape: tuple[int, int], dim: int | None = None) -> None:
        self._closed: list[Segment] = []
        self.sums = np.zeros(shape)
        self.matrix = None if dim is None else np.zeros((dim, dim))
        self.size = self.count = 0

    def copy(self) -> Average:
        """Another one with the same sums: what is added to it is not added here."""
        other = Average((self.sums.shape[0], self.sums.shape[1]))
        other._closed = list(self._closed)
        other.sums, other.size, other.count = self.sums.copy(), self.size, self.count
        other.matrix = None if self.matrix is None else self.matrix.copy()
        return other

    @property
    def room(self) -> int:
        """How many positions the open segment takes until it ends, at a power of two."""
        return (1 << self.count.bit_length()) - self.count if self.count else 1

    def added(self, n: int) -> None:
        """The kernel has added n positions, at most `room`."""
        self.size += n
        self.count += n
        if self.count & (self.count - 1) == 0:
            self._closed.append(Segment(self.size, self.sums, self.matrix))
            self.sums = np.zeros_like(self.sums)
            self.matrix = None if self.matrix is None else np.zeros_like(self.matrix)
            self.size = 0

    def _kept(self) -> Segment:
        """The positions that count, as one segment."""
        segments = [*self._closed, Segment(self.size, self.sums, self.matrix)]
        start = 1 << (self.count // 4).bit_length() - 1 if self.count >= 4 else 0
        while start > 0:
            start -= segments.pop(0).size
        joined = segments[0]
        for segment in segments[1:]:
            joined = _join(joined, segment)
        return joined

    @property
    def kept(self) -> int:
        """Positions that count."""
        return self._kept().size

    def mean(self) -> Floats:
        """Of the positions that count, shape (padded,)."""
        kept = self._kept()
        return np.asarray(kept.sums[0] / kept.size)

    def stderr(self) -> Floats:
        """By random scaling, shape (padded,)."""
        size, (total, _, squares, cross), _ = self._kept()
        return random_scaling(size, total, squares, cross) if size > 1 else np.full(len(total), np.inf)

    def covariance(self) -> Floats:
        """By random scaling, (dim, dim): where the matrix is kept."""
        size, sums, matrix = self._kept()
        assert matrix is not None
        n, dim = float(size), len(matrix)
        mean, cross = sums[0, :dim] / n, sums[3, :dim]
        mixed = np.outer(cross, mean)
        spread = matrix - mixed - mixed.T + np.outer(mean, mean) * (n * (n + 1) * (2 * n + 1) / 6)
        return np.asarray(6 * spread / n**3)
