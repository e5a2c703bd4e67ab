"""Modules of the package, found by what they define."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


def module_of(public: Any) -> ModuleType:
    """Return the module that defines a public class or function, for tests of its parts and limits, whatever its file is."""
    return sys.modules[public.__module__]
