"""Laplace noise on the one-hot vector of a category: the baseline for histograms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins
from .._core import noise
from .._core.stream import Stream
from ._base import AnyArray, Mechanism
from ._categories import one_hot
from ._domains import Categories
from ._interval import check_grid, grid_steps
from ._reports import Grid

MOST_COLUMNS = 1 << 20
PIECE = 1 << 17  # numbers of one-hot rows at a time


@dataclass(frozen=True)
class LaplaceOneHot(Mechanism):
    """Discrete Laplace noise in every entry of the one-hot vector of a category. The baseline: `UnaryEncoding` has half the
    variance, and reports of k bits.

    Parameters
    ----------
    k : int
        Number of categories, 2 to 2^20.
    epsilon : float
        Privacy parameter, > 0.

    Attributes
    ----------
    grid : float
        Step of the grid.

    Raises
    ------
    TypeError, ValueError
        If `k` is not such an integer, or `epsilon` not a finite number > 0 that the coins can certify.

    Notes
    -----
    Records: integers in [0, k), shape (n,). Reports: float64, shape (n, k), on a grid. Variance of an entry about
    2 (2 / epsilon)^2: two one-hot vectors are 2 apart in l1. O(n k) time.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, as `Laplace`: the entries are 0 and 1, points of the grid, so nothing is rounded.
    Nothing is claimed about time. docs/proofs/laplace.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation", JASA
       113 (2018), section 5.2.
    """

    k: int
    epsilon: float
    grid: float = field(init=False, repr=False, compare=False)
    report: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        k, epsilon = _check.integer("k", self.k, 2, MOST_COLUMNS), _check.positive("epsilon", self.epsilon)
        self._set(k=k, epsilon=epsilon)
        span = grid_steps(epsilon, 1)
        grid = 1 / span
        coins = _coins.geometric(epsilon, 2 * span, span, 2)  # two entries differ
        self._set(
            grid=grid,
            epsilon_realized=coins.epsilon_realized,
            domain=Categories(k),
            report=Grid(k, False, 0.0, grid, grid**2 * coins.noise_variance),
            _kernel=OneHotKernel(k, noise.Laplace(k, 0.0, grid, span, 0, 0.0, coins.digits, coins.carry, "one-hot")),
        )
        check_grid(grid, 0.0, 1.0)

    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        return np.full((len(records), self.k), self.report.noise_variance)


@dataclass(frozen=True)
class OneHotKernel:
    """Categories to one-hot rows, a piece at a time, then the kernel of their noise."""

    k: int
    kernel: noise.Laplace

    @property
    def rows(self) -> int:
        return self.kernel.rows

    def _pieces(self, block: int, x: AnyArray) -> Iterator[tuple[int, slice, NDArray[np.float32]]]:
        """Number of the first block, which records, their rows: whole blocks."""
        step = self.rows * max(1, PIECE // (self.k * self.rows))
        for start in range(0, len(x), step):
            piece = slice(start, min(start + step, len(x)))
            yield block + start // self.rows, piece, one_hot(x[piece], self.k).astype(np.float32)

    def privatize(self, key: Stream, block: int, x: AnyArray, out: AnyArray) -> None:
        for first, piece, rows in self._pieces(block, x):
            self.kernel.privatize(key, first, rows, out[piece])

    def run(self, key: Stream, block: int, x: AnyArray, state: AnyArray) -> None:
        for first, _, rows in self._pieces(block, x):
            self.kernel.run(key, first, rows, state)
