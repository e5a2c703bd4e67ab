"""Designs of randomized response that survey researchers use, by name: their tables, prevalence, variance and sample size.

The answers of such a study are estimated here whoever collected them. To randomize answers in software, use a mechanism.
"""

from ..mechanisms._bit_channel import BitChannel
from ._attention import crosswise_with_attention
from ._binary import (
    crosswise,
    forced_response,
    kuk,
    mangat,
    triangular,
    unrelated_question,
    warner,
)
from ._by_person import DIRECT as DIRECT
from ._by_person import groups_of_designs as groups_of_designs
from ._by_person import least_private as least_private
from ._by_person import prevalence
from ._design import Design as Design
from ._design_report import DesignReport as DesignReport
from ._list_experiment import ListDesign as ListDesign
from ._list_experiment import list_experiment
from ._replicate_weights import ReplicateWeights
from ._replicate_weights import table_of as table_of
from ._sample import Sample as Sample
from ._sampled_prevalence import SampledPrevalence as SampledPrevalence
from ._sensitivity import SensitivityBounds as SensitivityBounds
from ._two_samples import TwoGroupEstimate as TwoGroupEstimate
from ._two_samples import cheating_detection, stochastic_lie_detector, unrelated_question_two_samples

__all__ = [
    "BitChannel",
    "ReplicateWeights",
    "cheating_detection",
    "crosswise",
    "crosswise_with_attention",
    "forced_response",
    "kuk",
    "list_experiment",
    "mangat",
    "prevalence",
    "stochastic_lie_detector",
    "triangular",
    "unrelated_question",
    "unrelated_question_two_samples",
    "warner",
]
