"""Packages of this checkout that are not part of the installed package."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from ldpfast.cli._checkout import import_package

from .process import ROOT


def import_from_checkout(module: str) -> ModuleType:
    """Return a module of `experiments` or `benchmarks`.

    It is not imported by `sys.path`, so that ldpfast is the installed package.
    """
    package = module.partition(".")[0]
    if package not in sys.modules:
        import_package(ROOT / package)
    return import_module(module)
