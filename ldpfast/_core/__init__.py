"""Compiled modules of ldpfast. Nothing here is public.

All compiled modules are in one extension file, that of `native` (PEP 489, "Multiple modules in one library"). They
share one copy of the kernels and one choice of instruction set. Importing this package loads all of them.
"""

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

from . import native
from .native import aes_form, aes_forms, isa, isas, set_aes_form, set_isa

__all__ = ["aes_form", "aes_forms", "isa", "isas", "set_aes_form", "set_isa"]


def _load(name: str) -> None:
    """Import a module of the extension file, as ``from . import name`` would from a separate file."""
    full = f"{__name__}.{name}"
    loader = ExtensionFileLoader(full, native.__file__)
    spec = spec_from_loader(full, loader)
    assert spec is not None
    sys.modules[full] = globals()[name] = module_from_spec(spec)
    loader.exec_module(sys.modules[full])


_NAMES = (
    "stream",
    "kernel",
    "privatize",
    "survey",
    "person",
    "tally",
    "ranges",
    "noise",
    "order",
    "series",
    "transform",
    "sgd",
    "normal",
)
for _name in _NAMES:  # cimports first
    _load(_name)
