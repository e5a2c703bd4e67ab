"""Distribution of answers over categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._typing import Floats
from ..domains import categories
from ..mechanisms import (
    HadamardResponse,
    ProjectiveGeometryResponse,
    RandomizedResponse,
    SubsetSelection,
    UnaryEncoding,
    for_categories,
)
from ..results import SHARES, Estimate
from .protocols import Problem

if TYPE_CHECKING:
    from .._typing import RNGLike

CLASSES: dict[str, Any] = {
    "k-ary": RandomizedResponse,
    "subset": SubsetSelection,
    "hadamard": HadamardResponse,
    "projective": ProjectiveGeometryResponse,
}
MECHANISMS = ("auto", *CLASSES, "symmetric", "optimized")


def project_simplex(v: ArrayLike) -> Floats:
    """Return the nearest probability distribution: the Euclidean projection on the simplex.

    Parameters
    ----------
    v : array_like of float, shape (..., k)
        Finite numbers, k >= 1. Each row is projected separately.

    Returns
    -------
    projection : ndarray, shape (..., k)
        max(v - tau, 0), with tau such that the sum is 1.

    Raises
    ------
    TypeError, ValueError
        If `v` are not finite numbers, or k is 0.

    Notes
    -----
    O(k log k) time per row. The projection is never farther from any distribution than `v` is. It is biased: the shares
    of rare categories increase.

    References
    ----------
    .. [1] J. Duchi, S. Shalev-Shwartz, Y. Singer, T. Chandra, "Efficient projections onto the l1-ball for learning in
       high dimensions", ICML 2008.

    Examples
    --------
    >>> from ldpfast.estimation import project_simplex
    >>> project_simplex([0.75, 0.5, -0.25]).tolist()
    [0.625, 0.375, 0.0]
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
    """Estimated shares of categories.

    Attributes
    ----------
    categories : tuple or None
        Declared labels, in the order of the shares.
    raw : ndarray
        Unbiased shares, to which standard errors and intervals refer. `value` is equal to `raw`, or is its projection.

    Examples
    --------
    >>> from ldpfast.estimation import frequencies
    >>> estimate = frequencies(["car", "foot", "car"] * 1000, ["foot", "car", "train"], 1.0, rng=1)
    >>> estimate.categories
    ('foot', 'car', 'train')
    >>> round(float(estimate.projected.sum()), 9)
    1.0
    """

    categories: tuple[Any, ...] | None = None
    raw: Floats = field(default_factory=lambda: np.zeros(0), repr=False)

    @property
    def projected(self) -> Floats:
        """Shares projected on the simplex: none is negative and their sum is 1, but they are biased."""
        return project_simplex(self.raw)

    def _unit(self) -> str:
        return ""

    def _names(self) -> tuple[str, str]:
        return "share" if np.array_equal(self.value, self.raw) else "projected share, and share", "category"

    def _entries(self, places: Sequence[int]) -> list[str]:
        return super()._entries(places) if self.categories is None else [str(self.categories[i]) for i in places]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary like that of `Estimate.to_dict`, with the labels."""
        described = super().to_dict()
        return described if self.categories is None else {**described, "categories": list(self.categories)}


@dataclass(frozen=True)
class Frequencies(Problem[FrequencyEstimate]):
    """Shares of categories in a population.

    Parameters
    ----------
    k : int or sequence
        Number of categories, >= 2, or the declared list of labels, of any hashable type. It is never taken from the
        data.
    epsilon : float
        Privacy parameter of an answer, > 0.
    method : {"auto", "k-ary", "subset", "hadamard", "projective", "symmetric", "optimized"}
        Mechanism. "k-ary": `RandomizedResponse`. "subset": `SubsetSelection`. "hadamard": `HadamardResponse`.
        "projective": `ProjectiveGeometryResponse`. "symmetric", "optimized": variants of `UnaryEncoding`. "auto": the
        mechanism with the smallest total variance (`mechanisms.for_categories`); it depends on k, epsilon and `max_bits`
        only.
    project : bool, default False
        Whether the value of the estimate is projected on the simplex.
    max_bits : int, optional
        Largest size of a report, for the method "auto".

    Raises
    ------
    TypeError, ValueError
        If `k` is neither an integer >= 2 nor a list of at least 2 different labels; if `method` is not one of the
        above; if the mechanism rejects a parameter; if no mechanism has reports of at most `max_bits` bits, or it is
        given with another method than "auto".

    Notes
    -----
    Records are integers in [0, k). With labels, they are answers in a list, a NumPy or Arrow array, a pandas series or
    categorical. An undeclared answer raises ValueError, which is outside the privacy guarantee: declare a category for
    all other answers. Intervals are Clopper-Pearson, valid for every n.

    Privacy
    -------
    The guarantee of the mechanism.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Local privacy and minimax bounds: sharp rates for probability
       estimation", NIPS 2013.

    Examples
    --------
    >>> from ldpfast.estimation import Frequencies
    >>> problem = Frequencies(["foot", "car", "train"], 2.0)
    >>> reports = problem.privatize(["car", "foot", "car", "train"] * 1000, rng=1)
    >>> low, high = problem.estimate(reports).interval(simultaneous=True)
    >>> bool((low < [0.25, 0.5, 0.25]).all() and (high > [0.25, 0.5, 0.25]).all())
    True
    """

    k: Any
    epsilon: float
    method: str = "auto"
    project: bool = False
    max_bits: int | None = None
    labels: tuple[Any, ...] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        domain, labels = categories(self.k)
        method = _check.choice("method", self.method, MECHANISMS)
        _check.flag("project", self.project)
        if method != "auto" and self.max_bits is not None:
            raise ValueError(f"max_bits must be None for method={method!r}, got {self.max_bits!r}")
        if method == "auto":
            mechanism: Any = for_categories(domain.k, self.epsilon, max_bits=self.max_bits)
        elif method in CLASSES:
            mechanism = CLASSES[method](domain.k, self.epsilon)
        else:
            mechanism = UnaryEncoding(domain.k, self.epsilon, method)
        self._set(k=self.k if labels is None else labels)
        self._define(mechanism, domain, labels=labels)

    def _convert(self, raw: Estimate[Any]) -> FrequencyEstimate:
        value = project_simplex(raw.value) if self.project else raw.value
        fields = (value, raw.stderr, raw.n, raw.guarantee, raw.covariance, raw.rule, self.labels, raw.value)
        return FrequencyEstimate(*fields, _span=SHARES)


def frequencies(
    x: ArrayLike,
    k: Any,
    epsilon: float,
    *,
    mechanism: str = "auto",
    project: bool = False,
    max_bits: int | None = None,
    rng: RNGLike = None,
) -> FrequencyEstimate:
    """Return the shares of categories, each answer privatized separately.

    See `Frequencies` for the parameters, the intervals and the privacy guarantee.

    Parameters
    ----------
    x : array_like, shape (n,)
        Integers in [0, k), or declared labels in any container that `Frequencies` accepts.
    k : int or sequence
        Number of categories, or the declared list of labels.
    epsilon : float
        Privacy parameter of an answer.
    mechanism : {"auto", "k-ary", "subset", "hadamard", "projective", "symmetric", "optimized"}
        The `method` of `Frequencies`.
    project : bool, default False
        Whether the value is projected on the simplex.
    max_bits : int, optional
        Largest size of a report, for "auto".
    rng : None, int, SeedSequence, Generator or BitGenerator
        Source of randomness; only ``None`` is private.

    Returns
    -------
    estimate : FrequencyEstimate
        Shares with Clopper-Pearson intervals, and `projected`.

    Raises
    ------
    TypeError, ValueError
        If `Frequencies` rejects a parameter, or an answer is not among the categories.

    Privacy
    -------
    Each answer is epsilon-LDP.

    Examples
    --------
    >>> from ldpfast.estimation import frequencies
    >>> estimate = frequencies(["yes"] * 7000 + ["no"] * 3000, ["yes", "no"], 2.0, rng=1)
    >>> bool(abs(estimate.value[0] - 0.7) < 0.05)
    True
    """
    return Frequencies(k, epsilon, _check.choice("mechanism", mechanism, MECHANISMS), project, max_bits).run(x, rng=rng)
