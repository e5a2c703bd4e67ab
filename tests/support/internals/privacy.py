"""Private modules of the accounting of privacy, for tests of their parts."""

from ldpfast.privacy import _blanket as blanket
from ldpfast.privacy import _conversions as conversions
from ldpfast.privacy import _loss_grid as loss_grid
from ldpfast.privacy import _shuffled_counts as shuffled_counts
from ldpfast.privacy import _two_outcomes as two_outcomes

__all__ = [
    "ERROR",
    "ShuffledCounts",
    "binomial",
    "blanket",
    "conversions",
    "least_error",
    "loss_grid",
    "misses",
    "shuffled_counts",
    "two_outcomes",
]

least_error = conversions.least_error
misses = conversions.misses
ERROR = shuffled_counts.ERROR
ShuffledCounts = shuffled_counts.ShuffledCounts
binomial = shuffled_counts.binomial
