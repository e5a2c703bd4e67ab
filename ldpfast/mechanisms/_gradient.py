"""Private gradients of generalized linear models at a public position, for stochastic gradient descent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._core import sgd
from .._typing import AnyArray, Floats
from ..domains import Domain
from ._base import Mechanism
from ._l2_ball import L2Ball
from ._laplace_vector import LaplaceVector
from ._linf_ball import LinfBall

FAMILIES = ("logistic", "linear", "poisson")
FAR = 1e30  # bound of the magnitude of features and responses; larger ones are clipped to it
FIRST_BLOCK = 1 << 63  # first record block of gradients, so that they share no coin with the mechanism of the ball


@dataclass(frozen=True)
class Examples(Domain):
    """Rows of `features` finite numbers and a response: 0 or 1 (logistic), any number (linear), >= 0 (poisson).

    `reach` is a bound of the coordinates of a gradient.
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
class Gradient(Mechanism):
    """Gradient of one person's negative log-likelihood at a public position, privatized in a ball.

    Parameters
    ----------
    family : {"logistic", "linear", "poisson"}
        Generalized linear model, with its canonical link.
    position : sequence of float
        Public coefficients. The intercept's coefficient, if there is one, is last.
    epsilon : float
        Privacy parameter of the whole gradient, > 0.
    norm : {"l2", "linf"}
        Norm of rows and gradients.
    radius : float, default 1.0
        Bound r > 0 to which the norm of a row is clipped.
    column : float, default 0.0
        Value in the intercept's column, > 0; 0 for no intercept.
    residual : float, optional
        Bound c > 0. The residual, fitted mean minus response, is clipped to [-c, c]. Optional only for "logistic",
        whose residual is always within [-1, 1].
    noise : {"half-space", "laplace"}
        Mechanism of the ball: `L2Ball` or `LinfBall` for "half-space", `LaplaceVector` (a baseline) for "laplace".

    Attributes
    ----------
    ball : Mechanism
        Mechanism that privatizes the gradient.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above, or is not allowed by the mechanism of the ball.

    Notes
    -----
    Records: rows of features followed by the response, shape (n, features + 1). The gradient is residual times row, of
    norm at most c sqrt(r^2 + column^2) ("l2") or c max(r, column) ("linf"). It is computed in single precision. Reports
    are those of `ball`, in len(position) dimensions.

    Privacy
    -------
    The exact guarantee of `ball`, for every gradient. Resistance to timing attacks is not claimed, because the time of
    clipping and of `exp` may depend on the record. docs/proofs/gradient.md.

    References
    ----------
    .. [1] J. C. Duchi, M. I. Jordan, M. J. Wainwright, "Minimax optimal procedures for locally private estimation",
       JASA 113 (2018), section 4.2.2, eq. 33.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.mechanisms import Gradient
    >>> question = Gradient("logistic", position=(0.0, 0.0), epsilon=1.0)
    >>> question.privatize(np.array([0.5, -0.5, 1.0]), rng=1).shape  # two features and a label
    (2,)
    """

    family: str
    position: tuple[float, ...]
    epsilon: float
    norm: str = "l2"
    radius: float = 1.0
    column: float = 0.0
    residual: float | None = None
    noise: str = "half-space"
    ball: Any = field(init=False, repr=False, compare=False)
    domain: Examples = field(init=False, repr=False, compare=False)
    _descent: sgd.GradientDescent = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        family = _check.choice("family", self.family, FAMILIES)
        norm = _check.choice("norm", self.norm, ("l2", "linf"))
        noise = _check.choice("noise", self.noise, ("half-space", "laplace"))
        radius, column = _check.positive("radius", self.radius), _check.real("column", self.column) + 0.0
        if not 1e-15 <= radius <= 1e15:
            raise ValueError(f"radius must be in [1e-15, 1e15], where single precision holds the rows, got {radius!r}")
        if not (column == 0 or 1e-15 <= column <= 1e15):
            raise ValueError(f"column must be 0 or in [1e-15, 1e15], got {self.column!r}")
        if np.ndim(self.position) != 1:
            raise ValueError(f"position must have shape (dim,), got shape {np.shape(self.position)}")
        position = tuple(_check.real("position", number) for number in self.position)
        features = len(position) - (column > 0)
        if features < 1:
            raise ValueError(f"position must hold at least 1 coefficient beside the intercept, got {len(position)}")
        if self.residual is None and family != "logistic":
            raise ValueError(f"residual must be given for the family {family!r}, whose residuals have no bound")
        bound = 1.0 if self.residual is None else _check.positive("residual", self.residual)
        reach = bound * (math.hypot(radius, column) if norm == "l2" else max(radius, column))
        dim = len(position)
        if noise == "laplace":
            ball: Any = LaplaceVector(dim, self.epsilon, reach, norm)
        else:
            ball = L2Ball(dim, self.epsilon, reach) if norm == "l2" else LinfBall(dim, self.epsilon, reach)
        self._set(family=family, position=position, epsilon=ball.epsilon, norm=norm, radius=radius, column=column)
        self._set(residual=None if self.residual is None else bound, noise=noise)
        self._set(ball=ball, domain=Examples(features, family, reach))
        self._set(_descent=self.descent(math.inf))
        self.define(
            epsilon_realized=ball.epsilon_realized,
            domain=self.domain,
            report=ball.report,
            debiasing=ball.debiasing,
            kernel=ball._pipeline.kernel,
            first_block=FIRST_BLOCK,
            coin=ball._coin,
        )

    def descent(self, projection: float) -> sgd.GradientDescent:
        """Return the compiled gradients and steps, for positions of Euclidean norm at most `projection`."""
        return sgd.GradientDescent(
            self.domain.features,
            self.radius,
            self.column,
            math.inf if self.residual is None else self.residual,
            projection,
            FAMILIES.index(self.family),
            self.norm == "linf",
            self.ball._pipeline.kernel,
            getattr(self.ball, "scale", 1.0),
        )

    def encode(self, records: AnyArray) -> AnyArray:
        """Return the gradients of records, valid or not. NaN becomes 0 (a label 1/2), magnitudes are at most 1e30."""
        clean = np.nan_to_num(np.clip(records, -FAR, FAR), nan=0.0)
        response = clean[:, -1].astype(np.float64)
        if self.family == "logistic":
            response = np.where(np.isnan(records[:, -1]), 0.5, np.clip(response, 0, 1))
        elif self.family == "poisson":
            response = np.maximum(response, 0)
        gradients = np.empty((len(records), len(self.position)), np.float32)
        position = padded(self.position, self._descent.padded)
        self._descent.gradients(position, np.ascontiguousarray(clean[:, :-1]), response, gradients)
        return gradients.astype(records.dtype, copy=False)

    def report_variance(self, records: AnyArray) -> Floats:
        return np.asarray(self.ball.report_variance(self.encode(records)))

    @property
    def worst_variance(self) -> float:
        return float(self.ball.worst_variance)
