"""Statistics from data that each person has randomized before sending it, so nobody ever collects the true answers.

Mechanisms turn records into differentially private reports with exact guarantees. Aggregators turn reports into
estimates with intervals. Submodules are imported when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _registry
from ._version import __version__

if TYPE_CHECKING:
    from . import analysis, bounds, central, designs, domains, estimation, mechanisms, privacy, reports, results, survey
    from ._info import info
    from ._load import load
    from ._person_keys import PersonKeys
    from ._threads import get_num_threads, set_num_threads
    from .mechanisms import (
        Aggregator,
        Bins,
        FiniteChannel,
        HadamardResponse,
        L2Ball,
        Laplace,
        LaplaceVector,
        LinfBall,
        Mechanism,
        PrivUnit,
        ProjectiveGeometryResponse,
        Query,
        RandomizedResponse,
        RankCodebook,
        RankedSigns,
        Residue,
        RotatedSigns,
        SampledCube,
        SetSelection,
        SignBit,
        SubsetSelection,
        UnaryEncoding,
        Warner,
        Window,
        simulate,
    )
    from .results import ClippedWarning, DoubtfulWarning, Estimate, SmallSampleWarning
    from .survey import Survey

__all__ = [
    "Aggregator",
    "Bins",
    "ClippedWarning",
    "DoubtfulWarning",
    "Estimate",
    "FiniteChannel",
    "HadamardResponse",
    "L2Ball",
    "Laplace",
    "LaplaceVector",
    "LinfBall",
    "Mechanism",
    "PersonKeys",
    "PrivUnit",
    "ProjectiveGeometryResponse",
    "Query",
    "RandomizedResponse",
    "RankCodebook",
    "RankedSigns",
    "Residue",
    "RotatedSigns",
    "SampledCube",
    "SetSelection",
    "SignBit",
    "SmallSampleWarning",
    "SubsetSelection",
    "Survey",
    "UnaryEncoding",
    "Warner",
    "Window",
    "__version__",
    "analysis",
    "bounds",
    "central",
    "designs",
    "domains",
    "estimation",
    "get_num_threads",
    "info",
    "load",
    "mechanisms",
    "privacy",
    "reports",
    "results",
    "set_num_threads",
    "simulate",
    "survey",
]

_MODULES = (
    "analysis",
    "bounds",
    "central",
    "designs",
    "domains",
    "estimation",
    "mechanisms",
    "privacy",
    "reports",
    "results",
    "survey",
)
_HOMES = {
    "ClippedWarning": "results",
    "DoubtfulWarning": "results",
    "Estimate": "results",
    "PersonKeys": "_person_keys",
    "SmallSampleWarning": "results",
    "Survey": "survey",
    "get_num_threads": "_threads",
    "info": "_info",
    "load": "_load",
    "set_num_threads": "_threads",
}
# What descriptions and saved states name.
_registry.DESCRIBED.update(
    {
        "problem": f"{__name__}.estimation",  # first: problems have a parameter "mechanism"
        "mechanism": f"{__name__}.mechanisms",
        "protocol": f"{__name__}.estimation",
        "survey": f"{__name__}.survey",
        "round": f"{__name__}.survey",
        "repeated": f"{__name__}.survey",
        "question": f"{__name__}.survey",
    }
)
_registry.SAVED.update(
    {
        b"LDPFAST": (f"{__name__}.reports", "Aggregator"),
        b"LDPGRUP": (f"{__name__}.reports", "GroupedAggregator"),
        b"LDPSEQU": (f"{__name__}.estimation.protocols", "Sequential"),
        b"LDPNORM": (f"{__name__}.estimation", "GaussianMean"),
    }
)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(import_module("." + _HOMES.get(name, "mechanisms"), __name__), name)
    except ImportError as error:
        raise ImportError(
            f"the compiled modules of ldpfast cannot be imported ({error}): in a source tree leave the directory, or install "
            "with `pip install -e .`"
        ) from error
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
