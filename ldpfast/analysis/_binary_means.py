"""Probabilities of a model of two categories, and their derivatives by covariates and by coefficients."""

from __future__ import annotations

import numpy as np

from .._typing import Floats
from ._links import LOGIT, Link
from ._rows import Rows


def shares_of(x: Floats, params: Floats, link: Link = LOGIT) -> tuple[Floats, Floats]:
    """Return the probabilities of people with columns x, and their derivatives by the coefficients, shape (n, columns)."""
    eta = x @ params
    return link.both(eta)[1], x * link.density(eta)[:, np.newaxis]


def slope_of(x: Floats, moved: Floats, params: Floats, weights: Floats, link: Link = LOGIT) -> tuple[Floats, Floats]:
    """Return the weighted sum of the derivatives of the probabilities by a covariate, and its derivatives by the coefficients.

    Parameters
    ----------
    x, moved : ndarray, shape (n, columns)
        Columns of people, and their derivatives by the covariate.
    params : ndarray, shape (columns,)
    weights : ndarray, shape (n,)
    link : Link
    """
    eta, own = x @ params, moved @ params
    spread = weights * link.density(eta)
    slopes = (weights * link.curvature(eta) * own) @ x + spread @ moved
    return np.asarray(spread @ own), slopes


def average_of(rows: Rows, weights: Floats, params: Floats, link: Link = LOGIT) -> tuple[Floats, Floats]:
    """Return the mean probability of rows, and its derivatives by the coefficients, as `Regression._average` does."""
    value, slopes = np.zeros(1), np.zeros((1, len(params)))
    for part in rows.parts():
        shares, by_params = shares_of(rows.block(part), params, link)
        value += weights[part] @ shares
        slopes += weights[part] @ by_params
    return value, slopes


def average_slope_of(
    rows: Rows, derivatives: Floats, weights: Floats, params: Floats, link: Link = LOGIT
) -> tuple[Floats, Floats]:
    """Return the mean derivative by a covariate, and its derivatives, as `Regression._average_slope` does."""
    value, slopes = np.zeros(1), np.zeros((1, len(params)))
    for part in rows.parts():
        x = rows.block(part)
        moved = np.broadcast_to(derivatives if derivatives.ndim == 1 else derivatives[part], x.shape)
        own, by_params = slope_of(x, moved, params, weights[part], link)
        value += own
        slopes += by_params
    return value, slopes
