"""Private modules of regression with randomized answers, for tests of their parts."""

from ldpfast.analysis import _profile as profile
from ldpfast.analysis import _rows as rows

__all__ = [
    "Plane",
    "Rows",
    "profile",
    "rows",
]

Plane = profile.Plane
Rows = rows.Rows
