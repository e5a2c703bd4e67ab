"""Minimax bounds as numbers, and sample-size planning with them.

Functions of problems (`mean_1d`, `mean_l2`, `central_mean`, ...) return a `Bound`. Building blocks (`le_cam`, `fano`,
`assouad`, `packing`, contractions) give bounds for other families of distributions. `sample_size`, `epsilon_for`,
`plan_test` and `compare` plan a study.

The contractions (`kl_contraction`, `tensorized_tv`, `tv_of_releases`, ...) are provisional: their names can change in a minor
release.
"""

from ._bound import Bound
from ._central_density import central_density
from ._central_ges import central_ges
from ._central_mean import central_mean
from ._central_privacy import tv_of_releases
from ._central_range import central_range
from ._central_support import central_support
from ._comparison import Comparison, compare
from ._contraction import (
    chi_square_contraction,
    divergence_contraction,
    effective_sample_size,
    hellinger_contraction,
    kl_contraction,
    mutual_information,
    tensorized_kl,
    tensorized_tv,
    tv_contraction,
)
from ._density import density
from ._gaussian_mean import gaussian_mean
from ._logistic import logistic
from ._mean_1d import mean_1d
from ._mean_l2 import mean_l2
from ._median import median
from ._methods import assouad, fano, le_cam, packing
from ._multinomial import multinomial
from ._planning import epsilon_for, sample_size
from ._sparse_mean import sparse_mean
from ._test_power import plan_test

__all__ = [
    "Bound",
    "Comparison",
    "assouad",
    "central_density",
    "central_ges",
    "central_mean",
    "central_range",
    "central_support",
    "chi_square_contraction",
    "compare",
    "density",
    "divergence_contraction",
    "effective_sample_size",
    "epsilon_for",
    "fano",
    "gaussian_mean",
    "hellinger_contraction",
    "kl_contraction",
    "le_cam",
    "logistic",
    "mean_1d",
    "mean_l2",
    "median",
    "multinomial",
    "mutual_information",
    "packing",
    "plan_test",
    "sample_size",
    "sparse_mean",
    "tensorized_kl",
    "tensorized_tv",
    "tv_contraction",
    "tv_of_releases",
]
