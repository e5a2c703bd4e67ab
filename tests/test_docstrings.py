"""Docstrings of public names: each has an example, which doctest finds and tests/test_readme.py runs."""

from __future__ import annotations

import doctest
import inspect
from functools import cache
from importlib import import_module

import ldpfast as ldp

from .support.cases import each
from .support.public import MODULES, WITHOUT_INSTANCES, names_of, public_objects, result_classes
from .test_readme import ENGINES, FRAMEWORKS, MODULES_WITH_EXAMPLES

# Abstract bases that users only pass around, protocols for types, and warnings.
EXEMPT = WITHOUT_INSTANCES - {ldp.Mechanism}
OBJECTS = {name: thing for name, thing in (public_objects() | result_classes()).items() if thing not in EXEMPT}


@cache
def examples_of(module: str) -> dict[str, int]:
    """Return the number of examples that doctest finds in each docstring of a module."""
    return {test.name: len(test.examples) for test in doctest.DocTestFinder().find(import_module(module))}


def test_all_public_names_are_found():
    assert len(OBJECTS) > 180
    assert {"ldpfast.Warner", "bounds.mean_l2", "domains.Interval", "results.Debiasing", "survey.YesNo"} <= set(OBJECTS)
    assert all(names_of(module) for module in MODULES)


def test_exempt_classes_are_abstract_protocols_or_warnings():
    for thing in EXEMPT:
        bases = {base.__name__ for base in inspect.getmro(thing)}
        abstract = any(getattr(part, "__isabstractmethod__", False) for part in vars(thing).values())
        assert abstract or bases & {"ABC", "Protocol", "Warning", "Described"}, thing


@each("name", OBJECTS)
def test_every_public_name_has_an_example_that_is_run(name):
    thing = inspect.unwrap(OBJECTS[name])
    assert "\n    Examples\n    --------\n" in thing.__doc__
    assert examples_of(thing.__module__)[f"{thing.__module__}.{thing.__qualname__}"] > 0
    elsewhere = {f"ldpfast.{module}" for module in (*ENGINES, *FRAMEWORKS)}
    assert thing.__module__ in {*MODULES_WITH_EXAMPLES, *elsewhere}
