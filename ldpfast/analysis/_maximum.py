"""The maximum of a likelihood of randomized reports: Fisher scoring, then Newton's method, with halved steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .._typing import Floats

MAX_STDERR = 20.0  # of a coefficient of a standardized column: more is no information about it
MAX_STEPS = 100
HALVINGS = 30
NEAR = 1.0  # squared length of a step in standard errors, below which Newton's method takes over
CONVERGED = 1e-10  # the same, of the last step
ROUNDING = 1e-12  # relative error of a log-likelihood


@dataclass(frozen=True, eq=False)
class LikelihoodSums:
    """Sums over people at some coefficients.

    Attributes
    ----------
    value : float
        Log-likelihood.
    score : ndarray, shape (coefficients,)
        Its gradient.
    information : ndarray, shape (coefficients, coefficients)
        Minus its Hessian, or a positive semidefinite matrix in place of that.
    """

    value: float
    score: Floats
    information: Floats


def total(parts: Sequence[LikelihoodSums]) -> LikelihoodSums:
    """Return the sums over all people from those over parts of them."""
    values, scores, informations = zip(*((part.value, part.score, part.information) for part in parts), strict=True)
    return LikelihoodSums(float(sum(values)), np.sum(scores, axis=0), np.sum(informations, axis=0))


class SmoothLikelihood(Protocol):
    """A log-likelihood with two derivatives."""

    def sums(self, params: Floats, *, observed: bool) -> LikelihoodSums:
        """Return the log-likelihood and its derivatives: minus the Hessian if `observed`, else what replaces it."""


def maximum(
    likelihood: SmoothLikelihood, start: Floats, *, is_near: bool = False
) -> tuple[Floats, LikelihoodSums] | None:
    """Return the coefficients with the largest likelihood from a start, and the sums there; None if there is no maximum.

    A start that is near the maximum is one for Newton's method, and is returned if the step would be negligible.
    """
    params, observed = start, is_near
    found = likelihood.sums(params, observed=observed)
    for _ in range(MAX_STEPS):
        if observed and not _is_positive(found.information):
            observed = False
            found = likelihood.sums(params, observed=False)
        try:
            step = np.linalg.lstsq(found.information, found.score, rcond=None)[0]
        except np.linalg.LinAlgError:
            return None
        length = float(step @ found.score)
        if is_near and observed and length < CONVERGED:
            return params, found
        least = found.value - ROUNDING * abs(found.value)
        for halving in range(HALVINGS):
            moved = params + (step * 0.5**halving).reshape(params.shape)
            near = length * 0.25**halving < NEAR
            after = likelihood.sums(moved, observed=near)
            if after.value >= least:
                break
        else:
            return None
        params = moved
        found = after
        observed = near
        if length < CONVERGED:
            last = found if observed else likelihood.sums(params, observed=True)
            return (params, last) if _is_positive(last.information) else None
    return None


def best_maximum(likelihood: SmoothLikelihood, starts: Iterable[Floats], message: str) -> tuple[Floats, LikelihoodSums]:
    """Return the coefficients with the largest likelihood from several starts, and the sums there.

    Raises
    ------
    ValueError
        With the message, if there are none, or none that are known.
    """
    found = [maximum(likelihood, start) for start in starts]
    best = max((pair for pair in found if pair is not None), key=lambda pair: pair[1].value, default=None)
    if best is None or np.sqrt(np.diag(np.linalg.inv(best[1].information))).max() > MAX_STDERR:
        raise ValueError(message)
    return best


def _is_positive(matrix: Floats) -> bool:
    """Return whether a matrix is positive definite."""
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True
