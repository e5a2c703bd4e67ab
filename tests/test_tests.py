"""Tests read as documentation: few of them import what the package keeps to itself."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
# Names that may be imported: those of one file, and in all. Modules that several tests read by themselves have one door
# each in support/internals/, so a module that is renamed is renamed in one place.
MOST_OF_A_FILE, MOST = 18, 150


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def private_imports(source: str) -> Iterator[str]:
    """Yield the names from `ldpfast` that a file imports and that begin with an underscore, or whose module does."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.level == 0 and node.module is not None:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        for name in names:
            package, *parts = name.split(".")
            if package == "ldpfast" and any(map(is_private, parts)):
                yield name


@pytest.mark.parametrize(
    "source, found",
    [
        ("from ldpfast import _core, Warner", ["ldpfast._core"]),
        ("from ldpfast._core.stream import Stream, raw", ["ldpfast._core.stream.Stream", "ldpfast._core.stream.raw"]),
        ("def test():\n    import ldpfast.central._noise as noise", ["ldpfast.central._noise"]),
        ("from ldpfast.cli import _parser", ["ldpfast.cli._parser"]),
        ("import ldpfast as ldp\nfrom _pytest.mark import ParameterSet\nfrom ldpfast import __version__", []),
        ("from ..support.internals.central import noise", []),
    ],
)
def test_private_imports_are_found(source, found):
    assert list(private_imports(source)) == found


def test_few_private_names_are_imported():
    """The message lists the files with most of them."""
    counts = Counter({str(p.relative_to(FOLDER)): len([*private_imports(p.read_text())]) for p in FOLDER.rglob("*.py")})
    worst = "\n".join(f"{n:4} {file}" for file, n in counts.most_common(20))
    assert sum(counts.values()) <= MOST, f"tests import {sum(counts.values())} private names:\n{worst}"
    assert max(counts.values()) <= MOST_OF_A_FILE, worst
