"""Choice of a mechanism by the exact variance in the worst case, from public arguments alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from ._base import Mechanism
from ._laplace import Laplace
from ._randomized_response import RandomizedResponse
from ._sign_bit import SignBit
from ._unary_encoding import UnaryEncoding

AnyMechanism = TypeVar("AnyMechanism", bound=Mechanism)


def _certified(*makers: Callable[[], AnyMechanism]) -> list[AnyMechanism]:
    """The mechanisms whose coins exist for these arguments; raises the first refusal if there are none."""
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
    """The mechanism for a number in an interval with the smallest variance in the worst case.

    Parameters
    ----------
    lower, upper : float
        The declared interval; it must not be taken from the data.
    epsilon : float

    Returns
    -------
    mechanism : SignBit or Laplace
        `SignBit` below an epsilon of about 2.3. The choice depends on the arguments alone.

    Raises
    ------
    TypeError, ValueError
        If neither mechanism takes these arguments.

    Examples
    --------
    >>> from ldpfast.mechanisms import for_interval
    >>> for_interval(0, 1, epsilon=1.0)
    SignBit(lower=0.0, upper=1.0, epsilon=1.0)
    """
    makers: list[Callable[[], Mechanism]] = [
        partial(SignBit, lower, upper, epsilon),
        partial(Laplace, lower, upper, epsilon),
    ]

    def worst(mechanism: Mechanism) -> float:
        # At the center; rounding to the grid adds most in the middle of a step.
        place = lower + (mechanism.grid / 2 if isinstance(mechanism, Laplace) else (upper - lower) / 2)
        return float(mechanism.variance(place))

    return min(_certified(*makers), key=worst)


def for_categories(k: int, epsilon: float) -> RandomizedResponse | UnaryEncoding:
    """The mechanism for k categories whose estimate of the share of a rare category has the smallest variance.

    Parameters
    ----------
    k : int
        Number of declared categories, >= 2.
    epsilon : float

    Returns
    -------
    mechanism : RandomizedResponse or UnaryEncoding
        `RandomizedResponse` up to about 3 e^epsilon + 2 categories. The choice depends on the arguments alone.

    Raises
    ------
    TypeError, ValueError
        If no mechanism takes these arguments.

    Examples
    --------
    >>> from ldpfast.mechanisms import for_categories
    >>> for_categories(4, epsilon=1.0)
    RandomizedResponse(k=4, epsilon=1.0)
    """
    makers: list[Callable[[], RandomizedResponse | UnaryEncoding]] = [
        partial(RandomizedResponse, k, epsilon),
        partial(UnaryEncoding, k, epsilon, "symmetric"),
        partial(UnaryEncoding, k, epsilon, "optimized"),
    ]
    return min(_certified(*makers), key=lambda mechanism: float(mechanism.debiasing.variance(0.0)))
