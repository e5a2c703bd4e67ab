"""Private gradients of generalized linear models at a public position, for stochastic gradient descent."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from .._core import sgd
from .._typing import AnyArray, Floats
from ..reports import recipe_of
from ._likelihood_question import FAMILIES, LikelihoodQuestion, padded


@dataclass(frozen=True)
class Gradient(LikelihoodQuestion):
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
    noise : {"half-space", "auto", "laplace"}
        Mechanism of the ball: `L2Ball` or `LinfBall` for "half-space", `LaplaceVector` (a baseline) for "laplace". "auto" is
        the mechanism with the smallest error, that of `for_ball`, for "l2", and `LinfBall` for "linf".

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
    are reports of `ball`, in len(position) dimensions.

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

    _descent: sgd.GradientDescent = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(_descent=self.descent(math.inf))

    def _size(self) -> tuple[int, float]:
        return self.dim, self.row_bound * (1.0 if self.residual is None else self.residual_bound)

    def descent(self, projection: float) -> sgd.GradientDescent:
        """Return the compiled gradients and steps, for positions of Euclidean norm at most `projection`."""
        return sgd.GradientDescent(
            self.features,
            self.radius,
            self.column,
            self.residual_bound,
            projection,
            FAMILIES.index(self.family),
            self.norm == "linf",
            recipe_of(self.ball).kernel,
            getattr(self.ball, "scale", 1.0),
        )

    def _derivatives(self, rows: AnyArray, responses: Floats) -> AnyArray:
        gradients = np.empty((len(rows), self.dim), np.float32)
        self._descent.gradients(padded(self.position, self._descent.padded), rows, responses, gradients)
        return gradients
