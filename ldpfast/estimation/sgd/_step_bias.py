"""Bias that a single Newton step leaves."""

from __future__ import annotations

import math

import numpy as np

from ..._typing import Floats

LARGEST_WEIGHT = {"logistic": 0.25, "poisson": 1.0}  # second derivatives; about 1 for Poisson models
LEAST_SHARE = 0.1  # of the largest weight: a smaller mean weight is noise


def step_bias(family: str, step: Floats, inverse: Floats, column: float) -> tuple[Floats, float]:
    """Return the largest usual bias of each coefficient after a step, and the root mean square move of the linear predictor.

    The gradient is linear in the move u of a linear predictor up to half of the third derivative times u^2, and the third
    derivative is at most the second one, w. By Cauchy's inequality the bias of a coefficient is at most half of the root of
    the mean of w u^4, times its standard deviation for a gradient with the Hessian as covariance. The mean of w u^4 is taken
    as that of moves of one size: the mean of w u^2, squared, over the mean of w. Moves of different sizes have a larger one.
    For logistic models, third derivatives that are mostly much smaller than the second ones make up for this.

    Parameters
    ----------
    family : {"linear", "logistic", "poisson"}
    step : ndarray, shape (dim,)
    inverse : ndarray, shape (dim, dim)
        Inverse of the Hessian.
    column : float
        Constant column of the rows, whose second moment has the mean of w; 0 without an intercept.
    """
    if family == "linear":
        return np.zeros(len(step)), 0.0
    hessian, largest = np.linalg.inv(inverse), LARGEST_WEIGHT[family]
    weight = largest
    if column > 0:
        weight = min(max(float(hessian[-1, -1]) / column**2, LEAST_SHARE * largest), largest)
    square = max(0.0, float(step @ hessian @ step))  # mean of w u^2
    move = math.sqrt(square / weight)
    return move * math.sqrt(square) / 2 * np.sqrt(np.diag(inverse)), move
