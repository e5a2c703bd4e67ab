"""What is possible before anybody is asked anything: minimax bounds as numbers, and planning with them.

Problems (`mean_1d`, `mean_l2`, `central_mean`, ...) give a `Bound`; building blocks (`le_cam`, `fano`, `assouad`, `packing`,
contractions) make bounds for families of one's own; `sample_size`, `epsilon_for` and `compare` plan a study.
"""

from ._bound import Bound
from ._central import (
    central_density,
    central_ges,
    central_mean,
    central_range,
    central_support,
    table1,
    tv_of_releases,
)
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
from ._local import density, gaussian_mean, logistic, mean_1d, mean_l2, median, multinomial, sparse_mean
from ._methods import assouad, fano, le_cam, packing
from ._planning import Comparison, Row, compare, epsilon_for, sample_size

__all__ = [
    "Bound",
    "Comparison",
    "Row",
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
    "sample_size",
    "sparse_mean",
    "table1",
    "tensorized_kl",
    "tensorized_tv",
    "tv_contraction",
    "tv_of_releases",
]
