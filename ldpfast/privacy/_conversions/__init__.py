"""Conversions between definitions of privacy.

``x_from_y`` is the best x that y guarantees, ``y_for_x`` the weakest y that guarantees x. With ``method="sharp"``, the default,
some channel attains the result. ``method="paper"`` is a weaker published form, and exists only if that form is true. Arguments
broadcast. All computations are in doubles, and results are rounded toward more privacy. An upper bound that is not 0 is at
least the smallest positive double.
"""

from ._dp import delta_from_dp, delta_from_tv, epsilon_for_tv, tv_from_dp
from ._hypothesis_tests import (
    conditional_testing_from_dp,
    disclosure_risk,
    dp_from_conditional_testing,
    least_error,
    misses,
)
from ._kl import delta_from_kl, epsilon_for_kl, kl_for_tv, kl_from_dp, tv_from_kl

__all__ = [
    "conditional_testing_from_dp",
    "delta_from_dp",
    "delta_from_kl",
    "delta_from_tv",
    "disclosure_risk",
    "dp_from_conditional_testing",
    "epsilon_for_kl",
    "epsilon_for_tv",
    "kl_for_tv",
    "kl_from_dp",
    "least_error",
    "misses",
    "tv_from_dp",
    "tv_from_kl",
]
