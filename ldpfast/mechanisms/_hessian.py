"""Private Hessians of generalized linear models at a public position, for a Newton step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._typing import AnyArray, Floats
from ..reports import recipe_of
from ._likelihood_question import LikelihoodQuestion

MAX_COEFFICIENTS = 512  # 131,328 entries
MIN_CAP = 3.0  # least cap of the weight of a Poisson model: fitted means up to it are exact


@dataclass(frozen=True)
class Hessian(LikelihoodQuestion):
    """Hessian of one person's negative log-likelihood at a public position, privatized in a ball.

    Parameters
    ----------
    family, position, epsilon, norm, radius, column, residual, noise
        As for `Gradient`; at most 512 coefficients.

    Attributes
    ----------
    ball : Mechanism
        Mechanism that privatizes the Hessian.

    Raises
    ------
    TypeError, ValueError
        As for `Gradient`.

    Notes
    -----
    The Hessian is weight times row row^T. The weight is p (1 - p), 1 or the fitted mean (at most `cap`),
    by family, and 0 where the residual is clipped. Reports are reports of `ball` for its d (d + 1) / 2 entries on and above the
    diagonal, in the order of ``numpy.triu_indices``, scaled and shifted. Coordinates are multiplied by `scales`. For "l2"
    the entries above the diagonal are multiplied by sqrt(2), so that the length is the Frobenius norm, and a multiple of the
    identity is subtracted, which makes the ball smaller. For "linf" the diagonal is doubled and shifted to the range of the
    other entries. `matrix` reverses this.

    Privacy
    -------
    The exact guarantee of `ball`, for every Hessian. Resistance to timing attacks is not claimed. docs/proofs/gradient.md.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.mechanisms import Hessian
    >>> question = Hessian("logistic", position=(0.0, 0.0), epsilon=1.0)
    >>> question.privatize(np.array([0.5, -0.5, 1.0]), rng=1).shape  # two features and a label
    (3,)
    """

    _factors: Floats = field(init=False, repr=False, compare=False)
    _shifts: Floats = field(init=False, repr=False, compare=False)

    @property
    def _entries(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows and columns of the entries on and above the diagonal."""
        return np.triu_indices(self.dim)

    @property
    def cap(self) -> float:
        """Largest weight of a Poisson model; where fitted means are larger, the Hessian is too small."""
        return max(self.residual_bound, MIN_CAP)

    @property
    def scales(self) -> Floats:
        """Factors of the coordinates before the Hessian is privatized.

        The column of the intercept is scaled to the size that a feature can have in all rows, so that it does not add to the
        noise of the others.
        """
        scales = np.ones(self.dim)
        if self.column > 0:
            scales[-1] = self.radius / self.column / (math.sqrt(self.features) if self.norm == "l2" else 1.0)
        return scales

    def _size(self) -> tuple[int, float]:
        if self.dim > MAX_COEFFICIENTS:
            raise ValueError(
                f"position must hold at most {MAX_COEFFICIENTS} coefficients for a Hessian, got {self.dim}"
            )
        first, second = self._entries
        diagonal, scales = first == second, self.scales
        weight = {"logistic": 0.25, "linear": 1.0, "poisson": self.cap}[self.family]
        column = self.column * float(scales[-1])
        if self.norm == "l2":
            # t v v^T with a unit vector v and 0 <= t <= largest, less share * largest times the identity
            largest, share = weight * (self.radius**2 + column**2), 1 / max(2, self.dim)
            reach = largest * math.sqrt(max(self.dim * share**2, 1 - 2 * share + self.dim * share**2))
            factors, shifts = np.where(diagonal, 1.0, math.sqrt(2)), np.where(diagonal, share * largest, 0.0)
        else:
            reach = weight * self.radius**2
            factors, shifts = np.where(diagonal, 2.0, 1.0), np.where(diagonal, reach, 0.0)
        self._set(_factors=factors * scales[first] * scales[second], _shifts=shifts)
        return len(first), reach

    def _derivatives(self, rows: AnyArray, responses: Floats) -> AnyArray:
        full = np.empty((len(rows), self.dim))
        features = full[:, : self.features]
        if self.norm == "l2":
            np.clip(rows, -1e12 * self.radius, 1e12 * self.radius, out=features)
            length = np.sqrt(np.einsum("ij,ij->i", features, features))
            features *= (self.radius / np.maximum(length, self.radius))[:, np.newaxis]
        else:
            np.clip(rows, -self.radius, self.radius, out=features)
        full[:, self.features :] = self.column
        weights = self._weights(full @ np.array(self.position), responses)
        first, second = self._entries
        entries = np.take(full, first, axis=1)
        entries *= np.take(full, second, axis=1)
        entries *= weights[:, np.newaxis]
        entries *= self._factors
        entries -= self._shifts
        return entries

    def _weights(self, predictor: Floats, responses: Floats) -> Floats:
        """Return the second derivatives of the negative log-likelihood with respect to the linear predictor."""
        from scipy.special import expit

        if self.family == "logistic":
            fitted = expit(predictor)
            weights = fitted * expit(-predictor)
        elif self.family == "linear":
            fitted, weights = predictor, np.ones_like(predictor)
        else:
            fitted = np.exp(np.minimum(predictor, 700.0))
            weights = np.minimum(fitted, self.cap)
        weights[np.abs(fitted - responses) >= self.residual_bound] = 0.0
        return np.asarray(weights)

    def matrix(self, decoded: Floats) -> Floats:
        """Return the Hessian that decoded numbers stand for.

        Parameters
        ----------
        decoded : ndarray, shape (d (d + 1) / 2,)
            Decoded report, or a mean of decoded reports.

        Returns
        -------
        hessian : ndarray, shape (d, d)
        """
        return self._symmetric((decoded + self._shifts) / self._factors)

    @property
    def variances(self) -> Floats:
        """Variances of the entries of the matrix of one report, where the Hessian itself is small beside the noise."""
        noise = recipe_of(self.ball).variance(np.zeros((1, len(self._factors))))[0]
        return self._symmetric(noise / self._factors**2)

    def _symmetric(self, entries: Floats) -> Floats:
        """Return the symmetric matrix with the given entries on and above the diagonal."""
        matrix = np.empty((self.dim, self.dim))
        matrix[self._entries] = entries
        matrix.T[self._entries] = entries
        return matrix
