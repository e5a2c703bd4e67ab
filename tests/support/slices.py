"""Random slices of a range."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st


def slices(n: int, draw: Callable[..., Any]) -> Iterator[tuple[int, int]]:
    """Yield consecutive slices of random lengths."""
    start = 0
    while start < n:
        stop = min(n, start + draw(st.integers(1, 40)))
        yield start, stop
        start = stop
