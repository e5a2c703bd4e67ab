"""Shared fixtures of the benchmarks."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ldpfast as ldp

sys.path.append(str(Path(__file__).parents[1]))  # for `tests.cards`, after the installed package


@pytest.fixture
def threads() -> Iterator[None]:
    """Restore the number of threads after the test."""
    before = ldp.get_num_threads()
    yield
    ldp.set_num_threads(before)
