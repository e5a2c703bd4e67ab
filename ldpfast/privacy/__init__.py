"""Privacy of finite channels, conversions between definitions, composition, shuffling, Gaussian noise, and audits.

`convert` is provisional: its parameters can change in a minor release. Nothing here uses an extension module.
"""

from typing import TYPE_CHECKING, Any

from .. import _moved
from ._answer_laws import laws_of_answers as laws_of_answers
from ._audit import audit
from ._channel import Channel
from ._composition import composition_delta, composition_epsilon
from ._conversions import convert, disclosure_risk
from ._dataset_law import DatasetLaw as DatasetLaw
from ._gaussian import gaussian_delta, gaussian_sigma
from ._guarantee import Guarantee, compose, group
from ._guarantee import of_disjoint as of_disjoint
from ._laws_of_rows import laws_of_rows as laws_of_rows
from ._one_at_random import release_one_at_random
from ._report_law import ReportLaw as ReportLaw
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
    "convert",
    "disclosure_risk",
    "gaussian_delta",
    "gaussian_sigma",
    "group",
    "release_one_at_random",
    "shuffled",
    "shuffled_delta",
    "summed",
    "summed_delta",
]

if not TYPE_CHECKING:  # a type checker knows that the module has no other names

    def __getattr__(name: str) -> Any:
        raise _moved.missing(__name__, name)


def __dir__() -> list[str]:
    return __all__
