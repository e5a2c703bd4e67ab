"""Distribution of answers over categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _check
from .._described import chooses_again
from .._typing import Floats
from ..domains import domain_of_categories
from ..mechanisms import (
    HadamardResponse,
    Mechanism,
    ProjectiveGeometryResponse,
    RandomizedResponse,
    SubsetSelection,
    UnaryEncoding,
    for_categories,
)
from ..mechanisms._set_response import SetResponse
from ..reports import Counted
from ..results import SHARES, Estimate
from .protocols import Problem

CLASSES: dict[str, Any] = {
    "k-ary": RandomizedResponse,
    "subset": SubsetSelection,
    "hadamard": HadamardResponse,
    "projective": ProjectiveGeometryResponse,
}
MECHANISMS = ("auto", *CLASSES, "symmetric", "optimized")
SHARE_CLASSES = (*CLASSES.values(), UnaryEncoding)


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
        Declared labels, in the order of the shares; with ``estimate(items=...)`` the labels or numbers of the items.
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
    _is_part: bool = field(default=False, repr=False)

    @property
    def projected(self) -> Floats:
        """Shares projected on the simplex: none is negative and their sum is 1, but they are biased.

        Raises
        ------
        ValueError
            If only some items were estimated, whose shares do not add up to 1.
        """
        if self._is_part:
            raise ValueError("projected needs the shares of all categories, and this estimate has some items only")
        return project_simplex(self.raw)

    def _unit(self) -> str:
        return ""

    def _names(self) -> tuple[str, str]:
        return "share" if np.array_equal(self.value, self.raw) else "projected share, and share", "category"

    def _unbiased(self) -> FrequencyEstimate:
        return replace(self, value=self.raw)

    def _meaning(self) -> tuple[Any, ...]:
        return "share", self.categories

    def _entries(self, places: Sequence[int]) -> list[str]:
        return super()._entries(places) if self.categories is None else [str(self.categories[i]) for i in places]

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary like that of `Estimate.to_dict`, with the labels."""
        described = super().to_dict()
        labels = [
            label.decode(errors="backslashreplace") if isinstance(label, bytes) else label
            for label in self.categories or ()
        ]
        return described if self.categories is None else {**described, "categories": labels}


@chooses_again
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
    mechanism : {"auto", "k-ary", "subset", "hadamard", "projective", "symmetric", "optimized"} or Mechanism
        "k-ary": `RandomizedResponse`. "subset": `SubsetSelection`. "hadamard": `HadamardResponse`. "projective":
        `ProjectiveGeometryResponse`. "symmetric", "optimized": the two methods of `UnaryEncoding`. "auto": the mechanism with
        the smallest total variance (`mechanisms.for_categories`); it depends on k, epsilon and `max_bits` only. A mechanism
        for k categories with the same `epsilon` is used as it is.
    project : bool, default False
        Whether the value of the estimate is projected on the simplex.
    max_bits : int, optional
        Largest size of a report, for the mechanism "auto".

    Raises
    ------
    TypeError, ValueError
        If `k` is neither an integer >= 2 nor a list of at least 2 different labels; if `mechanism` is not one of the
        above; if the mechanism rejects a parameter; if no mechanism has reports of at most `max_bits` bits, or it is
        given with another mechanism than "auto".

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
    _: KW_ONLY
    mechanism: Any = "auto"
    project: bool = False
    max_bits: int | None = None
    labels: tuple[Any, ...] | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        domain, labels = domain_of_categories(self.k)
        mechanism, label = self.mechanism, self.mechanism
        _check.flag("project", self.project)
        if isinstance(mechanism, Mechanism):
            label = type(mechanism).__name__
            if not isinstance(mechanism, SHARE_CLASSES):
                names = ", ".join(kind.__name__ for kind in SHARE_CLASSES)
                raise TypeError(f"mechanism must be a name or one of {names}, got {label}")
            if mechanism.k != domain.k or mechanism.epsilon != _check.positive("epsilon", self.epsilon):
                raise ValueError(f"mechanism must be for k={domain.k} and epsilon={self.epsilon!r}, got {mechanism!r}")
        else:
            _check.choice("mechanism", mechanism, MECHANISMS)
        if label != "auto" and self.max_bits is not None:
            raise ValueError(f"max_bits must be None for mechanism={label!r}, got {self.max_bits!r}")
        if label == "auto":
            self._set_chosen(mechanism=self.max_bits)  # with a limit, which is not kept, it is not chosen again
            mechanism = for_categories(domain.k, self.epsilon, max_bits=self.max_bits)
        elif label in CLASSES:
            mechanism = CLASSES[label](domain.k, self.epsilon)
        elif isinstance(mechanism, str):
            mechanism = UnaryEncoding(domain.k, self.epsilon, method=mechanism)
        self._set(k=self.k if labels is None else labels, mechanism=mechanism, max_bits=None)
        self._define(mechanism, domain, labels=labels)

    @classmethod
    def _described_names(cls) -> list[str]:
        return [name for name in cls._parameter_names() if name != "max_bits"]  # which the mechanism replaces

    def _parameters(self) -> dict[str, Any]:
        return {**super()._parameters(), "mechanism": self._mechanism_name() or self.mechanism}

    def _mechanism_name(self) -> str | None:
        """Return the name of the mechanism; None if it has other parameters than the mechanism of that name."""
        k, epsilon = self.mechanism.k, self.mechanism.epsilon
        if isinstance(self.mechanism, UnaryEncoding):
            return self.mechanism.method
        name = next(name for name, kind in CLASSES.items() if type(self.mechanism) is kind)
        return name if self.mechanism == CLASSES[name](k, epsilon) else None

    def __repr__(self) -> str:
        mechanism = self._mechanism_name() or self.mechanism
        return f"Frequencies(k={self.k!r}, epsilon={self.epsilon!r}, mechanism={mechanism!r}, project={self.project!r})"

    def _convert(self, raw: Estimate[Any]) -> FrequencyEstimate:
        value = project_simplex(raw.value) if self.project else raw.value
        fields = (value, raw.stderr, raw.n, raw.guarantee, raw.covariance, raw.rule, self.labels, raw.value)
        return FrequencyEstimate(*fields, _span=SHARES)

    def _conclude(self, counted: Counted, *, items: ArrayLike | None = None) -> FrequencyEstimate:
        """Return the shares of the categories. Users call ``counted.estimate()``, or ``counted.estimate(items=...)``.

        Parameters
        ----------
        counted : Aggregator
            Aggregator of this problem with at least one report.
        items : array_like, optional
            Categories or labels whose shares are estimated. This saves time if they are few of very many and the reports are
            few. The default is all of them.

        Returns
        -------
        estimate : FrequencyEstimate

        Raises
        ------
        TypeError, ValueError
            If `items` are not declared categories, or are given with `project` or with a mechanism other than
            `HadamardResponse` and `ProjectiveGeometryResponse`.
        """
        if items is None:
            return super()._conclude(counted)
        if self.project:
            raise ValueError("items must be None with project=True, which needs the shares of all categories")
        if not isinstance(self.mechanism, SetResponse):
            raise ValueError(
                f"items must be None for the mechanism {self.mechanism!r}, which estimates all shares at once"
            )
        try:
            codes, is_single = self.domain.records(items)
            codes = self.domain.convert(codes)
        except (TypeError, ValueError) as error:
            raise type(error)(
                f"items must be {self.domain.describe()}, in a list, got {type(items).__name__}"
            ) from None
        if is_single or not len(codes):
            raise ValueError(f"items must be {self.domain.describe()}, at least one in a list, got {items!r}")
        if (index := self.domain.first_invalid(codes)) >= 0:
            raise ValueError(f"items must be {self.domain.describe()}; index {index} is not")
        estimate = self._convert(self.mechanism._conclude(counted, items=codes))
        names = codes.tolist() if self.labels is None else [self.labels[code] for code in codes.tolist()]
        return replace(estimate, categories=tuple(names), _is_part=True)
