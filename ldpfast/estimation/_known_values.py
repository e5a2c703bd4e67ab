"""Known numbers of people whose categories are known by reports only: the arguments, and a warning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _check
from .._typing import AnyArray, Floats
from .._warnings import warn
from ..mechanisms._channel_argument import codes_of, mechanism_of
from ..privacy import Guarantee
from ..results import DoubtfulWarning

CERTAIN = 3.0  # standard errors by which a share must be above 0 for a conditional mean


def values_of(values: ArrayLike) -> AnyArray:
    """Return numbers of people as a vector of float32 or float64.

    Raises
    ------
    TypeError, ValueError
        If they are not finite numbers, shape (n,) with n >= 1.
    """
    numbers = _check.floats("values", _check.array("values", values))
    if numbers.ndim != 1 or len(numbers) == 0:
        raise ValueError(f"values must have shape (n,) with n >= 1, got shape {numbers.shape}")
    if numbers.dtype != np.float32:
        numbers = numbers.astype(np.float64, copy=False)
    finite = np.isfinite(numbers)
    if not finite.all():
        raise ValueError(f"values must be finite numbers, got {numbers[~finite][0]}")
    return numbers


def coded(reports: ArrayLike, design: Any, n: int) -> tuple[Any, NDArray[Any]]:
    """Return the mechanism of the reports of n people, and their codes."""
    if design is None:
        raise TypeError("design or rates must be given")
    mechanism = mechanism_of(design)
    codes = codes_of(reports, design, mechanism)
    if codes.shape != (n,):
        raise ValueError(f"reports must have shape ({n},), like values, got shape {codes.shape}")
    return mechanism, codes


def flags_of(reports: ArrayLike, design: Any, n: int) -> NDArray[Any]:
    """Return reports that are flags of n people, as 0 and 1."""
    if design is not None:
        raise TypeError("design must be None if rates are given")
    return coded(reports, [[1, 0], [0, 1]], n)[1]


def rates_of(rates: ArrayLike, n: int) -> Floats:
    """Return the probability of a fair coin: one number, or one for each of n people."""
    probability = _check.within("rates", rates, 0, 1, "[)")
    if probability.shape not in ((), (n,)):
        raise ValueError(f"rates must be a number or have shape ({n},), like values, got shape {probability.shape}")
    return probability


def weights_of_flags(flags: ArrayLike, probability: Floats) -> Floats:
    """Return unbiased estimates of true flags, from flags that are fair coins with some probabilities."""
    return np.asarray((np.asarray(flags) - probability / 2) / (1 - probability))


def guarantee_of(probability: Floats) -> Guarantee:
    """Return the guarantee of the person with the smallest rate."""
    least = float(probability.min())
    return Guarantee("local", math.nextafter(math.log((2 - least) / least), math.inf) if least else math.inf)


def warn_rare(shares: ArrayLike, squares: ArrayLike, n: int) -> None:
    """Warn if the share of a category is not clearly above 0.

    `shares` and `squares` are the means of the decoded reports of n people and of their squares, for each category.
    """
    shares = np.asarray(shares)
    deviations = np.sqrt(np.maximum(squares - shares**2, 0))
    uncertain = np.flatnonzero((shares < CERTAIN * deviations / np.sqrt(n)) | (shares <= 0))
    if len(uncertain):
        warn(
            f"the share of category {int(uncertain[0])} is not clearly above 0, so its mean and quantiles are not reliable: "
            "ask more people",
            DoubtfulWarning,
        )
