"""Groups of people: values that divide them, equality, and results that stay."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast.reports import Counts, GroupedAggregator
from ldpfast.survey import Choice, Repeated, Survey, YesNo

from ..support.cases import each
from ..support.errors import raises

MECHANISM = ldp.RandomizedResponse(3, 1.0)
X = np.arange(12) % 3
BY = np.repeat(["N", "S"], 6)


def collect(by=BY, rng=1):
    return MECHANISM.collect(X, by=by, rng=rng)


def test_groups_of_nobody_can_be_merged():
    one = np.repeat("N", 12)
    for by in (one, BY):
        assert collect(by).merge(MECHANISM.collect([], by=[])) == collect(by)
        assert MECHANISM.collect([], by=[]).merge(collect(by)) == collect(by)
    assert len(MECHANISM.collect([], by=[]).merge(MECHANISM.collect([], by=[]))) == 0


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_results_do_not_change_when_other_people_are_merged():
    grouped = collect()
    results = grouped.estimate()
    grouped.merge(collect(rng=2))
    assert {value: result.n for value, result in results.items()} == {"N": 6, "S": 6}
    assert {value: result.n for value, result in grouped.estimate().items()} == {"N": 12, "S": 12}


def test_the_aggregators_of_groups_are_copies():
    grouped = collect()
    alone = grouped["N"]
    alone.merge(MECHANISM.collect(X, rng=3)).name_batch("one")
    assert alone.n == 18
    assert grouped == collect()


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
def test_results_can_be_pickled_and_copied():
    results = collect().estimate()
    for again in (pickle.loads(pickle.dumps(results)), copy.copy(results), copy.deepcopy(results)):
        assert again.table().columns == results.table().columns


def test_groups_are_equal_in_any_order_if_their_counts_are():
    first, second = collect(), collect(np.repeat(["W", "N"], 6), rng=2)
    assert copy.copy(first).merge(second) == copy.copy(second).merge(first)
    assert collect() == collect()
    assert collect() != collect(rng=2)
    assert collect() != collect(np.repeat(["N", "W"], 6))
    assert collect() != collect().name_batch("one")
    assert collect() != MECHANISM.collect(X, rng=1)


@pytest.mark.parametrize(
    "by",
    [
        np.repeat([np.inf, 1.0], 6),
        np.arange(12).astype("timedelta64[s]"),
        pa.array(range(12), pa.time32("s")),
        pa.array(range(12), pa.timestamp("ns")),
    ],
    ids=["infinite", "duration", "time", "nanoseconds"],
)
def test_values_that_cannot_be_saved_can_be_compared(by):
    assert collect(by) == collect(by)
    assert collect(by) != collect(by, rng=2)
    with pytest.raises(TypeError, match="parameters and labels must be"):
        collect(by).to_bytes()


@each(
    "by, values",
    [
        ([None, 1, None] * 4, [None, 1]),
        (np.array([np.nan, 1.0, -np.nan] * 4), [None, 1.0]),
        (np.array([0.0, -0.0] * 6), [0.0]),
        ([True, False] * 6, [True, False]),
        (pd.Categorical(["b", "a", None] * 4), ["b", "a", None]),
    ],
    ids=["None", "NaN", "zeros", "bool", "categorical"],
)
def test_missing_and_equal_values_are_one_group(by, values):
    grouped = collect(by)
    assert list(grouped) == values
    assert list(map(type, grouped)) == list(map(type, values))
    assert grouped.n == 12
    assert ldp.load(grouped.to_bytes()) == grouped


@pytest.mark.parametrize("by", [[1, True, 1.0] * 4, np.array([1, "1"] * 6, object), np.zeros(12, complex)])
def test_values_of_several_types_are_refused(by):
    with raises(TypeError, "column 'by' must hold values of one type that Arrow has"):
        collect(by)


def test_records_and_groups_have_one_pandas_index():
    x, by = pd.Series(X), pd.Series(BY)
    assert MECHANISM.collect(x, by=by, rng=1) == collect()
    asked = Repeated(YesNo(), permanent=2.0, round=1.0, rounds=2).in_round(0)
    keys = ldp.PersonKeys(bytes(32), np.arange(12), question="q")
    message = "x and by must have the same pandas index, for rows are people; the first difference is in row 0"
    with raises(ValueError, message):
        MECHANISM.collect(x, by=by[::-1], rng=1)
    with raises(ValueError, message):
        asked.collect(x == 1, by=by[::-1], rng=keys)


@each("by", [BY, pd.Series(BY), BY.tolist(), 3, b"by"], ids=lambda by: type(by).__name__)
def test_groups_of_a_survey_are_a_column_of_its_table(by):
    frame = {"smokes": X == 1, "by": BY}
    with raises(TypeError, f"by must be the name of a column, or a list of different names, got {type(by).__name__}"):
        Survey({"smokes": YesNo()}, 1.0).collect(frame, by=by, rng=1)


def test_reports_of_another_epsilon_are_a_warning_in_a_table_of_groups():
    asked, other = (Survey({"city": Choice(50)}, epsilon) for epsilon in (1.0, 1.5))
    counted = asked.collect({"city": np.arange(20_000) % 50, "region": ["N", "S"] * 10_000}, by="region", rng=1)
    wrong = GroupedAggregator(Counts.of(other, list(counted), counted._counts.states, counted._counts.n)).estimate()
    with pytest.warns(ldp.DoubtfulWarning, match=r"^the shares add up to -?[0-9.]+, .* another epsilon$"):
        wrong["N"]
    with pytest.warns(ldp.DoubtfulWarning, match=r"^the shares add up to -?[0-9.]+, .* another epsilon$"):
        wrong.table()


def test_the_reports_of_a_seed_do_not_depend_on_the_groups():
    survey = Survey({"a": YesNo(), "b": YesNo()}, 2.0)
    n = 5000
    frame = {"a": np.arange(n) % 2 == 0, "b": np.arange(n) % 3 == 0, "by": np.arange(n) * 7919 % 11}
    grouped = survey.collect(frame, by="by", rng=1)
    total = survey.aggregator()
    for aggregator in grouped.values():
        total.merge(aggregator)
    assert total == survey.collect(frame, rng=1)


# Groups that were counted one by one ----------------------------------------------------------------------------------

SURVEY = Survey({"way": Choice(["foot", "car"], optional=True), "smokes": YesNo(optional=True)}, 3.0)


def messages_of(region, n):
    return [SURVEY.client().answer({"way": "car" if i % 3 else "foot", "smokes": region == "N"}) for i in range(n)]


def test_aggregators_of_messages_become_groups():
    counted = {region: SURVEY.aggregator().update(messages_of(region, n)) for region, n in (("S", 60), ("N", 40))}
    grouped = GroupedAggregator.of(counted, by="region")
    assert (grouped.n, grouped.by, list(grouped)) == (100, "region", ["S", "N"])
    assert {region: aggregator == counted[region] for region, aggregator in grouped.items()} == {"S": True, "N": True}
    results = grouped.estimate()
    assert list(results) == ["N", "S"]
    for region, aggregator in counted.items():
        assert results[region].table(0.9).columns == aggregator.estimate().table(0.9).columns
    assert ldp.load(grouped.to_bytes()) == grouped
    more = SURVEY.collect({"way": ["car"] * 3, "smokes": [True] * 3, "region": ["W"] * 3}, by="region", rng=1)
    assert grouped.merge(more).n == 103
    assert counted["N"].n == 40


def test_groups_by_several_columns_are_tuples():
    aggregators = {("N", 1): MECHANISM.collect(X, rng=1), ("S", 2): MECHANISM.collect(X, rng=2)}
    grouped = GroupedAggregator.of(aggregators, by=["region", "year"])
    assert list(grouped.estimate().table().columns)[:2] == ["region", "year"]
    with pytest.raises(ValueError, match="by tuples of 3 values"):
        GroupedAggregator.of(aggregators, by=["region", "year", "month"])


def test_groups_know_the_aggregators_that_they_are_made_of():
    """The difference of a group and of the same people counted alone has a covariance."""
    counted = {region: MECHANISM.collect(X, rng=1) for region in "NS"}
    counted["N"].name_batch("monday")
    grouped = GroupedAggregator.of(counted)
    assert (grouped.estimate()["N"] - grouped.estimate()["S"]).n == 24
    with pytest.raises(ValueError, match="estimates must be of different people"):
        grouped.estimate()["N"] - counted["N"].estimate()
    again = GroupedAggregator.of({"N": MECHANISM.collect(X, rng=3).name_batch("monday")})
    with pytest.raises(ValueError, match="no batch that was already counted"):
        grouped.merge(again)


@each(
    "aggregators, message",
    [
        ([MECHANISM.aggregator()], "aggregators must be a mapping to aggregators, got list"),
        ({"N": MECHANISM}, "aggregators must be a mapping to aggregators"),
        ({}, "aggregators must be at least one, got none"),
        ({"N": MECHANISM.aggregator(), "S": ldp.RandomizedResponse(3, 2.0).aggregator()}, "must"),
        (
            {region: MECHANISM.collect(X, rng=1).name_batch("monday") for region in "NS"},
            "aggregators must hold no batch that another one holds",
        ),
    ],
)
def test_what_is_no_aggregators_of_one_question_is_refused(aggregators, message):
    with pytest.raises((TypeError, ValueError), match=message):
        GroupedAggregator.of(aggregators)


# What is shown --------------------------------------------------------------------------------------------------------


def test_results_are_printed_as_a_table():
    frame = {"way": ["foot", "car"] * 60, "smokes": [True] * 120, "region": np.repeat(["N", "S", "W"], 40)}
    results = SURVEY.run(frame, by="region", rng=1)
    lines = repr(results).splitlines()
    assert lines[:-1] == repr(results.table()).splitlines()
    assert lines[-1].startswith("n = 120 in 3 groups, epsilon = ")
    many = MECHANISM.collect(np.arange(300) % 3, by=np.arange(300) % 30, rng=1).estimate()
    assert repr(many).splitlines()[-1].startswith("n = 300 in 30 groups, of which 20 are shown, epsilon = ")
    assert len(repr(many).splitlines()) == 1 + 20 * 3 + 1


def test_plots_have_a_panel_per_question_and_a_row_per_number_and_group(tmp_path):
    frame = {"way": ["foot", "car"] * 60, "smokes": [True] * 120, "region": np.repeat(["N", "S"], 60)}
    page = SURVEY.run(frame, by="region", rng=1).plot(tmp_path / "groups.svg")
    assert (tmp_path / "groups.svg").stat().st_size > 0
    assert [ax.get_title(loc="left") for ax in page.axes] == ["way", "smokes"]
    labels = [[label.get_text() for label in ax.get_yticklabels()] for ax in page.axes]
    ways = [f"{region}, {way}" for region in "NS" for way in ("foot", "car", "no answer")]
    assert labels == [ways, ["N", "N, no answer", "S", "S, no answer"]]
    assert "n = 120 in 2 groups" in page.axes[-1].get_xlabel()
    alone = MECHANISM.collect(X, by=BY, rng=1).estimate().plot()
    assert [label.get_text() for label in alone.axes[0].get_yticklabels()] == [
        f"{g}, {i}" for g in "NS" for i in range(3)
    ]
