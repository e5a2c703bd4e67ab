"""What is measured: one task with its data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

AnyArray = NDArray[Any]
Answer = Any
Task = Callable[[], Answer]

EPSILON = 1.0


@dataclass(frozen=True)
class Case:
    """One task with its data.

    Attributes
    ----------
    task, unit : str
        What is done, and what it is counted in.
    units : int
        How many of them one call does.
    random_bytes, read_bytes, write_bytes : float
        What a unit needs at least: random bytes of the algorithm, bytes of the record (read once), of the report.
    ours, numpy : callable
        One call each; the answer is what `check` judges.
    check : callable
        Whether an answer is correct; fails a correct answer with a chance of at most 1e-9 per statistic.
    mechanism, x : Mechanism or protocol, ndarray
        For other libraries that shall do the same.
    target, target_two : float or None
        Nanoseconds per unit to reach on an AVX-512 machine: with one thread; with two, by wall time.
    threads : bool
        Whether `ours` deals its work out to several threads.
    numpy_units : int or None
        How many units `numpy` does, where it would take too long for all.
    y : ndarray or None
        Responses, for regressions.
    note : str
        What the NumPy side does not do, and what the limit does not know.
    """

    task: str
    unit: str
    units: int
    random_bytes: float
    read_bytes: float
    write_bytes: float
    ours: Task
    numpy: Task
    check: Callable[[Answer], bool]
    mechanism: Any
    x: AnyArray
    target: float | None = None
    target_two: float | None = None
    threads: bool = True
    numpy_units: int | None = None
    y: AnyArray | None = None
    note: str = ""
