"""Surveys: reports, assignment, coins, and the identities of their methods."""

from __future__ import annotations

import copy
import math
import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast.survey import Choice, Coded, Cross, Histogram, Mean, Survey, YesNo

from ..support.cases import each
from ..support.internals.kernels import ROWS, SurveyKernel
from ..support.internals.survey import column_of
from ..support.surveys import REGIONS, SURVEYS, Twin, people, questions


def run_reports(survey: Survey, frame: dict, seed: int) -> list[list[bytes | None]]:
    table = survey.privatize(frame, rng=seed)
    return [list(row) for row in zip(*(table.column(name).to_pylist() for name in survey.mechanisms), strict=True)]


def key_of(seed: int) -> bytes:
    return np.random.SeedSequence(seed).generate_state(8, np.uint32).astype("<u4").tobytes()


@each("name", SURVEYS)
def test_reports_equal_those_of_the_twin(name):
    survey = SURVEYS[name]
    optional = all(question.optional for question in survey._recipe.declared.values())
    frame = people(ROWS + 700, missing=0.2 if optional else 0.0)
    assert run_reports(survey, frame, 5) == Twin(survey, key_of(5)).reports(frame)


@each("name", ["one", "three", "large epsilon"])
def test_reports_are_the_same_on_every_instruction_set(name, isa):
    survey = SURVEYS[name]
    frame = people(3000)
    assert run_reports(survey, frame, 6) == Twin(survey, key_of(6)).reports(frame)


@pytest.mark.parametrize("name", ["one", "three", "all", "tables"])
def test_no_coin_is_used_twice(name):
    twin = Twin(SURVEYS[name], key_of(7))
    twin.reports(people(2 * ROWS + 100))
    assert max(Counter(twin.used).values()) == 1


def test_questions_have_different_keys():
    twin = Twin(SURVEYS["all"], key_of(7))
    twin.reports(people(100))
    kernels = [key for key, kind, _ in twin.used if kind == "mechanism"]
    assert len(set(kernels)) == len(SURVEYS["all"].mechanisms)
    assert key_of(7) not in kernels


@pytest.mark.parametrize("name", SURVEYS)
@pytest.mark.parametrize("threads", [3, pytest.param(1, marks=pytest.mark.long)])
def test_run_equals_the_estimate_from_reports(name, threads):
    survey, frame = SURVEYS[name], people(3 * ROWS + 11)
    before = ldp.get_num_threads()
    ldp.set_num_threads(threads)
    try:
        result = survey.run(frame, rng=8)
        assert result.to_dict() == survey.estimate(survey.privatize(frame, rng=8)).to_dict()
        aggregator = survey.aggregator().update(survey.privatize(frame, rng=8))
        assert survey.collect(frame, rng=8) == aggregator
    finally:
        ldp.set_num_threads(before)


@pytest.mark.parametrize("rows", [1000, ROWS, 100_000])
def test_pieces_do_not_change_the_reports(rows):
    survey, n = SURVEYS["one"], 3 * ROWS + 5
    table = pa.table(people(n))
    batches = table.to_batches(max_chunksize=rows)
    reader = pa.RecordBatchReader.from_batches(table.schema, batches)
    assert survey.privatize(reader, rng=9).equals(survey.privatize(table, rng=9))


@pytest.mark.claim("Reports to a survey do not depend on how a stream is divided.", "Reproducibility")
def test_pieces_of_streams_do_not_change_the_reports():
    survey, n = SURVEYS["single"], 70 * ROWS + 5
    table = pa.table({"smoker": np.arange(n) % 3 == 0})
    for rows in (150_001, 2048):
        reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=rows))
        assert survey.collect(reader, rng=9) == survey.collect(table, rng=9)


def test_each_call_has_a_fresh_key():
    survey, frame = SURVEYS["one"], people(1000)
    assert not survey.privatize(frame).equals(survey.privatize(frame))


# Assignment -----------------------------------------------------------------------------------------------------------


@each("name", SURVEYS)
def test_everyone_answers_the_declared_number_of_questions(name):
    survey = SURVEYS[name]
    answers = [sum(report is not None for report in row) for row in run_reports(survey, people(2000), 1)]
    assert set(answers) == {survey.answers}


@pytest.mark.long
def test_questions_are_asked_with_their_weights():
    survey, n = SURVEYS["weights"], 40 * ROWS
    table = survey.privatize(people(n), rng=3)
    weights = {name: survey.weights.get(name, 1) for name in survey.mechanisms}
    assert "age" not in weights
    for name, weight in weights.items():
        share = weight / sum(weights.values())
        asked = n - table.column(name).null_count
        assert abs(asked - n * share) < 6 * (n * share * (1 - share)) ** 0.5


def test_thresholds_are_the_rounded_sums_of_the_weights():
    survey = Survey({"a": YesNo(), "b": YesNo(), "c": YesNo()}, 1.0, weights={"a": 1, "b": 2, "c": 5})
    assert survey._recipe.thresholds.tolist() == [round(Fraction(1, 8) * 2**32), round(Fraction(3, 8) * 2**32)]


def test_subsets_of_questions_are_uniform():
    survey = Survey({name: YesNo() for name in "abcd"}, 2.0, answers=2)
    n = 20 * ROWS
    table = survey.privatize({name: np.zeros(n, bool) for name in "abcd"}, rng=4)
    asked = np.column_stack([~np.asarray(table.column(name).is_null()) for name in "abcd"])
    counts = Counter(map(tuple, asked.tolist()))
    assert len(counts) == 6
    assert sum((count - n / 6) ** 2 / (n / 6) for count in counts.values()) < 30  # chi-squared, 5 degrees: 1.5e-5


# Guarantee ------------------------------------------------------------------------------------------------------------


@each("name", SURVEYS)
def test_the_guarantee_is_at_most_epsilon_and_close_to_it(name):
    survey = SURVEYS[name]
    each = [mechanism.epsilon_realized for mechanism in survey.mechanisms.values()]
    largest = sum(sorted(map(Fraction, each), reverse=True)[: survey.answers])
    assert largest <= Fraction(survey.guarantee.epsilon) <= Fraction(survey.epsilon)
    assert survey.guarantee.epsilon > 0.999 * survey.epsilon
    assert survey.guarantee.definition == "local"


@pytest.mark.claim(
    "The parts of epsilon for several answers never add up to more than `epsilon`.", "Surveys and ledgers"
)
@each("epsilon", [0.1, 0.7, 1.0, 3.3])
@each("answers", [1, 2, 3, 7])
def test_the_parts_of_epsilon_never_add_up_to_more(epsilon, answers):
    survey = Survey({str(i): YesNo() for i in range(7)}, epsilon, answers=answers)
    each = {mechanism.epsilon for mechanism in survey.mechanisms.values()}.pop()
    assert Fraction(each) * answers <= Fraction(epsilon)
    assert each * (1 + 1e-15) * answers >= epsilon


# Identity -------------------------------------------------------------------------------------------------------------


@each("name", SURVEYS)
def test_descriptions_give_equal_surveys(name):
    survey = SURVEYS[name]
    again = Survey.from_dict(survey.to_dict())
    assert again == survey
    assert hash(again) == hash(survey)
    assert again.fingerprint == survey.fingerprint
    assert pickle.loads(pickle.dumps(survey)) == survey


def variants() -> list[Survey]:
    base = questions()
    changed = [
        base,
        dict(reversed(base.items())),
        {**base, "age": Mean(0, 101)},
        {**base, "age": Mean(0, 100, column="years")},
        {**base, "age": Mean(0, 100, optional=True)},
        {**base, "region": Choice(REGIONS[::-1])},
        {**base, "income": Histogram([0, 10, 20, 40, 80, 161])},
        {**base, "age and smoking": Cross("smoker", "age")},
        {("Age" if name == "age" else name): q for name, q in base.items() if not isinstance(q, Cross)},
    ]
    return [
        *(Survey(given, 2.0) for given in changed),
        Survey(base, 2.1),
        Survey(base, 2.0, answers=2),
        Survey(base, 2.0, weights={"age": 2}),
    ]


def test_every_change_gives_another_fingerprint():
    found = variants()
    assert len({survey.fingerprint for survey in found}) == len(found)
    assert len(set(found)) == len(found)


def test_explicit_equal_weights_are_another_description_of_the_same_reports():
    plain, weighted = Survey(questions(), 2.0), Survey(questions(), 2.0, weights=dict.fromkeys(questions(), 1.0))
    assert plain != weighted
    assert run_reports(plain, people(500), 1) == run_reports(weighted, people(500), 1)


# Planning -------------------------------------------------------------------------------------------------------------


def equal_shares(survey: Survey) -> dict:
    """Equal shares of the labels of all questions, apart from tables."""
    return {
        name: [1 / len(question.labels)] * len(question.labels)
        for name, question in survey.column_questions.items()
        if name in survey.mechanisms and column_of(question).quantity == "share"
    }


@pytest.mark.long
def test_the_plan_predicts_the_standard_errors():
    survey, n = SURVEYS["optional"], 30 * ROWS
    plan = survey.plan(n, shares=equal_shares(survey))
    result = Survey(questions(), 3.0).run(people(n), rng=1)
    for name, expected in zip(plan.names, plan.stderr[:, 0], strict=True):
        if name not in ("age and smoking", "region and income"):
            assert 0.5 < np.mean(result[name].stderr) / expected < 1.1


@pytest.mark.parametrize("epsilon", [1.0, 3.0, 8.0])
def test_the_plan_has_one_assumption_for_optional_and_required_questions(epsilon):
    """Everybody answers. Then an optional question is not more precise, except that a ratio knows the sum of the shares.

    The standard errors agree with simulated people within 8 %: standard errors from reports are estimates.
    """
    n, kinds = 1_000_000, {"yes": YesNo, "way": lambda **o: Choice(3, **o), "many": lambda **o: Choice(40, **o)}
    asked = {f"{name}{'?' * o}": kind(optional=o) for name, kind in kinds.items() for o in (False, True)}
    asked |= {"x": Mean(0, 10), "x?": Mean(0, 10, optional=True)}
    cells = {"yes": np.arange(n) % 2, "way": np.arange(n) % 3, "many": np.arange(n) % 40, "x": np.arange(n) % 2 * 10.0}
    survey = Survey(asked, epsilon)
    plan = survey.plan(n, shares=equal_shares(survey))
    result = survey.run({name: cells[name.rstrip("?")] for name in asked}, rng=1)
    for name, expected in zip(plan.names, plan.stderr[:, 0], strict=True):
        assert np.mean(result[name].stderr) == pytest.approx(expected, rel=0.08)
    errors = dict(zip(plan.names, plan.stderr[:, 0], strict=True))
    for name in kinds:
        assert errors[f"{name}?"] >= errors[name] * (0.98 if name == "many" else 1)


def test_the_plan_has_standard_errors_without_privacy():
    questions = {"a": YesNo(optional=True), "b": Choice(4), "c": Mean(0, 20), "d": Cross("a", "b")}
    worst = Survey(questions, 1.0).plan(100)
    np.testing.assert_allclose(worst.nonprivate, [0.05, 0.05, 1.0, 0.05], rtol=1e-12)
    shares = {"b": [0.25] * 4, "d": np.full((3, 4), 1 / 12)}
    plan = Survey(questions, 1.0).plan(100, shares=shares)
    expected = [0.05, (3 / 16 / 100) ** 0.5, 1.0, (11 / 144 / 100) ** 0.5]
    np.testing.assert_allclose(plan.nonprivate, expected, rtol=1e-12)
    assert plan.table["without privacy"] == plan.nonprivate.tolist()
    assert (plan.stderr.min(axis=1) > plan.nonprivate).all()


def test_splitting_epsilon_costs_what_the_theory_says():
    # Ten questions at epsilon 1, optimized unary encoding: splitting costs 10.9 times the variance of sampling.
    survey = Survey({str(i): Choice(1000) for i in range(10)}, 1.0)
    plan = survey.plan(1000, shares=equal_shares(survey))
    assert (plan.stderr[0, 9] / plan.stderr[0, 0]) ** 2 == pytest.approx(10.9, abs=0.1)
    assert plan.answers == 1


def test_auto_asks_more_where_noise_is_small():
    assert Survey(questions(), 1.0, answers="auto").answers == 1
    many = Survey({str(i): YesNo() for i in range(4)}, 40.0, answers="auto")
    assert many.answers == 4


def test_a_mean_is_sent_as_a_number_at_a_large_epsilon():
    survey = SURVEYS["large epsilon"]
    assert isinstance(survey.mechanisms["age"], ldp.Window)
    assert isinstance(survey.mechanisms["both"], ldp.RandomizedResponse)
    result = survey.run(people(20_000), rng=2)
    assert abs(result["age"].value - 50) < 6 * result["age"].stderr


def test_the_name_of_a_file_is_not_toml():
    with pytest.raises(ValueError, match=r"^text must be the content of a TOML file, got the name of a file$"):
        Survey.from_toml("survey.toml")
    with pytest.raises(ValueError, match=r"^a survey must be valid TOML: "):
        Survey.from_toml("epsilon")


# Bad input ------------------------------------------------------------------------------------------------------------


@each(
    "make, error, message",
    [
        (lambda: Survey([], 1.0), TypeError, "questions must be a mapping"),
        (lambda: Survey({}, 1.0), ValueError, "questions must be between 1"),
        (lambda: Survey({"": YesNo()}, 1.0), ValueError, "non-empty names"),
        (lambda: Survey({"ldpfast": YesNo()}, 1.0), ValueError, "other than 'ldpfast'"),
        (lambda: Survey({"a": 3}, 1.0), TypeError, "question 'a' must be a question such as YesNo"),
        (
            lambda: Survey({"a": YesNo(), "c": Cross("a", "b")}, 1.0),
            ValueError,
            "combine questions out of 'a', got 'b'",
        ),
        (lambda: Survey({"a": YesNo()}, 0.0), ValueError, "epsilon must be"),
        (lambda: Survey({"a": YesNo()}, 1e-30), ValueError, "question 'a' cannot be asked"),
        (lambda: Survey({"a": YesNo()}, 1.0, answers=2), ValueError, "answers must be"),
        (lambda: Survey({"a": YesNo()}, 1.0, answers="some"), ValueError, "'all' or 'auto'"),
        (
            lambda: Survey({"a": YesNo()}, 1.0, weights={"b": 1}),
            ValueError,
            "weights must be of the questions 'a', got 'b'",
        ),
        (lambda: Survey({"a": YesNo()}, 1.0, weights={"a": -1}), ValueError, "weights must be integers >= 0"),
        (lambda: Survey({"a": YesNo()}, 1.0, weights={"a": 0}), ValueError, "not all 0"),
        (
            lambda: Survey({"a": YesNo(), "b": YesNo()}, 1.0, weights={"a": 0.5}),
            ValueError,
            "weights must be integers >= 0, not all 0, with a sum of at most 1024, got {'a': 0.5}",
        ),
        (
            lambda: Survey({"a": YesNo(), "b": YesNo()}, 1.0, weights={"a": 1024}),
            ValueError,
            "with a sum of at most 1024",
        ),
        (
            lambda: Survey({"a": YesNo()}, 1.0, series=""),
            TypeError,
            "series must be a non-empty text or None, got ''",
        ),
        (
            lambda: Survey({"a": YesNo(), "b": YesNo(), "c": YesNo()}, 1.0, answers=2, weights={"a": 2}),
            ValueError,
            "weights must be equal or 0",
        ),
        (lambda: Cross("a", "a"), ValueError, "different questions"),
        (lambda: Cross(1, "a"), TypeError, "names of questions"),
        (lambda: Mean(1, 0), ValueError, "lower < upper"),
        (lambda: Histogram([0, 1]), ValueError, "at least 3 numbers"),
        (lambda: Histogram([0, 2, 1]), ValueError, "ascending"),
        (lambda: Histogram(3), TypeError, "edges must be a sequence"),
        (lambda: Choice(["a"]), ValueError, "at least 2 categories"),
        (lambda: Choice(["a", "a"]), ValueError, "more than once"),
        (lambda: Choice(2**31), ValueError, "at most 1048576, got 2147483648"),
        (lambda: Choice(["a", None]), ValueError, "must not contain None"),
        (lambda: Choice(["a", "no answer"], optional=True), ValueError, "must not contain 'no answer'"),
        (
            lambda: Survey({"a": Choice(70_000), "b": Choice(70_000), "c": Cross("a", "b")}, 40.0),
            ValueError,
            "question 'c' must have at most 16777216 different answers, got 4900000000",
        ),
        (lambda: YesNo(optional=1), TypeError, "optional must be a bool"),
        (lambda: YesNo(column=""), TypeError, "column must be the name"),
    ],
)
def test_bad_arguments_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_weight_zero_declares_a_question_for_crosses_only():
    survey = Survey({"a": YesNo(), "b": YesNo(), "both": Cross("a", "b")}, 2.0, answers=1, weights={"a": 0, "b": 0})
    assert list(survey.mechanisms) == ["both"]
    result = survey.run({"a": np.ones(5000, bool), "b": np.zeros(5000, bool)}, rng=1)
    assert result["both"].value[1, 0] > 0.9


def test_auto_asks_one_question_where_weights_differ():
    assert Survey({"a": YesNo(), "b": YesNo()}, 40.0, answers="auto", weights={"a": 2}).answers == 1


def test_a_kernel_with_wide_records_is_refused():
    kernel = ldp.RandomizedResponse(1 << 33, 40.0)._recipe.kernel
    with pytest.raises(ValueError, match=r"fewer than 2\^32 symbols"):
        SurveyKernel(
            [("symbol", 1 << 20, False, 0, 0, None, 0, 0)], [((0,), kernel, 8, "symbol")], 1, np.zeros(0, np.uint32)
        )


def test_a_resolution_makes_equal_steps_equal_values():
    """0.1 in single and in double precision is one value, with one report; without a resolution it has two."""
    secret, n = bytes(range(32)), 4000
    x = np.arange(n) % 200 / 10
    reports = {}
    for resolution in (None, 0.1):
        survey = Survey({"x": Mean(0, 20, resolution=resolution)}, 0.5)
        for dtype in ("f8", "f4"):
            table = survey.privatize({"x": x.astype(dtype)}, rng=ldp.PersonKeys(secret, np.arange(n)))
            reports[resolution, dtype] = table["x"].to_pylist()
    assert reports[0.1, "f8"] == reports[0.1, "f4"]
    assert reports[None, "f8"] != reports[None, "f4"]


@pytest.mark.parametrize("epsilon", [0.5, 9.0])
def test_the_mean_is_that_of_the_rounded_numbers(epsilon):
    """Every number of a step has the report of its middle, halves belong to the next step, and ends stay."""
    question = Mean(-1, 2, resolution=0.75, optional=epsilon < 1)
    survey = Survey({"x": question}, epsilon)
    numbers = np.array([-1, -0.625 - 1e-9, -0.625, 0.124, 0.125, 1.624, 1.625, 2, 0.5, -0.25])
    steps = np.array([-1, -1, -0.25, -0.25, 0.5, 1.25, 2, 2, 0.5, -0.25])
    assert column_of(question).steps == 4
    for rng in (3, ldp.PersonKeys(bytes(32), np.arange(5000))):
        found, expected = (
            survey.privatize({"x": np.repeat(values, 500)}, rng=rng)["x"].to_pylist() for values in (numbers, steps)
        )
        assert found == expected
    plain = Survey({"x": Mean(-1, 2, optional=epsilon < 1)}, epsilon)
    assert survey.run({"x": np.repeat(numbers, 500)}, rng=3) == plain.run({"x": np.repeat(steps, 500)}, rng=3)
    assert Survey.from_toml(survey.to_toml()) == survey == Survey.from_dict(survey.to_dict())
    assert survey.fingerprint != plain.fingerprint


@each("epsilon", [1.0, 3.0, 9.0, 43.0])  # one bit, then Window
@each("resolution", [None, 2.5])
@each("dtype", [np.float32, np.float64, np.int32])
def test_numbers_out_of_range_have_the_reports_of_the_nearest_end(isa, epsilon, resolution, dtype):
    survey = Survey({"x": Mean(-10, 90, resolution=resolution)}, epsilon)
    far = [-np.inf, -1e38, np.inf, 3e38] if dtype is not np.int32 else [-(2**31), -11, 2**31 - 1, 91]
    x = np.array([*far, -500, 91, 150, 200, 1000] * 100, dtype)
    clipped = survey.privatize({"x": x}, rng=1, clip=True)
    assert clipped.equals(survey.privatize({"x": np.clip(x, -10, 90)}, rng=1))
    with pytest.warns(ldp.ClippedWarning):
        assert repr(survey.run({"x": x}, rng=1, clip=True)) == repr(survey.run({"x": np.clip(x, -10, 90)}, rng=1))


@each(
    "resolution, error, message",
    [
        (
            0.7,
            ValueError,
            r"^resolution must divide upper - lower = 3.0 into at least 1 and fewer than 2\^31 steps, got 0.7$",
        ),
        (6, ValueError, "^resolution must divide"),
        (1e-9, ValueError, "^resolution must divide"),
        (3 / (2**31 - 0.2), ValueError, "^resolution must divide"),  # 2^31 steps when rounded
        (3 / (10**9 + 0.5), ValueError, "^resolution must divide"),
        (0, ValueError, "^resolution must be a finite number > 0, got 0$"),
        (math.nan, ValueError, "^resolution must be a finite number, got nan$"),
        ("1", TypeError, "^resolution must be a number, got str$"),
        (True, TypeError, "^resolution must be a number, got bool$"),
    ],
)
def test_invalid_resolutions(resolution, error, message):
    with pytest.raises(error, match=message):
        Mean(-1, 2, resolution=resolution)


@each("name", SURVEYS)
@each("clip", [False, True])
@each("container", [dict, pd.DataFrame, pa.table])
def test_a_table_without_people_has_no_groups(name, clip, container):
    survey, nobody = SURVEYS[name], container({**people(0), "id": np.zeros(0, int), "clinic": np.zeros(0, "U4")})
    for rng in (None, 1, ldp.PersonKeys(bytes(32), "id")):
        assert list(survey.collect(nobody, by="clinic", rng=rng, clip=clip)) == []
        assert list(survey.run(nobody, by="clinic", rng=rng, clip=clip)) == []
        assert survey.collect(nobody, rng=rng, clip=clip) == survey.aggregator()
        with pytest.raises(ValueError, match="an estimate needs at least 1 report, got n = 0"):
            survey.run(nobody, rng=rng, clip=clip)


def test_groups_of_coded_columns_are_their_labels():
    survey, codes = Survey({"smoker": YesNo()}, 1.0), np.array([1, 0, -1, 1], np.int32)
    for labels, groups in ((("S", "N"), ["N", "S", None]), (None, [1, 0, None])):
        frame = {"smoker": [True, False, True, True], "region": Coded(codes, labels)}
        found = survey.collect(frame, by="region", rng=1)
        assert list(found) == groups
        assert [aggregator.n for aggregator in found.values()] == [2, 1, 1]
    for labels in (("N",), ()):  # the code after the last label is another value
        with pytest.raises(ValueError, match="column 'region' must hold the declared categories to divide people"):
            survey.collect({**frame, "region": Coded(codes, labels)}, by="region")
    with pytest.raises(ValueError, match=r"column 'region' must have codes in \[-1, 1\)"):
        survey.collect({**frame, "region": Coded(np.array([2, 0, 0, 0], np.int32), ("N",))}, by="region")
    with pytest.raises(
        ValueError, match=r"column 'smoker' must hold booleans, or 0 and 1, got symbols of the labels 'S', 'N'"
    ):
        survey.collect({"smoker": Coded(codes, ("S", "N"))})


def test_clients_without_a_secret_are_copied_and_pickled():
    client = Survey({"a": YesNo(optional=True)}, 1.0).client()
    for again in (pickle.loads(pickle.dumps(client)), copy.deepcopy(client), copy.copy(client)):
        assert len(again.answer({"a": True})) == len(client.answer({"a": True}))
    with pytest.raises(TypeError, match=r"^PersonKeys hold a secret and cannot be pickled or copied"):
        pickle.dumps(Survey({"a": YesNo(optional=True)}, 1.0).client(bytes(32), 1))
