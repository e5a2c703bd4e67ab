"""The client side: one person's record becomes a report."""

from ._ball import L2Ball, LaplaceVector, LinfBall, half_space_constant
from ._base import Mechanism
from ._categories import RandomizedResponse, UnaryEncoding, Warner
from ._choice import for_categories, for_interval
from ._gradient import Gradient
from ._interval import Laplace, SignBit
from ._onehot import LaplaceOneHot
from ._query import Query
from ._symbols import Bins, Residue
from ._wrapped import LaplaceResidue

__all__ = [
    "Bins",
    "Gradient",
    "L2Ball",
    "Laplace",
    "LaplaceOneHot",
    "LaplaceResidue",
    "LaplaceVector",
    "LinfBall",
    "Mechanism",
    "Query",
    "RandomizedResponse",
    "Residue",
    "SignBit",
    "UnaryEncoding",
    "Warner",
    "for_categories",
    "for_interval",
    "half_space_constant",
]
