"""Which mechanism to take: by the exact variance in the worst case, from public arguments alone."""

from __future__ import annotations

from ._base import Mechanism
from ._categories import RandomizedResponse, UnaryEncoding
from ._interval import Laplace, SignBit


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
    noise = Laplace(lower, upper, epsilon)
    if epsilon > 3:  # far past the crossing, where the coin of a bit may not even exist
        return noise
    bit = SignBit(lower, upper, epsilon)
    worst_bit = bit.variance(bit.lower + (bit.upper - bit.lower) / 2)
    worst_noise = noise.variance(noise.lower + noise.grid / 2)  # rounding to the grid adds most in the middle of a step
    return bit if worst_bit < worst_noise else noise


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
    candidates: tuple[Mechanism, ...] = (
        RandomizedResponse(k, epsilon),
        UnaryEncoding(k, epsilon, "symmetric"),
        UnaryEncoding(k, epsilon, "optimized"),
    )
    return min(candidates, key=lambda mechanism: float(mechanism.debiasing.variance(0.0)))
