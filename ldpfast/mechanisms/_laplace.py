"""Discrete Laplace noise for a number in an interval."""

from __future__ import annotations

from dataclasses import dataclass, field

from .. import _check
from ..domains import Interval
from ..reports import Grid
from ._discrete_laplace import grid_noise, grid_steps
from ._mechanism import Mechanism


@dataclass(frozen=True)
class Laplace(Mechanism):
    """Discrete Laplace noise for a number in an interval, exact on a grid and without the floating-point leak.

    Parameters
    ----------
    lower, upper : float
        Ends of the interval, finite, lower < upper.
    epsilon : float
        Privacy parameter, > 0 and at most 64.

    Attributes
    ----------
    grid : float
        Step of the grid, (upper - lower) / max(1, ceil(1024 epsilon)).

    Raises
    ------
    TypeError, ValueError
        If `lower` and `upper` are not finite with lower < upper, or so far from zero that doubles cannot hold the grid;
        if `epsilon` is not a finite number > 0 that the coins can certify.

    Notes
    -----
    Records: floats in [lower, upper], shape (n,). Reports: float64, lower + grid (j + 1/2) with j an integer. The
    variance is about 2 (upper - lower)^2 / epsilon^2. O(n) time, about 11 random bytes per number. The time of the
    noise varies, independently of the record. Resistance to timing attacks is not claimed.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP. A record is rounded at random to an integer and gets integer noise. The digits of the
    noise have integer weights of 128 bits, and the guarantee includes the rounding error of these weights.
    docs/proofs/laplace.md.

    References
    ----------
    .. [1] C. Dwork, F. McSherry, K. Nissim, A. Smith, "Calibrating noise to sensitivity in private data analysis",
       TCC 2006.
    .. [2] I. Mironov, "On significance of the least significant bits for differential privacy", CCS 2012 (the leak of
       doubles).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> mechanism = ldp.Laplace(0, 100, epsilon=4.0)
    >>> estimate = mechanism.run(np.full(10_000, 37.0), rng=1)
    >>> bool(abs(estimate.value - 37) < 2)
    True
    """

    lower: float
    upper: float
    epsilon: float
    grid: float = field(init=False, repr=False, compare=False)
    report: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower, upper = _check.interval(self.lower, self.upper)
        self._set(lower=lower, upper=upper, epsilon=_check.positive("epsilon", self.epsilon))
        span = grid_steps(self.epsilon)
        parts = grid_noise(
            self.epsilon,
            "number",
            dim=1,
            scalar=True,
            lower=lower,
            upper=upper,
            span=span,
            diameter=span,
            changes=1,
        )
        self.define(domain=Interval(lower, upper), **parts)
