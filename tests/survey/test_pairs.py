"""Surveys with `Pairs`: answers, correlations, tests, moments, plans, groups, waves, persons, and what they refuse."""

from __future__ import annotations

import math
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import ldpfast as ldp
from ldpfast.results import SmallSampleWarning
from ldpfast.survey import Choice, Cross, Histogram, Mean, Pairs, Survey, Text, YesNo, compare, poststratify, two_sample

from ..support.cases import each
from ..support.errors import raises
from ..support.keys import STATISTICS_SEED

NAMES = ("a", "b", "c", "d")


def survey_of(questions, epsilon=2.0, **options):
    """Return a survey that asks the pairs of some questions only."""
    weights = dict.fromkeys(questions, 0)
    return Survey({**questions, "all": Pairs(*questions)}, epsilon, weights=weights, **options)


def bits(questions=NAMES, **options):
    return survey_of({name: YesNo(**options) for name in questions})


def people(n, names=NAMES, seed=0):
    """Return answers, of which the last one is yes for everybody with a yes to the first one."""
    found = np.random.default_rng([seed, n]).random((n, len(names))) < np.linspace(0.2, 0.5, len(names))
    found[:, -1] |= found[:, 0]
    return dict(zip(names, found.T, strict=True))


MIXED = {
    "a": YesNo(),
    "b": YesNo(optional=True),
    "c": Choice(["x", "y", "z"]),
    "d": Histogram([0, 1, 2], optional=True),
}


def mixed_people(n, seed=0):
    rng = np.random.default_rng([seed, 1])
    a = rng.random(n) < 0.3
    b = np.where(rng.random(n) < 0.25, None, rng.random(n) < 0.5 * (1 + a))
    c = np.array(["x", "y", "z"])[rng.choice(3, n, p=[0.5, 0.3, 0.2])]
    d = np.where(rng.random(n) < 0.1, np.nan, rng.random(n) * 2)
    return {"a": a, "b": b.astype(object), "c": c, "d": d}


def true_table(frame, i, j, labels):
    """Return the joint shares of two columns with some labels; None and NaN are missing."""
    first, second = ([None if value != value else value for value in frame[name].tolist()] for name in (i, j))
    return np.array(
        [
            [np.mean([x == a and y == b for x, y in zip(first, second, strict=True)]) for b in labels[1]]
            for a in labels[0]
        ]
    )


# Answers --------------------------------------------------------------------------------------------------------------


def test_tables_shares_and_correlations_are_those_of_the_people():
    n = 200_000
    survey, frame = survey_of(MIXED, 6.0), mixed_people(n)
    answer = survey.run(frame, rng=STATISTICS_SEED)["all"]
    labels = {"a": (False, True), "b": (False, True, None), "c": ("x", "y", "z")}
    for i, j in [("a", "b"), ("b", "a"), ("c", "b"), ("a", "c")]:
        truth, table = true_table(frame, i, j, (labels[i], labels[j])), answer[i, j]
        assert (np.abs(table.value - truth) <= 5 * table.stderr).all()
        assert table.value == pytest.approx(answer[j, i].value.T, abs=1e-12)
        assert table.names == (i, j)
        for name in (i, j):
            assert table.margin(name).value == pytest.approx(answer.shares[name].value, rel=1e-9)
            assert table.margin(name).stderr == pytest.approx(answer.shares[name].stderr, rel=0.02)
    assert answer["b", "d"].value.shape == (3, 3)
    assert abs(answer.shares["a"].value - frame["a"].mean()) < 5 * answer.shares["a"].stderr
    assert abs(answer.shares["b"].missing.value - 0.25) < 0.02
    known = np.array([value is not None for value in frame["b"]])
    phi = np.corrcoef(frame["a"][known], frame["b"][known].astype(float))[0, 1]
    assert abs(answer.phi.value[0, 1] - phi) < 5 * answer.phi.stderr[0, 1]
    assert math.isnan(answer.phi.value[0, 2])
    assert math.isnan(answer.phi.value[1, 1])
    low, high = answer.phi.interval()
    assert (low[0, 2], high[0, 2]) == (-1.0, 1.0)


def test_the_value_has_all_tables_in_order():
    survey = survey_of(MIXED, 6.0)
    answer = survey.run(mixed_people(20_000), rng=1)["all"]
    start = 0
    for i, j in combinations(MIXED, 2):
        table = answer[i, j]
        stop = start + table.value.size
        assert answer.value[start:stop] == pytest.approx(table.value.ravel(), abs=1e-12)
        assert answer.stderr[start:stop] == pytest.approx(table.stderr.ravel(), rel=1e-9)
        texts = [f"{i} = {a}, {j} = {b}" for a in table.axes[0] for b in table.axes[1]]
        assert answer.entries[start:stop] == texts
        start = stop
    assert start == len(answer.value) == answer._numbers
    frame = answer.to_frame()
    assert list(frame.columns) == ["first", "answer", "second", "its answer", "share", "stderr", "low", "high"]
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) == len(answer.value)
    row = frame[(frame["first"] == "b") & (frame["answer"] == "no answer") & (frame["its answer"] == "y")]
    assert row["share"].item() == pytest.approx(answer["b", "c"].value[2, 1])
    described = answer.to_dict()
    assert len(described["value"]) == len(described["labels"]) == len(answer.value)


def test_given_and_independence_are_those_of_a_cross():
    answer = bits().run(people(100_000), rng=3)["all"]
    assert answer["d", "a"].given("a").value[1] == pytest.approx(1, abs=0.1)
    assert answer["a", "d"].independence().pvalue < 1e-6
    table = answer.independence()
    assert table["first"] == ["a", "a", "a", "b", "b", "c"]
    assert table["second"] == ["b", "c", "d", "c", "d", "d"]
    assert table["adjusted"][2] < 1e-5
    assert min(table["adjusted"][place] for place in (0, 1, 3, 4)) > 0.01
    order = np.argsort(table["pvalue"])
    expected = np.minimum(1, np.maximum.accumulate(np.sort(table["pvalue"]) * np.arange(6, 0, -1)))
    assert np.array(table["adjusted"])[order] == pytest.approx(expected)


def test_moments_are_the_tables_in_few_numbers():
    """All tables follow from them. For yes-or-no questions they are differences of shares and of agreement."""
    for survey, frame in ((bits(), people(20_000)), (survey_of(MIXED, 5.0), mixed_people(20_000))):
        answer = survey.run(frame, rng=2)["all"]
        names, moments = answer.names, answer.moments()
        assert [moment.names for moment in moments] == [*((name,) for name in names), *combinations(names, 2)]
        for moment in moments:
            shares = answer[moment.names] if len(moment.names) == 2 else None
            cells = [answer[moment.names[0], next(n for n in names if n != moment.names[0])].value.sum(axis=1)]
            cells = shares.value.ravel() if shares is not None else cells[0]
            assert moment.query @ cells == pytest.approx(moment.value, abs=1e-12)
            gram = moment.query @ moment.query.T
            assert gram == pytest.approx(np.eye(len(gram)) * moment.query.shape[1], abs=1e-9)
            assert moment.query @ np.ones(moment.query.shape[1]) == pytest.approx(0, abs=1e-12)
    pair = bits().run(people(20_000), rng=2)["all"].moments()[-1]
    assert pair.query.tolist() == [[1, -1, -1, 1]]


@pytest.mark.long
def test_moments_have_their_standard_errors():
    """Of fair answers, in 500 studies: the standard deviations within 15 %, and no correlation of moments."""
    survey = bits()
    n, runs = 4000, 500
    rng = np.random.default_rng(STATISTICS_SEED)
    frame = {name: rng.random(n * runs) < 0.5 for name in NAMES}
    groups = survey.run({**frame, "run": np.repeat(np.arange(runs), n)}, by="run", rng=1)
    found = [groups[run]["all"].moments() for run in range(runs)]
    values = np.array([[moment.value[0] for moment in moments] for moments in found])
    stated = np.array([[moment.stderr for moment in moments] for moments in found]).mean(axis=0)
    assert values.std(axis=0) == pytest.approx(stated, rel=0.15)
    assert np.abs(np.corrcoef(values.T) - np.eye(values.shape[1])).max() < 0.25


@pytest.mark.long
@pytest.mark.parametrize("epsilon, n", [(1.0, 8000), (4.0, 2000)])
def test_limits_of_correlations_and_of_subgroups_cover(epsilon, n):
    """1,000 studies of four questions, two of which depend on each other."""
    names, runs = NAMES, 1000
    survey = survey_of(dict.fromkeys(names, YesNo()), epsilon)
    rates = np.linspace(0.3, 0.5, 4)
    last = rates[3] + (1 - rates[3]) * rates[0]  # share of yes to the last question
    true_phi = {
        ("a", "d"): (rates[0] - rates[0] * last) / math.sqrt(rates[0] * (1 - rates[0]) * last * (1 - last)),
        ("b", "c"): 0.0,
    }
    rng = np.random.default_rng(STATISTICS_SEED)
    found = rng.random((n * runs, 4)) < rates
    found[:, 3] |= found[:, 0]
    frame = {**dict(zip(names, found.T, strict=True)), "run": np.repeat(np.arange(runs), n)}
    groups = survey.run(frame, by="run", rng=rng)
    covered = dict.fromkeys(true_phi, 0) | {"given": 0, "rejected": 0}
    for run in range(runs):
        answer = groups[run]["all"]
        low, high = answer.phi.interval()
        for i, j in true_phi:
            place = names.index(i), names.index(j)
            covered[i, j] += bool(low[place] <= true_phi[i, j] <= high[place])
        given = answer["c", "b"].given("b").interval()
        covered["given"] += bool(given[0][1] <= rates[2] <= given[1][1])
        covered["rejected"] += bool(answer["b", "c"].independence().pvalue < 0.05)
    assert 930 <= covered["a", "d"] <= 985
    assert 930 <= covered["b", "c"] <= 985
    assert 930 <= covered["given"] <= 985
    assert 25 <= covered["rejected"] <= 75


def test_the_heat_map_shows_correlations():
    import matplotlib.pyplot as plt

    answer = bits().run(people(50_000), rng=1)["all"]
    ax = answer.plot()
    assert [label.get_text() for label in ax.get_xticklabels()] == list(NAMES)
    texts = [text.get_text() for text in ax.texts]
    assert f"{answer.phi.value[0, 3]:.2f}" in texts
    assert any(text.startswith("(") for text in texts)
    plt.close("all")
    three = survey_of({"a": Choice(3), "b": Choice(3)}).run({"a": [0, 1, 2] * 500, "b": [0, 1, 2] * 500}, rng=1)["all"]
    with pytest.raises(ValueError, match="a heat map needs two questions with two answers each"):
        three.plot()


# Few people -----------------------------------------------------------------------------------------------------------


def test_tables_that_nobody_was_asked_are_unknown():
    names = tuple("abcdefghijklmnop")
    survey = survey_of(dict.fromkeys(names, YesNo()), 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answer = survey.run(people(30, names), rng=1)["all"]
        unknown = np.flatnonzero(np.isnan(answer.value))
        assert 0 < len(unknown) < len(answer.value)
        low, high = answer.interval()
        assert (low[unknown] == 0).all()
        assert (high[unknown] == 1).all()
        i, j = list(combinations(names, 2))[unknown[0] // 4]
        table = answer[i, j]
        assert (table.n, np.isnan(table.value).all()) == (0, True)
        assert math.isnan(answer.phi.value[names.index(i), names.index(j)])
        result = answer.independence()
        assert math.isnan(result["pvalue"][unknown[0] // 4])
    with pytest.warns(SmallSampleWarning):
        answer.interval()
    with pytest.warns(SmallSampleWarning, match="of 120 tables are not known well enough"):
        answer.independence()


def test_a_survey_in_which_nobody_was_asked_pairs_has_no_answer():
    survey = Survey({"a": YesNo(), "b": YesNo(), "all": Pairs("a", "b")}, 2.0)
    for seed in range(20):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = survey.run({"a": [True, False], "b": [True, True]}, rng=seed)
        answer = result["all"]
        if not answer.n:
            break
    assert np.isnan(answer.value).all()
    assert np.isnan(answer["a", "b"].value).all()
    assert not np.isfinite(answer.phi.value).any()
    assert answer.moments() == []
    assert "no answers" in repr(result)


# Surveys --------------------------------------------------------------------------------------------------------------


def test_groups_waves_and_comparisons():
    survey = bits()
    frame = {**people(40_000), "region": np.array(["n", "s"])[np.arange(40_000) % 2]}
    groups = survey.run(frame, by="region", rng=1)
    assert set(groups) == {"n", "s"}
    table = groups.table() if hasattr(groups, "table") else None
    assert table is None or len(table["estimate"]) == 2 * 24
    north, south = groups["n"]["all"], groups["s"]["all"]
    assert two_sample(north["a", "d"], south["a", "d"]).pvalue > 0.001
    assert abs((north - south).value).max() < 0.2
    compared = compare({"north": groups["n"], "south": groups["s"]})
    assert len(compared.to_frame()) == 24
    waves = survey_of({name: YesNo() for name in NAMES}, waves=3, series="s")
    keys = ldp.PersonKeys(bytes(32), np.arange(40_000))
    one = waves.in_wave(1).run(people(40_000), rng=keys)["all"]
    assert 0 < one.n < 20_000
    assert abs(one["a", "d"].value[1, 0]) < 5 * one["a", "d"].stderr[1, 0]


def test_persons_report_the_same_unless_they_were_asked():
    """Whatever a person was not asked can change. Repeated reports and those of messages are the same."""
    survey, n = survey_of({name: YesNo(optional=True) for name in NAMES}), 500
    frame, keys = people(n), ldp.PersonKeys(bytes(32), np.arange(n))
    before = survey.privatize(frame, rng=keys).column("all").to_pylist()
    changed = {**frame, "b": ~frame["b"]}
    after = survey.privatize(changed, rng=keys).column("all").to_pylist()
    asked = np.array([report[0] >> 1 & 1 for report in before], bool)
    moved = np.array([x != y for x, y in zip(before, after, strict=True)])
    assert not moved[~asked].any()
    assert moved[asked].mean() > 0.3
    assert all(x[:2] == y[:2] for x, y in zip(before, after, strict=True))
    assert 0.2 < asked.mean() < 0.9
    messages = [
        survey.client(bytes(32), i).answer({name: column[i] for name, column in frame.items()}) for i in range(30)
    ]
    expected = survey.privatize(
        {name: column[:30] for name, column in frame.items()}, rng=ldp.PersonKeys(bytes(32), np.arange(30))
    )
    assert survey.aggregator().update(messages) == survey.aggregator().update(expected)


def test_simulated_answers_are_those_of_reports():
    """The counts of a million people, in a moment; the tables within five standard errors."""
    survey = bits()
    simulated = ldp.simulate(survey, people(1000), 1_000_000, rng=1).estimate()["all"]
    reported = survey.run({name: np.tile(column, 200) for name, column in people(1000).items()}, rng=2)["all"]
    for pair in combinations(NAMES, 2):
        a, b = simulated[pair], reported[pair]
        assert (np.abs(a.value - b.value) <= 5 * np.hypot(a.stderr, b.stderr)).all()


def test_the_plan_has_the_standard_error_of_a_cell():
    """Fair answers: 93.3 / n for 20 questions at epsilon 1. The largest one, for some share of a cell, is a little larger."""
    names = [f"q{i}" for i in range(20)]
    survey = survey_of(dict.fromkeys(names, YesNo()), 1.0)
    plan = survey.plan(10_000, shares={"all": 0.25})
    fair = math.sqrt(93.3 / 10_000)
    assert plan.expected[0] == pytest.approx(fair, rel=0.01)
    largest = survey.plan(10_000)
    assert fair * 0.999 <= largest.expected[0] < 1.1 * fair
    assert largest.assumed == ("any share of a cell of a table, the others equal",)
    one_pair = Survey(
        {**dict.fromkeys(names[:2], YesNo()), "q": Cross("q0", "q1")}, 1.0, weights=dict.fromkeys(names[:2], 0)
    )
    assert one_pair.plan(10_000).expected[0] * math.sqrt(190) > 1.9 * largest.expected[0]
    rng = np.random.default_rng(1)
    answer = survey.run({name: rng.random(10_000) < 0.5 for name in names}, rng=1)["all"]
    assert answer.stderr.max() < 1.15 * largest.expected[0]
    assert "20" in repr(Pairs(*names)) or len(Pairs(*names).parts) == 20


def test_other_answers_stay_beside_pairs():
    """Answers to single questions are not changed, pooled or not; weighted results leave pairs out with a warning."""
    survey = Survey({"a": YesNo(), "b": YesNo(), "ab": Cross("a", "b"), "all": Pairs("a", "b")}, 4.0)
    frame = {name: column for name, column in people(20_000).items() if name in "ab"}
    counted = survey.collect(frame, rng=1)
    assert counted.estimate(pooled=True)["all"] == counted.estimate()["all"]
    assert counted.estimate(pooled=True)["a"].n > counted.estimate()["a"].n
    assert set(counted.estimate().anytime_interval()) == {"a", "b", "ab"}
    by = survey.run({**frame, "region": np.arange(20_000) % 2}, by="region", rng=1)
    with pytest.warns(UserWarning, match="have no weighted estimates, so that questions are left out: 'all'"):
        weighted = poststratify(by, {0: 0.7, 1: 0.3})
    assert "all" not in weighted


@each(
    "make, error, message",
    [
        (lambda: Pairs("a"), ValueError, "names must be those of 2 to 64 questions, got 1"),
        (lambda: Pairs("a", "a"), ValueError, "names must be different questions, got 'a', 'a'"),
        (lambda: Pairs("a", 3), TypeError, "names must be names of questions, got 3"),
        (
            lambda: Survey({"a": YesNo(), "q": Pairs("a", "b")}, 1.0),
            ValueError,
            "question 'q' must combine questions out of 'a', got 'b'",
        ),
        (
            lambda: Survey({"a": YesNo(), "b": Mean(0, 1), "q": Pairs("a", "b")}, 1.0),
            ValueError,
            "a Pairs must combine questions with a list of answers, such as YesNo, Choice and Histogram; 'b' has none",
        ),
        (
            lambda: Survey({"a": YesNo(), "b": Text(3), "q": Pairs("a", "b")}, 1.0),
            ValueError,
            "question 'q' must combine questions with declared answers, got the Text 'b'",
        ),
    ],
)
def test_bad_pairs_are_refused(make, error, message):
    with raises(error, message):
        make()


def test_tables_have_two_different_questions():
    answer = bits().run(people(5000), rng=1)["all"]
    for wrong in ("a", ("a", "a"), ("a", "x"), ("a", "b", "c"), 0):
        with pytest.raises(KeyError, match="names must be two different ones of 'a', 'b', 'c', 'd'"):
            answer[wrong]
