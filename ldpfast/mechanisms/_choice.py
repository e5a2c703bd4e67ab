"""Choice of the mechanism with the smallest exact worst-case variance, from public arguments alone."""

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


def _constructible(*makers: Callable[[], AnyMechanism]) -> list[AnyMechanism]:
    """Return the mechanisms that accept their arguments; raise the first error if there are none."""
    found, errors = [], []
    for make in makers:
        try:
            found.append(make())
        except ValueError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    return found


def for_interval(lower: float, upper: float, epsilon: float) -> Mechanism:
    """Return the mechanism for a number in an interval with the smallest worst-case variance.

    Parameters
    ----------
    lower, upper : float
        Ends of the declared interval, which must not be taken from the data.
    epsilon : float
        Privacy parameter, > 0.

    Returns
    -------
    mechanism : SignBit or Laplace
        `SignBit` for epsilon below about 2.3, else `Laplace`. The choice depends on the arguments alone.

    Raises
    ------
    TypeError, ValueError
        If neither mechanism accepts these arguments.

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

    def worst_case_variance(mechanism: Mechanism) -> float:
        # Largest for SignBit at the center, and for Laplace in the middle of a grid step, where rounding adds most.
        x = lower + (mechanism.grid / 2 if isinstance(mechanism, Laplace) else (upper - lower) / 2)
        return float(mechanism.variance(x))

    return min(_constructible(*makers), key=worst_case_variance)


def for_categories(k: int, epsilon: float) -> RandomizedResponse | UnaryEncoding:
    """Return the mechanism for k categories with the smallest variance of the estimated share of a rare category.

    Parameters
    ----------
    k : int
        Number of declared categories, >= 2.
    epsilon : float
        Privacy parameter, > 0.

    Returns
    -------
    mechanism : RandomizedResponse or UnaryEncoding
        `RandomizedResponse` up to about 3 e^epsilon + 2 categories. The choice depends on the arguments alone.

    Raises
    ------
    TypeError, ValueError
        If no mechanism accepts these arguments.

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
    return min(_constructible(*makers), key=lambda mechanism: float(mechanism.debiasing.variance(0.0)))
