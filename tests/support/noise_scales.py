"""Noise scales from the formulas of the papers, independent of the package."""

from __future__ import annotations

import math

from scipy import special


def sign_bit_factor(epsilon: float) -> float:
    """Return coth(epsilon / 2), the magnitude of a decoded sign bit on [-1, 1]."""
    return 1 / math.tanh(epsilon / 2)


def half_space_constant(dim: int) -> float:
    """Return c(d) = sqrt(pi) Gamma((d + 1) / 2) / Gamma(d / 2)."""
    return math.sqrt(math.pi) * math.exp(special.gammaln((dim + 1) / 2) - special.gammaln(dim / 2))


def l2_scale(dim: int, epsilon: float, radius: float = 1.0) -> float:
    """Return B, the Euclidean norm of a decoded report of `L2Ball`."""
    return radius * sign_bit_factor(epsilon) * half_space_constant(dim)


def linf_scale(dim: int, epsilon: float, radius: float = 1.0) -> float:
    """Return B, the absolute value of each coordinate of a decoded report of `LinfBall` with ties kept."""
    return radius * sign_bit_factor(epsilon) * half_space_constant(dim if dim % 2 else dim + 1)
