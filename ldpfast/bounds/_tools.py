"""Parts that the bounds of several problems have in common.

Lower bounds are suprema over families of two or more distributions. A family is chosen by the total variation distance
s of its reports. For each s of a short list there is a closed form for the largest separation, which decreases in n and
in epsilon. The maximum over the list then decreases too, and no search is needed. E is e^epsilon - 1.

Upper bounds are for procedures of the library, or for an answer without data if it is better. They are for ideal
coins. The coins of the library are rounded toward privacy, which adds less than one part in 10,000; they are not
available for epsilon above 44.
"""

from __future__ import annotations

import math

import numpy as np

from .._formulas import half_space_constants
from .._typing import Floats
from ._contraction import deficit, deficit_inverse_coefficients, from_deficit, tanh_half
from ._testing_methods import chi_factor, information_factor

DISTANCES = (0.05, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 2 / 3, 0.75)  # total variation distances of the reports
SQUARED, INTEGRATED = "squared error", "integrated squared error"
DJW = "Duchi, Jordan, Wainwright 2018"
# For functions of bounds: the square of e^epsilon is infinite for epsilon above 354, and the bounds have the right limits.
allow_overflow = np.errstate(over="ignore", divide="ignore")


def coth_half(a: Floats) -> Floats:
    """Return coth(epsilon / 2)."""
    return np.asarray(1 / np.tanh(a / 2))


def two_points(n: Floats, a: Floats, power: Floats, *, sparse: bool) -> Floats:
    """Return the supremum of d^power (1 - TV) over two distributions at distance d.

    The unit is the squared or plain half separation. With ``sparse``, the mass d is at one of two far points and the
    rest at zero. Otherwise two points have the masses (1 + d) / 2 and (1 - d) / 2.
    """
    t, c = tanh_half(a), float(power) if power.ndim == 0 else power  # powers of a plain number are faster
    # The total variation of n reports is at most n times that of one: sup of d^c (1 - n t d).
    best = np.minimum(1.0, c / (1 + c) / (n * t))
    value = best**c * (1 - n * t * best)
    value = np.maximum(
        value, 1 - np.minimum(from_deficit(n, deficit(a, np.ones(()))), 1.0)
    )  # the farthest distributions
    linear, root = deficit_inverse_coefficients(a)
    square = t**2
    exponent = 0.5 / n
    for s in DISTANCES:
        y = -np.expm1(math.log1p(-(s**2)) * exponent)  # deficit at which the n reports are s apart, see `from_deficit`
        shrunk = np.minimum(1.0, y / square)  # by the contraction of the Hellinger distance
        squared_spread = shrunk * (2 - shrunk)  # for (1 + d) / 2 and (1 - d) / 2
        far = np.maximum(linear * y + root * np.sqrt(y), shrunk if sparse else np.sqrt(squared_spread))
        value = np.maximum(value, np.minimum(far, 1.0) ** c * (1 - s))
        if sparse:
            value = np.maximum(value, squared_spread * (1 - s))
    return np.asarray(value)


def capacity(a: Floats) -> Floats:
    """Return C such that the divergences KL(M_v | M_w) sum to at most n C times the variance of orthogonal scores.

    The sum is over the edges w at a corner v. The published form is E^2 / 4. With u <= q <= e^epsilon u, the variance
    of q is at most (m - u) (e^epsilon u - m), which is at most sinh(epsilon / 2)^2 m^2: derived here.
    """
    return np.asarray(np.minimum(information_factor(a), chi_factor(a) * np.sinh(a / 2) ** 2))


def corners(ratio: Floats) -> Floats:
    """Return the supremum of d^2 (1 - TV) for a divergence of pairs of at most d^2 / (1 - d^2) / ratio."""
    value = np.zeros_like(ratio)
    for s in DISTANCES:
        far = divergence_of(s) * ratio
        value = np.maximum(value, far / (1 + far) * (1 - s))
    return value


def divergence_of(s: float) -> float:
    """Return the largest divergence for which `tv_from_kl` is at most s."""
    return float(max(2 * s**2, -np.log1p(-(s**2))))


def number_mean(n: Floats, a: Floats) -> Floats:
    """Return a lower bound on the squared error of the mean of a number in [-1, 1]."""
    return two_points(n, a, np.asarray(2.0), sparse=False)


def clipping(moment: Floats) -> Floats:
    """Return the sharp constant (k-1)^(k-1) / k^k of the bias of clipping; 0 if the moment is infinite."""
    k = np.where(np.isinf(moment), 2.0, moment)
    constant = np.exp((k - 1) * np.log(k - 1) - k * np.log(k))
    return np.asarray(np.where(np.isinf(moment), 0.0, constant))


def best_clipping(noise: Floats, spread: Floats, moment: Floats) -> Floats:
    """Return the least of noise T^2 + spread T^(2 - k) + constant^2 T^(2 - 2 k) over T > 0; at T = 1 if k is infinite.

    In u = T^k, the derivative is zero where 2 noise u^2 + (2 - k) spread u = 2 (k - 1) constant^2.
    """
    k = np.where(np.isinf(moment), 2.0, moment)
    target, slope = (k - 1) * clipping(k) ** 2, (2 - k) * spread
    root = 4 * target / (slope + np.sqrt(slope**2 + 16 * noise * target))
    t = root ** (1 / k)
    error = noise * t**2 + spread * t ** (2 - k) + clipping(k) ** 2 * t ** (2 - 2 * k)
    return np.asarray(np.where(np.isinf(moment), noise + spread, error))


def without_privacy(n: Floats, k: Floats) -> Floats:
    """Return the risk of the sample mean, or of the mean of clipped numbers where that is smaller: for k < 2 or few people."""
    clipped = best_clipping(np.full_like(n, 1e-300), 1 / n, np.minimum(k, 1.999999))
    return np.asarray(np.minimum(np.where(k < 2, clipped, 1 / n), best_clipping(1 / n, np.zeros(()), k)))


def half_space(dim: Floats) -> Floats:
    """Return the constant of `LinfBall` with ties kept.

    It is the constant of the half-space mechanism in odd dimension, and in even dimension the constant for dim + 1.
    """
    return half_space_constants(dim + (dim % 2 == 0))


def vectors(n: Floats, a: Floats, dim: Floats) -> Floats:
    """Return a lower bound for the mean of vectors in the unit ball, with independent coordinates of size 1 / sqrt(d).

    It includes the lower bound for one number.
    """
    factor = np.minimum(capacity(a), dim * tanh_half(a) ** 2 / 2)
    return np.maximum(corners(dim / (4 * n * factor)), number_mean(n, a))
