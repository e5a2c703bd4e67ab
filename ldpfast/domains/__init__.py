"""Domains: sets of valid records.

A domain converts input to arrays for kernels and finds invalid records. `records` checks dtype and shape only;
`convert` makes a slice contiguous in the dtype of the kernel; `first_invalid` reads the values. Privacy does not depend
on these checks, because the report of an invalid record has the distribution of that of a valid one.
"""

from typing import TYPE_CHECKING, Any

from .. import _moved
from ._categories import Categories, Labels
from ._categories import declared_categories as declared_categories
from ._categories import domain_of_categories as domain_of_categories
from ._domain import FLOAT32 as FLOAT32
from ._domain import FLOAT64 as FLOAT64
from ._domain import Clipped as Clipped
from ._domain import Domain as Domain
from ._numbers import MAX as MAX
from ._numbers import Ball, Box, Interval, Reals
from ._numbers import Integers as Integers
from ._sets import Sets as Sets
from ._strings import MAX_BYTES as MAX_BYTES
from ._strings import Strings
from ._tuples import Tuples as Tuples

__all__ = [
    "Ball",
    "Box",
    "Categories",
    "Interval",
    "Labels",
    "Reals",
    "Strings",
]

if not TYPE_CHECKING:  # a type checker knows that the module has no other names

    def __getattr__(name: str) -> Any:
        raise _moved.missing(__name__, name)


def __dir__() -> list[str]:
    return __all__
