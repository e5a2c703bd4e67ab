"""Number of threads, and division of work among them.

Kernels release the GIL, so Python threads are enough. The pool is created at its first use. After a fork it is created
again, because the child process does not have the threads of its parent. Results do not depend on the number of
threads, because the key stream is addressed by block.
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

SMALL = 1 << 17  # values, about 50 us of work: below this size, the pool costs more time than it saves

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
    """Return the number of threads used for a large array.

    Returns
    -------
    n : int
        The initial value is the environment variable ``LDPFAST_NUM_THREADS`` or, without it, the number of processors
        available to this process.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> ldp.get_num_threads() >= 1
    True
    """
    return _threads


def set_num_threads(n: int) -> None:
    """Set the number of threads used for a large array.

    Parameters
    ----------
    n : int
        At least 1. Results do not depend on it. Small inputs are processed by the calling thread.

    Raises
    ------
    TypeError, ValueError
        If `n` is not an integer >= 1.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> before = ldp.get_num_threads()
    >>> ldp.set_num_threads(1)
    >>> ldp.get_num_threads()
    1
    >>> ldp.set_num_threads(before)
    """
    global _threads
    n = _check.integer("n", n, 1)
    with _lock:
        _threads = n
        _close_pool()


def _close_pool() -> None:
    """Close the pool. Its threads finish the work that was submitted."""
    global _pool
    if _pool is not None:
        _pool.shutdown(wait=False)
        _pool = None


def _after_fork() -> None:
    global _pool, _lock
    _pool = None
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):  # not on Windows, which has no fork
    os.register_at_fork(after_in_child=_after_fork)


def parallel_map(work: Callable[[int, int], T], n: int, unit: int, size: int) -> list[T]:
    """Call ``work(start, stop)`` in parallel on slices that cover ``range(n)``.

    Each slice except the last consists of whole blocks.

    Parameters
    ----------
    work : callable
        Runs in parallel only while it releases the GIL.
    n, unit : int
        Number of records, and number of records per block.
    size : int
        Number of values in all records. Below `SMALL`, the calling thread does all the work.

    Returns
    -------
    results : list
        Return values in the order of the slices. If calls raise, the exception of the first such slice is raised after
        all calls have ended.
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
