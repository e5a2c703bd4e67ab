"""Shared fixtures of the benchmarks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import ldpfast as ldp


def add_tests() -> None:
    """Make the tests of this checkout importable: other packages install a package `tests`, too."""
    package = ModuleType("tests")
    package.__path__ = [str(Path(__file__).parents[1] / "tests")]
    sys.modules["tests"] = package


add_tests()


@pytest.fixture
def threads() -> Iterator[None]:
    """Restore the number of threads after the test."""
    before = ldp.get_num_threads()
    yield
    ldp.set_num_threads(before)
