"""Means of sparse vectors by soft thresholding (Duchi, Jordan, Wainwright 2018, corollary 5)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._typing import Floats
from ..mechanisms import LinfBall
from ..results import Estimate
from .protocols import Problem


@dataclass(frozen=True, eq=False, repr=False)
class SparseEstimate(Estimate[Floats]):
    """Thresholded mean of vectors.

    Standard errors and intervals are for the raw mean, so an interval need not contain the value.

    Attributes
    ----------
    raw : ndarray
        Unbiased mean, before the threshold.
    penalty : float
        Threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import sparse_mean
    >>> x = np.zeros((100_000, 20))
    >>> x[:, 3] = 0.9
    >>> sparse_mean(x, 1.0, radius=1, rng=1).support.tolist()
    [3]
    """

    raw: Floats = field(default_factory=lambda: np.zeros(0), repr=False)
    penalty: float = math.nan

    @property
    def support(self) -> NDArray[np.intp]:
        """Indices of the coordinates that are not zero."""
        return np.flatnonzero(self.value)

    def _unbiased(self) -> SparseEstimate:
        return replace(self, value=self.raw)

    def _unit(self) -> str:
        return " (unit of the records)"

    def _names(self) -> tuple[str, str]:
        return "thresholded mean, and mean", "coordinate"


@dataclass(frozen=True)
class SparseMean(Problem[SparseEstimate]):
    """Mean of vectors in a box by soft thresholding, for a mean with few nonzero coordinates.

    Parameters
    ----------
    dim : int
        Dimension d >= 1.
    epsilon : float
        Privacy parameter of the whole vector, > 0.
    radius : float
        r > 0; records are in [-r, r]^d.
    penalty : float, optional
        Threshold, >= 0. The default is B sqrt(2 log(2 d n) / n), where B is the scale of `LinfBall`.

    Raises
    ------
    TypeError, ValueError
        If `penalty` is not a number >= 0, or `LinfBall` rejects a parameter.

    Notes
    -----
    By Hoeffding's inequality, all coordinates of the raw mean are within the default threshold of the true mean with
    probability 1 - 1/n. The support is then a subset of the true support, and the squared error is at most 4 s
    penalty^2 for a mean with s nonzero coordinates.

    Privacy
    -------
    The guarantee of `LinfBall`. The threshold is applied to the mean of the reports.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), corollary 5.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.estimation import SparseMean
    >>> problem = SparseMean(20, 1.0, radius=1)
    >>> x = np.zeros((100_000, 20))
    >>> x[:, 3] = 0.9
    >>> problem.estimate(problem.privatize(x, rng=1)).support.tolist()
    [3]
    """

    dim: int
    epsilon: float
    _: KW_ONLY
    radius: float
    penalty: float | None = None
    mechanism: LinfBall = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.penalty is not None and not _check.real("penalty", self.penalty) >= 0:
            raise ValueError(f"penalty must be a number >= 0, got {self.penalty!r}")
        ball = LinfBall(self.dim, self.epsilon, radius=self.radius)
        self._define(ball, ball.domain)

    def _convert(self, raw: Estimate[Any]) -> SparseEstimate:
        penalty = self.penalty
        if penalty is None:
            penalty = self.mechanism.scale * math.sqrt(2 * math.log(2 * self.dim * raw.n) / raw.n)
        value = np.sign(raw.value) * np.maximum(np.abs(raw.value) - penalty, 0) + 0.0  # no -0
        return SparseEstimate(value, raw.stderr, raw.n, raw.guarantee, None, raw.rule, raw.value, penalty)
