"""Private modules of stochastic gradient descent, for tests of their parts."""

from ldpfast.estimation.sgd import _average as average
from ldpfast.estimation.sgd import _examples as examples
from ldpfast.estimation.sgd import _local_fit as local_fit
from ldpfast.estimation.sgd import _segments as segments

__all__ = [
    "Average",
    "Segments",
    "average",
    "examples",
    "local_fit",
    "segments",
]

Average = average.Average
Segments = segments.Segments
