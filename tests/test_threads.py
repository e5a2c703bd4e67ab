"""Threads: their number, the division of work, and processes after a fork."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp

from .support.cases import each, each_kind
from .support.errors import raises
from .support.examples import assert_same
from .support.internals.shared import parallel_map, thread_pool
from .support.process import run_python


@pytest.fixture(autouse=True)
def restored():
    before = ldp.get_num_threads()
    yield
    ldp.set_num_threads(before)


# Number of threads ----------------------------------------------------------------------------------------------------


@each("n", [1, 2, 7, 64, np.int64(3)])
def test_the_number_can_be_set(n):
    ldp.set_num_threads(n)
    assert ldp.get_num_threads() == n
    assert ldp.info()["threads"] == n


def test_the_default_is_the_number_of_processors_of_this_process():
    result = run_python("import ldpfast; print(ldpfast.get_num_threads())")
    expected = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert result.stdout.strip() == str(expected), result.stderr


@pytest.mark.parametrize("text, expected", [("1", "1"), ("3", "3"), (" 5 ", "5")])
def test_the_environment_sets_the_number(text, expected):
    result = run_python("import ldpfast; print(ldpfast.get_num_threads())", LDPFAST_NUM_THREADS=text)
    assert result.stdout.strip() == expected, result.stderr


@each("text", ["0", "-1", "", "two", "1.5"])
def test_an_invalid_environment_variable_is_an_error(text):
    result = run_python("import ldpfast; ldpfast.Warner(1.0)", LDPFAST_NUM_THREADS=text)
    assert result.returncode == 1
    assert f"ValueError: LDPFAST_NUM_THREADS must be an integer >= 1, got {text!r}" in result.stderr


def test_the_number_is_an_integer_of_at_least_one():
    before = ldp.get_num_threads()
    for n in (0, -1):
        with raises(ValueError, f"n must be an integer >= 1, got {n}"):
            ldp.set_num_threads(n)
    for n in (1.0, "2", None):
        with raises(TypeError, f"n must be an integer, got {type(n).__name__}"):
            ldp.set_num_threads(n)
    with raises(TypeError, "n must be an integer, got bool"):
        ldp.set_num_threads(True)
    assert ldp.get_num_threads() == before


# Division of work -----------------------------------------------------------------------------------------------------


@given(st.integers(0, 3000), st.integers(1, 400), st.integers(1, 9))
def test_slices_cover_everything_once_in_whole_blocks(n, unit, threads):
    ldp.set_num_threads(threads)
    slices = parallel_map(lambda start, stop: (start, stop), n, unit, thread_pool.SMALL)
    assert [start for start, _ in slices] == [0, *(stop for _, stop in slices[:-1])]
    assert slices[-1][1] == n
    assert all(start % unit == 0 for start, _ in slices)
    assert len(slices) <= threads
    assert n == 0 or all(start < stop for start, stop in slices)


def test_small_inputs_stay_on_the_calling_thread():
    ldp.set_num_threads(4)
    assert parallel_map(lambda start, stop: (start, stop, threading.get_ident()), 1000, 1, thread_pool.SMALL - 1) == [
        (0, 1000, threading.get_ident())
    ]
    assert thread_pool._pool is None
    ldp.L2Ball(3, 1.0).privatize(np.zeros((100, 3)))
    assert thread_pool._pool is None


def test_one_thread_makes_no_pool():
    ldp.set_num_threads(1)
    ldp.Warner(1.0).privatize(np.zeros(1 << 19, np.uint8))
    assert thread_pool._pool is None


def test_large_inputs_are_divided_among_several_threads():
    ldp.set_num_threads(3)
    together = threading.Barrier(3, timeout=300)  # passes only if three threads wait at the same time

    def work(start, stop):
        together.wait()
        return threading.get_ident()

    assert len(set(parallel_map(work, 9, 1, thread_pool.SMALL))) == 3


class SentinelError(Exception):
    pass


@each("failing", [{0}, {1}, {2}, {1, 2}, {0, 1, 2}])
def test_the_first_exception_is_raised_after_all_slices_have_ended(failing):
    ldp.set_num_threads(3)
    finished = []

    def work(start, stop):
        finished.append(start)
        if start in failing:
            raise SentinelError(start)

    with pytest.raises(SentinelError) as caught:
        parallel_map(work, 3, 1, thread_pool.SMALL)
    assert caught.value.args == (min(failing),)
    assert sorted(finished) == [0, 1, 2]
    assert parallel_map(lambda start, stop: start, 3, 1, thread_pool.SMALL) == [0, 1, 2]  # the pool still works


def test_an_invalid_record_in_the_slice_of_another_thread_is_reported(threads):
    x = np.zeros(20_000, np.uint8)
    x[-1] = 9
    for call in (ldp.RandomizedResponse(3, 1.0).privatize, ldp.RandomizedResponse(3, 1.0).run):
        with pytest.raises(ValueError, match=r"index 19999 is outside \(1 of 20000 are\)$"):
            call(x)


def test_concurrent_callers_get_their_own_results(threads):
    mechanism = ldp.LinfBall(27, 1.0)
    x = np.random.default_rng(1).uniform(-1, 1, (3000, 27))
    expected = [mechanism.privatize(x, rng=seed) for seed in range(6)]
    answers = [None] * 6

    def call(seed):
        answers[seed] = mechanism.privatize(x, rng=seed)

    callers = [threading.Thread(target=call, args=(seed,)) for seed in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(300)
    for answer, wanted in zip(answers, expected, strict=True):
        assert_same(answer, wanted)


@pytest.mark.claim("Threads may share mechanisms.", "Reproducibility")
@each_kind
def test_concurrent_callers_share_a_mechanism_of_each_kind(kind, threads):
    """One object with its compiled kernel serves several threads, which start at the same time."""
    mechanism, records = kind.mechanism, kind.records(300)
    expected = [mechanism.privatize(records, rng=seed) for seed in range(4)]
    values = [mechanism.estimate(reports).value for reports in expected]
    together = threading.Barrier(4, timeout=300)

    def call(seed):
        together.wait()
        reports = mechanism.privatize(records, rng=seed)
        return reports, mechanism.estimate(reports).value

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(call, range(4)))
    for (reports, value), wanted, wanted_value in zip(answers, expected, values, strict=True):
        assert_same(reports, wanted)
        assert_same(value, wanted_value)


@pytest.mark.claim(
    "The extension module leaves the global lock of free-threaded CPython disabled.", "Files and commands"
)
def test_the_compiled_modules_leave_the_global_lock_as_it_is():
    """A free-threaded interpreter enables its lock at the import of a module that does not declare that it needs none."""
    code = "import sys, numpy; enabled = getattr(sys, '_is_gil_enabled', lambda: True); before = enabled(); "
    result = run_python(code + "import ldpfast._core; print(enabled() == before, len(sys.modules) > 100)")
    assert result.stdout.strip() == "True True", result.stderr


def test_the_number_may_change_between_calls():
    x = np.zeros(1 << 18, np.uint8)
    expected = ldp.Warner(1.0).privatize(x, rng=1)
    for n in (3, 1, 5, 2):
        ldp.set_num_threads(n)
        assert_same(ldp.Warner(1.0).privatize(x, rng=1), expected)


# Fork -----------------------------------------------------------------------------------------------------------------

FORK = """
import os, sys
import numpy as np
import ldpfast as ldp

ldp.set_num_threads(3)
x = np.zeros(1 << 18, np.uint8)
warner = ldp.Warner(1.0)
expected = warner.privatize(x, rng=1).tobytes()  # the pool is in use
warner.privatize(x)
read, write = os.pipe()
children = []
for _ in range(2):
    child = os.fork()
    if child == 0:
        same = warner.privatize(x, rng=1).tobytes() == expected
        small, large = warner.privatize(x[:1000]).tobytes(), warner.privatize(x).tobytes()
        os.write(write, small + large[:1000])
        os._exit(0 if same else 3)
    children.append(child)
own = warner.privatize(x[:1000]).tobytes() + warner.privatize(x).tobytes()[:1000]
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
assert codes == [0, 0], codes
os.close(write)
with os.fdopen(read, "rb") as pipe:
    data = pipe.read()
assert len(data) == 4000
reports = [own[:1000], own[1000:], data[:1000], data[1000:2000], data[2000:3000], data[3000:]]
assert len(set(reports)) == 6, "parent and children share a key"
print("done")
"""


@pytest.mark.claim("Forked workers never share a stream.", "Randomness")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_has_its_own_threads_and_keys():
    """A child has no threads of its parent, and with a copied key two processes would draw the same coins.

    1000 independent pairs of reports at epsilon = 1 are all equal with probability 0.61^1000.
    """
    result = run_python(FORK)
    assert result.stdout.strip() == "done", result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_while_the_pool_is_locked_does_not_block():
    code = FORK.replace(
        "read, write = os.pipe()", "from ldpfast import _threads; _threads._lock.acquire()\nread, write = os.pipe()"
    )
    code = code.replace("own = warner", "_threads._lock.release()\nown = warner")
    result = run_python(code)
    assert result.stdout.strip() == "done", result.stderr
