"""Frequencies: projection on the simplex, and labels in any container."""

from __future__ import annotations

import datetime
import json
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast.estimation import Frequencies, frequencies, project_simplex

from ..support.cases import each
from ..support.examples import assert_same, assert_same_estimate
from ..support.one_shot import WORDS

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")


# Projection on the simplex --------------------------------------------------------------------------------------------

VECTORS = st.lists(st.floats(-5, 5), min_size=1, max_size=12).map(np.array)


@given(VECTORS, st.integers(0, 2**32))
def test_projection_is_the_nearest_distribution(v, seed):
    """The variational inequality, and no larger distance to any distribution."""
    p = project_simplex(v)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(project_simplex(p), p, atol=1e-12)
    for q in np.random.default_rng(seed).dirichlet(np.full(len(v), 0.3), 20):
        assert np.linalg.norm(p - q) <= np.linalg.norm(v - q) + 1e-12
        assert (v - p) @ (q - p) <= 1e-10
    np.testing.assert_array_equal(project_simplex(v[::-1]), p[::-1])


@given(st.lists(st.floats(-2, 2), min_size=2, max_size=5).map(np.array))
def test_projection_solves_the_quadratic_program(v):
    """Brute force over all supports: the candidate of a support satisfies the sum constraint with equal shifts."""
    points = []
    for mask in range(1, 2 ** len(v)):
        support = np.array([mask >> j & 1 for j in range(len(v))], bool)
        p = np.where(support, v - (v[support].sum() - 1) / support.sum(), 0)
        if p.min() >= -1e-12:
            points.append(p)
    best = min(points, key=lambda p: np.sum((p - v) ** 2))
    np.testing.assert_allclose(project_simplex(v), best, atol=1e-9)


def test_rows_are_projected_independently():
    v = np.random.default_rng(1).normal(size=(2, 5, 3))
    np.testing.assert_array_equal(project_simplex(v), [[project_simplex(row) for row in block] for block in v])
    problem = Frequencies(5, 0.2, project=True)
    estimate = problem.run(np.zeros(40, int), rng=1)
    np.testing.assert_array_equal(estimate.value, estimate.projected)
    np.testing.assert_array_equal(estimate.value, project_simplex(estimate.raw))
    assert estimate.raw.min() < 0


# Labels ---------------------------------------------------------------------------------------------------------------

ANSWERS = [WORDS[i] for i in np.random.default_rng(1).integers(0, 3, 500)]
CONTAINERS = {
    "list": lambda v: v,
    "tuple": tuple,
    "numpy": np.array,
    "object": lambda v: np.array(v, object),
    "series": pd.Series,
    "series, another index": lambda v: pd.Series(v, index=range(len(v), 0, -1)),
    "series of objects": lambda v: pd.Series(v, dtype=object),
    "index": pd.Index,
    "categorical": pd.Categorical,
    "categorical series": lambda v: pd.Series(v, dtype="category"),
    "categories in another order": lambda v: pd.Categorical(v, ["unused", *sorted({*v} - {None})[::-1]], ordered=True),
    "arrow": pa.array,
    "large arrow": lambda v: pa.array(v, pa.large_string()),
    "chunked": lambda v: pa.chunked_array([v[:100], [], v[100:]]),
    "dictionary": lambda v: pa.array(v).dictionary_encode(),
    "chunked dictionary": lambda v: pa.chunked_array(
        [pa.array(v[:100]).dictionary_encode(), pa.array(v[100:]).dictionary_encode()]
    ),
}


each_container = each("container", CONTAINERS.values(), ids=CONTAINERS)


@each_container
def test_labels_in_any_container_give_the_estimate_of_their_codes(container):
    codes = [WORDS.index(word) for word in ANSWERS]
    expected = Frequencies(3, 1.0).run(codes, rng=1)
    for declared in (WORDS, list(WORDS), np.array(WORDS)):
        estimate = Frequencies(declared, 1.0).run(container(ANSWERS), rng=1)
        assert_same_estimate(estimate, expected)
        assert estimate.categories == WORDS
    assert estimate.to_dict()["categories"] == list(WORDS)


@pytest.mark.parametrize("wrong, count", [("seldom", 1), ("Often", 1), (None, 1)])
@each_container
def test_missing_and_undeclared_answers_are_errors(container, wrong, count):
    answers = list(ANSWERS)
    answers[37] = wrong
    if wrong == "seldom":
        answers[400], count = "rarely", 2
    message = rf"^x must be among the k=3 declared categories; index 37 is outside \({count} of 500 are\)$"
    for call in ("run", "privatize"):
        with pytest.raises(ValueError, match=message):
            getattr(Frequencies(WORDS, 1.0), call)(container(answers))


@each(
    "labels, values",
    [
        ((10, 20), np.array([10, 20, 20], np.uint8)),
        ((10, 20), pa.array([10, 20, 20], pa.int8())),
        ((10, 20), pd.Series([10, 20, 20], dtype="Int64")),
        ((1.5, 2.5), np.array([1.5, 2.5, 2.5], np.float32)),
        ((False, True), np.array([False, True, True])),
        ((False, True), pa.array([False, True, True])),
        ((b"x", b"y"), np.array([b"x", b"y", b"y"])),
        ((None, "some"), [None, "some", "some"]),
    ],
)
def test_labels_of_other_types(labels, values):
    np.testing.assert_array_equal(Frequencies(labels, 1.0).domain.records(values)[0], [0, 1, 1])


def test_labels_may_be_tuples():
    problem = Frequencies([("a", 1), ("b", 2)], 1.0)
    np.testing.assert_array_equal(problem.domain.records([("a", 1), ("b", 2), ("b", 2)])[0], [0, 1, 1])


def test_single_answer_is_one_word():
    problem = Frequencies(WORDS, 1.0)
    for word in ("often", np.str_("often")):
        report = problem.privatize(word, rng=1)
        assert np.shape(report) == ()
        assert_same(report, Frequencies(3, 1.0).privatize(2, rng=1))
    assert problem.estimate(report).n == 1


@pytest.mark.parametrize(
    "labels, column",
    [
        ([5, 4, 3, 2, 1, 0], pa.array([True, False])),
        ([datetime.datetime(2020, 1, 1, 5), datetime.datetime(2020, 1, 1, 6)], pa.array([datetime.date(2020, 1, 1)])),
        ([100000001.0, 100000002.0], pa.array([100000002.0], pa.float32())),
        (
            [datetime.datetime(2020, 1, day, tzinfo=datetime.UTC) for day in (1, 2)],
            pa.array([datetime.datetime(2020, 1, 1)]),
        ),
    ],
    ids=["booleans", "dates", "single precision", "no time zone"],
)
def test_arrow_columns_whose_type_cannot_hold_the_labels_are_refused(labels, column):
    """A cast of the labels to the type of the column would count other answers."""
    with pytest.raises(TypeError, match=r"^x must hold labels like the declared categories, got type "):
        Frequencies(labels, 30.0).privatize(column)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"max_bits": 2.5}, TypeError, "max_bits must be an integer, got float"),
        ({"max_bits": 0}, ValueError, "max_bits must be an integer >= 1, got 0"),
        ({"max_bits": 6}, ValueError, "max_bits must be at least 7 for these arguments, got 6"),
        ({"max_bits": 8, "mechanism": "k-ary"}, ValueError, "max_bits must be None for mechanism='k-ary', got 8"),
    ],
)
def test_bad_report_sizes(arguments, error, message):
    with pytest.raises(error, match=message):
        frequencies([0, 1], 100, 1.0, **arguments)


def test_short_reports_are_used_and_described():
    problem = Frequencies(100, 1.0, max_bits=8)
    assert problem.mechanism.report_bits <= 8
    assert Frequencies.from_dict(problem.to_dict()) == problem
    assert problem.fingerprint != Frequencies(100, 1.0).fingerprint
    assert "max_bits" not in Frequencies(100, 1.0).to_dict()


# A mechanism instead of its name --------------------------------------------------------------------------------------


@each(
    "mechanism, name",
    [
        (ldp.RandomizedResponse(5, 1.0), "k-ary"),
        (ldp.UnaryEncoding(5, 1.0, method="optimized"), "optimized"),
        (ldp.SubsetSelection(5, 1.0), "subset"),
        (ldp.SubsetSelection(5, 1.0, size=3), None),
        (ldp.HadamardResponse(5, 1.0), "hadamard"),
    ],
    ids=repr,
)
def test_a_mechanism_is_used_as_it_is(mechanism, name):
    problem = Frequencies(5, 1.0, mechanism=mechanism)
    assert problem.mechanism == mechanism
    assert Frequencies.from_dict(json.loads(json.dumps(problem.to_dict()))) == problem
    assert pickle.loads(pickle.dumps(problem)) == problem
    assert eval(repr(problem), vars(ldp) | {"Frequencies": Frequencies}) == problem
    assert ldp.Aggregator.from_bytes(problem.aggregator().to_bytes()) == problem.aggregator()
    assert problem.to_dict()["mechanism"] == (name or mechanism.to_dict())
    if name:
        assert Frequencies(5, 1.0, mechanism=name) == problem
        assert Frequencies(5, 1.0, mechanism=name).fingerprint == problem.fingerprint


def test_the_automatic_mechanism_is_the_one_of_its_name():
    problem = Frequencies(100, 1.0, max_bits=8)
    assert problem == Frequencies(100, 1.0, mechanism=problem.mechanism)
    assert repr(problem) == "Frequencies(k=100, epsilon=1.0, mechanism='hadamard', project=False)"


def test_a_mechanism_for_other_records_is_an_error():
    for mechanism in (ldp.RandomizedResponse(4, 1.0), ldp.RandomizedResponse(5, 2.0)):
        with pytest.raises(ValueError, match=r"^mechanism must be for k=5 and epsilon=1.0, got RandomizedResponse\("):
            Frequencies(5, 1.0, mechanism=mechanism)
    with pytest.raises(TypeError, match=r"^mechanism must be a name or one of RandomizedResponse, .*, got Warner$"):
        Frequencies(2, 1.0, mechanism=ldp.Warner(1.0))
    with pytest.raises(ValueError, match=r"^max_bits must be None for mechanism='RandomizedResponse', got 8$"):
        Frequencies(5, 1.0, mechanism=ldp.RandomizedResponse(5, 1.0), max_bits=8)


# Some categories ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", ["hadamard", "projective"])
def test_estimates_of_some_categories_are_those_of_all(mechanism):
    names = [f"word {i}" for i in range(300)]
    answers = np.random.default_rng(1).choice(names, 2000)
    counted = Frequencies(names, 2.0, mechanism=mechanism).collect(answers, rng=1)
    every, some = counted.estimate(), counted.estimate(items=["word 7", "word 299"])
    assert some.categories == ("word 7", "word 299")
    np.testing.assert_array_equal(some.value, every.value[[7, 299]])
    np.testing.assert_array_equal(some.interval(), np.array(every.interval())[:, [7, 299]])
    numbers = Frequencies(300, 2.0, mechanism=mechanism).collect([names.index(a) for a in answers], rng=1)
    of_numbers = numbers.estimate(items=[7, 299])
    assert of_numbers.value.tolist() == some.value.tolist()
    assert (of_numbers.categories, of_numbers.to_dict()["categories"]) == ((7, 299), [7, 299])
    with pytest.raises(ValueError, match="projected needs the shares of all categories"):
        of_numbers.projected  # noqa: B018


def test_wrong_items_are_named():
    counted = Frequencies(["foot", "car"], 1.0, mechanism="projective").collect(["car", "foot"], rng=1)
    with pytest.raises(ValueError, match=r"^items must be among the k=2 declared categories; index 1 is not"):
        counted.estimate(items=["car", "train"])
    for items in ("car", [], 3.0, {"car": 1}):
        with pytest.raises((TypeError, ValueError), match=r"^items must be among the k=2 declared categories"):
            counted.estimate(items=items)
    with pytest.raises(ValueError, match=r"^items must be None with project=True"):
        Frequencies(9, 1.0, mechanism="projective", project=True).collect([1, 2], rng=1).estimate(items=[1])
    with pytest.raises(ValueError, match=r"^items must be None for the mechanism SubsetSelection"):
        Frequencies(9, 1.0).collect([1, 2], rng=1).estimate(items=[1])
