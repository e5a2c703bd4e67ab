"""Discrete Laplace noise for the position of a number within its period."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .. import _check
from .._typing import AnyArray, Floats
from ..domains import Reals
from ..reports import Grid
from ._discrete_laplace import grid_noise, grid_steps
from ._mechanism import Mechanism

MAX_PERIODS = 2.0**52  # distances from the offset are clipped to this many periods


@dataclass(frozen=True)
class LaplaceResidue(Mechanism):
    """Discrete Laplace noise on the signed distance of a number from the nearest node of offset + width Z.

    This is the published message of the one-round protocol for unknown variance, without the floating-point leak of its
    noise. `Residue` is more informative.

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
    Records: finite floats of any size and sign, shape (n,). Reports: float64, grid (j + 1/2) - width / 2 with j an
    integer. With ``clip=True`` NaN counts as a node. The variance is about 2 (width / epsilon)^2. O(n) time, about 11
    random bytes per number.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, as `Laplace` on [-width / 2, width / 2], because the kernel clamps the distance to
    this interval. Resistance to timing attacks is not claimed. docs/proofs/laplace_residue.md.

    References
    ----------
    .. [1] M. Joseph, J. Kulkarni, J. Mao, Z. S. Wu, "Locally private Gaussian estimation", NeurIPS 2019.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.mechanisms._laplace_residue import LaplaceResidue
    >>> LaplaceResidue(width=2.0, offset=0.5, epsilon=1.0).privatize(np.array([7.3, -2.0]), rng=1).shape
    (2,)
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
        span = grid_steps(self.epsilon)
        parts = grid_noise(
            self.epsilon,
            "residue",
            dim=1,
            scalar=True,
            lower=-width / 2,
            upper=width / 2,
            span=span,
            diameter=span,
            changes=1,
            numbers=self.encode,
        )
        self.define(domain=Reals(self.offset), value_range=(-width / 2, width / 2), **parts)

    def encode(self, records: AnyArray) -> Floats:
        """Return signed distances from the nearest node. NaN counts as a node."""
        with np.errstate(over="ignore", invalid="ignore"):
            periods = np.clip((records.astype(np.float64) - self.offset) / self.width, -MAX_PERIODS, MAX_PERIODS)
        periods[np.isnan(periods)] = 0.0
        return np.asarray((periods - np.rint(periods)) * self.width)
