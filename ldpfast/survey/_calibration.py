"""Weights of groups of people that agree with margins of a population, and are as near as possible to their numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._typing import Floats

METHODS = ("raking", "linear", "logit")
MAX_STEPS = 200  # of Newton's method
MAX_HALVINGS = 60
CONVERGED = 1e-11  # largest difference of a margin, as a share
LARGEST = 700.0  # exponent
LEAST_SLOPE = 1e-9  # of a ratio at its bound, so that terms leave a plateau where all ratios of a value are at theirs

# The ratio to the weight of a start, its integral and its slope.
Ratio = Callable[[Floats], tuple[Floats, Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Calibration:
    """Margins of a population for groups of people, and the distance that weights minimize.

    Attributes
    ----------
    design : ndarray, shape (groups, values)
        1 where a group has a value of a margin.
    targets : ndarray, shape (values,)
        Share of each value in the population. Those of one margin add up to 1.
    method : str
        One of `METHODS`.
    bounds : tuple of float or None
        Smallest and largest ratio of a share in the population to that in the survey.
    """

    design: Floats
    targets: Floats
    method: str = "raking"
    bounds: tuple[float, float] | None = None

    def on(self, rows: NDArray[np.bool_]) -> Calibration:
        """Return the same margins for some of the groups."""
        return Calibration(self.design[rows], self.targets, self.method, self.bounds)

    def shares(self, n: NDArray[Any]) -> Floats | None:
        """Return the shares of the groups in the population from their numbers of people; None if none agree with the margins.

        The dual problem of the nearest weights is solved by Newton's method: they are those of the survey times a function of a
        sum of one term for each margin.
        """
        start, ratio = n / n.sum(), _ratio(self.method, self.bounds)
        design, targets = self.design, self.targets
        if self.method == "raking":  # a share of 0 would need an infinite term
            start = np.where(design[:, targets == 0].any(axis=1), 0.0, start)
            design, targets = design[:, targets > 0], targets[targets > 0]
        terms = np.zeros(len(targets))
        found, integral, slope = ratio(design @ terms)
        for _ in range(MAX_STEPS):
            rest = targets - design.T @ (start * found)
            if np.abs(rest).max(initial=0) <= CONVERGED:
                return np.asarray(start * found)
            curvature = (start * np.maximum(slope, LEAST_SLOPE))[:, np.newaxis]
            step = np.linalg.lstsq(design.T @ (curvature * design), rest, rcond=None)[0]
            gain, value = rest @ step, start @ integral - targets @ terms
            size = 1.0
            for _ in range(MAX_HALVINGS):
                after = terms + size * step
                found, integral, slope = ratio(design @ after)
                if start @ integral - targets @ after <= value - 1e-4 * size * gain + 1e-15 * (1 + abs(value)):
                    break
                size /= 2
            else:
                return None
            terms = after
        return None


def _ratio(method: str, bounds: tuple[float, float] | None) -> Ratio:
    """Return the function of the sum of terms that gives the ratio of weights; it is 1, with slope 1, for the sum 0."""
    low, high = bounds or (-np.inf, np.inf)

    def exponential(u: Floats) -> tuple[Floats, Floats, Floats]:
        found = np.exp(np.minimum(u, LARGEST))
        return found, found, found

    def linear(u: Floats) -> tuple[Floats, Floats, Floats]:
        cut = np.clip(u, low - 1, high - 1)
        return 1 + cut, u + cut * (u - cut / 2), ((u == cut) * 1.0)

    def logistic(u: Floats) -> tuple[Floats, Floats, Floats]:
        scale = (high - low) / ((1 - low) * (high - 1))
        odds = np.log((1 - low) / (high - 1)) + scale * u
        share = 1 / (1 + np.exp(-np.clip(odds, -LARGEST, LARGEST)))
        integral = low * u + (high - low) / scale * np.logaddexp(0, odds)
        return low + (high - low) * share, integral, (high - low) * scale * share * (1 - share)

    return {"raking": exponential, "linear": linear, "logit": logistic}[method]


def read_bounds(method: str, bounds: Any) -> tuple[float, float] | None:
    """Return the bounds of the ratio of weights as two numbers.

    Raises
    ------
    TypeError, ValueError
        If they are not two numbers around 1, or do not fit the method.
    """
    if method == "raking" or bounds is None:
        if method == "logit" or bounds is not None:
            needed = "be two numbers around 1" if bounds is None else "be None, or the method 'linear' or 'logit'"
            raise ValueError(f"bounds must {needed} with method={method!r}, got {bounds!r}")
        return None
    found = _check.numbers("bounds", bounds)
    if found.shape != (2,) or not 0 <= found[0] < 1 < found[1]:
        raise ValueError(
            f"bounds must be two numbers, of which the first is in [0, 1) and the second above 1, got {bounds!r}"
        )
    return float(found[0]), float(found[1])
