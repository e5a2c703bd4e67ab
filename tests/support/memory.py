"""Memory use."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable


def peak_memory(call: Callable[[], object]) -> int:
    """Return the largest number of bytes that Python objects and arrays use during a call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
