"""Labels decide: numbers by label, and columns of pandas whose rows are people, in every function that takes them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast import analysis, designs, estimation
from ldpfast.bounds import plan_test
from ldpfast.survey import Choice, Cross, Repeated, Survey, YesNo, poststratify, rake

from .support.cases import each
from .support.errors import raises
from .support.internals.shared import labels

N = 400
CODES = np.arange(N) % 3 == 0
ONES = ~CODES  # 1 comes first in its `value_counts`
VALUES = np.sin(np.arange(N)) + 2.0
X = np.column_stack([np.cos(np.arange(N)), np.arange(N) % 4])
PLACES = np.arange(N) % 40
KEYS = {"secret": bytes(32), "question": "q"}
WARNER = designs.warner(0.9)
ROWS = [[3, 1], [1, 3]]
SIGNS = ldp.SignBit(0.0, 1.0, 2.0)

# Numbers by label -----------------------------------------------------------------------------------------------------


def containers(values: Any) -> dict[str, Any]:
    """Return counts of values in every container that carries labels, whose first label is not the smallest."""
    series = pd.Series(values)
    counted = series.value_counts()
    return {
        "series": counted,
        "reversed series": counted[::-1],
        "mapping": dict(zip(counted.index.tolist(), counted.tolist(), strict=True)),
        "counter": Counter(series.tolist()),
        "pandas table": counted.rename_axis("code").reset_index(),
        "index of one level": series.to_frame("code").value_counts(),
        "arrow pairs": pa.array(series).value_counts(),
        "arrow table": pa.table({"code": series}).group_by("code").aggregate([("code", "count")]),
        "polars": pl.Series("code", series.tolist()).value_counts(),
    }


@pytest.mark.parametrize(
    "values, design", [(ONES.astype(int), ROWS), (ONES, ROWS), (ONES.astype(float), ROWS), (ONES, WARNER)]
)
def test_counts_are_read_by_their_labels(values, design):
    expected = estimation.from_reports([134, 266], design).value
    for name, counts in containers(values).items():
        assert np.array_equal(estimation.from_reports(counts, design).value, expected), name
        assert np.array_equal(estimation.from_sums(counts, N, design).value, expected), name


def test_counts_of_answers_are_read_by_their_texts():
    expected = estimation.from_reports([134, 266], WARNER).value
    for name, counts in containers(np.where(ONES, "yes", "no")).items():
        assert np.array_equal(estimation.from_reports(counts, WARNER).value, expected), name


def test_a_code_without_reports_has_no_label():
    found = estimation.from_reports(pd.Series([2, 2, 0]).value_counts(), ldp.RandomizedResponse(4, 1.0))
    expected = estimation.from_reports([1, 0, 2, 0], ldp.RandomizedResponse(4, 1.0))
    assert np.array_equal(found.value, expected.value)


def test_sums_of_bits_are_read_by_their_labels():
    bits, unary = designs.BitChannel(3, own=0.75, other=0.25), ldp.UnaryEncoding(3, 1.0)
    given = pd.Series({2: 50, 0: 30, 1: 40})
    for design in (bits, unary):
        found = estimation.from_sums(given, 100, design)
        assert np.array_equal(found.value, estimation.from_sums([30, 40, 50], 100, design).value)
    assert np.array_equal(
        bits.estimate_sums({1: 40, 0: 30, 2: 50}, 100).value, bits.estimate_sums([30, 40, 50], 100).value
    )


def test_populations_are_read_by_their_labels():
    mechanism, problem = ldp.RandomizedResponse(3, 1.0), estimation.Frequencies(["a", "b", "c"], 1.0)
    expected = ldp.simulate(mechanism, [100, 500, 400], 1000, rng=1)
    assert ldp.simulate(mechanism, pd.Series({1: 500, 2: 400, 0: 100}), 1000, rng=1) == expected
    expected = ldp.simulate(problem, [0.1, 0.5, 0.4], 1000, rng=1)
    assert ldp.simulate(problem, pd.Series({"b": 0.5, "c": 0.4, "a": 0.1}).sort_index(), 1000, rng=1) == expected
    with raises(
        ValueError, "shares_or_counts must have records that are among the k=3 declared categories; index 0 is not"
    ):
        ldp.simulate(problem, pd.Series([0.1, 0.5, 0.4]), 1000, rng=1)  # labels 0, 1, 2


def test_hypotheses_are_read_by_their_labels():
    way, smokes = Choice(["foot", "car"]), YesNo()
    survey = Survey({"way": way, "smokes": smokes, "both": Cross("way", "smokes")}, 4.0)
    people = {"way": ["foot", "car", "car", "car"] * 1000, "smokes": [True, False] * 2000}
    result = survey.run(people, rng=1)
    for name, shares, ordered in (
        ("way", pd.Series({"car": 0.7, "foot": 0.3}), [0.3, 0.7]),
        ("smokes", {True: 0.4, False: 0.6}, [0.6, 0.4]),
        ("smokes", {"yes": 0.4, "no": 0.6}, [0.6, 0.4]),
        (
            "both",
            {("car", "yes"): 0.4, ("car", "no"): 0.3, ("foot", "yes"): 0.2, ("foot", "no"): 0.1},
            [0.1, 0.2, 0.3, 0.4],
        ),
    ):
        assert result[name].goodness_of_fit(shares).pvalue == result[name].goodness_of_fit(ordered).pvalue
    with raises(ValueError, "shares must have the labels 'foot', 'car', got none for 'foot'"):
        result["way"].goodness_of_fit({"car": 1.0})
    shares = estimation.frequencies(people["way"], ["foot", "car"], 2.0, rng=1)
    by_label, by_place = (shares.test(null).pvalue for null in (pd.Series({"car": 0.7, "foot": 0.3}), [0.3, 0.7]))
    assert np.array_equal(by_label, by_place)
    target = ldp.RandomizedResponse(3, 1.0)
    effect = [pd.Series({2: 0.2, 1: 0.3, 0: 0.5}), pd.Series({1: 0.4, 0: 0.4, 2: 0.2})]
    assert plan_test(target, effect) == plan_test(target, [[0.5, 0.3, 0.2], [0.4, 0.4, 0.2]])


def test_margins_are_read_by_their_labels():
    survey = Survey({"smokes": YesNo()}, 4.0)
    people = {"smokes": CODES, "age": np.where(ONES, "young", "old"), "region": np.array(["N", "S"])[np.arange(N) % 2]}
    results = survey.run(people, by=["age", "region"], rng=1)
    margins = {"age": {"old": 3, "young": 5}, "region": {"S": 6, "N": 2}}
    expected = rake(results, margins)["smokes"].value
    frames = {name: pd.Series(margin, name="count").rename_axis(name).reset_index() for name, margin in margins.items()}
    for given in (
        {name: pd.Series(margin) for name, margin in margins.items()},
        frames,
        {name: pa.Table.from_pandas(frame) for name, frame in frames.items()},
        {name: pl.from_pandas(frame) for name, frame in frames.items()},
    ):
        assert rake(results, given)["smokes"].value == expected
    population = pd.DataFrame(people)[["age", "region"]].value_counts()  # its index has tuples
    assert poststratify(results, population)["smokes"].value == pytest.approx(
        poststratify(results, population.to_dict())["smokes"].value
    )
    with raises(TypeError, "margins['age'] must be a mapping, a series of pandas or a table of counts, got list"):
        rake(results, {**margins, "age": [3, 5]})
    with raises(ValueError, "margins['age'] must have each group once, got one more than once"):
        rake(results, {**margins, "age": pd.Series([3, 5], index=["old", "old"])})


@each(
    "counts, message",
    [
        (
            pd.Series({"b": 1, "a": 2}),
            "counts must have the labels 0, 1, or be an array in their order; label 0 is another one",
        ),
        ({0: 1, 1: 2, 2: 0}, "counts must have the labels 0, 1, or be an array in their order; label 2 is another one"),
        ({0: 1, None: 2}, "counts must have the labels 0, 1, or be an array in their order; label 1 is another one"),
        ({0: 1, np.nan: 2}, "counts must have the labels 0, 1, or be an array in their order; label 1 is another one"),
        (pd.Series([1, 2], index=[1, 1]), "counts must have each label once, got 1 more than once"),
        (pd.Series([1, 2], index=[1, 1.0]), "counts must have each label once, got 1.0 more than once"),
        ({0: 1, 1: -2}, "counts must be >= 0, got -2"),
    ],
)
def test_labels_that_cannot_be_matched_are_refused(counts, message):
    with raises(ValueError, message):
        estimation.from_reports(counts, ROWS)


def test_tables_of_another_form_are_refused():
    columns = {"a": [0], "b": [1]}
    for frame in (pd.DataFrame(columns), pl.DataFrame({"count": [0]}), pa.table({**columns, "count": [1]})):
        with pytest.raises(
            TypeError, match="counts must be numbers by label, an array, or a table of a column of labels"
        ):
            estimation.from_reports(frame, ROWS)
    assert labels.numbers_by_label("counts", np.arange(3)) is None
    assert labels.numbers_by_label("counts", pa.array([1, 2])) is None
    assert labels.in_order("counts", [4, 5], [[0], [1]]) == [4, 5]


# Rows by index --------------------------------------------------------------------------------------------------------


def frame(**columns: Any) -> dict[str, Any]:
    """Return columns as series of one index, and X as a data frame."""
    index = pd.Index(np.arange(N) + 7)
    return {
        name: pd.DataFrame(values, index, ["a", "b"]) if np.ndim(values) == 2 else pd.Series(values, index)
        for name, values in columns.items()
    }


def regressions() -> dict[str, Any]:
    fitted = analysis.RandomizedLogit(WARNER).fit(frame(X=X)["X"], CODES)
    classifier = analysis.LabelClassifier(WARNER).fit(frame(X=X)["X"], CODES)
    scaled = {"epsilon": 8.0, "radius": 4.0, "random_state": 1, "method": "sgd"}
    linear, logistic = estimation.LinearRegression(**scaled), estimation.LogisticRegression(**scaled)
    linear.fit(frame(X=X)["X"], VALUES)
    logistic.fit(frame(X=X)["X"], CODES)
    weighted = {"weights": VALUES, "clusters": PLACES}
    return {
        "RandomizedLogit.fit": (analysis.RandomizedLogit(WARNER).fit, {"X": X, "reports": CODES, **weighted}),
        "RandomizedLogit.predict": (
            lambda X, weights: fitted.predict(X, average=True, weights=weights),  # noqa: N803
            {"X": X, "weights": VALUES},
        ),
        "RandomizedLinear.fit": (
            analysis.RandomizedLinear(SIGNS).fit,
            {"X": X, "reports": CODES.view(np.uint8), **weighted},
        ),
        "RandomizedPredictor.fit": (
            analysis.RandomizedPredictor(WARNER).fit,
            {"X": X, "reports": CODES, "outcome": VALUES, **weighted},
        ),
        "LabelClassifier.fit": (
            analysis.LabelClassifier(WARNER).fit,
            {"X": X, "y": CODES, "sample_weight": VALUES},
        ),
        "LabelClassifier.score": (classifier.score, {"X": X, "y": CODES, "sample_weight": VALUES}),
        "LinearRegression.fit": (estimation.LinearRegression(**scaled).fit, {"X": X, "y": VALUES}),
        "LinearRegression.partial_fit": (estimation.LinearRegression(**scaled).partial_fit, {"X": X, "y": VALUES}),
        "LinearRegression.score": (linear.score, {"X": X, "y": VALUES, "sample_weight": VALUES}),
        "LogisticRegression.fit": (estimation.LogisticRegression(**scaled).fit, {"X": X, "y": CODES}),
        "LogisticRegression.partial_fit": (estimation.LogisticRegression(**scaled).partial_fit, {"X": X, "y": CODES}),
        "LogisticRegression.score": (logistic.score, {"X": X, "y": CODES, "sample_weight": VALUES}),
        "GradientDescent.run": (
            lambda x, y: estimation.GradientDescent("linear", 2, 8.0, radius=4.0, residual=4.0).run(x, y, rng=1),
            {"x": X, "y": VALUES},
        ),
        "NewtonStep.run": (
            lambda x, y: estimation.NewtonStep("linear", 2, 8.0, n=N, radius=4.0, residual=4.0).run(x, y, rng=1),
            {"x": X, "y": VALUES},
        ),
    }


def counts() -> dict[str, Any]:
    mechanism, survey = ldp.Warner(1.0), Survey({"x": YesNo()}, 1.0)
    weeks = Repeated(YesNo(), permanent=2.0, round=1.0, rounds=2)
    crosswise = {"reports": CODES, "attention": ONES}

    def of_persons(call: Any) -> Any:
        return lambda x, persons: call(x, rng=ldp.PersonKeys(persons=persons, **KEYS))

    def answers(x: Any, persons: Any) -> Any:
        return survey.collect({"x": x}, rng=ldp.PersonKeys(bytes(32), persons))

    persons = {"x": CODES, "persons": np.arange(N)}
    return {
        "Design.prevalence": (WARNER.prevalence, {"reports": CODES, "weights": VALUES, "clusters": PLACES}),
        "Design.prevalence_by": (
            WARNER.prevalence_by,
            {"reports": CODES, "by": PLACES % 2, "weights": VALUES, "clusters": PLACES},
        ),
        "crosswise_with_attention": (
            lambda **given: designs.crosswise_with_attention(**given, p=0.2, p_attention=0.2),
            crosswise,
        ),
        "joint": (
            lambda first, second: estimation.joint([first, second], [WARNER, WARNER]),
            {"first": CODES, "second": ONES},
        ),
        "conditional_means": (
            lambda values, reports: estimation.conditional_means(values, reports, WARNER),
            {"values": VALUES, "reports": CODES},
        ),
        "conditional_means by rates": (
            estimation.conditional_means,
            {"values": VALUES, "reports": CODES, "rates": VALUES / 100},
        ),
        "conditional_quantiles": (
            lambda **given: estimation.conditional_quantiles(**given, quantiles=0.5),
            {"values": VALUES, "reports": CODES, "rates": VALUES / 100},
        ),
        "ConditionalQuantiles.update": (
            lambda **given: estimation.ConditionalQuantiles([2.0]).update(**given),
            {"values": VALUES, "reports": CODES, "rates": VALUES / 100},
        ),
        "collect": (lambda x, by: mechanism.collect(x, by=by, rng=1), {"x": CODES, "by": PLACES}),
        "run": (lambda x, by: mechanism.run(x, by=by, rng=1), {"x": CODES, "by": PLACES}),
        "collect of persons": (of_persons(mechanism.collect), persons),
        "privatize of persons": (of_persons(mechanism.privatize), persons),
        "privatize of a round": (of_persons(weeks.in_round(0).privatize), persons),
        "collect of a round": (
            lambda x, by, persons: weeks.in_round(0).collect(x, by=by, rng=ldp.PersonKeys(persons=persons, **KEYS)),
            {**persons, "by": PLACES},
        ),
        "survey": (lambda x, by: survey.collect({"x": x, "by": by}, by="by", rng=1), {"x": CODES, "by": PLACES}),
        "survey of persons": (answers, persons),
    }


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_columns_of_people_have_one_index():
    """Reports, X, values, weights, clusters, groups and persons: another order of one of them is another index."""
    swapped = np.r_[0, 2, 1, 3:N]
    for name, (call, columns) in {**counts(), **regressions()}.items():
        whole = frame(**columns)
        call(**whole)
        for moved in list(whole)[1:]:
            given = {**whole, moved: whole[moved].iloc[swapped]}
            print(name, "with another order of", moved)  # shown if it is accepted
            with pytest.raises(ValueError, match=r"must have the same pandas index, for rows are people") as caught:
                call(**given)
            assert str(caught.value).endswith("; the first difference is in row 1"), name
    call, columns = counts()["Design.prevalence"]
    assert call(**{**frame(**columns), "reports": CODES}).value == call(**columns).value  # an array has no index


def test_the_first_difference_of_indices_is_told_without_labels():
    one = pd.Series(range(5), index=["Ann", "Bob", "Eve", "Joe", None])
    labels.require_one_index({"x": one, "y": one.copy(), "z": [1, 2], "w": None})
    for other, row in ((one[::-1], 0), (one.rename({"Joe": "Jo"}), 3), (one[:4], 4), (one[:0], 0)):
        message = "x and y must have the same pandas index, for rows are people; the first difference is in row"
        with raises(ValueError, f"{message} {row}"):
            labels.require_one_index({"x": one, "y": other})


def test_columns_that_nobody_asks_for_may_have_another_index():
    survey, persons = Survey({"x": YesNo()}, 1.0), pd.Series(np.arange(N))
    people = {"other": pd.Series(ONES, index=np.arange(N) + N), "x": pd.Series(CODES)}
    assert survey.collect(people, rng=ldp.PersonKeys(bytes(32), persons)).n == N


def test_an_example_of_columns_in_another_order():
    """A regression on rows that were sorted, with answers that were not, is refused instead of wrong."""
    data = pd.DataFrame({"age": np.cos(np.arange(N)), "answer": CODES})
    covariates = data[["age"]].sort_values("age")
    with pytest.raises(ValueError, match="X and reports must have the same pandas index"):
        analysis.RandomizedLogit(WARNER).fit(covariates, data["answer"])


def test_two_samples_are_different_people():
    first, second = pd.Series(CODES), pd.Series(ONES, index=np.arange(N) + N)
    found = designs.unrelated_question_two_samples(first, second, p=(0.7, 0.2))
    assert np.array_equal(found.value, designs.unrelated_question_two_samples(CODES, ONES, p=(0.7, 0.2)).value)


def test_reports_to_several_questions_are_in_their_order():
    for reports in ({"a": CODES, "b": ONES}, pd.DataFrame({"a": CODES, "b": ONES})):
        with raises(
            TypeError, f"reports must be a sequence in the order of the questions, got {type(reports).__name__}"
        ):
            estimation.joint(reports, [WARNER, WARNER])
    with raises(TypeError, "designs must be a sequence in the order of the questions, got dict"):
        estimation.joint([CODES, ONES], {"b": WARNER, "a": WARNER})


def test_mappings_are_no_columns():
    for call in (
        lambda given: WARNER.prevalence(given),
        lambda given: WARNER.prevalence(CODES, weights=given),
        lambda given: WARNER.prevalence_by(CODES, given),
        lambda given: WARNER.prevalence(CODES, clusters=given),
        lambda given: estimation.conditional_means(given, CODES, WARNER),
        lambda given: ldp.Warner(1.0).privatize(given),
        lambda given: ldp.central.mean(given, epsilon=1.0, moment=2.0, radius=1.0),
    ):
        for given in (dict(enumerate(CODES.tolist())), set(range(N))):
            message = f"must be (an array of numbers|in the order of the rows), got {type(given).__name__}"
            with pytest.raises(TypeError, match=message):
                call(given)
