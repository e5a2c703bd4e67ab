"""The compiled half: one extension module per family of kernels. Nothing here is public.

Each module links its own kernels and its own choice of instruction set; the two functions below are the only callers of
those choices, for all modules at once.
"""

from importlib import import_module
from typing import Protocol

MODULES = ("stream", "domains", "sums", "bits", "codes", "halfspace", "noise", "order", "series", "sgd")


class _Compiled(Protocol):
    def isa(self) -> str: ...
    def isas(self) -> list[str]: ...
    def set_isa(self, name: str) -> None: ...


def _modules() -> list[_Compiled]:
    return [import_module(f"{__name__}.{name}") for name in MODULES]


def isas() -> list[str]:
    """Names of the instruction sets that this machine has, from the plainest to the widest."""
    return _modules()[0].isas()


def isa() -> str:
    """Name of the instruction set in use by all modules."""
    (name,) = {module.isa() for module in _modules()}
    return name


def set_isa(name: str) -> None:
    """Use the named instruction set in all modules; before threads start."""
    for module in _modules():
        module.set_isa(name)
