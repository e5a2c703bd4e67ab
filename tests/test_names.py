"""Names in the package: a class or a private module has a name of its own."""

from __future__ import annotations

import ast
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


def trees(package: Path) -> Iterator[tuple[str, ast.Module]]:
    """Yield the syntax trees of the Python files of a package, with their paths."""
    for path in sorted(package.rglob("*.py")):
        name = path.relative_to(package).as_posix()
        if not name.startswith(ELSEWHERE):
            yield name, ast.parse(path.read_text())


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
    for file, tree in trees(package):
        for name, is_class in names_of_types(tree):
            files.setdefault(name, []).append(file)
            classes |= {name} if is_class else set()
    return {name: found for name, found in files.items() if len(found) > 1 and name in classes}


def repeated_modules(package: Path) -> set[str]:
    """Return the names of modules that occur in several packages."""
    stems = [Path(file).stem for file, _ in trees(package)]
    return {stem for stem in stems if stems.count(stem) > 1}


def test_every_class_has_a_name_of_its_own():
    assert repeated_classes(PACKAGE) == {}


def test_a_module_has_a_name_of_its_own_or_one_stem_in_several_layers():
    assert repeated_modules(PACKAGE) == set(SHARED_MODULES)


def test_the_functional_of_the_mean_is_not_called_like_the_question():
    assert central.ArithmeticMean() == central.ArithmeticMean()
    with pytest.raises(
        AttributeError, match=r"'ldpfast.central' has no attribute 'Mean': .* is called ArithmeticMean$"
    ):
        central.Mean  # noqa: B018
    with pytest.raises(AttributeError, match=r"^module 'ldpfast.central' has no attribute 'Maen'$"):
        central.Maen  # noqa: B018


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
