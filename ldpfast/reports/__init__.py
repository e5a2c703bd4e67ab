"""Reports and their aggregation.

A format defines layout, validation, decoding, counting and size of a report, and the mean of decoded reports. Bits and codes
are counted; real numbers are added as 128-bit integers. So the state does not depend on the order of the reports or on the
number of machines. Floating point is used only for the estimate. This package does not depend on mechanisms.
"""

from ._aggregator import Aggregator
from ._aggregator import aggregator_with as aggregator_with
from ._batches import hash_of_batch as hash_of_batch
from ._bits import Bits
from ._codes import Codes
from ._counts import MAX_REPORTS as MAX_REPORTS
from ._counts import Counted as Counted
from ._counts import Counts as Counts
from ._directions import Directions as Directions
from ._format import CountFormat as CountFormat
from ._format import Decoding as Decoding
from ._format import Format as Format
from ._frames import FrameSigns as FrameSigns
from ._grid import Grid
from ._grouped import GroupedAggregator as GroupedAggregator
from ._grouped import aggregator_of as aggregator_of
from ._grouped_results import GroupedResults as GroupedResults
from ._labeled_reports import MESSAGE_VERSION as MESSAGE_VERSION
from ._labeled_reports import SCHEMA_KEY as SCHEMA_KEY
from ._labeled_reports import Label as Label
from ._labeled_reports import check_table_schema as check_table_schema
from ._question import Question as Question
from ._question import Result as Result
from ._recipe import Recipe as Recipe
from ._recipe import StateLayout as StateLayout
from ._recipe import recipe_of as recipe_of
from ._rotated import BLOCK_ROWS as BLOCK_ROWS
from ._rotated import RotatedRows as RotatedRows
from ._rotated import signs_of_rotation as signs_of_rotation
from ._rotated import size_of_rotation as size_of_rotation
from ._signs import SampledBits as SampledBits
from ._signs import SampledSigns as SampledSigns
from ._vectors import Vectors
from ._views import Views as Views

__all__ = [
    "Aggregator",
    "Bits",
    "Codes",
    "Grid",
    "Vectors",
]
