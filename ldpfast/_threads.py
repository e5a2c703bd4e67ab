"""The number of threads, and the division of work among them.

Kernels release the GIL, so plain threads are enough. The pool is created when it is first needed, and again after a
fork, where the threads of the parent are gone. Results do not depend on the number of threads: the key stream is
addressed by block.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from . import _check

T = TypeVar("T")

SMALL = 1 << 17  # numbers, about 50 us of work: below, the pool costs more time than it saves

_lock = threading.Lock()
_pool: ThreadPoolExecutor | None = None


def _available() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _initial() -> int:
    text = os.environ.get("LDPFAST_NUM_THREADS")
    if text is None:
        return _available()
    try:
        return _check.integer("LDPFAST_NUM_THREADS", int(text), 1)
    except ValueError:
        raise ValueError(f"LDPFAST_NUM_THREADS must be an integer >= 1, got {text!r}") from None


_threads = _initial()


def get_num_threads() -> int:
    """Number of threads that work on a large array.

    Returns
    -------
    n : int
        Initially the environment variable ``LDPFAST_NUM_THREADS``, or else the number of processors of this process.
    """
    return _threads


def set_num_threads(n: int) -> None:
    """Set the number of threads that work on a large array.

    Parameters
    ----------
    n : int
        At least 1. Results are the same for every n; small inputs stay on the calling thread.

    Raises
    ------
    TypeError, ValueError
        If `n` is not an integer >= 1.
    """
    global _threads
    n = _check.integer("n", n, 1)
    with _lock:
        _threads = n
        _close_pool()


def _close_pool() -> None:
    """Close the pool; its threads finish what they have begun."""
    global _pool
    if _pool is not None:
        _pool.shutdown(wait=False)
        _pool = None


def _after_fork() -> None:
    global _pool, _lock
    _pool = None
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def parallel_map(work: Callable[[int, int], T], n: int, unit: int, size: int) -> list[T]:
    """Call ``work(start, stop)`` on slices that cover ``range(n)``; each slice except the last holds whole units.

    Parameters
    ----------
    work : callable
        Gains time only where it releases the GIL.
    n, unit : int
        Number of records, and number of records in a block.
    size : int
        How many numbers the records hold; below `SMALL` the calling thread does all.

    Returns
    -------
    results : list
        In the order of the slices. If a call raises, the exception of the first such slice is raised after all have
        ended.
    """
    global _pool
    blocks = -(-n // unit)
    parts = min(_threads, blocks) if size >= SMALL else 1
    if parts <= 1:
        return [work(0, n)]
    bounds = [min(n, blocks * i // parts * unit) for i in range(parts + 1)]
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(_threads, thread_name_prefix="ldpfast")
        try:
            futures = [_pool.submit(work, start, stop) for start, stop in itertools.pairwise(bounds[1:])]
        except RuntimeError:  # the interpreter is shutting down: no new work for threads
            return [work(start, stop) for start, stop in itertools.pairwise(bounds)]
    try:
        first = work(bounds[0], bounds[1])
    finally:
        wait(futures)
    return [first, *(future.result() for future in futures)]
