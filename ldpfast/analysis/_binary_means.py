"""Probabilities of a logit for two categories, and their derivatives by covariates and by coefficients."""

from __future__ import annotations

import numpy as np

from .._typing import Floats


def shares_of(x: Floats, params: Floats) -> tuple[Floats, Floats]:
    """Return the probabilities of people with columns x, and their derivatives by the coefficients, shape (n, columns)."""
    share = np.exp(-np.logaddexp(0, -(x @ params)))
    return share, x * (share * (1 - share))[:, np.newaxis]


def slope_of(x: Floats, moved: Floats, params: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return the weighted sum of the derivatives of the probabilities by a covariate, and its derivatives by the coefficients.

    Parameters
    ----------
    x, moved : ndarray, shape (n, columns)
        Columns of people, and their derivatives by the covariate.
    params : ndarray, shape (columns,)
    weights : ndarray, shape (n,)
    """
    share, own = np.exp(-np.logaddexp(0, -(x @ params))), moved @ params
    spread = share * (1 - share)
    slopes = (weights * spread * (1 - 2 * share) * own) @ x + (weights * spread) @ moved
    return np.asarray((weights * spread) @ own), slopes
