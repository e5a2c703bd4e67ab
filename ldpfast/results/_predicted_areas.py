"""Estimates of small areas, which borrow strength from each other."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class PredictedAreas(NamedTuple):
    """The best predictions of areas.

    Attributes
    ----------
    estimate, stderr : ndarray, shape (areas,)
    variance : float
        Variance of the areas about the model.
    """

    estimate: NDArray[np.float64]
    stderr: NDArray[np.float64]
    variance: float


def predicted_areas(
    direct: NDArray[np.float64], stderr: NDArray[np.float64], design: NDArray[np.float64]
) -> PredictedAreas:
    """Return the empirical best predictions of the model of Fay and Herriot.

    An area is ``design @ coefficients`` plus a normal deviation, and its direct estimate has a known error more. The variance
    of the deviations maximizes the restricted likelihood. The standard error is that of the prediction, with the errors of the
    coefficients and of the variance (Prasad and Rao). An area without a direct estimate (NaN) is predicted by the model alone.

    Parameters
    ----------
    direct, stderr : ndarray, shape (areas,)
    design : ndarray, shape (areas, columns)
        Of full rank for the areas with a direct estimate, of which there are more than columns.

    References
    ----------
    .. [1] R. E. Fay, R. A. Herriot, "Estimates of income for small places", JASA, 1979.
    .. [2] N. G. N. Prasad, J. N. K. Rao, "The estimation of the mean squared error of small-area estimators", JASA, 1990.
    """
    known = np.isfinite(direct)
    # Orthonormal columns span the same functions, and are as precise for covariates that are large and differ little.
    triangle: Any = np.linalg.qr(design[known], mode="r")
    design = np.linalg.solve(triangle.T, design.T).T
    x, y = design[known], direct[known]
    errors = np.square(stderr[known])
    variance = _restricted_variance(x, y, errors)
    weights = 1 / (variance + errors)
    information = x.T @ (weights[:, np.newaxis] * x)
    coefficients = np.linalg.solve(information, x.T @ (weights * y))
    fitted = design @ coefficients
    of_model = np.einsum("ij,ij->i", design, np.linalg.solve(information, design.T).T)
    every = np.where(known, np.square(stderr), np.inf)
    trust = variance / (variance + every)  # of the direct estimate; 0 without one
    estimate = fitted + np.where(known, trust * (np.where(known, direct, 0) - fitted), 0)
    # Error of the prediction if all parameters were known, of the coefficients, and twice that of the variance.
    first = variance * (1 - trust)
    second = np.square(1 - trust) * of_model
    third = np.where(known, np.square(np.where(known, every, 0)) / (variance + np.where(known, every, 1)) ** 3, 0)
    mean_square = first + second + 2 * third * 2 / np.sum(np.square(weights))
    return PredictedAreas(estimate, np.sqrt(mean_square), variance)


def _restricted_variance(x: NDArray[np.float64], y: NDArray[np.float64], errors: NDArray[np.float64]) -> float:
    """Return the variance of the areas that maximizes the restricted likelihood, at least 0."""
    from scipy.optimize import minimize_scalar

    def loss(root: float) -> float:
        variance = float(root) ** 2
        weights = 1 / (variance + errors)
        information = x.T @ (weights[:, np.newaxis] * x)
        rest = y - x @ np.linalg.solve(information, x.T @ (weights * y))
        return float(np.linalg.slogdet(information)[1] - np.log(weights).sum() + weights @ np.square(rest))

    spread = max(float(np.var(y)), float(errors.min()))
    # Between several ends, because the likelihood can have two maxima; of the root of the variance, whose scale is even.
    ends = (math.sqrt(spread) * share for share in (0, 0.03, 0.1, 0.3, 1, 3))
    roots = [0.0]
    for low, high in pairwise(ends):
        roots.append(
            float(minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-9 * high}).x)
        )
    return min(roots, key=loss) ** 2
