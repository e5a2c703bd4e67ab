"""Tests with many quick cases, which run in a loop inside one test."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from ..cards import EXAMPLES, KINDS
from .internals import kernels

Test = Callable[..., None]


def each(
    names: str, cases: Iterable[Any], ids: Callable[[Any], str] | Iterable[str] | None = None
) -> Callable[[Test], Test]:
    """Run a test for each case, with the arguments of ``pytest.mark.parametrize``, but as one test.

    A test of pytest costs some milliseconds, more than most cases. The error of a case has a note that names it. A case that
    is skipped does not end the others. Each begins with the same instruction set and the same patches; other fixtures are
    shared.
    """
    keys, listed = [name.strip() for name in names.split(",")], list(cases)
    labels = None if ids is None or callable(ids) else list(ids)
    if any(case.marks for case in listed if isinstance(case, ParameterSet)):
        raise ValueError("cases must have no marks, which belong to tests of pytest")

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            skipped = []
            for number, case in enumerate(listed):
                alone = case if len(keys) > 1 else (case,)
                values = case.values if isinstance(case, ParameterSet) else alone
                isa, given = kernels.isa(), dict(zip(keys, values, strict=True))
                try:
                    if "monkeypatch" in fixtures:
                        with fixtures["monkeypatch"].context() as patch:
                            test(**{**fixtures, **given, "monkeypatch": patch})
                    else:
                        test(**fixtures, **given)
                except pytest.skip.Exception as reason:
                    skipped.append(reason)
                except BaseException as error:
                    shown = labels[number] if labels else ", ".join(map(ids if callable(ids) else repr, values))
                    error.add_note(f"{', '.join(keys)}: {shown}")
                    raise
                finally:
                    kernels.set_isa(isa)
            if listed and len(skipped) == len(listed):
                raise skipped[0]

        rest = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return run

    return decorate


def each_example(test: Test) -> Test:
    """Run a test for each example of a mechanism. Its arguments are some of `example`, `mechanism` and `records`."""
    wanted = [name for name in ("example", "mechanism", "records") if name in inspect.signature(test).parameters]
    make = {"example": lambda e: e, "mechanism": lambda e: e.mechanism, "records": lambda e: e.records(11)}

    @functools.wraps(test)
    def run(example: Any, **others: Any) -> None:
        test(**others, **{name: make[name](example) for name in wanted})

    parameters = inspect.signature(test).parameters
    first = inspect.Parameter("example", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    rest = [parameter for name, parameter in parameters.items() if name not in wanted]
    run.__signature__ = inspect.Signature([first, *rest])  # type: ignore[attr-defined]
    tests = each("example", EXAMPLES, ids=str)(run)
    tests.of_one = run  # type: ignore[attr-defined]
    return tests


def tests_of_one_example(module: ModuleType) -> dict[str, Test]:
    """Return the tests of a module that take an example and no fixture, by name, for a mechanism that has no card there."""
    found = {name: thing.of_one for name, thing in vars(module).items() if hasattr(thing, "of_one")}
    return {name: test for name, test in found.items() if [*inspect.signature(test).parameters] == ["example"]}


def each_kind(test: Test) -> Test:
    """Run a test for one mechanism of each kind, the argument `kind`."""
    return each("kind", KINDS, ids=str)(test)
