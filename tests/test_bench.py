"""Benchmark cases: both libraries give correct answers, and the checks detect wrong ones. Times are not tested."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import bench
from ldpfast.bench._case import Rival
from ldpfast.bench._cases import CASES
from ldpfast.bench._report import report
from ldpfast.bench._singles import singles

from .support.cases import each
from .support.checkout import import_from_checkout
from .support.internals.bench import checks, measure
from .support.public import names_with_results

numpy_cases = import_from_checkout("benchmarks.rivals.numpy_cases")

SCALE = 1e-3
REPORTS = [name for name in CASES if name.startswith(("l2", "linf", "unary", "response", "laplace", "residue", "sign"))]
ESTIMATES = [
    "frequencies-1024",
    "gaussian",
    "gaussian-simulated",
    "logistic-float32",
    "logistic-float64",
    "median",
    "median-any-time",
    "series-32",
]


def test_the_package_has_only_its_public_names() -> None:
    assert {name for name in vars(bench) if not name.startswith("_")} == set(names_with_results(bench))


@each("name", CASES)
def test_answers_of_both_libraries_are_correct(name: str) -> None:
    case = CASES[name](SCALE)
    assert case.check(case.ours())
    assert case.check(numpy_cases.numpy_case(name, case).call())


@each("name", REPORTS)
def test_the_check_detects_wrong_reports(name: str) -> None:
    """Wrong reports are inverted vectors and bits, other codes, shifted numbers, and only half of the reports."""
    case = CASES[name](0.5 if name in ("l2-1000", "linf-1024") else 20 * SCALE)
    answer = np.array(case.ours())
    if answer.ndim == 2:
        wrong = ~answer if answer.dtype == np.uint8 else -answer
    else:
        wrong = (answer + 1) % (answer.max() + 1) if answer.dtype == np.uint8 else answer + 1
    assert not case.check(wrong)
    assert not case.check(answer[: len(answer) // 2])


@pytest.mark.parametrize("name", ["count-128", "tally-1024"])
def test_the_check_detects_a_count_that_is_off_by_one(name: str) -> None:
    case = CASES[name](SCALE)
    counts = np.array(case.ours())
    counts[3] += 1
    assert not case.check(counts)


def test_the_check_detects_a_wrong_mean_of_run() -> None:
    case = CASES["run-linf-128"](20 * SCALE)
    assert not case.check(np.zeros(128))


@each("name", ESTIMATES)
def test_the_check_detects_wrong_estimates(name: str) -> None:
    """Wrong estimates have inverted signs or bits, or are starting points of a descent without any steps."""
    case = CASES[name](0.0625)
    for call in (case.ours, numpy_cases.numpy_case(name, case).call):
        answer = call()
        assert case.check(answer)
        if name.startswith("median"):
            assert not case.check((1 - answer[0], answer[1]))
            assert not case.check((0.5, answer[1]))
        elif name.startswith("logistic"):
            assert not case.check((-answer[0], answer[1]))
            assert not case.check((0 * answer[0], answer[1]))
        else:
            assert not case.check(-answer)
            assert not case.check(0 * answer)
            assert not case.check(np.roll(answer, 1) if np.ndim(answer) else answer + 1)


def test_records_of_numpy_are_counted_separately() -> None:
    """The time of a library that processes fewer records is divided by that number."""
    case = CASES["median"](0.1)
    rival = numpy_cases.numpy_case("median", case)
    assert rival.units == 1 << 16 < case.units
    assert case.ours()[1] == case.units
    assert rival.call()[1] == rival.units


@each("rows", [0, 1, 2, 255, 4096, 4097, 30_000])
def test_the_bit_adders_in_numpy_are_exact(rows: int) -> None:
    reports = np.random.default_rng(rows).integers(0, 256, (rows, 16), np.uint8)
    np.testing.assert_array_equal(numpy_cases.numpy_mechanisms.numpy_count(reports)(), checks.count_bits(reports))


def test_the_bernstein_radius_satisfies_the_inequality() -> None:
    variance, largest, n = 0.2, 1.0, 1000
    t = checks.bernstein(variance, largest, n)
    assert 2 * np.exp(-n * t**2 / (2 * variance + 2 * largest * t / 3)) <= checks.ALPHA


def test_the_burn_in_is_a_power_of_two() -> None:
    """The burn-in is the largest power of two up to a quarter of all positions, as in the protocols."""
    assert [checks.left_out(n) for n in (1, 3, 4, 7, 8, 1000, 1024, 10**6)] == [0, 0, 1, 1, 2, 128, 256, 1 << 17]


def test_the_limit_is_the_time_for_random_bytes_or_memory() -> None:
    machine = measure.Machine(stream=0.1, copy=0.05, read=0.02)
    case = CASES["response-128"](SCALE)
    assert machine.limit(case) == pytest.approx(case.random_bytes * 0.1)
    case = CASES["l2-100"](SCALE)
    assert measure.Machine(stream=0.01, copy=0.05, read=0.02).limit(case) == pytest.approx(4 * 0.05)
    case = CASES["count-128"](SCALE)
    assert machine.limit(case) == pytest.approx(16 * 0.02)


def test_a_case_that_only_reads_does_not_take_less_time_than_its_limit() -> None:
    """Its own time counts as a measurement of reading. The array is in cache, where reading is faster than from memory."""
    machine = measure.Machine(stream=0.1, copy=0.05, read=100.0)
    row = measure.measure("count-1024", CASES["count-1024"](SCALE), machine, seconds=0.0, least=1)
    assert row.limit <= row.ldpfast
    assert machine.read <= row.ldpfast / 128


@pytest.mark.long
def test_the_report_prints_and_saves_every_task(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    file, threads = tmp_path / "bench.json", ldp.get_num_threads()
    assert report(0.02, str(file), rivals=numpy_cases.numpy_case) == 0
    assert ldp.get_num_threads() == threads
    printed = capsys.readouterr().out
    data = json.loads(file.read_text())
    assert [row["name"] for row in data["tasks"]] == list(CASES)
    assert set(data["single_us"]) == set(singles())
    for row in data["tasks"]:
        assert row["correct"]
        assert row["numpy_correct"]
        assert row["ratio"] == row["numpy"] / row["ldpfast"]
        assert row["task"] in printed
    for name in data["single_us"]:
        assert name in printed
    assert "ratio: NumPy / ldpfast" in printed


@pytest.mark.long
def test_the_report_without_numpy_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    """As in an installed package, which has no code in NumPy."""
    file = tmp_path / "bench.json"
    assert report(0.02, str(file)) == 0
    printed = capsys.readouterr().out
    assert "No comparison with NumPy" in printed
    assert "all answers correct" in printed
    for row in json.loads(file.read_text())["tasks"]:
        assert row["correct"]
        assert row["task"] in printed
        assert (row["numpy"], row["ratio"], row["numpy_correct"]) == (None, None, None)


def test_a_wrong_answer_of_numpy_is_recorded() -> None:
    rival = Rival(lambda: np.zeros(128), 1)
    row = measure.measure("run-linf-128", CASES["run-linf-128"](20 * SCALE), measure.Machine(), 0.0, rival, least=1)
    assert row.correct
    assert row.numpy_correct is False
    assert row.numpy is not None


def test_every_case_has_code_in_numpy() -> None:
    assert list(numpy_cases.RIVALS) == list(CASES)


def test_single_records_give_single_reports() -> None:
    for mechanism, record in singles().values():
        assert np.shape(mechanism.privatize(record)) == mechanism.report.shape
