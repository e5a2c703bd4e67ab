"""Conversions between definitions of privacy.

``x_from_y`` is the best x that y guarantees, ``y_for_x`` the weakest y that guarantees x. With ``method="sharp"``, the default,
some channel attains the result. ``method="paper"`` is a weaker published form, and exists only if that form is true. All
computations are in doubles, and results are rounded toward more privacy. An upper bound that is not 0 is at least the smallest
positive double.
"""

from ._convert import convert
from ._hypothesis_tests import disclosure_risk, least_error, misses

__all__ = ["convert", "disclosure_risk", "least_error", "misses"]
