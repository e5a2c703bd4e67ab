"""Polyak averages of stochastic gradient descent and their standard errors, in constant memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..._typing import Floats
from ...results import random_scaling
from ._segments import Segments


class PositionSums(NamedTuple):
    """Sums over the `size` positions of a segment; S_s is the sum of its first s positions.

    Attributes
    ----------
    size : int
        Number of positions.
    sums : ndarray, shape (4, dim)
        S_size, sum of S_s, sum of S_s^2, sum of s S_s.
    matrix : ndarray or None, shape (dim, dim)
        Sum of S_s S_s^T.
    """

    size: int
    sums: Floats
    matrix: Floats | None


def _merged(first: PositionSums, then: PositionSums) -> PositionSums:
    """Combine two consecutive segments."""
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
    return PositionSums(first.size + then.size, sums, matrix)


class Average:
    """Mean of the positions so far, without the burn-in.

    Parameters
    ----------
    shape : tuple of int
        Shape (4, padded) of the running sums, which a kernel updates.
    dim : int, optional
        Number of coordinates for which the sum of S S^T is kept as well.

    Attributes
    ----------
    sums : ndarray
        Sums of the open segment, which a kernel updates.
    matrix : ndarray or None
        Sum of S S^T of the open segment, which a kernel updates.
    """

    def __init__(self, shape: tuple[int, int], dim: int | None = None) -> None:
        self._segments: Segments[PositionSums] = Segments()
        self.sums = np.zeros(shape)
        self.matrix = None if dim is None else np.zeros((dim, dim))

    def copy(self) -> Average:
        """Return an independent copy."""
        other = Average((self.sums.shape[0], self.sums.shape[1]))
        other._segments, other.sums = self._segments.copy(), self.sums.copy()
        other.matrix = None if self.matrix is None else self.matrix.copy()
        return other

    def saved(self) -> list[Floats]:
        """Return the sums of all segments."""
        parts = [*self._segments.closed, PositionSums(self.size, self.sums, self.matrix)]
        return [numbers for part in parts for numbers in (part.sums, part.matrix) if numbers is not None]

    def restore(self, count: int, numbers: Floats, largest: float) -> None:
        """Set the sums after `count` positions from all numbers of `saved`; raise ValueError if they do not fit.

        Positions have coordinates of at most `largest`.
        """
        sums, matrix = self.sums.size, 0 if self.matrix is None else self.matrix.size
        if len(numbers) != (count.bit_length() + 1) * (sums + matrix):
            raise ValueError(f"{len(numbers)} numbers for n = {count}")
        left = iter(numbers.reshape(-1, sums + matrix))

        def part(size: int) -> PositionSums:
            row, n = next(left).copy(), float(size)
            limits = n * largest, n**2 * largest, n**3 * largest**2, n**3 * largest, n**3 * largest**2
            rows = [*row[:sums].reshape(self.sums.shape), row[sums:]]
            if any((np.abs(kind) > limit * (1 + 1e-6)).any() for kind, limit in zip(rows, limits, strict=True)):
                raise ValueError("sums that no positions have")
            square = None if self.matrix is None else row[sums:].reshape(self.matrix.shape)
            return PositionSums(size, row[:sums].reshape(self.sums.shape), square)

        self._segments = Segments.of(count, part)
        _, self.sums, self.matrix = part(self._segments.size)

    @property
    def count(self) -> int:
        """Number of all positions."""
        return self._segments.count

    @property
    def size(self) -> int:
        """Number of positions in the open segment."""
        return self._segments.size

    @property
    def room(self) -> int:
        """Number of positions that can still be added to the open segment."""
        return self._segments.room

    def advance(self, n: int) -> None:
        """Count n positions that the kernel has added, at most `room`."""
        if self._segments.advance(n):
            self._segments.close(PositionSums(self.size, self.sums, self.matrix))
            self.sums = np.zeros_like(self.sums)
            self.matrix = None if self.matrix is None else np.zeros_like(self.matrix)

    def _kept(self) -> PositionSums:
        """Return the positions after the burn-in as one segment."""
        joined, *rest = self._segments.without_burn_in(PositionSums(self.size, self.sums, self.matrix))
        for segment in rest:
            joined = _merged(joined, segment)
        return joined

    @property
    def kept(self) -> int:
        """Number of positions after the burn-in."""
        return self._kept().size

    def mean(self) -> Floats:
        """Return the mean of the positions after the burn-in, shape (padded,)."""
        kept = self._kept()
        return np.asarray(kept.sums[0] / kept.size)

    def stderr(self) -> Floats:
        """Return standard errors by random scaling, shape (padded,)."""
        size, (total, _, squares, cross), _ = self._kept()
        return random_scaling(size, total, squares, cross) if size > 1 else np.full(len(total), np.inf)

    def covariance(self) -> Floats:
        """Return the covariance matrix by random scaling, shape (dim, dim); needs the sum of S S^T."""
        size, sums, matrix = self._kept()
        assert matrix is not None
        n, dim = float(size), len(matrix)
        mean, cross = sums[0, :dim] / n, sums[3, :dim]
        mixed = np.outer(cross, mean)
        spread = matrix - mixed - mixed.T + np.outer(mean, mean) * (n * (n + 1) * (2 * n + 1) / 6)
        return np.asarray(6 * spread / n**3)
