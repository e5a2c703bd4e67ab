"""Building blocks of lower bounds: methods of testing, and contractions of divergences by private channels.

`le_cam`, `fano` and `assouad` bound the risk from below for any family of distributions under local privacy, `packing` under
central privacy. They are built from the contractions, which bound a divergence of reports by one of records.

The contractions (`kl_contraction`, `tensorized_tv`, `tv_of_releases`, ...) are provisional: their names can change in a minor
release.
"""

from ._central_privacy import tv_of_releases
from ._contraction import (
    chi_square_contraction,
    divergence_contraction,
    hellinger_contraction,
    kl_contraction,
    mutual_information,
    tensorized_kl,
    tensorized_tv,
    tv_contraction,
)
from ._testing_methods import assouad, fano, le_cam, packing

__all__ = [
    "assouad",
    "chi_square_contraction",
    "divergence_contraction",
    "fano",
    "hellinger_contraction",
    "kl_contraction",
    "le_cam",
    "mutual_information",
    "packing",
    "tensorized_kl",
    "tensorized_tv",
    "tv_contraction",
    "tv_of_releases",
]
