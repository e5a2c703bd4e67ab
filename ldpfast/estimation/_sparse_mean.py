"""Means of sparse vectors by soft thresholding (Duchi, Jordan, Wainwright 2018, corollary 5)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._typing import Floats
from ..mechanisms import LinfBall
from ..results import Estimate
from ._vector_mean import row_width
from .protocols import Problem

if TYPE_CHECKING:
    from .._typing import RNGLike


@dataclass(frozen=True, eq=False, repr=False)
class SparseEstimate(Estimate[Floats]):
    """A thresholded mean. Standard errors and intervals are those of the raw mean: they need not contain the value.

    Attributes
    ----------
    raw : ndarray
        The unbiased mean, before the threshold.
    penalty : float
        The threshold.
    """

    raw: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    penalty: float = math.nan

    @property
    def support(self) -> NDArray[np.intp]:
        """Coordinates that are not zero."""
        return np.flatnonzero(self.value)


@dataclass(frozen=True)
class SparseMean(Problem[SparseEstimate]):
    """The mean of vectors in a box, if most of its coordinates are zero: soft thresholding.

    Parameters
    ----------
    dim : int
    epsilon : float
    radius : float
        r > 0, records in [-r, r]^d.
    penalty : float, optional
        The threshold, >= 0. By default B sqrt(2 log(2 d n) / n), B the scale of `LinfBall`: by Hoeffding's inequality
        the raw mean is that close in all coordinates with probability 1 - 1/n, and then the support is within the true
        one and the squared error at most 4 s penalty^2 for s coordinates that are not zero.

    Raises
    ------
    TypeError, ValueError
        If `penalty` is not a number >= 0; as `LinfBall`.

    Privacy
    -------
    That of `LinfBall`; the threshold is applied to the mean of the reports.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
    JASA
       113 (2018), corollary 5.
    """

    dim: int
    epsilon: float
    radius: float
    penalty: float | None = None
    mechanism: LinfBall = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.penalty is not None and not _check.real("penalty", self.penalty) >= 0:
            raise ValueError(f"penalty must be a number >= 0, got {self.penalty!r}")
        ball = LinfBall(self.dim, self.epsilon, self.radius)
        self._define(ball, ball.domain)

    def _conclude(self, raw: Estimate[Any]) -> SparseEstimate:
        penalty = self.penalty
        if penalty is None:
            penalty = self.mechanism.scale * math.sqrt(2 * math.log(2 * self.dim * raw.n) / raw.n)
        value = np.sign(raw.value) * np.maximum(np.abs(raw.value) - penalty, 0) + 0.0  # no -0
        return SparseEstimate(value, raw.stderr, raw.n, raw.guarantee, None, raw.rule, raw.value, penalty)


def sparse_mean(
    x: ArrayLike,
    epsilon: float,
    *,
    radius: float,
    penalty: float | None = None,
    clip: bool = False,
    rng: RNGLike = None,
) -> SparseEstimate:
    """The mean of vectors of which most coordinates are zero on average, each vector privatized by itself.

    Parameters
    ----------
    x : array_like of float, shape (n, dim)
    epsilon, radius, penalty
        As for `SparseMean`.
    clip : bool, default False
    rng : None, int, SeedSequence, Generator or BitGenerator

    Returns
    -------
    estimate : SparseEstimate

    Raises
    ------
    TypeError, ValueError
        As `SparseMean`; if a row is outside and `clip` is false.

    Privacy
    -------
    Each row is epsilon-LDP by itself; everything else is a function of the reports.
    """
    return SparseMean(row_width(x), epsilon, radius, penalty).run(x, rng=rng, clip=clip)
