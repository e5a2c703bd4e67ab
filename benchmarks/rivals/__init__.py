"""Other implementations of the cases of `ldpfast.bench`: numba, and libraries that perform the same task.

A rival is a function that takes a `Case` and returns a call, whose answer is checked by ``case.check``. Libraries that process
single records get fewer people. Libraries that perform a different task are not included.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from ldpfast.bench._case import Case, Task

from . import diffprivlib, multi_freq_ldpy, opendp, pure_ldp


class Library(NamedTuple):
    """A published library for one task: its module, the number of people, and the implementation."""

    module: str
    people: int
    rival: Callable[[Case], Task]


# Task -> name of the library -> implementation.
LIBRARIES = {
    "response-128": {
        "pure-ldp": Library("pure_ldp", 20_000, pure_ldp.response),
        "multi-freq-ldpy": Library("multi_freq_ldpy", 20_000, multi_freq_ldpy.response),
        "opendp": Library("opendp", 20_000, opendp.response),
    },
    "unary-128": {
        "pure-ldp": Library("pure_ldp", 10_000, pure_ldp.unary),
        "multi-freq-ldpy": Library("multi_freq_ldpy", 10_000, multi_freq_ldpy.unary),
        "opendp": Library("opendp", 10_000, opendp.unary),
    },
    "laplace": {
        "opendp": Library("opendp", 20_000, opendp.laplace),
        "diffprivlib": Library("diffprivlib", 20_000, diffprivlib.laplace),
    },
    "central-mean": {"diffprivlib": Library("diffprivlib", 10_000_000, diffprivlib.mean)},
    "central-median": {"diffprivlib": Library("diffprivlib", 100_000, diffprivlib.median)},
    "central-gaussian": {"opendp": Library("opendp", 10_000, opendp.gaussian)},
}


def installed(task: str) -> dict[str, Library]:
    """Return the installed libraries for a task."""
    return {name: library for name, library in LIBRARIES.get(task, {}).items() if find_spec(library.module) is not None}


def fewer_people(case: Case, n: int) -> Case:
    """Return the same case with the first n records only, checked by the same rule."""
    if n >= len(case.x):
        return case
    check = case.check
    if not isinstance(check, partial):
        raise TypeError("the check of this case cannot be applied to a part of the records")
    arguments = [a[:n] if isinstance(a, np.ndarray) and len(a) == len(case.x) else a for a in check.args]
    return replace(case, units=n, x=case.x[:n], check=partial(check.func, *arguments))
