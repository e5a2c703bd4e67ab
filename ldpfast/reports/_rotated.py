"""Reports of signs of rows of a public rotation, which all reports share."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._core import tally, transform
from .._typing import AnyArray, Floats
from ..results import AnyDebiasing, Estimate, Normal
from ._format import Decoding
from ._frames import SeedAndSigns

ROW_WORK = 4  # work for a sign of a report: about 2 ns
BLOCK_ROWS = 4096  # rows of a block, among which a report has its own, and least number of rows of a rotation


def size_of_rotation(dim: int) -> int:
    """Return the number of rows of the rotation for vectors of `dim` numbers: a power of two, of at least 4096."""
    return max(BLOCK_ROWS, 1 << (dim - 1).bit_length())


@lru_cache(maxsize=4)
def signs_of_rotation(rotation: int, size: int) -> NDArray[np.uint64]:
    """Return the random signs of a rotation, as its kernels need them (src/kernels/transform/rotation.h)."""
    signs = transform.signs_of_rotation(rotation, size.bit_length() - 1)
    signs.flags.writeable = False
    return signs


@lru_cache(maxsize=4)
def largest_row_sum(rotation: int, size: int, signs: int) -> float:
    """Return an upper bound of every coordinate of the sum of the rows of a report, each with its sign.

    The entry (i, j) of the rotation H D2 H D1 / size has the magnitude of the number i XOR j of its first row. So the
    coordinates of the rows of a stratum have, for every j, the magnitudes of the first row in another stratum, and the strata
    of a block go to the strata of another block. The bound is reached if a report has the largest number of each stratum of
    the worst block; a seed of 64 bits has such rows for few signs only.
    """
    first = np.zeros(size, np.int64)
    first[0] = 1
    transform.rotate_back(signs_of_rotation(rotation, size), first)
    strata = np.abs(first).reshape(size // BLOCK_ROWS, signs, BLOCK_ROWS // signs)
    return float(strata.max(axis=2).sum(axis=1).max()) / size


@dataclass(frozen=True)
class RotatedRows(SeedAndSigns):
    """A public seed and the signs of rows of the rotation with number `rotation`, as words of 64 bits, one row per person.

    A report stands for `unit` times the sum of the `signs` rows that follow from its seed, each with its sign, in the first
    `dim` coordinates. `moment` is at least the second moment of a number, for all records, which are in the ball of `radius`.
    `moments` returns the second moments of a report along a record on the sphere and across it, and `shared` the variance of a
    number that all reports of a rotation have in common; both are computed for estimates only. The state has one integer per
    row of the rotation, the sum of its signs. So reports are added without their vectors, and the rotation is inverted once.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> mechanism = ldp.RotatedSigns(100, 8.0, rotation=2024)
    >>> mechanism.report.nbytes, mechanism.decode(mechanism.privatize([0.0] * 100, rng=1)).shape
    (40, (100,))
    """

    dim: int
    signs: int
    rotation: int
    unit: float
    moment: float
    radius: float
    moments: Callable[[], tuple[float, float]] = field(repr=False, compare=False)
    shared: Callable[[], float] = field(repr=False, compare=False)

    @property
    def size(self) -> int:
        """Number of rows of the rotation."""
        return size_of_rotation(self.dim)

    @property
    def state_layout(self) -> tuple[tuple[int, ...], type[np.integer[Any]]]:
        return (self.size,), np.int64

    def merge(self, state: AnyArray, other: AnyArray) -> None:
        state += other

    def is_possible(self, state: AnyArray, n: int) -> bool:
        # Each report has one row of each stratum, whose sign is 1 or -1.
        strata = state.reshape(*state.shape[:-1], self.size // BLOCK_ROWS, self.signs, BLOCK_ROWS // self.signs)
        reports = np.abs(strata).sum(axis=(-3, -1), dtype=np.float64)
        odd = (strata & 1).sum(axis=(-3, -1)) & 1
        return bool(n <= self._most and (reports <= n).all() and (odd == n % 2).all())

    @property
    def _most(self) -> int:
        """Number of reports whose sums surely fit the integers of the inverse rotation."""
        return (1 << 63) // (self.size * self.signs) - 1

    def tally(self, reports: AnyArray, state: AnyArray) -> None:
        tally.add_rotated(reports, self.size.bit_length() - 1, self.signs, state)

    def work_of(self, reports: AnyArray) -> int:
        work = len(reports) * self.signs * ROW_WORK
        return work if work >= 8 * self.size else 0  # less takes less time than a state for each thread

    def _rotated_back(self, state: AnyArray, n: int) -> Floats:
        """Return the sum of the vectors of the reports in a state, which is changed, over n."""
        transform.rotate_back(signs_of_rotation(self.rotation, self.size), state)
        return np.asarray(state[: self.dim] * (self.unit / self.size / n))

    def mean(self, decoding: Decoding, state: AnyArray, n: int) -> Estimate[Floats]:
        if n > self._most:
            raise OverflowError(f"the mean of reports of this size needs at most {self._most} of them, got {n}")
        value = self._rotated_back(state.copy(), n)
        along, across = self.moments()
        # The variance for records in all directions, and what it is larger along those that many records have.
        excess = along - across - self.radius**2
        common = across / n + self.shared()
        if excess > 0:
            stderr = np.sqrt(common + excess / n * np.clip(value / self.radius, -1, 1) ** 2)
        else:
            stderr = np.full(self.dim, math.sqrt(common))
        change = 2 * self.unit * largest_row_sum(self.rotation, self.size, self.signs) / n
        rule = Normal.of_sum(n, change=change, hidden=max(excess, 0.0) / n)
        return Estimate(value, stderr, n, decoding.guarantee, None, rule)

    def decode(self, reports: AnyArray, debiasing: AnyDebiasing | None) -> Floats:
        decoded = np.empty((len(reports), self.dim))
        for i in range(len(reports)):
            state = self.new_state()
            self.tally(reports[i : i + 1], state)
            decoded[i] = self._rotated_back(state, 1)
        return decoded
