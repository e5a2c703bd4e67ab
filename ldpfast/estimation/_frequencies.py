"""The distribution of answers over categories."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ..domains import categories
from ..mechanisms import RandomizedResponse, UnaryEncoding, for_categories
from ..results import Estimate
from .protocols import Problem

if TYPE_CHECKING:
    from .._typing import RNGLike

MECHANISMS = ("auto", "k-ary", "symmetric", "optimized")


def project_simplex(v: ArrayLike) -> Floats:
    """The nearest distribution: the Euclidean projection on the simplex.

    Parameters
    ----------
    v : array_like of float, shape (..., k)
        Finite numbers, k >= 1.

    Returns
    -------
    projection : ndarray, shape (..., k)
        max(v - tau, 0), with tau such that it adds up to 1.

    Raises
    ------
    TypeError, ValueError
        If `v` are not finite numbers, or k is 0.

    Notes
    -----
    O(k log k). Never farther from any distribution than `v` is; but it biases: rare categories go up.

    References
    ----------
    .. [1] J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra, "Efficient projections onto the l1-ball for learning in
    high
       dimensions", ICML 2008.
    """
    values = np.asarray(_check.floats("v", _check.array("v", v)), np.float64)
    if values.ndim == 0 or values.shape[-1] == 0:
        raise ValueError(f"v must have shape (..., k) with k >= 1, got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("v must be finite numbers")
    down = -np.sort(-values, axis=-1)
    excess = (np.cumsum(down, axis=-1) - 1) / np.arange(1, values.shape[-1] + 1)
    last = (down > excess).sum(axis=-1, keepdims=True) - 1
    return np.asarray(np.maximum(values - np.take_along_axis(excess, last, axis=-1), 0))


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyEstimate(Estimate[Floats]):
    """Shares of the categories.

    Attributes
    ----------
    categories : tuple or None
        The declared labels, in the order of the shares.
    raw : ndarray
        The unbiased shares: what standard errors and intervals are for. `value` is the same, or their projection.
    """

    categories: tuple[Any, ...] | None = None
    raw: Floats = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def projected(self) -> Floats:
        """The shares projected on the simplex: none negative, sum 1; biased."""
        return project_simplex(self.raw)

    def to_dict(self) -> dict[str, Any]:
        """As `Estimate.to_dict`, with the labels."""
        described = super().to_dict()
        return described if self.categories is None else {**described, "categories": list(self.categories)}


@dataclass(frozen=True)
class Frequencies(Problem[FrequencyEstimate]):
    """The shares of categories.

    Parameters
    ----------
    k : int or sequence
        Number of categories, >= 2, or the declared list of them: labels of any kind that can be hashed. Never taken
        from the data.
    epsilon : float
        Privacy parameter of an answer, > 0.
    method : {"auto", "k-ary", "symmetric", "optimized"}
        The mechanism: `RandomizedResponse`, or `UnaryEncoding` of either variant. "auto": the smallest variance of the
        share of a rare category, from k and epsilon alone.
    project : bool, default False
        Whether the value of the estimate is projected on the simplex.

    Raises
    ------
    TypeError, ValueError
        If `k` is neither an integer >= 2 nor at least 2 different labels; if `method` is another word; as the
        mechanism.

    Notes
    -----
    Records: integers in [0, k); with labels, answers in a list, a NumPy or Arrow array, a pandas series or categorical.
    An answer that was not declared is refused, which is outside the guarantee: declare a category for the others.
    Intervals are Clopper-Pearson, valid for every n.

    Privacy
    -------
    That of the mechanism.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Local privacy and minimax bounds: sharp rates for probability
       estimation", NIPS 2013.
    """

    k: Any
    epsilon: float
    method: str = "auto"
    project: bool = False
    labels: tuple[Any, ...] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        domain, labels = categories(self.k)
        method = _check.choice("method", self.method, MECHANISMS)
        _check.flag("project", self.project)
        if method == "auto":
            mechanism: Any = for_categories(domain.k, self.epsilon)
        elif method == "k-ary":
            mechanism = RandomizedResponse(domain.k, self.epsilon)
        else:
            mechanism = UnaryEncoding(domain.k, self.epsilon, method)
        self._set(k=self.k if labels is None else labels)
        self._define(mechanism, domain, labels=labels)

    def _conclude(self, raw: Estimate[Any]) -> FrequencyEstimate:
        value = project_simplex(raw.value) if self.project else raw.value
        return FrequencyEstimate(
            value, raw.stderr, raw.n, raw.guarantee, raw.covariance, raw.rule, self.labels, raw.value
        )


def frequencies(
    x: ArrayLike, k: Any, epsilon: float, *, mechanism: str = "auto", project: bool = False, rng: RNGLike = None
) -> FrequencyEstimate:
    """The shares of categories, each answer privatized by itself.

    Parameters
    ----------
    x : array_like, shape (n,)
        Integers in [0, k), or answers among declared labels (list, NumPy or Arrow array, pandas series or categorical).
    k : int or sequence
        Number of categories, or the declared list of them.
    epsilon : float
    mechanism : {"auto", "k-ary", "symmetric", "optimized"}
    project : bool, default False
        As for `Frequencies`, whose `method` the mechanism is.
    rng : None, int, SeedSequence, Generator or BitGenerator

    Returns
    -------
    estimate : FrequencyEstimate
        With Clopper-Pearson intervals, and `projected`.

    Raises
    ------
    TypeError, ValueError
        As `Frequencies`; if an answer is not among the categories.

    Privacy
    -------
    Each answer is epsilon-LDP by itself; everything else is a function of the reports.
    """
    return Frequencies(k, epsilon, _check.choice("mechanism", mechanism, MECHANISMS), project).run(x, rng=rng)
