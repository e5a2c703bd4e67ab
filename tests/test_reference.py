"""The API reference: the number of public objects, the pages of tasks, the classes of results, and names that moved."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from ldpfast import _moved, privacy

from .support.cases import each
from .support.public import MODULES, NAMES, RESULTS, names_of, object_of, public_objects, result_classes

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
TASKS = [path for path in REFERENCE.glob("*.md") if path.name != "index.md"]
ENTRY = re.compile(r"^   ~(ldpfast\.[\w.]+)$", re.MULTILINE)
MOVED = [(module, old, new) for module, names in _moved.MOVED.items() for old, new in names.items()]


def test_there_are_at_most_230_public_objects():
    """Each class and function in the `__all__` of a module without underscore counts once, wherever it can be imported from.

    Classes of results are documented with what returns them, and do not count. To print the names:
    ``python -c "from tests.support.public import public_objects; print(*public_objects())"``.
    """
    count = len(public_objects())
    assert 150 < count <= 230, (
        f"{count} public objects: for a new one, take another out of `__all__`, or raise the limit and say why in the commit"
    )


def test_the_reference_has_all_public_modules():
    listed = re.findall(r"^   (ldpfast[\w.]*)$", (REFERENCE / "index.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(NAMES["MODULES"])
    documented = {id(object_of(f"{module}.{name}")) for module in listed for name in names_of(import_module(module))}
    assert {id(getattr(module, name)) for module in MODULES for name in names_of(module)} == documented


def test_every_public_object_is_on_one_page_of_a_task():
    """The page names it as the reference does: by the module whose page has it."""
    listed = [name for path in TASKS for name in ENTRY.findall(path.read_text())]
    public = [
        f"{module}.{name}"
        for module, kinds in NAMES["public_names"]().items()
        for name in kinds["classes"] + kinds["functions"]
    ]
    wrong = sorted({*listed} ^ {*public})
    assert sorted(listed) == sorted(public), (
        f"one page of docs/reference must list what is public, and no more: {wrong}"
    )
    assert {id(object_of(name)) for name in listed} == {id(thing) for thing in public_objects().values()}


def test_the_index_has_every_page_of_a_task():
    tree = re.search(r"```\{toctree\}\n.*?\n\n(.*?)```", (REFERENCE / "index.md").read_text(), re.DOTALL)
    assert tree
    assert sorted(tree[1].split()) == sorted(path.stem for path in TASKS)


def test_classes_of_results_are_not_listed_and_are_on_one_page():
    """They can be imported for `isinstance`; their page is that of a public object."""
    names = [name for names in RESULTS.values() for name in names]
    assert len(names) == len(set(names)) > 40
    assert all(inspect.isclass(thing) for thing in result_classes().values())
    public = {id(thing) for thing in public_objects().values()}
    assert public.isdisjoint(id(thing) for thing in result_classes().values())
    assert {id(object_of(name)) for name in RESULTS} <= public


@each("module, old, new", MOVED, ids=[f"{module}.{old}" for module, old, _ in MOVED])
def test_a_name_that_moved_gives_an_error_with_the_new_one(module, old, new):
    home = import_module(f"ldpfast.{module}")
    message = f"ldpfast.{module}.{old} is now ldpfast.{new}"
    with pytest.raises(AttributeError, match=f"^{re.escape(message)}$"):
        getattr(home, old)
    with pytest.raises(ImportError, match=f"^{re.escape(message)}$"):
        exec(f"from ldpfast.{module} import {old}")
    assert not hasattr(home, old)
    assert old not in home.__all__
    assert callable(object_of(f"ldpfast.{new.partition('(')[0]}"))


@each("old, new", _moved.MOVED["privacy"].items())
def test_a_conversion_that_moved_names_a_call_that_works(old, new):
    values = {"epsilon": 1.0, "delta": 0.1, "tv": 0.3, "kl": 0.2, "level": 0.4, "mass": 0.01, "at": 0.5}
    values |= {"rho": 0.2, "sigma": 2.0, "sensitivity": 1.0}
    assert 0 < eval(new, {"privacy": privacy, **values}) < 9


def test_an_unknown_name_has_the_usual_errors():
    with pytest.raises(AttributeError, match=r"^module 'ldpfast\.bounds' has no attribute 'fanoo'$"):
        import_module("ldpfast.bounds").fanoo  # noqa: B018
    with pytest.raises(ImportError, match=r"^cannot import name 'fanoo' from 'ldpfast\.bounds' "):
        exec("from ldpfast.bounds import fanoo")
