"""Report of all cases, as tables and as JSON."""

from __future__ import annotations

import json as json_format
import os
import platform
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

from .._info import info
from ._case import EPSILON, Rivals
from ._cases import CASES
from ._measure import BANDWIDTH_TARGET, SPEEDUP_TARGET, Machine, Row, measure
from ._singles import SINGLE_TARGET, measure_singles


def cpu_name() -> str:
    """Return the name of the processor as given by the operating system."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


_COLUMNS = (
    f"{'task':<43} {'ns per':<8} {'ldpfast':>8} {'NumPy':>8} {'ratio':>6} {'limit':>7} {'of limit':>8} {'2 threads':>9}"
    f" {'correct':>8}"
)


def _mark(value: bool | None) -> str:
    return "-" if value is None else "yes" if value else "NO"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _is_correct(row: Row) -> bool:
    return row.correct and row.numpy_correct is not False


def _line(row: Row, targets: bool) -> str:
    target = f"  target {row.target:.3g}: {_mark(row.met)}" if targets and row.target is not None else ""
    two = "-" if row.two_threads is None else f"{row.two_threads:.2f} x"
    numpy, ratio = _number(row.numpy, ".2f"), _number(row.ratio, ".1f")
    return (
        f"{row.task:<43} {row.unit:<8} {row.ldpfast:8.2f} {numpy:>8} {ratio:>6} {row.limit:7.2f}"
        f" {row.of_limit:8.0%} {two:>9} {_mark(_is_correct(row)):>8}{target}"
    )


def _print_thread_targets(rows: list[Row]) -> None:
    print(
        f"Two threads: at least {SPEEDUP_TARGET} times as fast as one, or {BANDWIDTH_TARGET:.0%} of the read bandwidth of two "
        "threads, or a wall time in ns:"
    )
    for row in rows:
        if row.met_two_threads is not None:
            part = "" if row.of_read_bandwidth is None else f", {row.of_read_bandwidth:.0%} of the read bandwidth"
            if row.target_two is not None:
                part = f", {row.two_threads_ns:.3g} ns (at most {row.target_two:.3g})"
            print(f"  {row.task:<43} {row.two_threads:5.2f} x{part}: {_mark(row.met_two_threads)}")


def report(seconds: float = 50.0, json: str | None = None, targets: bool = False, rivals: Rivals | None = None) -> int:
    """Measure every case, print tables, and optionally write all numbers to a file.

    Parameters
    ----------
    seconds : float
        Approximate duration. Below 20, the arrays are smaller and may fit in cache.
    json : str, optional
        File for all numbers.
    targets : bool, default False
        Whether to print the targets for an AVX-512 machine.
    rivals : callable, optional
        The cases in NumPy, from which a checkout compares. Without them, the columns of NumPy are empty.

    Returns
    -------
    status : int
        0, or 1 if an answer is wrong. Missed targets do not change it.
    """
    start, scale = time.perf_counter(), min(1.0, seconds / 20)
    about = {
        "cpu": cpu_name(),
        "cpus": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "ldpfast": info()["version"],
        "isa": info()["isa"],
        "aes": info()["aes"],
        "epsilon": EPSILON,
    }
    print(
        f"ldpfast {about['ldpfast']} ({about['isa']}, {about['aes']}), NumPy {about['numpy']}, Python {about['python']}; "
        f"{about['cpu']}, {about['cpus']} CPUs\n"
        "CPU time of one thread, best of several rounds; arrays in memory; epsilon = 1.\n"
        "limit: random bytes at the speed of the key stream, or reading the records and writing the reports once, whichever\n"
        "is longer, at the fastest speed of the run."
    )
    if rivals is None:
        print("No comparison with NumPy: its code is in the repository, and the command finds it in a checkout.\n")
    else:
        print("NumPy draws from SFC64, which is not cryptographic. ratio: NumPy / ldpfast.\n")
    print(_COLUMNS)
    print("-" * len(_COLUMNS))
    # Every case is measured between samples of the limits of the machine, and shares the time that is left with those after it.
    machine, rows = Machine(), []
    for _ in range(max(1, int(50 * scale))):  # the first cases need fast samples too
        machine.sample()
    single = measure_singles(max(20, int(200 * scale)))
    for i, (name, build) in enumerate(CASES.items()):
        case = build(scale)
        left = seconds - (time.perf_counter() - start)
        duration = left / (len(CASES) - i) - 0.6 * scale  # reserves time for the checks and the data of the next case
        rows.append(measure(name, case, machine, duration, None if rivals is None else rivals(name, case)))
        print(_line(rows[-1], targets), flush=True)
    for note in dict.fromkeys(row.note for row in rows if row.note):
        print(f"  {'; '.join(row.task for row in rows if row.note == note)}: {note}")
    speeds = {name: getattr(machine, name) for name in ("stream", "copy", "read", "read_two")}
    print("\nGB/s: " + ", ".join(f"{name.replace('_', ' by ')} {1 / cost:.1f}" for name, cost in speeds.items()))
    if targets:
        _print_thread_targets(rows)
    print("\nSingle record with a fresh key, us per call" + (f"; target {SINGLE_TARGET:g}:" if targets else ":"))
    for name, cost in single.items():
        print(f"  {name:<30} {cost:6.2f}" + (f"  {_mark(cost <= SINGLE_TARGET)}" if targets else ""))
    took = time.perf_counter() - start
    wrong = [row.task for row in rows if not _is_correct(row)]
    print(f"\n{took:.0f} seconds; " + ("all answers correct" if not wrong else "WRONG: " + "; ".join(wrong)))
    if json is not None:
        data = {"machine": about, "ns_per_byte": speeds, "tasks": [asdict(row) for row in rows], "single_us": single}
        Path(json).write_text(json_format.dumps(data, indent=1) + "\n")
    return 1 if wrong else 0
