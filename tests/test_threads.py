"""Threads: how many, who does what, and what happens after a fork."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast import _threads
from ldpfast._threads import deal

from .support.examples import assert_same

HOME = str(Path(ldp.__file__).parent.parent)


@pytest.fixture(autouse=True)
def restored():
    before = ldp.get_num_threads()
    yield
    ldp.set_num_threads(before)


def python(code, **variables):
    """Run a program in a fresh interpreter; 60 seconds are a hang."""
    environment = {k: v for k, v in os.environ.items() if k != "LDPFAST_NUM_THREADS"} | {"PYTHONPATH": HOME} | variables
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
    )


# How many -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7, 64, np.int64(3)])
def test_the_number_is_kept(n):
    ldp.set_num_threads(n)
    assert ldp.get_num_threads() == n
    assert ldp.info()["threads"] == n


def test_the_default_is_the_processors_of_this_process():
    result = python("import ldpfast; print(ldpfast.get_num_threads())")
    expected = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert result.stdout.strip() == str(expected), result.stderr


@pytest.mark.parametrize("text, expected", [("1", "1"), ("3", "3"), (" 5 ", "5")])
def test_the_environment_sets_the_number(text, expected):
    result = python("import ldpfast; print(ldpfast.get_num_threads())", LDPFAST_NUM_THREADS=text)
    assert result.stdout.strip() == expected, result.stderr


@pytest.mark.parametrize("text", ["0", "-1", "", "two", "1.5"])
def test_a_wrong_environment_is_named(text):
    result = python("import ldpfast; ldpfast.Warner(1.0)", LDPFAST_NUM_THREADS=text)
    assert result.returncode == 1
    assert f"ValueError: LDPFAST_NUM_THREADS must be an integer >= 1, got {text!r}" in result.stderr


# Who does what --------------------------------------------------------------------------------------------------------


@given(st.integers(0, 3000), st.integers(1, 400), st.integers(1, 9))
def test_slices_cover_everything_once_in_whole_blocks(n, unit, threads):
    ldp.set_num_threads(threads)
    slices = deal(lambda start, stop: (start, stop), n, unit, _threads.SMALL)
    assert [start for start, _ in slices] == [0, *(stop for _, stop in slices[:-1])]
    assert slices[-1][1] == n
    assert all(start % unit == 0 for start, _ in slices)
    assert len(slices) <= threads
    assert n == 0 or all(start < stop for start, stop in slices)


def test_small_inputs_stay_on_the_calling_thread():
    ldp.set_num_threads(4)
    assert deal(lambda start, stop: (start, stop, threading.get_ident()), 1000, 1, _threads.SMALL - 1) == [
        (0, 1000, threading.get_ident())
    ]
    assert _threads._pool is None
    ldp.L2Ball(3, 1.0).privatize(np.zeros((100, 3)))
    assert _threads._pool is None


def test_one_thread_makes_no_pool():
    ldp.set_num_threads(1)
    ldp.Warner(1.0).privatize(np.zeros(1 << 19, np.uint8))
    assert _threads._pool is None


def test_large_inputs_are_dealt_to_several_threads():
    ldp.set_num_threads(3)
    together = threading.Barrier(3, timeout=30)  # passes only if three threads are inside at once

    def work(start, stop):
        together.wait()
        return threading.get_ident()

    assert len(set(deal(work, 9, 1, _threads.SMALL))) == 3


class SentinelError(Exception):
    pass


@pytest.mark.parametrize("failing", [{0}, {1}, {2}, {1, 2}, {0, 1, 2}])
def test_the_first_exception_comes_out_when_all_are_done(failing):
    ldp.set_num_threads(3)
    finished = []

    def work(start, stop):
        finished.append(start)
        if start in failing:
            raise SentinelError(start)

    with pytest.raises(SentinelError) as caught:
        deal(work, 3, 1, _threads.SMALL)
    assert caught.value.args == (min(failing),)
    assert sorted(finished) == [0, 1, 2]
    assert deal(lambda start, stop: start, 3, 1, _threads.SMALL) == [0, 1, 2]  # the pool has survived


def test_a_bad_record_in_a_slice_of_a_worker_is_reported(threads):
    x = np.zeros(20_000, np.uint8)
    x[-1] = 9
    for call in (ldp.RandomizedResponse(3, 1.0).privatize, ldp.RandomizedResponse(3, 1.0).run):
        with pytest.raises(ValueError, match=r"index 19999 is outside \(1 of 20000 are\)$"):
            call(x)


def test_callers_on_many_threads_do_not_disturb_each_other(threads):
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
        caller.join(60)
    for answer, wanted in zip(answers, expected, strict=True):
        assert_same(answer, wanted)


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


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_has_threads_and_keys_of_its_own():
    """The threads of the parent are gone in a child, and a copied key would make two workers toss the same coins.

    1000 reports at epsilon = 1 that are equal by chance: 0.61^1000.
    """
    result = python(FORK)
    assert result.stdout.strip() == "done", result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_fork_while_the_pool_is_locked_does_not_hang():
    code = FORK.replace(
        "read, write = os.pipe()", "from ldpfast import _threads; _threads._lock.acquire()\nread, write = os.pipe()"
    )
    code = code.replace("own = warner", "_threads._lock.release()\nown = warner")
    result = python(code)
    assert result.stdout.strip() == "done", result.stderr
