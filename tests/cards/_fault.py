"""Faults that `tools/secret_taint.py` plants in copies of kernels, and must find."""

from __future__ import annotations

from typing import NamedTuple

INSTRUCTION_SETS = {
    "plain C": "0",
    "AVX2": "1",
}  # those that Valgrind knows, and their numbers in tests/native/secret_taint.c


class Fault(NamedTuple):
    """A change of one place of a kernel that makes its time depend on a secret. It keeps the numbers of the lines.

    An empty instruction keeps the compiler from replacing a branch by masks.
    """

    what: str
    case: str  # that must find it
    source: str  # the file that is compiled
    path: str  # the file that is changed
    old: str
    new: str
    instruction_sets: tuple[str, ...] = tuple(INSTRUCTION_SETS)
