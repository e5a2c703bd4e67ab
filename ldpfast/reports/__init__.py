"""Reports and their aggregation.

A format says what a report is: layout, validation, decoding, counting and size. It chooses the aggregator: bits and
codes are counted, real numbers are added as 128-bit integers. So any order of the reports, on any number of machines,
gives the same bytes. Floating point enters when the estimate is asked for. Nothing here knows a mechanism.
"""

from ._base import Aggregator, Format, Source, set_reader
from ._bits import BitCounts, Bits
from ._codes import CodeCounts, Codes
from ._counts import CountAggregator
from ._grid import Grid, GridSums
from ._vectors import Vectors, VectorSums

__all__ = [
    "Aggregator",
    "BitCounts",
    "Bits",
    "CodeCounts",
    "Codes",
    "CountAggregator",
    "Format",
    "Grid",
    "GridSums",
    "Source",
    "VectorSums",
    "Vectors",
    "set_reader",
]
