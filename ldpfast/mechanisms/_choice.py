"""Which mechanism to take: by the exact variance in the worst case, from public arguments alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ._base import Mechanism
from ._categories import RandomizedResponse, UnaryEncoding
from ._interval import Laplace, SignBit


def _certified(*makers: Callable[[], Mechanism]) -> list[Mechanism]:
    """The mechanisms whose coins exist for these arguments; the first refusal if there are none."""
    found, refusals = [], []
    for make in makers:
        try:
            found.append(make())
        except ValueError as refusal:
            refusals.append(refusal)
    if not found:
        raise refusals[0]
    return found


def for_interval(lower: float, upper: float, epsilon: float) -> Mechanism:
    """The mechanism for a number in an interval with the smaller variance in the worst case.

    Parameters
    ----------
    lower, upper : float
        The declared interval; it must not be taken from the data.
    epsilon : float

    Returns
    -------
    mechanism : SignBit or Laplace
        `SignBit` below an epsilon of about 2.3. The choice depends on the arguments alone.
    """
    candidates = _certified(partial(SignBit, lower, upper, epsilon), partial(Laplace, lower, upper, epsilon))

    def worst(mechanism: Mechanism) -> float:
        # At the centre; rounding to the grid adds most in the middle of a step.
        place = lower + (mechanism.grid / 2 if isinstance(mechanism, Laplace) else (upper - lower) / 2)
        return float(mechanism.variance(place))

    return min(candidates, key=worst)


def for_categories(k: int, epsilon: float) -> Mechanism:
    """The mechanism for k categories whose estimate of a rare category has the smallest variance.

    Parameters
    ----------
    k : int
        Number of declared categories, >= 2.
    epsilon : float

    Returns
    -------
    mechanism : RandomizedResponse or UnaryEncoding
        `RandomizedResponse` up to about 3 e^epsilon + 2 categories. The choice depends on the arguments alone.
    """
    candidates = _certified(
        partial(RandomizedResponse, k, epsilon),
        partial(UnaryEncoding, k, epsilon, "symmetric"),
        partial(UnaryEncoding, k, epsilon, "optimized"),
    )
    return min(candidates, key=lambda mechanism: float(mechanism.debiasing.variance(0.0)))
