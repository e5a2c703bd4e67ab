"""ldpfast: private statistics at the speed of memory.

Mechanisms turn records into differentially private reports, exactly; aggregators turn reports into estimates with
intervals. Submodules load when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import aggregation, bounds, central, estimation, mechanisms, privacy, results
    from ._info import info
    from ._threads import get_num_threads, set_num_threads
    from .aggregation import Aggregator
    from .mechanisms import (
        Bins,
        L2Ball,
        Laplace,
        LaplaceVector,
        LinfBall,
        Mechanism,
        Query,
        RandomizedResponse,
        Residue,
        SignBit,
        UnaryEncoding,
        Warner,
    )
    from .results import DoubtfulWarning, Estimate, SmallSampleWarning

__all__ = [
    "Aggregator",
    "Bins",
    "DoubtfulWarning",
    "Estimate",
    "L2Ball",
    "Laplace",
    "LaplaceVector",
    "LinfBall",
    "Mechanism",
    "Query",
    "RandomizedResponse",
    "Residue",
    "SignBit",
    "SmallSampleWarning",
    "UnaryEncoding",
    "Warner",
    "__version__",
    "aggregation",
    "bounds",
    "central",
    "estimation",
    "get_num_threads",
    "info",
    "mechanisms",
    "privacy",
    "results",
    "set_num_threads",
]

_MODULES = ("aggregation", "bounds", "central", "estimation", "mechanisms", "privacy", "results")
_HOMES = {
    "Aggregator": "aggregation",
    "DoubtfulWarning": "results",
    "Estimate": "results",
    "SmallSampleWarning": "results",
    "get_num_threads": "_threads",
    "info": "_info",
    "set_num_threads": "_threads",
}


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
