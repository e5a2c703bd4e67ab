"""Privacy of finite channels, conversions between definitions, composition, shuffling, Gaussian noise, and audits.

The conversions between definitions (``x_from_y`` and ``y_for_x``) are provisional: their names can change in a minor release.
Nothing here uses an extension module.
"""

from ._audit import audit
from ._channel import Channel
from ._composition import composition_delta, composition_epsilon
from ._conversions import (
    conditional_testing_from_dp,
    delta_from_dp,
    delta_from_kl,
    delta_from_tv,
    disclosure_risk,
    dp_from_conditional_testing,
    epsilon_for_kl,
    epsilon_for_tv,
    kl_for_tv,
    kl_from_dp,
    tv_from_dp,
    tv_from_kl,
)
from ._gaussian import (
    concentrated_delta,
    concentrated_rho,
    gaussian_delta,
    gaussian_kl,
    gaussian_sigma,
    gaussian_tv,
)
from ._guarantee import Guarantee, compose, group
from ._guarantee import of_disjoint as of_disjoint
from ._one_at_random import release_one_at_random
from ._rounds import compose_rounds
from ._shuffling import shuffled, shuffled_delta
from ._summed_reports import summed, summed_delta
from ._two_level import TwoLevel as TwoLevel

__all__ = [
    "Channel",
    "Guarantee",
    "audit",
    "compose",
    "compose_rounds",
    "composition_delta",
    "composition_epsilon",
    "concentrated_delta",
    "concentrated_rho",
    "conditional_testing_from_dp",
    "delta_from_dp",
    "delta_from_kl",
    "delta_from_tv",
    "disclosure_risk",
    "dp_from_conditional_testing",
    "epsilon_for_kl",
    "epsilon_for_tv",
    "gaussian_delta",
    "gaussian_kl",
    "gaussian_sigma",
    "gaussian_tv",
    "group",
    "kl_for_tv",
    "kl_from_dp",
    "release_one_at_random",
    "shuffled",
    "shuffled_delta",
    "summed",
    "summed_delta",
    "tv_from_dp",
    "tv_from_kl",
]
