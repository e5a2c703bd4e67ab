"""Minimax bounds as numbers, and sample-size planning with them.

Functions of problems (`mean_1d`, `mean_l2`, `central_mean`, ...) return a `Bound`. `sample_size`, `epsilon_for`, `plan_test`
and `compare` plan a study. `methods` has the building blocks of bounds for other families of distributions.
"""

from typing import TYPE_CHECKING, Any

from .. import _moved
from . import methods
from ._bound import Bound as Bound
from ._central_density import central_density
from ._central_ges import central_ges
from ._central_mean import central_mean
from ._central_range import central_range
from ._central_support import central_support
from ._comparison import Comparison as Comparison
from ._comparison import compare
from ._contraction import effective_sample_size
from ._density import density
from ._gaussian_mean import gaussian_mean
from ._logistic import logistic
from ._mean_1d import mean_1d
from ._mean_l2 import mean_l2
from ._median import median
from ._multinomial import multinomial
from ._planning import epsilon_for, sample_size
from ._sparse_mean import sparse_mean
from ._test_power import plan_test

__all__ = [
    "central_density",
    "central_ges",
    "central_mean",
    "central_range",
    "central_support",
    "compare",
    "density",
    "effective_sample_size",
    "epsilon_for",
    "gaussian_mean",
    "logistic",
    "mean_1d",
    "mean_l2",
    "median",
    "methods",
    "multinomial",
    "plan_test",
    "sample_size",
    "sparse_mean",
]

if not TYPE_CHECKING:  # a type checker knows that the module has no other names

    def __getattr__(name: str) -> Any:
        raise _moved.missing(__name__, name)


def __dir__() -> list[str]:
    return __all__
