"""Style of the package: names that occur once, at most two values on a line, and long functions that say how they work."""

from __future__ import annotations

import ast
import functools
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import ldpfast
from ldpfast import central

PACKAGE = Path(ldpfast.__file__).parent
ELSEWHERE = ("demo/", "bench/_numpy")  # studies and comparisons, which are not the library

# Private modules with a name that occurs in several packages, and why.
SHARED_MODULES = {
    "__init__": "packages",
    "_gaussian_mean": "one problem: its bound and its estimation",
    "_ranked_signs": "one mechanism: its coins and the mechanism",
    "_sparse_mean": "one problem: its bound and its estimation",
    "_window": "one mechanism: its coins and the mechanism",
}


@functools.cache
def trees(package: Path) -> dict[str, ast.Module]:
    """Return the syntax trees of the Python files of a package by their paths."""
    names = {path.relative_to(package).as_posix(): path for path in sorted(package.rglob("*.py"))}
    return {name: ast.parse(path.read_text()) for name, path in names.items() if not name.startswith(ELSEWHERE)}


def names_of_types(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Yield the names of the classes of a module and of its aliases of types, and whether each is a class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name, True
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        for target in targets:
            if isinstance(target, ast.Name) and re.fullmatch(r"_?[A-Z][a-z]\w*", target.id):
                yield target.id, False


def repeated_classes(package: Path) -> dict[str, list[str]]:
    """Return the files by the names of classes that another class or an alias of a type has as well."""
    files: dict[str, list[str]] = {}
    classes = set()
    for file, tree in trees(package).items():
        for name, is_class in names_of_types(tree):
            files.setdefault(name, []).append(file)
            classes |= {name} if is_class else set()
    return {name: found for name, found in files.items() if len(found) > 1 and name in classes}


def repeated_modules(package: Path) -> set[str]:
    """Return the names of modules that occur in several packages."""
    stems = [Path(file).stem for file in trees(package)]
    return {stem for stem in stems if stems.count(stem) > 1}


def test_every_class_has_a_name_of_its_own():
    assert repeated_classes(PACKAGE) == {}


def test_a_module_has_a_name_of_its_own_or_one_stem_in_several_layers():
    assert repeated_modules(PACKAGE) == set(SHARED_MODULES)


def test_the_functional_of_the_mean_is_not_called_like_the_question():
    assert central.ArithmeticMean() == central.ArithmeticMean()
    with pytest.raises(AttributeError, match=r"^ldpfast.central.Mean is now ldpfast.central.ArithmeticMean$"):
        central.Mean  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'ldpfast.central' has no attribute 'Maen'$"):
        central.Maen  # noqa: B018


def other_verbs(tree: ast.Module) -> list[str]:
    """Return the functions of a module whose verb is another one than tally, merge, conclude or collect."""
    return [
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and re.match(r"_?(count|combine|gather|accumulate)(_|$)", node.name)
        and "property" not in map(ast.unparse, node.decorator_list)
    ]


def test_counting_has_three_verbs():
    """Reports are tallied, states merged, results concluded; `collect` privatizes and tallies. A bench and an option count."""
    found = {
        file: other_verbs(tree) for file, tree in trees(PACKAGE).items() if not file.startswith(("bench/", "cli/"))
    }
    assert {file: names for file, names in found.items() if names} == {"dask.py": ["count_people"]}
    text = "class A:\n    def _count_rows(self): ...\n    @property\n    def count(self): ...\n"
    text += "def combine(): ...\ndef counted(): ..."
    assert sorted(other_verbs(ast.parse(text))) == ["_count_rows", "combine"]


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A package with two classes, an alias and two modules of the same name."""
    texts = {
        "a/_plan.py": """
            class Plan:
                class Part: ...
            """,
        "b/_plan.py": "Plan: TypeAlias = int\nLIMIT = 3",
        "c/_other.py": "def f():\n    class Part: ...\nLIMIT = 4\nOnce = int",
        "demo/_plan.py": "class Once: ...",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
    return tmp_path


def test_repeated_names_are_found(small):
    assert repeated_classes(small) == {"Part": ["a/_plan.py", "c/_other.py"], "Plan": ["a/_plan.py", "b/_plan.py"]}
    assert repeated_modules(small) == {"_plan"}


# Statements and functions ----------------------------------------------------------------------------------------------

TOOLS = PACKAGE.parent / "tools"
LONG = 30  # lines of a body, from which on a function says how it works


def leaves(target: ast.expr) -> int:
    return sum(map(leaves, target.elts)) if isinstance(target, ast.Tuple) else 1


def packed_assignments(tree: ast.Module) -> list[int]:
    """Return the lines of assignments of more than two values that are listed; a call may return as many as it likes."""
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Tuple)
        and any(leaves(target) > 2 for target in node.targets)
    ]


def paragraphs(docstring: str) -> int:
    """Return the number of paragraphs before the first section, with one more for notes."""
    before = re.split(r"(?m)^\w[\w ]*\n-{3,}$", docstring)[0]
    return len(before.strip().split("\n\n")) + bool(re.search(r"(?m)^Notes\n-{3,}$", docstring))


def silent_functions(tree: ast.Module, text: str) -> list[str]:
    """Return the names of long functions without a line of comment or a second paragraph of their docstring."""
    lines, found = text.splitlines(), []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno - node.lineno >= LONG:
            docstring = ast.get_docstring(node)
            body = node.body if docstring is None else node.body[1:]
            written = [line.strip() for line in lines[body[0].lineno - 1 : node.end_lineno]] if body else []
            inside = lines[node.lineno : node.end_lineno]
            comments = [line for line in inside if line.lstrip().startswith("# ")]
            code = [line for line in written if line and not line.startswith("#")]
            if len(code) >= LONG and not comments and paragraphs(docstring or "") < 2:
                found.append(node.name)
    return found


def test_at_most_two_values_are_assigned_on_a_line():
    found = {file: packed_assignments(tree) for file, tree in trees(PACKAGE).items()}
    found |= {path.name: packed_assignments(ast.parse(path.read_text())) for path in TOOLS.glob("*.py")}
    assert len(found) > 300
    assert {file: lines for file, lines in found.items() if lines} == {}


def test_long_functions_say_how_they_work():
    found = {file: silent_functions(tree, (PACKAGE / file).read_text()) for file, tree in trees(PACKAGE).items()}
    assert {file: names for file, names in found.items() if names} == {}


def test_packed_assignments_are_found():
    text = """
    a, b, c = 1, 2, 3
    a, b = 1, 2
    a, b, c = f()
    a, (b, c) = 1, f()
    (a, b), c = d = 1, 2
    """
    assert packed_assignments(ast.parse(textwrap.dedent(text))) == [2, 5, 6]


def test_silent_functions_are_found():
    body = "\n".join(["    x += 1"] * (LONG - 1))
    texts = {
        "short": f'    """One."""\n{body}',
        "silent": f'    """One.\n\n    Returns\n    -------\n    x : int\n\n    """\n{body}\n\n    return x',
        "no_docstring": f"{body}\n    return x  # the sum",
        "two_paragraphs": f'    """One.\n\n    Two.\n    """\n{body}\n    return x',
        "notes": f'    """One.\n\n    Notes\n    -----\n    Two.\n    """\n{body}\n    return x',
        "comment": f"    # Adds.\n{body}\n    return x",
    }
    text = "\n".join(f"def {name}(x):\n{lines}\n" for name, lines in texts.items())
    assert silent_functions(ast.parse(text), text) == ["silent", "no_docstring"]
