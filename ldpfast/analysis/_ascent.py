"""Ascent to a maximum of a likelihood with gradients alone, which take a small part of the time of second derivatives."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .._typing import Floats
from ._maximum import HALVINGS, ROUNDING

MAX_ASCENT = 400  # steps
LEVEL = 1e-12  # squared length of the last step in standard errors


class SlopedLikelihood(Protocol):
    """A log-likelihood with a gradient."""

    def value_and_score(self, params: Floats) -> tuple[float, Floats]:
        """Return the log-likelihood and its gradient, a vector of the coefficients."""


def ascend(likelihood: SlopedLikelihood, start: Floats, information: Floats) -> tuple[Floats, bool]:
    """Return coefficients with a larger likelihood, and whether they seem to be a maximum.

    The method of Broyden, Fletcher, Goldfarb and Shanno, with halved steps. Its first metric is `information`, so that it does
    not depend on the units of the columns. An update that would make the metric indefinite, where the likelihood is not
    concave, is left out.

    Parameters
    ----------
    likelihood : SlopedLikelihood
    start : ndarray, shape of the coefficients
    information : ndarray, shape (coefficients, coefficients)
        The information at the start, or a positive definite matrix in place of it.
    """
    try:
        inverse = np.linalg.inv(information)
    except np.linalg.LinAlgError:
        return start, False
    params = start
    value, score = likelihood.value_and_score(params)
    for _ in range(MAX_ASCENT):
        step = inverse @ score
        if float(step @ score) < LEVEL:
            return params, bool(step @ score >= 0)
        least = value - ROUNDING * abs(value)
        for _ in range(HALVINGS):
            moved = params + step.reshape(params.shape)
            after, slope = likelihood.value_and_score(moved)
            if after >= least:
                break
            step = step / 2
        else:
            return params, False
        change = score - slope
        curvature = float(step @ change)
        if curvature > ROUNDING * float(step @ score):
            image = inverse @ change
            outer = np.outer(step, image) / curvature
            inverse += np.outer(step, step) * ((1 + float(change @ image) / curvature) / curvature) - outer - outer.T
        params = moved
        value, score = after, slope
    return params, False
