"""Benchmark case: one task with its data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._typing import AnyArray

CaseAnswer = Any
Task = Callable[[], CaseAnswer]

EPSILON = 1.0


@dataclass(frozen=True)
class Case:
    """One task with its data.

    Attributes
    ----------
    task, unit : str
        Name of the task, and unit of the measured time.
    units : int
        Number of units that one call processes.
    random_bytes, read_bytes, write_bytes : float
        Minimum number of bytes per unit: random bytes of the algorithm, bytes of the record (read once), bytes of the
        report.
    ours : callable
        One call of the library. The return value is the argument of `check`.
    check : callable
        Whether an answer is correct. Rejects a correct answer with probability at most 1e-9 per statistic.
    mechanism, x : Mechanism or protocol, ndarray
        Mechanism and records, for implementations in other libraries.
    target, target_two : float or None
        Target times on an AVX-512 machine, in nanoseconds per unit: one thread; two threads, wall time.
    threads : bool
        Whether `ours` distributes its work among several threads.
    y : ndarray or None
        Responses of a regression.
    note : str
        Costs that the limit does not include.
    """

    task: str
    unit: str
    units: int
    random_bytes: float
    read_bytes: float
    write_bytes: float
    ours: Task
    check: Callable[[CaseAnswer], bool]
    mechanism: Any
    x: AnyArray
    target: float | None = None
    target_two: float | None = None
    threads: bool = True
    y: AnyArray | None = None
    note: str = ""


@dataclass(frozen=True)
class Rival:
    """A case in another library.

    Attributes
    ----------
    call : callable
        One call, whose return value is the argument of `Case.check`.
    units : int
        Number of units that one call processes; fewer than in the case, if the library is too slow for all.
    note : str
        Differences to the task of the case.
    """

    call: Task
    units: int
    note: str = ""


Rivals = Callable[[str, Case], Rival]  # from a case and its name
