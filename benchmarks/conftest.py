"""Shared fixtures of the benchmarks."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import ldpfast as ldp


@pytest.fixture
def threads() -> Iterator[None]:
    """Restore the number of threads after the test."""
    before = ldp.get_num_threads()
    yield
    ldp.set_num_threads(before)
