"""Memory use."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable


def peak_memory(call: Callable[[], object]) -> int:
    """Largest number of bytes that Python objects and arrays take during a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
