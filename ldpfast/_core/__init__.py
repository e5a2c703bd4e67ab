"""Compiled modules of ldpfast. Nothing here is public.

All compiled modules are in one extension file, that of `native` (PEP 489, "Multiple modules in one library"). They
share one copy of the kernels, of the choice of instruction set, and of the functions of Cython. Importing this package
loads all of them.
"""

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_loader

__all__ = ["aes_form", "aes_forms", "isa", "isas", "set_aes_form", "set_isa"]


def _load(name: str, file: str) -> None:
    """Import a module of the extension file, as ``from . import name`` would from a separate file."""
    full = f"{__name__}.{name}"
    loader = ExtensionFileLoader(full, file)
    spec = spec_from_loader(full, loader)
    assert spec is not None
    sys.modules[full] = globals()[name] = module_from_spec(spec)
    loader.exec_module(sys.modules[full])


_NAMES = (
    "cython_shared",  # functions of Cython that all other modules use
    "native",
    "stream",
    "kernel",
    "privatize",
    "strings",
    "survey",
    "person",
    "tally",
    "ranges",
    "noise",
    "order",
    "series",
    "transform",
    "sgd",
    "logit",
    "normal",
)
_native = find_spec(f"{__name__}.native")
if _native is None or _native.origin is None:
    raise ImportError("the compiled modules of ldpfast are not there: build them with pip install -e .")
for _name in _NAMES:  # cimports first
    _load(_name, _native.origin)

from .native import aes_form, aes_forms, isa, isas, set_aes_form, set_isa  # noqa: E402
