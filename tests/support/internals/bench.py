"""Private modules of bench/, for tests of their parts."""

from ldpfast.bench import _checks as checks
from ldpfast.bench import _measure as measure

__all__ = [
    "checks",
    "measure",
]
