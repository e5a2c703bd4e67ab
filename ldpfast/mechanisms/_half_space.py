"""Constants, checks and variances of the mechanisms that report a direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import _check
from .._formulas import half_space_constants
from .._typing import Floats
from ..privacy import TwoLevel
from ..reports import Decoding
from ._law import Law

MAX_DIM = 1 << 34  # the packed signs of one row are far below the length of a stream


def half_space_constant(dim: int) -> float:
    """Return c(d) = 1 / E|U_1| for U uniform on the unit sphere of R^d.

    Parameters
    ----------
    dim : int
        Dimension d >= 1.

    Returns
    -------
    c : float
        sqrt(pi) Gamma((d + 1) / 2) / Gamma(d / 2), about sqrt(pi d / 2), to full double accuracy for every d.

    Raises
    ------
    TypeError, ValueError
        If `dim` is not an integer >= 1.

    Examples
    --------
    >>> from ldpfast.mechanisms._half_space import half_space_constant
    >>> half_space_constant(3)
    2.0
    """
    return float(half_space_constants(_check.integer("dim", dim, 1)))


def check_ball(dim: int, epsilon: float, radius: float) -> tuple[int, float, float]:
    """Return the parameters of a mechanism for vectors in a ball, after checks."""
    dim, epsilon = _check.integer("dim", dim, 1, MAX_DIM), _check.positive("epsilon", epsilon)
    radius = _check.positive("radius", radius)
    if not 1e-18 <= radius <= 1e18:
        raise ValueError(f"radius must be in [1e-18, 1e18], where single precision holds the reports, got {radius!r}")
    return dim, epsilon, radius


@dataclass(frozen=True)
class DirectionLaw(Law):
    """The distribution of a decoded direction whose second moments depend on the angle to the record alone.

    Attributes
    ----------
    moments : callable
        Function that returns the second moments of a decoded report in the direction of the record and in each direction
        across it.
    center : float
        Second moment of a coordinate for a record at the center.
    probabilities : TwoLevel or None
        Parameters for `privacy.shuffled`.
    """

    moments: Callable[[], tuple[float, float]]
    center: float
    probabilities: TwoLevel | None

    def variance(self, decoding: Decoding, records: Floats) -> Floats:
        along, across = self.moments()
        x = records.astype(np.float64)
        square = (x**2).sum(axis=1, keepdims=True)
        share = np.divide(x**2, square, out=np.zeros_like(x), where=square > 0)
        moments = (along - across) * share + across
        moments[square[:, 0] == 0] = self.center
        return np.asarray(moments - x**2)

    def two_level(self) -> TwoLevel | None:
        return self.probabilities

    def worst_variance(self, decoding: Decoding) -> float:
        return max(self.moments())


def check_scale(scale: float) -> float:
    """Return the magnitude of reports, after a check that single precision can hold it."""
    if not scale <= 1e37:
        raise ValueError(
            f"radius / epsilon must leave the reports within single precision, at most 1e37, got {scale:.3g}"
        )
    return scale
