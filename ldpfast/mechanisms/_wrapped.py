"""Laplace noise on the place of a number within its period."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .. import _check, _coins
from .._core import noise
from .._core.stream import Stream
from ._base import AnyArray, Mechanism
from ._domains import Reals
from ._interval import check_grid, grid_steps, grid_variance
from ._reports import Grid

FAR = 2.0**52  # periods
PIECE = 1 << 15  # numbers wrapped at a time


@dataclass(frozen=True)
class LaplaceResidue(Mechanism):
    """Discrete Laplace noise on the signed distance of a number from the nearest node of offset + width Z.

    The published message of the one-round protocol for unknown variance, with safe noise. `Residue` tells more.

    Parameters
    ----------
    width : float
        Distance between nodes, > 0.
    offset : float
        One of the nodes.
    epsilon : float
        Privacy parameter, > 0 and at most 64.

    Attributes
    ----------
    grid : float
        Step of the grid, width / max(1, ceil(1024 epsilon)).

    Raises
    ------
    TypeError, ValueError
        If `width` or `epsilon` is not a finite number > 0, or `offset` not finite.

    Notes
    -----
    Records: finite floats of any size and sign, shape (n,). Reports: float64, grid (j + 1/2) - width / 2 with j an integer.
    With ``clip=True`` NaN counts as a node. Variance about 2 (width / epsilon)^2. O(n) time, about 11 random bytes per number.
    Nothing is claimed about time.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, as `Laplace` of the interval [-width / 2, width / 2]: wherever the distance comes from, the
    kernel clamps it. docs/proofs/laplace.md.

    References
    ----------
    .. [1] M. Joseph, J. Kulkarni, J. Mao, Z. S. Wu, "Locally private Gaussian estimation", NeurIPS 2019.
    """

    width: float
    offset: float
    epsilon: float
    grid: float = field(init=False, repr=False, compare=False)
    report: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        width, offset = _check.positive("width", self.width), _check.real("offset", self.offset) + 0.0
        _check.interval(-width / 2, width / 2)
        self._set(width=width, offset=offset, epsilon=_check.positive("epsilon", self.epsilon))
        span = grid_steps(self.epsilon, 1)
        grid, lower = width / span, -width / 2
        coins = _coins.geometric(self.epsilon, span, span, 1)
        kernel = noise.Laplace(1, lower, grid, span, 0, 0.0, coins.digits, coins.carry, "residue")
        self._set(
            grid=grid,
            epsilon_realized=coins.epsilon_realized,
            domain=Reals(),
            report=Grid(1, True, lower, grid, grid**2 * coins.noise_variance),
            _kernel=WrappedKernel(width, offset, kernel),
        )
        check_grid(grid, lower, -lower)

    def _variance(self, records: AnyArray) -> NDArray[np.float64]:
        distances = wrapped(records, self.width, self.offset)
        return grid_variance(distances, self.report.lower, self.grid, self.report.noise_variance)


def wrapped(x: AnyArray, width: float, offset: float) -> NDArray[np.float64]:
    """Signed distances from the nearest node; NaN is a node, and numbers beyond 2^52 periods count as that far."""
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.clip((x.astype(np.float64) - offset) / width, -FAR, FAR)
    away[np.isnan(away)] = 0.0
    return np.asarray((away - np.rint(away)) * width)


@dataclass(frozen=True)
class WrappedKernel:
    """Numbers to distances, a piece at a time, then the kernel of their noise."""

    width: float
    offset: float
    kernel: noise.Laplace

    @property
    def rows(self) -> int:
        return self.kernel.rows

    def privatize(self, key: Stream, block: int, x: AnyArray, out: AnyArray) -> None:
        for first, piece in self._pieces(block, len(x)):
            self.kernel.privatize(key, first, wrapped(x[piece], self.width, self.offset), out[piece])

    def run(self, key: Stream, block: int, x: AnyArray, state: AnyArray) -> None:
        for first, piece in self._pieces(block, len(x)):
            self.kernel.run(key, first, wrapped(x[piece], self.width, self.offset), state)

    def _pieces(self, block: int, n: int) -> list[tuple[int, slice]]:
        """Number of the first block, and which records: whole blocks."""
        step = self.rows * max(1, PIECE // self.rows)
        return [(block + start // self.rows, slice(start, start + step)) for start in range(0, n, step)]
