"""The mechanisms of the answers to a survey."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np

from .._typing import Floats
from ..mechanisms import (
    Laplace,
    Mechanism,
    RandomizedResponse,
    SignBit,
    SketchResponse,
    SubsetSelection,
    UnaryEncoding,
    Window,
)
from ..mechanisms._best_mechanism import ROUNDING, best, is_response_best, largest_variance, of_bits, total_variance
from ..mechanisms._sketch_response import whole_share
from ..mechanisms._window import MAX_OUTPUTS

RARE = 0.01  # share of a string in plans
SymbolMechanism = RandomizedResponse | SubsetSelection | UnaryEncoding


def for_number(lower: float, upper: float, epsilon: float) -> Window | None:
    """Return the mechanism for a number; None where one bit has a smaller largest variance than Laplace noise."""
    makers: list[Callable[[], SignBit | Laplace]] = [
        partial(SignBit, lower, upper, epsilon),
        partial(Laplace, lower, upper, epsilon),
    ]
    if isinstance(best(makers, largest_variance), SignBit):
        return None
    return Window(lower, upper, epsilon, outputs=MAX_OUTPUTS)


@lru_cache(maxsize=1024)
def for_symbols(k: int, epsilon: float) -> SymbolMechanism:
    """Return the mechanism for k symbols with the smallest total variance of the estimated shares, as `for_categories`.

    Plans have the standard error of the worst share.

    The covariances of these mechanisms have a simple form (`Response`), which margins, conditional shares and pooled
    answers need.
    """
    makers: list[Callable[[], SymbolMechanism]] = [partial(RandomizedResponse, k, epsilon)]
    if not is_response_best(k, epsilon):
        makers += of_bits(k, epsilon)
    return best(makers, total_variance, tolerance=ROUNDING)


def of_string(mechanism: SketchResponse, share: float | Floats) -> Floats:
    """Return the variance of one decoded answer about a string that a share of the people has."""
    scale = mechanism.buckets / (mechanism.buckets - 1)
    whole = whole_share(len(mechanism.prefixes))
    return np.asarray(scale**2 * mechanism.line.variance(1 / mechanism.buckets + share / scale) / float(whole))


def uses_numbers(mechanism: Mechanism) -> bool:
    """Return whether the records of a mechanism are numbers instead of symbols."""
    return isinstance(mechanism, Window)
