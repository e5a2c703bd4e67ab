"""The mechanisms of the answers to a survey."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

from ..mechanisms import Laplace, Mechanism, RandomizedResponse, SignBit, UnaryEncoding, Window
from ..mechanisms._choice import best, largest_variance


def for_number(lower: float, upper: float, epsilon: float) -> Laplace | Window | None:
    """Return the mechanism for a number; None where one bit has a smaller largest variance than Laplace noise."""
    makers: list[Callable[[], SignBit | Laplace]] = [
        partial(SignBit, lower, upper, epsilon),
        partial(Laplace, lower, upper, epsilon),
    ]
    chosen = best(makers, largest_variance)
    if isinstance(chosen, SignBit):
        return None
    numbers: list[Callable[[], Laplace | Window]] = [lambda: chosen, partial(Window, lower, upper, epsilon)]
    return best(numbers, largest_variance)


@lru_cache(maxsize=1024)
def for_symbols(k: int, epsilon: float) -> Mechanism:
    """Return the mechanism for k symbols with the smallest variance of the estimated share of a rare one.

    Its shares have covariances of a simple form, which margins and conditional shares need.
    """
    makers: list[Callable[[], RandomizedResponse | UnaryEncoding]] = [
        partial(RandomizedResponse, k, epsilon),
        partial(UnaryEncoding, k, epsilon, method="symmetric"),
        partial(UnaryEncoding, k, epsilon, method="optimized"),
    ]
    return best(makers, lambda mechanism: float(mechanism.debiasing.variance(0.0)))


def uses_numbers(mechanism: Mechanism) -> bool:
    """Return whether the records of a mechanism are numbers instead of symbols."""
    return isinstance(mechanism, Laplace | Window)
