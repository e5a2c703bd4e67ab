"""Throughput of one mechanism."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from .. import _check
from ..mechanisms import Mechanism


@dataclass(frozen=True)
class Throughput:
    """Times of a mechanism, for the current number of threads.

    Attributes
    ----------
    privatize, aggregate, run : float
        Nanoseconds per record of ``privatize(x)``, of ``aggregator().update(reports)`` and of ``run(x)``.
    single : float
        Microseconds of one call of ``privatize`` for a single record.
    report_bytes : int
        Size of one report.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> from ldpfast import bench
    >>> bench.throughput(ldp.Warner(epsilon=1.0), [True] * 100_000).report_bytes
    1
    """

    privatize: float
    aggregate: float
    run: float
    single: float
    report_bytes: int

    def __str__(self) -> str:
        return (
            f"privatize {self.privatize:.2f}, aggregate {self.aggregate:.2f}, run {self.run:.2f} ns per record; "
            f"single record {self.single:.2f} us; {self.report_bytes} bytes per report"
        )


def throughput(mechanism: Mechanism, x: ArrayLike, *, rounds: int = 5) -> Throughput:
    """Measure how fast a mechanism privatizes and aggregates records.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism, including user-defined ones.
    x : array_like
        Records, so many that one pass takes some milliseconds.
    rounds : int, default 5
        Number of passes over `x` for each time; the fastest pass counts.

    Returns
    -------
    throughput : Throughput

    Raises
    ------
    TypeError, ValueError
        If `mechanism` is not a `Mechanism`, `rounds` is below 1, or `x` is empty or not an array of records.

    Notes
    -----
    Times are wall times; use an idle machine. The memory of the reports is written once before the measurement.

    Examples
    --------
    >>> import numpy as np
    >>> import ldpfast as ldp
    >>> from ldpfast import bench
    >>> figures = bench.throughput(ldp.RandomizedResponse(4, epsilon=1.0), np.zeros(100_000, np.uint8))
    >>> figures.privatize < 1000
    True
    """
    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"mechanism must be a Mechanism, got {type(mechanism).__name__}")
    rounds = _check.integer("rounds", rounds, 1)
    records, _ = mechanism.domain.records(x)
    n = len(records)
    if n == 0:
        raise ValueError("x must have at least one record")
    reports, record = mechanism.privatize(records), records[0]

    def fastest(call: Callable[[], Any], repeat: int = 1) -> float:
        best = float("inf")
        for _ in range(rounds):
            start = time.perf_counter()
            for _ in range(repeat):
                call()
            best = min(best, (time.perf_counter() - start) / repeat)
        return best

    return Throughput(
        privatize=fastest(lambda: mechanism.privatize(records, out=reports)) * 1e9 / n,
        aggregate=fastest(lambda: mechanism.aggregator().update(reports)) * 1e9 / n,
        run=fastest(lambda: mechanism.run(records)) * 1e9 / n,
        single=fastest(lambda: mechanism.privatize(record), 100) * 1e6,
        report_bytes=mechanism.report_bytes,
    )
