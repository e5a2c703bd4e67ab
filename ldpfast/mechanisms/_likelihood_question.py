"""Questions about the likelihood of a generalized linear model at a public position, and their records."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._typing import AnyArray, Floats
from ..domains import Domain
from ..privacy import ReportLaw, TwoLevel
from ..reports import Decoding, recipe_of
from ..results import Kinds
from ._best_mechanism import for_ball
from ._draws import PeopleCounts
from ._l2_ball import L2Ball
from ._laplace_vector import LaplaceVector
from ._law import Law
from ._linf_ball import LinfBall
from ._mechanism import Mechanism

if TYPE_CHECKING:
    from numpy.random import Generator

    from ._record_recipe import RecordRecipe

FAMILIES = ("logistic", "linear", "poisson")
NOISES = ("auto", "half-space", "laplace")
FAR = 1e30  # bound on the magnitude of features and responses; larger ones are clipped to it
FIRST_BLOCK = 1 << 63  # first record block of gradients, so that they share no coin with the mechanism of the ball


@dataclass(frozen=True)
class Examples(Domain):
    """Rows of `features` finite numbers and a response: 0 or 1 (logistic), any number (linear), >= 0 (poisson).

    `reach` is a bound on the coordinates of what is privatized.
    """

    features: int
    family: str
    reach: float

    @property
    def width(self) -> int:
        return self.features + 1

    @property
    def range(self) -> tuple[float, float]:
        return -self.reach, self.reach

    def describe(self) -> str:
        response = {"logistic": "0 or 1", "linear": "a number", "poisson": "a number >= 0"}[self.family]
        return f"rows of {self.features} finite numbers and a response, {response}"

    def clip(self, records: AnyArray) -> AnyArray:
        """Return the nearest valid records. NaN becomes 0 (a label 1/2), and magnitudes are at most 1e30."""
        with np.errstate(invalid="ignore"):  # signaling NaN
            clean = np.nan_to_num(np.clip(records, -FAR, FAR), nan=0.0)
        if self.family == "logistic":
            clean[:, -1] = np.where(np.isnan(records[:, -1]), 0.5, np.clip(clean[:, -1], 0, 1))
        elif self.family == "poisson":
            clean[:, -1] = np.maximum(clean[:, -1], 0)
        return np.asarray(clean)

    def first_invalid(self, records: AnyArray) -> int:
        bad = self.invalid(records)
        return int(np.argmax(bad)) if bad.any() else -1

    def invalid(self, records: AnyArray) -> NDArray[np.bool_]:
        return self.invalid_examples(records[:, :-1], records[:, -1])

    def invalid_examples(self, rows: AnyArray, responses: AnyArray) -> NDArray[np.bool_]:
        """Return which examples are invalid."""
        bad = ~(np.isfinite(rows).all(axis=1) & np.isfinite(responses))
        if self.family == "logistic":
            bad |= (responses != 0) & (responses != 1)
        elif self.family == "poisson":
            bad |= responses < 0
        return np.asarray(bad)


def padded(numbers: Sequence[float] | Floats, length: int) -> Floats:
    """Return numbers padded with zeros to `length`, as kernels require for positions and reports."""
    out = np.zeros(length)
    out[: len(numbers)] = numbers
    return out


@dataclass(frozen=True)
class LikelihoodQuestion(Mechanism):
    """Derivative of one person's negative log-likelihood at a public position, privatized in a ball.

    The parameters are as for `Gradient`. A subclass says how many numbers the derivative has, how long it is, and how to
    compute it.
    """

    family: str
    position: tuple[float, ...]
    epsilon: float
    _: KW_ONLY
    norm: str = "l2"
    radius: float = 1.0
    column: float = 0.0
    residual: float | None = None
    noise: str = "half-space"
    ball: Any = field(init=False, repr=False, compare=False)
    domain: Examples = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        family = _check.choice("family", self.family, FAMILIES)
        norm = _check.choice("norm", self.norm, ("l2", "linf"))
        noise = _check.choice("noise", self.noise, NOISES)
        radius, column = _check.positive("radius", self.radius), _check.real("column", self.column) + 0.0
        if not 1e-15 <= radius <= 1e15:
            raise ValueError(f"radius must be in [1e-15, 1e15], where single precision holds the rows, got {radius!r}")
        if not (column == 0 or 1e-15 <= column <= 1e15):
            raise ValueError(f"column must be 0 or in [1e-15, 1e15], got {self.column!r}")
        if np.ndim(self.position) != 1:
            raise ValueError(f"position must have shape (dim,), got shape {np.shape(self.position)}")
        position = tuple(self.position)
        if set(map(type, position)) != {float} or not np.isfinite(position).all():
            position = tuple(_check.real("position", number) for number in position)
        if len(position) - (column > 0) < 1:
            raise ValueError(f"position must hold at least 1 coefficient beside the intercept, got {len(position)}")
        if self.residual is None and family != "logistic":
            raise ValueError(f"residual must be given for the family {family!r}, whose residuals have no bound")
        bound = None if self.residual is None else _check.positive("residual", self.residual)
        self._set(
            family=family, position=position, norm=norm, radius=radius, column=column, residual=bound, noise=noise
        )
        # The derivative at the position lies in a ball whose dimension and radius are public, so any mechanism for a ball
        # reports it.
        size, reach = self._size()
        ball: Any
        if noise == "laplace":
            ball = LaplaceVector(size, self.epsilon, radius=reach, norm=norm)
        elif norm == "linf":
            ball = LinfBall(size, self.epsilon, radius=reach)
        else:
            ball = (for_ball if noise == "auto" else L2Ball)(size, self.epsilon, radius=reach)
        self._set(epsilon=ball.epsilon, ball=ball, domain=Examples(self.features, family, reach))
        self.define(
            epsilon_realized=ball.epsilon_realized,
            domain=self.domain,
            report=ball.report,
            debiasing=ball.debiasing,
            kernel=recipe_of(ball).kernel,
            law=BallLaw(recipe_of(ball), self.encode),
            first_block=FIRST_BLOCK,
            coin=recipe_of(ball).coin,
        )

    @property
    def dim(self) -> int:
        """Number of coefficients, including the intercept."""
        return len(self.position)

    @property
    def features(self) -> int:
        """Number of features of a row."""
        return len(self.position) - (self.column > 0)

    @property
    def residual_bound(self) -> float:
        """Bound of the residual; infinite for a logistic model without one."""
        return math.inf if self.residual is None else self.residual

    @property
    def row_bound(self) -> float:
        """Bound of the norm of a row, with the column of the intercept."""
        return math.hypot(self.radius, self.column) if self.norm == "l2" else max(self.radius, self.column)

    @property
    def noise_variance(self) -> float:
        """Variance of a coordinate of the report of a zero derivative."""
        return float(recipe_of(self.ball).variance(np.zeros((1, self.ball.dim)))[0, 0])

    @property
    def has_known_noise(self) -> bool:
        """Whether all reports have the same second moments, those of half-spaces, for all data."""
        return isinstance(self.ball, L2Ball | LinfBall)

    @property
    def curvature(self) -> float:
        """Upper bound on the smallest eigenvalue of the Hessian; for a Poisson model with a mean response of 1."""
        square = self.radius**2 * (1 if self.norm == "l2" else self.features) + self.column**2
        return square / self.dim / (4 if self.family == "logistic" else 1)

    @abstractmethod
    def _size(self) -> tuple[int, float]:
        """Return the number of coordinates of the derivative, and a bound on its norm."""

    @abstractmethod
    def _derivatives(self, rows: AnyArray, responses: Floats) -> AnyArray:
        """Return the derivatives for finite rows of features and valid responses."""

    def encode(self, records: AnyArray) -> AnyArray:
        """Return the derivatives of the nearest valid records."""
        clean = self.domain.clip(records)
        rows, responses = np.ascontiguousarray(clean[:, :-1]), clean[:, -1].astype(np.float64)
        return self._derivatives(rows, responses).astype(records.dtype, copy=False)


@dataclass(frozen=True)
class BallLaw(Law):
    """The distribution of the report about a vector that is computed from the record.

    Attributes
    ----------
    ball : RecordRecipe
        Recipe of the mechanism of the vector.
    encode : callable
        Function from records to vectors.
    """

    ball: RecordRecipe
    encode: Callable[[AnyArray], AnyArray]

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray:
        return self.ball.draw(self.encode(records), people, generator)

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        return self.ball.variance(self.encode(records))

    def two_level(self) -> TwoLevel | None:
        return self.ball.two_level

    def report_laws(self) -> Sequence[ReportLaw] | None:
        return self.ball.report_laws

    def largest_probability(self) -> float:
        return self.ball.law.largest_probability()

    def kinds_of(self, reports: AnyArray) -> Kinds | None:
        return self.ball.law.kinds_of(reports)

    def worst_variance(self, decoding: Decoding) -> float:
        return self.ball.worst_variance
