"""Domains: sets of valid records.

A domain converts input to arrays for kernels and finds invalid records. `records` checks dtype and shape only;
`convert` makes a slice contiguous in the dtype of the kernel; `first_invalid` reads the values. Privacy does not depend
on these checks, because the report of an invalid record has the distribution of that of a valid one.
"""

from ._categories import Categories, Labels, categories
from ._categories import declared_categories as declared_categories
from ._domain import FLOAT32 as FLOAT32
from ._domain import FLOAT64 as FLOAT64
from ._domain import Clipped as Clipped
from ._domain import Domain
from ._numbers import MAX as MAX
from ._numbers import Ball, Box, Interval, Reals
from ._strings import MAX_BYTES as MAX_BYTES
from ._strings import Strings

__all__ = [
    "Ball",
    "Box",
    "Categories",
    "Domain",
    "Interval",
    "Labels",
    "Reals",
    "Strings",
    "categories",
]
