"""Records in memory maps, and memory use that does not grow with the number of records."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.estimation import GradientDescent, MedianSGD

from ...support.examples import assert_same_estimate
from ...support.memory import peak_memory
from ...support.one_shot import PROBLEMS, rows

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")

PROTOCOLS = {
    "median": lambda x: MedianSGD(1.0, lower=-1, upper=1).run(x[:, 0], rng=1),
    "descent": lambda x: GradientDescent("linear", 2, 1.0, residual=1.0).run(x[:, :2], x[:, 2], rng=1),
}


@pytest.fixture
def one_thread():
    before = ldp.get_num_threads()
    ldp.set_num_threads(1)
    yield
    ldp.set_num_threads(before)


def memory_map(path, x):
    path = path / f"{len(x)}.npy"
    np.save(path, x)
    return np.load(path, mmap_mode="r")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_maps_give_the_estimate_of_arrays(problem_and_records, tmp_path, dtype):
    problem, x = problem_and_records
    x = x.astype(dtype) if x.dtype.kind == "f" else x
    assert_same_estimate(problem.run(memory_map(tmp_path, x), rng=1), problem.run(x, rng=1))
    x = np.random.default_rng(1).uniform(-1, 1, (5000, 3)).astype(dtype)
    for protocol in PROTOCOLS.values():
        assert_same_estimate(protocol(memory_map(tmp_path, x)), protocol(x))


@pytest.mark.claim("Estimates of streams of any length need constant memory.", "Files and commands")
@pytest.mark.long
@pytest.mark.parametrize("name", [*(name for name in PROBLEMS if name != "labels"), *PROTOCOLS])
def test_memory_does_not_depend_on_n(name, tmp_path, one_thread):
    """Peaks for n and 4 n records, all more than one piece, differ by less than a tenth of the size of the records.

    Each thread has a piece of its own, so the peak of several threads depends on how they overlap."""
    peaks = []
    for n in (1 << 18, 1 << 20) if name in PROBLEMS else (1 << 20, 1 << 22):
        problem, draw = PROBLEMS.get(name, (None, rows(3, "linf")))
        run = PROTOCOLS.get(name, lambda x, problem=problem: problem.run(x, rng=1))
        x = draw(np.random.default_rng(1), n)
        records = memory_map(tmp_path, x.astype(np.float32) if x.dtype.kind == "f" else x)
        del x
        peaks.append(peak_memory(lambda run=run, records=records: run(records)))
    assert peaks[1] - peaks[0] < records.nbytes / 10
