"""Private modules of the accounting of privacy, for tests of their parts."""

from ldpfast.privacy import _conversions as conversions
from ldpfast.privacy import _loss_grid as loss_grid
from ldpfast.privacy import _shuffled_counts as shuffled_counts

__all__ = [
    "ERROR",
    "ShuffledCounts",
    "binomial",
    "conversions",
    "least_error",
    "loss_grid",
    "misses",
    "shuffled_counts",
]

least_error = conversions.least_error
misses = conversions.misses
ERROR = shuffled_counts.ERROR
ShuffledCounts = shuffled_counts.ShuffledCounts
binomial = shuffled_counts.binomial
