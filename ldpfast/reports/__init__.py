"""Reports and their aggregation.

A format defines layout, validation, decoding, counting and size of a report, and its aggregator. Bits and codes are
counted; real numbers are added as 128-bit integers. So the state does not depend on the order of the reports or on the
number of machines. Floating point is used only for the estimate. This package does not depend on mechanisms.
"""

from ._base import MAX_REPORTS, Aggregator, Format, Source, hash_of_batch, read_batches
from ._bits import BitCounts, Bits
from ._codes import CodeCounts, Codes
from ._counts import CountAggregator
from ._directions import Directions
from ._grid import Grid, GridSums
from ._labels import MESSAGE_VERSION, SCHEMA_KEY, check_table_schema
from ._question import Question
from ._signs import SampledSigns, SignCounts
from ._vectors import Vectors, VectorSums

__all__ = [
    "MAX_REPORTS",
    "MESSAGE_VERSION",
    "SCHEMA_KEY",
    "Aggregator",
    "BitCounts",
    "Bits",
    "CodeCounts",
    "Codes",
    "CountAggregator",
    "Directions",
    "Format",
    "Grid",
    "GridSums",
    "Question",
    "SampledSigns",
    "SignCounts",
    "Source",
    "VectorSums",
    "Vectors",
    "check_table_schema",
    "hash_of_batch",
    "read_batches",
]
