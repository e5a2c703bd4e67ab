"""Private modules of range queries and confidence regions, for tests of their parts."""

from ldpfast.estimation import _cell_shares as cell_shares
from ldpfast.estimation import _range_tree as range_tree
from ldpfast.estimation import _region as region

__all__ = [
    "Haar",
    "Hierarchy",
    "Spread",
    "Weights",
    "cell_shares",
    "largest_quantile",
    "least_probability",
    "mixture_probability",
    "range_tree",
    "region",
]

Haar = range_tree.Haar
Hierarchy = range_tree.Hierarchy
Weights = range_tree.Weights
Spread = region.Spread
largest_quantile = region.largest_quantile
least_probability = region.least_probability
mixture_probability = region.mixture_probability
