"""Times of sets, of surveys with them, of all tables of many questions, and of distributions, as a table in Markdown.

``python -m benchmarks.several``: the best of seven calls by the time of the process, with one thread, beside the target.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import ldpfast as ldp
from ldpfast.estimation import Distribution
from ldpfast.mechanisms import SetSelection
from ldpfast.survey import Pairs, Several, Survey, YesNo

PEOPLE = 1_000_000
ROUNDS = 7
SYMPTOMS = ["fever", "cough", "pain", "rash", "fatigue", "nausea", "chills", "sneezing", "vertigo", "thirst"]


def best_of(call: Callable[[], object]) -> float:
    """Return the least time of the process for one call, in seconds, after one to warm up."""
    call()
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def print_row(task: str, unit: str, seconds: float, units: int, target: str = "") -> None:
    """Print the time per unit, in nanoseconds, or in seconds for one unit."""
    shown = f"{seconds / units * 1e9:.1f} ns" if units > 1 else f"{seconds:.3f} s"
    print(f"| {task} | {unit} | {shown} | {target} |", flush=True)


def ticks(n: int, k: int, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of zeros and ones with at most some ones each."""
    rows = np.zeros((n, k), np.uint8)
    for column in rng.integers(0, k, (most, n)):
        rows[np.arange(n), column] |= rng.integers(0, 2, n, dtype=np.uint8)
    return rows


def mechanisms(rng: np.random.Generator) -> None:
    """Measure the reports of sets and of distributions."""
    for k, target in ((20, "15 ns"), (100, "30 ns")):
        mechanism, rows = SetSelection(k, 3, 1.0), ticks(PEOPLE, k, 3, rng)
        positions = mechanism.domain.convert(mechanism.domain.records(rows)[0])
        out = np.empty((PEOPLE, *mechanism.report.shape), np.uint8)
        kernel, stream = mechanism._recipe.kernel, ldp._random.open_stream(1)
        seconds = best_of(lambda: kernel.privatize(stream, 0, positions, out))  # noqa: B023
        print_row(f"`SetSelection`, 3 of {k}, kernel", "person", seconds, PEOPLE, target)
        seconds = best_of(lambda: mechanism.privatize(rows))  # noqa: B023
        print_row(f"the same from rows of {k} zeros and ones", "person", seconds, PEOPLE)
    x = rng.random(PEOPLE)
    for cells in (256, 1024):
        problem = Distribution(0, 1, 1.0, cells=cells)
        records = problem.mechanism.domain.convert((x * cells).astype(np.int64))
        target = "6 ns" if cells == 256 else ""
        seconds = best_of(lambda: problem.mechanism.privatize(records))  # noqa: B023
        print_row(f"`DistributionResponse`, {cells} cells", "person", seconds, PEOPLE, target)
        print_row("`Distribution.privatize`", "person", best_of(lambda: problem.privatize(x)), PEOPLE)  # noqa: B023


def surveys(rng: np.random.Generator) -> None:
    """Measure a survey with sets from three kinds of columns, and all tables of twenty questions."""
    rows = ticks(PEOPLE, len(SYMPTOMS), 3, rng)
    lists = [[SYMPTOMS[j] for j in np.flatnonzero(row)] for row in rows]
    survey = Survey({"symptoms": Several(SYMPTOMS, most=3)}, 1.0)
    for kind, column in (("zeros and ones", rows), ("lists", lists), ("texts", [";".join(row) for row in lists])):
        seconds = best_of(lambda: survey.run({"symptoms": column}))  # noqa: B023
        print_row(f"a survey with a `Several`, from {kind}", "person", seconds, PEOPLE)
    names = [f"q{i}" for i in range(20)]
    pairs = Survey({**{name: YesNo() for name in names}, "all": Pairs(*names)}, 1.0, weights={"all": 1000.0})
    counted = pairs.collect({name: rng.random(PEOPLE) < 0.3 for name in names})

    def tables() -> object:
        answer = counted.estimate()["all"]
        return [answer[a, b].interval() for i, a in enumerate(names) for b in names[i + 1 :]]

    print_row("190 tables of `Pairs` with intervals", "all", best_of(tables), 1, "1 s")


def main() -> None:
    """Print the table."""
    ldp.set_num_threads(1)
    print("| task | unit | time | target |\n| --- | --- | --- | --- |")
    mechanisms(np.random.default_rng(1))
    surveys(np.random.default_rng(2))


if __name__ == "__main__":
    main()
