"""Public names of the package, each with the module whose page has it."""

from __future__ import annotations

import re
from importlib import import_module
from inspect import isclass, ismodule, isroutine
from types import ModuleType

# A name that several modules have is on the page of the first of them.
MODULES = (
    "ldpfast.mechanisms",
    "ldpfast.designs",
    "ldpfast.analysis",
    "ldpfast.estimation",
    "ldpfast.estimation.protocols",
    "ldpfast.survey",
    "ldpfast.privacy",
    "ldpfast.bounds",
    "ldpfast.central",
    "ldpfast.results",
    "ldpfast.reports",
    "ldpfast.domains",
    "ldpfast.files",
    "ldpfast.client",
    "ldpfast.server",
    "ldpfast.dask",
    "ldpfast.spark",
    "ldpfast.bench",
    "ldpfast",
)


def names_of(module: ModuleType) -> list[str]:
    """Return the names in ``__all__``, without modules."""
    return [name for name in module.__all__ if not ismodule(getattr(module, name)) and not name.startswith("__")]


def public_names() -> dict[str, dict[str, list[str]]]:
    """Return the classes, functions, constants and borrowed names of each public module.

    A borrowed name is the full name of a class or a function that is on the page of another module.
    """
    home: dict[int, str] = {}
    found: dict[str, dict[str, list[str]]] = {}
    for module_name in MODULES:
        module = import_module(module_name)
        kinds: dict[str, list[str]] = {"classes": [], "functions": [], "constants": [], "borrowed": []}
        for name in names_of(module):
            value = getattr(module, name)
            if not (isclass(value) or isroutine(value)):
                kinds["constants"].append(name)
            elif id(value) in home:
                kinds["borrowed"].append(home[id(value)])
            else:
                home[id(value)] = f"{module_name}.{name}"
                kinds["classes" if isclass(value) else "functions"].append(name)
        found[module_name] = kinds
    return found


# Public names that can change in a minor release, as docs/versioning.md says.
CONTRACTION = re.compile(r"ldpfast\.bounds\.(\w+_contraction|tensorized_\w+|mutual_information|tv_of_releases)")
CONVERSION = re.compile(r"ldpfast\.privacy\.\w+_(from|for)_\w+")


def is_provisional(name: str) -> bool:
    """Return whether the full name of a class or a function is provisional."""
    return bool(
        CONTRACTION.fullmatch(name) or CONVERSION.fullmatch(name) or re.fullmatch(r"ldpfast\.central\.\w+", name)
    )
