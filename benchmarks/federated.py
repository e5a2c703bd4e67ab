"""Times, sizes and errors of one round of long vectors, as a table in Markdown: ``python -m benchmarks.federated [DIM ...]``.

``python -m benchmarks.federated --rounds ROUNDS CLIENTS DIM`` measures whole rounds: every client privatizes an update of its
own, the server decodes the mean with a new rotation and takes a step.

Process times of one thread: of the client for a vector, of the server for a report, and of the server once per round. The
server gets all reports in one call, which adds an array to the state; those of `RotatedSigns` 16 times, as if from 1,024
people. Errors are measured: n |error|^2 for equal unit vectors, relative to `PrivUnit`. FastProjUnit (Asi and others, 2023) is
written in NumPy, with own rows of a shared transform for every report: `PrivUnit` for 1024 rows, whose reports are numbers. Its
guarantee, and that of `PrivUnit`, holds for real numbers only.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import ldpfast as ldp
from benchmarks.rivals.numpy_beyond import transform
from ldpfast._typing import AnyArray, Floats

EPSILON, ROWS = 8.0, 1024


class Times(NamedTuple):
    """Seconds of the client and of the server for all reports, and of what the server does once; bytes of a state; estimate."""

    client: float
    reports: float
    once: float
    state: int
    value: Floats


def of_mechanism(mechanism: ldp.Mechanism, x: AnyArray) -> Times:
    """Return the times of a mechanism of the library, in one thread."""
    mechanism.run(x[:1])  # what is computed once per process
    start = time.process_time()
    reports = mechanism.privatize(x)
    collected = time.process_time() - start
    aggregator = mechanism.aggregator()
    copies = 16 if isinstance(mechanism, ldp.RotatedSigns) else 1
    many = np.tile(reports, (copies, 1))
    start = time.process_time()
    aggregator.update(many)
    added = time.process_time()
    value = aggregator.estimate().value
    decoded = time.process_time()
    return Times(collected, (added - start) / copies, decoded - added, len(aggregator.to_bytes()), value)


def fast_projections(dim: int, x: AnyArray) -> Times:
    """Return the times of FastProjUnit."""
    generator, size = np.random.Generator(np.random.SFC64(1)), 1 << (dim - 1).bit_length()
    signs = 1 - 2 * generator.integers(0, 2, size).astype(np.float32)
    inner = ldp.PrivUnit(ROWS, EPSILON)
    inner.privatize(np.eye(1, ROWS))
    start = time.process_time()
    chosen, reports = np.empty((len(x), ROWS), np.int64), np.empty((len(x), ROWS), np.float32)
    u = np.empty(size, np.float32)
    for i, record in enumerate(x):
        u[:dim], u[dim:] = record, 0
        u *= signs
        transform(u)
        chosen[i] = generator.choice(size, ROWS, replace=False, shuffle=False)
        y = u[chosen[i]]
        reports[i] = inner.privatize(y / (np.linalg.norm(y) * np.float32(1 + 1e-6)))
    collected = time.process_time()
    state = np.zeros(size)
    for at, report in zip(chosen, reports, strict=True):
        state[at] += report
    added = time.process_time()
    transform(state)
    value = (state * signs)[:dim] / np.sqrt(ROWS) / len(x)
    return Times(collected - start, added - collected, time.process_time() - added, state.nbytes, value)


def rows_of(dim: int) -> list[tuple[str, int, int, Callable[[AnyArray], Times]]]:
    """Return a name, the number of people, the bytes of a report and the measurement of each procedure."""
    made: list[tuple[str, int, ldp.Mechanism]] = [
        ("`RotatedSigns`", 64, ldp.RotatedSigns(dim, EPSILON, rotation=1)),
        ("`RotatedSigns`, 512 signs", 64, ldp.RotatedSigns(dim, EPSILON, rotation=1, signs=512)),
        ("`RankedSigns`", 4, ldp.RankedSigns(dim, EPSILON)),
        ("`PrivUnit`", 16, ldp.PrivUnit(dim, EPSILON)),
        ("`L2Ball`", 64, ldp.L2Ball(dim, EPSILON)),
    ]

    def measured(mechanism: ldp.Mechanism) -> Callable[[AnyArray], Times]:
        return lambda x: of_mechanism(mechanism, x)

    rows = [(name, n, np.dtype(np.float32).itemsize * dim, measured(m)) for name, n, m in made[3:]]
    seeded = [(name, n, m.report_bytes, measured(m)) for name, n, m in made[:3]]
    return [*seeded, ("FastProjUnit, NumPy", 16, 8 + 4 * ROWS, lambda x: fast_projections(dim, x)), *rows]


def main(dims: list[int]) -> None:
    ldp.set_num_threads(1)
    print(
        "| dim | procedure | bytes of a report | client, ms | server, us per report | server once, ms | MB of a state | error |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for dim in dims:
        best = ldp.PrivUnit(dim, EPSILON).scale ** 2 - 1
        for name, n, size, run in rows_of(dim):
            x = np.random.default_rng(1).standard_normal(dim).astype(np.float32)
            x /= np.linalg.norm(x) * np.float32(1 + 1e-6)
            found = run(np.tile(x, (n, 1)))
            error = n * float(((found.value - x) ** 2).sum()) / best
            print(
                f"| {dim:,} | {name} | {size:,} | {found.client / n * 1e3:.3g} | {found.reports / n * 1e6:.3g} | "
                f"{found.once * 1e3:.3g} | {found.state / 1e6:.3g} | {error:.3f} |",
                flush=True,
            )


def run_rounds(rounds: int, clients: int, dim: int, together: int = 50) -> None:
    """Print the times of clients, server and training for rounds of noisy gradients of the squared distance to a point."""
    rng, spent = np.random.default_rng(1), {"training": 0.0, "clients": 0.0, "server": 0.0}
    target, data = (
        rng.standard_normal((rows, dim)).astype(np.float32) / np.float32(dim**0.5) for rows in (1, together)
    )
    model, updates = np.zeros(dim), np.empty((together, dim), np.float32)
    error = 0.0
    for number in range(rounds):
        mechanism = ldp.RotatedSigns(dim, EPSILON, rotation=number)
        aggregator, sent = mechanism.aggregator(), np.zeros(dim)
        for first in range(0, clients, together):
            at = [time.process_time()]
            np.add(data, target - model.astype(np.float32), out=updates)
            at.append(time.process_time())
            reports = mechanism.privatize(updates[: clients - first], clip=True)
            at.append(time.process_time())
            aggregator.update(reports)
            at.append(time.process_time())
            for name, seconds in zip(spent, np.diff(at), strict=True):
                spent[name] += float(seconds)
            if number == 0:  # outside of the times
                lengths = np.maximum(1, np.linalg.norm(updates[: clients - first], axis=1))
                sent += (updates[: clients - first] / lengths[:, np.newaxis]).sum(axis=0) / clients
        start = time.process_time()
        step = aggregator.estimate().value
        model += step / clients
        spent["server"] += time.process_time() - start
        if number == 0:
            error = float(((step - sent) ** 2).sum()) * clients / (mechanism.total_variance - 1)
    times = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in spent.items())
    print(f"{rounds} rounds, {clients:,} clients, dim {dim:,}: {sum(spent.values()):.1f} s of process time ({times})")
    print(f"squared error of the first mean update, relative to what is expected: {error:.3f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rounds"]:
        run_rounds(*map(int, sys.argv[2:5]))
    else:
        main([int(dim) for dim in sys.argv[1:]] or [10**4, 10**5, 10**6])
