"""Imports between the modules of the package: no cycles, and every room imports only from rooms above it."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import ldpfast

from .support.process import run_python

SHARED = "modules with an underscore"
FACADE = "the package itself"
# From the top down. A room is a module or a sub-package. Rooms on one line have the same rank.
ROOMS = (
    {"_core"},
    {SHARED},
    {"privacy"},
    {"results"},
    {"domains"},
    {"reports"},
    {"mechanisms"},
    {"estimation"},
    {"survey"},
    {"designs"},
    {"analysis"},
    {"central"},
    {"bounds"},
    {"_load"},
    {"_job_counts"},
    {"_jobs"},
    {"_conduct"},
    {"_federated"},
    {"arrow", "files", "dask", "spark", "flower", "nvflare", "client", "server"},
    {"bench"},
    {"cli", "__main__"},
    {FACADE},
)
# Rooms that the core does without: each is a model, a way of collecting or a kind of analysis of its own.
WINGS = {"analysis", "bounds", "central", "designs", "server"}
CORE = {"_core", SHARED, "privacy", "results", "domains", "reports", "mechanisms", "estimation", "survey", "files"}
RANK = {room: rank for rank, rooms in enumerate(ROOMS) for room in rooms}
USERS_OF_CORE = {
    "_core",
    SHARED,
    "domains",
    "reports",
    "mechanisms",
    "estimation",
    "survey",
    "central",
    "analysis",
    "bench",
}


@dataclass(frozen=True)
class Import:
    """One import of a module of the package by another; names are relative to the package, "" is the package itself.

    `when` is "load" (when the importing module is loaded), "call" (inside a function) or "types" (under TYPE_CHECKING).
    """

    source: str
    target: str
    when: str
    line: int

    def __str__(self) -> str:
        return f"{self.source or '__init__'}:{self.line} imports {self.target or 'the package itself'}"


def room_of(module: str) -> str:
    first = module.partition(".")[0]
    if first in RANK:
        return first
    return (SHARED if first.startswith("_") else first) if module else FACADE


def modules_of(package: Path) -> dict[str, Path]:
    """Return the Python files and stubs of compiled modules, by their names relative to the package."""
    found = {}
    for path in sorted(package.rglob("*.py*")):
        if path.suffix in (".py", ".pyi"):
            parts = path.relative_to(package).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements(tree: ast.AST, when: str = "load") -> Iterator[tuple[ast.AST, str]]:
    """Yield all nodes of a syntax tree, with the time at which they are executed."""
    for node in ast.iter_child_nodes(tree):
        yield node, when
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from statements(node, "types" if when == "types" else "call")
        elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            yield from statements(ast.Module(node.body, []), "types")
            yield from statements(ast.Module(node.orelse, []), when)
        else:
            yield from statements(node, when)


def imports_of(package: Path) -> list[Import]:
    modules, name = modules_of(package), package.name

    def existing(dotted: str) -> str:
        """Return the longest prefix of an absolute name that is a module."""
        parts = dotted.split(".")[1:]
        while parts and ".".join(parts) not in modules:
            parts.pop()
        return ".".join(parts)

    found = []
    for source, path in modules.items():
        here = [name, *source.split(".")] if source else [name]
        parent = here if path.stem == "__init__" else here[:-1]
        for node, when in statements(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                base = ".".join(parent[: len(parent) + 1 - node.level] if node.level else [])
                base = ".".join(part for part in (base, node.module) if part)
                names = [f"{base}.{alias.name}" for alias in node.names]
            else:
                continue
            targets = {existing(dotted): None for dotted in names if dotted.split(".")[0] == name}
            found += [Import(source, target, when, node.lineno) for target in targets]
    return found


def modules_without_a_room(package: Path) -> list[str]:
    return [module for module in modules_of(package) if room_of(module) not in RANK]


def from_lower_rooms(imports: Iterable[Import]) -> list[Import]:
    return [i for i in imports if RANK.get(room_of(i.target), 0) > RANK.get(room_of(i.source), 0)]


def order_violations(imports: Iterable[Import]) -> list[str]:
    """Return the imports from a lower room, when a module is loaded or in a function."""
    return [f"{i}, which is in a lower room" for i in from_lower_rooms(imports) if i.when != "types"]


def forbidden_imports(imports: Iterable[Import]) -> list[str]:
    """Return the imports that are forbidden even in functions and for types."""
    found = []
    for i in imports:
        source, target = room_of(i.source), room_of(i.target)
        if target == "_core" and source not in USERS_OF_CORE:
            found.append(f"{i}, which this room may not import")
        if source == "reports" and target == "mechanisms":
            found.append(f"{i}, which is not allowed in reports")
    return found


def core_to_wings(imports: Iterable[Import]) -> list[str]:
    """Return the imports of wings by the core, also in functions and for types."""
    return [f"{i}, which is a wing" for i in imports if room_of(i.source) in CORE and room_of(i.target) in WINGS]


def cycles(imports: Iterable[Import]) -> list[list[str]]:
    """Return the groups of modules that import each other, directly or through others."""
    targets: dict[str, set[str]] = {}
    for found in imports:
        targets.setdefault(found.source, set()).add(found.target)

    def reachable(start: str) -> set[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            new = targets.get(waiting.pop(), set()) - seen
            seen |= new
            waiting += new
        return seen

    reached = {module: reachable(module) for module in targets}
    groups = {
        tuple(sorted(other for other in reached[module] if module in reached.get(other, ())))
        for module in targets
        if module in reached[module]
    }
    return sorted(map(list, groups))


# The package ----------------------------------------------------------------------------------------------------------

PACKAGE = Path(ldpfast.__file__).parent


@pytest.fixture(scope="module")
def imports():
    return imports_of(PACKAGE)


def test_imports_are_found(imports):
    found = {(i.source, i.target, i.when) for i in imports}
    assert ("mechanisms._warner", "_core.privatize", "load") in found
    assert ("cli", "bench._report", "call") in found
    assert ("", "mechanisms", "types") in found
    assert len(imports) > 500


def test_every_module_has_a_room():
    assert modules_without_a_room(PACKAGE) == []


def test_modules_are_short_or_one_class():
    """A module of more than 550 lines says at its head that it is one class, and has only subclasses of it beside it."""
    for path in modules_of(PACKAGE).values():
        text = path.read_text()
        if path.suffix == ".py" and text.count("\n") > 550:
            tree = ast.parse(text)
            assert "One class; " in (ast.get_docstring(tree) or ""), path
            first, *others = (node for node in tree.body if isinstance(node, ast.ClassDef))
            assert all(ast.unparse(node.bases[0]).startswith(first.name) for node in others), path


def test_modules_import_no_lower_room(imports):
    assert order_violations(imports) == []


def test_no_types_of_lower_rooms_are_imported(imports):
    assert [i for i in from_lower_rooms(imports) if i.source and i.when == "types"] == []


@pytest.mark.long
def test_no_module_names_a_lower_room_in_a_string():
    """The package itself, the last room, owns the tables of the classes that saved bytes name."""
    found = []
    for module, path in modules_of(PACKAGE).items():
        tree = ast.parse(path.read_text())
        docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
                room = node.value.removeprefix("ldpfast").removeprefix(".").partition(".")[0]
                if node.value.startswith(("ldpfast.", ".")) and RANK.get(room, 0) > RANK[room_of(module)]:
                    found.append((module, node.value))
    assert found == []


def test_core_and_mechanisms_are_imported_only_where_allowed(imports):
    assert forbidden_imports(imports) == []


def test_the_core_imports_no_wing(imports):
    assert core_to_wings(imports) == []
    assert sorted(WINGS & CORE) == []
    assert {room_of(i.source) for i in imports if room_of(i.target) in WINGS} == WINGS | {"bench", "cli", FACADE}


@pytest.mark.long
def test_the_core_runs_without_the_wings():
    """Every module of the core is imported, and a survey and an estimate made, in a process without the files of wings."""
    core = [module for module in modules_of(PACKAGE) if room_of(module) in CORE and room_of(module) != "_core"]
    result = run_python(
        f"""
import importlib, sys
for wing in {sorted(WINGS)!r}:
    sys.modules["ldpfast." + wing] = None  # an import of it raises ModuleNotFoundError
for module in {core!r}:
    importlib.import_module("ldpfast." + module)
from ldpfast.estimation import frequencies, from_reports
from ldpfast.survey import Mean, Survey
survey = Survey({{"x": Mean(0, 1)}}, 1.0)
print(survey.run({{"x": [0.5] * 1000}}, rng=1)["x"].stderr > 0, survey.plan(1000).n)
print(frequencies([0, 1, 2] * 100, 3, 1.0, rng=1).n)
print(from_reports([600, 400], [[3, 1], [1, 3]]).value.round(2).tolist())
"""
    )
    assert result.stdout == "True 1000\n300\n[0.7, 0.3]\n", result.stderr


def test_no_cycles_when_modules_are_loaded(imports):
    assert cycles(i for i in imports if i.when == "load") == []


def test_no_cycles_with_imports_in_functions(imports):
    assert cycles(i for i in imports if i.when != "types") == []


def test_cycles_with_imports_for_types(imports):
    """Two groups are left: an estimate and its comparisons, an answer and its tests, which return each other's objects."""
    assert cycles(imports) == [
        ["results._differences", "results._estimate", "results._joined"],
        [
            "survey._answer_forms",
            "survey._answers",
            "survey._columns",
            "survey._cross",
            "survey._hypotheses",
            "survey._questions",
            "survey._set_tables",
        ],
    ]


@pytest.mark.long
def test_six_modules_import_by_a_computed_name():
    """Not in the syntax tree: public names, compiled modules, extras, experiments, described classes, libraries of arrays."""
    found = set()
    for module, path in modules_of(PACKAGE).items():
        nodes = list(ast.walk(ast.parse(path.read_text())))
        names = {node.id for node in nodes if isinstance(node, ast.Name)}
        names |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        if names & {"import_module", "__import__", "module_from_spec"}:
            found.add(module)
    assert found == {"", "_core", "_registry", "_extras", "_exchange", "cli._checkout"}


@pytest.mark.long
def test_no_module_imports_packages_of_the_repository_by_name():
    """They are not part of the installed package."""
    packages = set()
    for path in modules_of(PACKAGE).values():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                packages |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                packages.add((node.module or "").partition(".")[0])
    assert "numpy" in packages
    assert packages.isdisjoint({"experiments", "benchmarks", "tests", "tools"})


@pytest.mark.parametrize("room", ["privacy", "results", "bounds"])
def test_pure_rooms_load_no_compiled_module(room):
    result = run_python(
        f"import sys, ldpfast.{room}; print([name for name in sys.modules if name.startswith('ldpfast._core')])"
    )
    assert result.stdout == "[]\n", result.stderr


# The checks themselves, on a small tree -------------------------------------------------------------------------------

TREE = {
    "__init__.py": """
        from typing import TYPE_CHECKING
        from ._version import version
        if TYPE_CHECKING:
            from . import mechanisms
        """,
    "_core/__init__.py": "",
    "_core/tally.pyi": "",
    "_version.py": "",
    "_check.py": "from ._core import tally",
    "privacy/__init__.py": "from .. import _check",
    "results.py": "from .privacy import Guarantee",
    "reports/__init__.py": "from .._core.tally import add; from ..results import Estimate",
    "mechanisms/__init__.py": "from ._base import Mechanism",
    "mechanisms/_base.py": "from ..reports import Format; from . import _registry",
    "mechanisms/_registry.py": "",
    "bounds/__init__.py": """
        def best():
            from ..mechanisms import Mechanism
        """,
    "cli.py": "import tree.bounds, numpy",
}


def problems(folder: Path, changed: dict[str, str]) -> dict[str, list]:
    """Return the results of the checks for the small tree with some files changed."""
    for name, text in (TREE | changed).items():
        path = folder / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    imports = imports_of(folder / "tree")
    found = {
        "rooms": modules_without_a_room(folder / "tree"),
        "order": order_violations(imports),
        "forbidden": forbidden_imports(imports),
        "wings": core_to_wings(imports),
        "cycles": cycles(i for i in imports if i.when == "load"),
        "cycles in functions": cycles(i for i in imports if i.when != "types"),
    }
    return {check: result for check, result in found.items() if result}


def test_a_correct_tree_has_no_problems(tmp_path):
    assert problems(tmp_path, {}) == {}


@pytest.mark.parametrize(
    "name, text",
    [
        ("mechanisms/_registry.py", "if TYPE_CHECKING:\n    from ._base import Mechanism"),
        ("privacy/__init__.py", "if typing.TYPE_CHECKING:\n    from ..mechanisms import Mechanism"),
        ("cli.py", "try:\n    from . import bounds\nexcept ImportError:\n    from .mechanisms import _base"),
        ("spark.py", "from .files import read\nfrom . import _check"),
    ],
)
def test_allowed_imports_are_not_reported(tmp_path, name, text):
    assert problems(tmp_path, {"files.py": "", name: text}) == {}


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("_check.py", "from .results import Estimate", "_check:1 imports results"),
        ("_check.py", "from . import privacy", "_check:1 imports privacy"),
        ("results.py", "def f():\n    from .mechanisms import M", "results:2 imports mechanisms"),
        ("privacy/__init__.py", "class A:\n    def f(self):\n        import tree.cli", "privacy:3 imports cli"),
        ("privacy/_a.py", "from .. import results as r", "privacy._a:1 imports results"),
        ("privacy/_a.py", "if not TYPE_CHECKING:\n    from ..results import A", "privacy._a:2 imports results"),
        (
            "privacy/_a.py",
            "if TYPE_CHECKING:\n    pass\nelse:\n    from ..results import A",
            "privacy._a:4 imports results",
        ),
        ("bounds/_a.py", "with x:\n    from .. import Estimate", "bounds._a:2 imports the package itself"),
        ("bounds/_a.py", "import tree", "bounds._a:1 imports the package itself"),
        ("central/_a.py", "from ..bounds import A", "central._a:1 imports bounds"),
        ("files.py", "from .bench import A", "files:1 imports bench"),
    ],
)
def test_an_import_from_a_lower_room_is_reported(tmp_path, name, text, expected):
    found = problems(tmp_path, {"bench/__init__.py": "", name: text})
    assert found["order"] == [f"{expected}, which is in a lower room"]
    assert set(found) <= {"order", "cycles", "cycles in functions"}


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("privacy/_a.py", "from .._core import tally", "privacy._a:1 imports _core.tally"),
        ("results.py", "if TYPE_CHECKING:\n    from ._core.tally import add", "results:2 imports _core.tally"),
        ("bounds/_a.py", "def f():\n    from .. import _core", "bounds._a:2 imports _core"),
        ("cli.py", "import tree._core.tally", "cli:1 imports _core.tally"),
    ],
)
def test_a_forbidden_import_of_core_is_reported(tmp_path, name, text, expected):
    assert problems(tmp_path, {name: text}) == {"forbidden": [f"{expected}, which this room may not import"]}


def test_types_of_mechanisms_in_reports_are_reported(tmp_path):
    text = "if TYPE_CHECKING:\n    from ..mechanisms import Mechanism"
    expected = ["reports._a:2 imports mechanisms, which is not allowed in reports"]
    assert problems(tmp_path, {"reports/_a.py": text}) == {"forbidden": expected}


@pytest.mark.parametrize(
    "text",
    [
        "from ..central import A",
        "def f():\n    from ..central import A",
        "if TYPE_CHECKING:\n    from ..central import A",
        "def f():\n    import tree.central._a",
    ],
)
def test_an_import_of_a_wing_by_the_core_is_reported(tmp_path, text):
    found = problems(tmp_path, {"central/__init__.py": "", "reports/_a.py": text})
    line = text.count("\n") + 1
    assert found["wings"] == [f"reports._a:{line} imports central, which is a wing"]


def test_wings_may_import_the_core_and_each_other(tmp_path):
    text = "from ..reports import Format\nfrom ..bounds import best"
    assert problems(tmp_path, {"server/__init__.py": text}) == {}


def test_cycles_are_reported(tmp_path):
    cycle = [["mechanisms._a", "mechanisms._base", "mechanisms._registry"]]
    changed = {"mechanisms/_registry.py": "from ._a import A", "mechanisms/_a.py": "from ._base import Mechanism"}
    assert problems(tmp_path, changed) == {"cycles": cycle, "cycles in functions": cycle}


def test_cycles_through_functions_are_reported_separately(tmp_path):
    text = "def f():\n    from ._base import Mechanism"
    expected = {"cycles in functions": [["mechanisms._base", "mechanisms._registry"]]}
    assert problems(tmp_path, {"mechanisms/_registry.py": text}) == expected


def test_an_import_of_its_own_package_is_a_cycle(tmp_path):
    cycle = [["mechanisms", "mechanisms._base", "mechanisms._registry"]]
    changed = {"mechanisms/_registry.py": "from . import Mechanism"}
    assert problems(tmp_path, changed) == {"cycles": cycle, "cycles in functions": cycle}


def test_modules_without_a_room_are_reported(tmp_path):
    assert problems(tmp_path, {"plugins/__init__.py": "", "plugins/a.py": ""}) == {"rooms": ["plugins", "plugins.a"]}
