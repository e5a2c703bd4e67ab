"""Problems in which everybody answers the same question: client and server give the result of one call."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import estimation
from ldpfast.estimation import (
    Frequencies,
    HistogramDensity,
    MedianSGD,
    SeriesDensity,
    SparseMean,
    TruncatedMean,
    VectorMean,
)
from ldpfast.mechanisms import RecordRecipe

from ...support.cases import each
from ...support.examples import assert_same, assert_same_estimate
from ...support.internals.shared import conduct, job_counts
from ...support.modules import module_of
from ...support.one_shot import PROBLEMS, WORDS, numbers, rows, uniform, words

SEED = 20240611

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")


def layouts(x):
    """The same records with other layouts and orders of memory."""
    if x.dtype.kind == "f":
        return [x, x.astype(np.float32), x.astype(">f8"), x[::-1][::-1], np.asfortranarray(x)]
    return [x, x.astype(np.int16), x.astype(np.uint8)] if x.dtype.kind == "i" else [x, x.tolist()]


def test_reports_give_the_estimate_of_one_call(problem_and_records, threads, monkeypatch):
    """Equal bits for any division of the records into pieces. Two runs show that a problem has no state."""
    problem, x = problem_and_records
    whole = problem.privatize(x, rng=SEED)
    monkeypatch.setattr(module_of(RecordRecipe), "PIECE_BYTES", 1 << 14)
    for records in layouts(x):
        for _ in range(2):
            reports = problem.privatize(records, rng=SEED)
            assert_same_estimate(problem.estimate(reports), problem.run(records, rng=SEED))
    assert_same(problem.privatize(x, rng=SEED), whole)
    estimate = problem.run(x, rng=SEED)
    assert type(estimate) is type(problem.estimate(whole))
    assert estimate.guarantee == problem.mechanism.guarantee


def test_every_path_gives_the_estimate_of_run(problem_and_records):
    """Reports, messages, tables, counts, saved and merged states: equal bits, type and printed form."""
    problem, x = problem_and_records
    x = x[:3001]
    reports, expected = problem.privatize(x, rng=SEED), problem.run(x, rng=SEED)
    whole = problem.collect(x, rng=SEED)
    parts = [problem.aggregator().update(part) for part in (reports[:700], reports[700:701], reports[701:])]
    saved = [ldp.Aggregator.from_bytes(part.to_bytes()) for part in parts]
    paths = {
        "reports": problem.estimate(reports),
        "messages": problem.estimate([problem.message(report) for report in reports]),
        "table": problem.estimate(problem.to_arrow(reports)),
        "aggregator": problem.estimate(whole),
        "collect": whole.estimate(),
        "update": problem.aggregator().update(reports).estimate(),
        "saved": ldp.Aggregator.from_bytes(whole.to_bytes()).estimate(),
        "merged": parts[2].merge(parts[0]).merge(parts[1]).estimate(),
        "saved and merged": saved[1].merge(saved[2]).merge(saved[0]).estimate(),
        "equal problem": pickle.loads(pickle.dumps(problem)).estimate(whole),
    }
    for path, found in paths.items():
        assert type(found) is type(expected), path
        assert_same_estimate(found, expected)
        assert (repr(found), found.to_dict()) == (repr(expected), expected.to_dict()), path
    assert whole.n == len(x)  # an aggregator accepts reports after an estimate
    assert problem.estimate(whole.update(reports[:5])).n == len(x) + 5


def test_jobs_of_engines_give_the_estimate_of_run(problem_and_records):
    problem, x = problem_and_records
    x, persons = x[:1500], np.arange(1500)
    keys = ldp.PersonKeys(bytes(32), persons, question="x")
    job = conduct.new_job(problem, column="x", by=None, person="person", key=bytes(32), clip=False)
    counts = [job.collect(x[part], number, persons[part]) for number, part in enumerate((slice(900, None), slice(900)))]
    assert_same_estimate(job.finish(job_counts.merge(counts)).estimate(), problem.run(x, rng=keys))


def test_single_record_is_one_row_of_a_batch(problem_and_records):
    problem, x = problem_and_records
    report = problem.privatize(x[0], rng=1)
    batch = problem.privatize(x[:1], rng=1)
    assert_same(report, batch[0])
    assert problem.estimate(report).n == 1
    assert_same_estimate(problem.run(x[0], rng=1), problem.run(x[:1], rng=1))


@pytest.mark.filterwarnings("ignore::ldpfast.ClippedWarning")
@each("name", ["truncated", "l2", "linf", "box", "sparse", "series", "histogram"])
def test_clip_projects_records_out_of_range(name):
    problem, draw = PROBLEMS[name]
    x = draw(np.random.default_rng(5), 50)
    x[3], x[7] = 1e6, np.nan
    if name == "truncated":
        x[3] = np.inf
    with pytest.raises(
        ValueError,
        match=r"index [37] is (outside|NaN) \((2 of 50 are invalid, 1 of them NaN|1 of 50 are)\)\. clip=True ",
    ):
        problem.run(x)
    reports = problem.privatize(x, rng=1, clip=True)
    assert_same_estimate(problem.estimate(reports), problem.run(x, rng=1, clip=True))
    x[3], x[7] = draw(np.random.default_rng(5), 50)[[3, 7]]
    others = np.delete(np.arange(50), [3, 7])
    assert_same(problem.privatize(x, rng=1)[others], reports[others])


VALUES = {name: problem for name, (problem, _) in PROBLEMS.items()} | {
    "listed": Frequencies(list(WORDS), 1.0),
    "terms from n": SeriesDensity(1.0, n=100),
    "bins from n": HistogramDensity(1.0, n=100),
}


@each("problem", VALUES.values(), ids=VALUES)
def test_problems_compare_and_pickle_by_value(problem):
    again = eval(repr(problem), vars(ldp) | vars(estimation))
    assert again == replace(problem) == pickle.loads(pickle.dumps(problem)) == problem
    assert hash(again) == hash(problem)
    assert again.mechanism == problem.mechanism


SHORTCUTS = {
    "truncated_mean": (
        {"epsilon": 1.0, "moment": 2, "radius": 1.0},
        TruncatedMean(1.0, moment=2, radius=1.0, n=300),
        numbers,
    ),
    "vector_mean": (
        {"epsilon": 1.0, "norm": "linf", "radius": 1.0},
        VectorMean(4, 1.0, norm="linf", radius=1.0),
        rows(4, "linf"),
    ),
    "sparse_mean": ({"epsilon": 1.0, "radius": 1.0}, SparseMean(4, 1.0, radius=1.0), rows(4, "linf")),
    "frequencies": (
        {"k": WORDS, "epsilon": 1.0, "mechanism": "k-ary"},
        Frequencies(WORDS, 1.0, mechanism="k-ary"),
        words,
    ),
    "series_density": ({"epsilon": 1.0, "smoothness": 1.0}, SeriesDensity(1.0, n=300, smoothness=1.0), uniform),
    "histogram_density": ({"epsilon": 1.0, "lipschitz": 9.0}, HistogramDensity(1.0, n=300, lipschitz=9.0), uniform),
    "median": ({"epsilon": 1.0, "lower": -1, "upper": 1}, MedianSGD(1.0, lower=-1, upper=1, n=300), numbers),
    "quantile": (
        {"q": 0.1, "epsilon": 1.0, "lower": -1, "upper": 1},
        MedianSGD(1.0, lower=-1, upper=1, quantile=0.1, n=300),
        numbers,
    ),
}


@each("name", SHORTCUTS)
def test_shortcut_is_the_problem_for_the_length_of_the_array(name):
    arguments, problem, draw = SHORTCUTS[name]
    x = draw(np.random.default_rng(5), 300)
    assert_same_estimate(getattr(estimation, name)(x, **arguments, rng=3), problem.run(x, rng=3))
