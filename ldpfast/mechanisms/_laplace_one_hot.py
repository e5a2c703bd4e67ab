"""Discrete Laplace noise for the one-hot vector of a category."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .. import _check
from .._typing import AnyArray, Floats
from ..domains import Categories
from ..reports import Decoding, Grid
from ._discrete_laplace import GridNoiseLaw, grid_noise, grid_steps
from ._mechanism import Mechanism
from ._response import one_hot

MAX_COLUMNS = 1 << 20


@dataclass(frozen=True)
class LaplaceOneHot(Mechanism):
    """Discrete Laplace noise in every entry of the one-hot vector of a category, a baseline for histograms.

    `UnaryEncoding` has at most half the variance, and its reports have k bits.

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
        If `k` is not an integer in [2, 2^20], or `epsilon` not a finite number > 0 that the coins can certify.

    Notes
    -----
    Records: integers in [0, k), shape (n,). Reports: float64, shape (n, k), on a grid. The variance of an entry is
    about 2 (2 / epsilon)^2, because two one-hot vectors have l1 distance 2. O(n k) time.

    Privacy
    -------
    Exactly `epsilon_realized`-LDP, as `Laplace`. The entries 0 and 1 are points of the grid, so nothing is rounded.
    Resistance to timing attacks is not claimed. docs/proofs/laplace_one_hot.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.mechanisms import LaplaceOneHot
    >>> LaplaceOneHot(4, epsilon=1.0).privatize(np.array([0, 3, 3]), rng=1).shape
    (3, 4)
    """

    k: int
    epsilon: float
    grid: float = field(init=False, repr=False, compare=False)
    report: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        k, epsilon = _check.integer("k", self.k, 2, MAX_COLUMNS), _check.positive("epsilon", self.epsilon)
        self._set(k=k, epsilon=epsilon)
        span = grid_steps(epsilon)
        parts = grid_noise(
            epsilon,
            "one-hot",
            dim=k,
            scalar=False,
            lower=0.0,
            upper=1.0,
            span=span,
            diameter=2 * span,
            changes=2,
            numbers=self.encode,
            law=OneHotNoiseLaw,
        )
        self.define(domain=Categories(k), **parts)

    def encode(self, records: AnyArray) -> AnyArray:
        return one_hot(records, self.k).astype(np.float32)


class OneHotNoiseLaw(GridNoiseLaw):
    """The distribution of a one-hot vector with noise: its entries are points of the grid, so nothing is rounded."""

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        return np.full(self.numbers(records).shape, self.noise_variance)

    def worst_variance(self, decoding: Decoding) -> float:
        return self.noise_variance + 0.25
