"""Time and memory of what people do with surveys, as a table in Markdown: ``python -m benchmarks.paths``.

Each row is the best of several calls in a process of its own, with one thread: processor time, and the memory that the process
needed above that of the imports and the data.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import ldpfast as ldp
from ldpfast.survey import Choice, Histogram, Mean, Survey, YesNo

SIZE = 1_000_000
SECRET = bytes(range(32))


def ten(n: int) -> tuple[Survey, dict[str, Any]]:
    """Return a survey of ten questions and the answers of n people."""
    drawn = np.random.Generator(np.random.SFC64(1)).integers(0, 256, (10, n), np.uint8)
    questions = {
        **{f"yes {i}": YesNo() for i in range(3)},
        **{f"choice {i}": Choice(4 << i) for i in range(3)},
        **{f"mean {i}": Mean(0, 255) for i in range(2)},
        **{f"bins {i}": Histogram(range(0, 257, 32 >> i)) for i in range(2)},
    }
    columns = {name: drawn[i] for i, name in enumerate(questions)}
    for i in range(3):
        columns[f"yes {i}"], columns[f"choice {i}"] = drawn[i] < 99, drawn[3 + i] & (4 << i) - 1
    for i in range(2):
        columns[f"mean {i}"], columns[f"bins {i}"] = drawn[6 + i].astype(float), drawn[8 + i].astype(float)
    return Survey(questions, 2.0), columns


def run_a_survey() -> tuple[Callable[[], Any], int]:
    survey, columns = ten(SIZE)
    return lambda: survey.run(columns), SIZE


def run_with_groups() -> tuple[Callable[[], Any], int]:
    survey, columns = ten(SIZE)
    columns["group"] = np.random.Generator(np.random.SFC64(2)).integers(0, 10_000, SIZE)
    return lambda: survey.collect(columns, by="group"), SIZE


def estimate_groups() -> tuple[Callable[[], Any], int]:
    n, questions, groups = 200_000, 100, 50
    rng = np.random.Generator(np.random.SFC64(3))
    survey = Survey({f"question {i}": Choice(4) for i in range(questions)}, 2.0)
    columns = {name: rng.integers(0, 4, n, np.uint8) for name in survey.questions}
    counts = survey.collect({**columns, "group": rng.integers(0, groups, n)}, by="group")
    return lambda: counts.estimate().table(simultaneous=True), questions * groups


def _clipped(mechanism: Any, shape: tuple[int, ...], clip: bool) -> Callable[[], tuple[Callable[[], Any], int]]:
    """Return the row of valid records in single precision, with or without ``clip=True``."""

    def make() -> tuple[Callable[[], Any], int]:
        x = np.random.Generator(np.random.SFC64(4)).random(shape, np.float32) / shape[-1] ** 0.5
        out = mechanism.privatize(x)
        return lambda: mechanism.privatize(x, clip=clip, out=out), x.size

    return make


def _client(questions: int, **keys: Any) -> Callable[[], tuple[Callable[[], Any], int]]:
    """Return the row of a client that answers a survey of some questions a thousand times."""

    def make() -> tuple[Callable[[], Any], int]:
        kinds = (YesNo(optional=True), Choice(8, optional=True), Mean(0, 100, optional=True))
        survey = Survey({f"question {i}": kinds[i % 3] for i in range(questions)}, 1.0)
        record = {f"question {i}": (True, 3, 31.5)[i % 3] for i in range(questions)}
        client = survey.client(**keys)
        return lambda: [client.report(record) for _ in range(1000)], 1000

    return make


ROWS: dict[str, Callable[[], tuple[Callable[[], Any], int]]] = {
    "`run`, 10 questions, 10^6 people": run_a_survey,
    "`collect`, the same by 10,000 groups": run_with_groups,
    "`estimate` and its table, 100 questions, 50 groups, simultaneous limits": estimate_groups,
    **{
        f"`{name}.privatize(clip={clip})`": _clipped(mechanism, shape, clip)
        for name, mechanism, shape in (
            ("SignBit(0, 1)", ldp.SignBit(0, 1, 1.0), (SIZE,)),
            ("Laplace(0, 1)", ldp.Laplace(0, 1, 1.0), (SIZE,)),
            ("LinfBall(100)", ldp.LinfBall(100, 1.0), (SIZE // 100, 100)),
            ("L2Ball(100)", ldp.L2Ball(100, 1.0), (SIZE // 100, 100)),
        )
        for clip in (False, True)
    },
    "`client().report`, 3 questions": _client(3),
    "`client().report`, 12 questions": _client(12),
    "`client(secret, person).report`, 3 questions": _client(3, secret=SECRET, person=7),
    "`client(secret, person).report`, 12 questions": _client(12, secret=SECRET, person=7),
}


def memory() -> float:
    """Return the largest memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(name: str) -> None:
    """Print the row of one call: seconds, nanoseconds per unit, and MB."""
    ldp.set_num_threads(1)
    call, units = ROWS[name]()
    before, times = memory(), []
    for _ in range(9):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    best = min(times)
    print(f"| {name} | {best:.3g} s | {best / units * 1e9:,.3g} ns | {memory() - before:.0f} MB |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:]:
        measure(sys.argv[1])
    else:
        print("| task | time | per person, number, answer or report | memory |\n| --- | --- | --- | --- |", flush=True)
        for row in ROWS:
            subprocess.run([sys.executable, "-m", "benchmarks.paths", row], check=True)
