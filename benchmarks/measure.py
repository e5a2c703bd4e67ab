"""One measurement by pytest-benchmark, with the values that chart.py and the JSON of a run need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def measure(
    benchmark: Any,
    call: Callable[..., Any],
    arguments: tuple[Any, ...] = (),
    *,
    group: str,
    name: str,
    library: str,
    unit: str,
    units: int,
    correct: bool,
    threads: int = 1,
    target: float | None = None,
    limit: float | None = None,
    rounds: int = 7,
    iterations: int = 1,
) -> None:
    """Measure a call that processes `units` units, and fail if its answer is not correct.

    `target` and `limit` are in nanoseconds per unit.
    """
    benchmark.group = group
    benchmark.extra_info.update(
        name=name, library=library, unit=unit, units=units, threads=threads, target=target, correct=correct
    )
    if limit is not None:
        benchmark.extra_info["limit_ns"] = limit
    benchmark.pedantic(call, arguments, rounds=rounds, iterations=iterations)
    benchmark.extra_info["ns_per_unit"] = benchmark.stats.stats.min * 1e9 / units
    assert correct
