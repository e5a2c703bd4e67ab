"""Answers of surveys where some of the people send forged reports."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from ldpfast.survey import (
    Choice,
    Cross,
    Histogram,
    Mean,
    Number,
    Pairs,
    Several,
    Survey,
    Text,
    Together,
    YesNo,
    poststratify,
)

from ..support.cases import each
from ..support.statistics import assert_coverage

GENERATOR = np.random.default_rng(0)
WAY = GENERATOR.choice(["foot", "car", "train"], 600, p=[0.5, 0.3, 0.2]).tolist()
SMOKES = (GENERATOR.random(600) < 0.4).tolist()
NUMBERS = (10 * GENERATOR.random(600) ** 2).tolist()
LACKS = GENERATOR.random(600) < 0.2
TICKS = [[label for label in ("tea", "milk") if GENERATOR.random() < 0.5] for _ in range(600)]
WAYS = ["foot", "car", "train"]
MANY = [*WAYS, "tram", "bus", "bike"]


def lacking(values: list) -> list:
    return [None if lacks else value for value, lacks in zip(values, LACKS, strict=True)]


# A question with some of its answers, and records. The largest shifts of sums are exact.
SUMS = {
    "yes": (YesNo(), SMOKES, lambda answer: answer),
    "mean": (Mean(0, 10), NUMBERS, lambda answer: answer),
    "choice": (Choice(WAYS), WAY, lambda answer: answer),
    "choice by sets": (Choice(MANY), WAY, lambda answer: answer),
    "bins": (Histogram([0, 2, 5, 10]), NUMBERS, lambda answer: answer),
    "function": (Histogram([0, 2, 5, 10]), NUMBERS, lambda answer: answer.cdf()),
    "options": (Several(["tea", "milk"]), TICKS, lambda answer: answer),
    "no answer": (Choice(WAYS, optional=True), lacking(WAY), lambda answer: answer.missing),
}
RATIOS = {
    "yes, optional": (YesNo(optional=True), lacking(SMOKES), lambda answer: answer),
    "mean, optional": (Mean(0, 10, optional=True), lacking(NUMBERS), lambda answer: answer),
    "choice, optional": (Choice(WAYS, optional=True), lacking(WAY), lambda answer: answer),
    "choice by sets, optional": (Choice(MANY, optional=True), lacking(WAY), lambda answer: answer),
    "bins, optional": (Histogram([0, 2, 5, 10], optional=True), lacking(NUMBERS), lambda answer: answer),
    "function, optional": (Histogram([0, 2, 5, 10], optional=True), lacking(NUMBERS), lambda answer: answer.cdf()),
}
QUESTIONS = {**SUMS, **RATIOS}
CROSS = Survey({"way": Choice(WAYS), "smokes": YesNo(), "both": Cross("way", "smokes")}, 6.0)
TABLES = {
    "table": lambda table: table,
    "margin": lambda table: table.margin("way"),
    "shares of yes": lambda table: table.given("way"),
    "shares of ways": lambda table: table.given("smokes"),
}


def answer_of(survey: Survey, reports: pa.Table, name: str):
    aggregator = survey.aggregator()
    aggregator.update(reports)
    return aggregator.estimate()[name]


def kinds(reports: pa.Table, name: str) -> dict[bytes, list[int]]:
    """Return the rows of the different reports to a question."""
    found: dict[bytes, list[int]] = {}
    for row, report in enumerate(reports[name].to_pylist()):
        if report is not None:
            found.setdefault(report, []).append(row)
    return found


def with_lies(reports: pa.Table, rows: list[int], lie: pa.Table) -> pa.Table:
    """Return the reports, where those in some rows are replaced by a report in a table of one row."""
    place = np.arange(reports.num_rows)
    place[rows] = reports.num_rows
    return pa.concat_tables([reports, lie]).take(pa.array(place))


def one_lie_each(reports: pa.Table, name: str, count: int) -> Iterator[pa.Table]:
    """Yield the reports where so many of one kind are replaced by another kind, for all two kinds."""
    for old, new in itertools.permutations(kinds(reports, name).values(), 2):
        yield with_lies(reports, old[:count], reports.slice(new[0], 1))


def question_of(name: str):
    question, records, part = QUESTIONS[name]
    return Survey({"asked": question}, 3.0), {"asked": records}, part


@each("name", QUESTIONS)
def test_the_largest_shift_of_an_answer_is_that_of_all_replacements(name):
    """Three of 600 reports: all of one kind, replaced by all of another kind. Both kinds are sent, so the shift is reached."""
    survey, records, part = question_of(name)
    reports = survey.privatize(records, rng=1)
    assert min(map(len, kinds(reports, "asked").values())) >= 3
    answer = part(answer_of(survey, reports, "asked"))
    moved = [
        np.abs(part(answer_of(survey, other, "asked")).value - answer.value)
        for other in one_lie_each(reports, "asked", 3)
    ]
    np.testing.assert_allclose(np.max(moved, axis=0), answer.largest_shift(0.005), rtol=1e-9)


@each("name", TABLES)
def test_the_largest_shift_of_a_table_is_that_of_all_replacements(name):
    reports = CROSS.privatize({"way": WAY, "smokes": SMOKES}, rng=1)
    table = answer_of(CROSS, reports, "both")
    part = TABLES[name]
    moved = [
        np.abs(part(answer_of(CROSS, other, "both")).value - part(table).value)
        for other in one_lie_each(reports, "both", 3)
    ]
    np.testing.assert_allclose(np.max(moved, axis=0), part(table).largest_shift(0.005), rtol=1e-9)


SETS = {
    "several": Survey({"asked": Several(["tea", "milk"], optional=True, column="ticks")}, 4.0),
    "together": Survey({"ticks": Several(["tea", "milk", "soda"], most=2), "asked": Together("ticks")}, 4.0),
    "sets in a table": Survey(
        {"ticks": Several(["tea", "milk"]), "smokes": YesNo(), "asked": Cross("ticks", "smokes")},
        4.0,
    ),
}


@each("name", SETS)
def test_no_replacement_moves_answers_about_sets_farther(name):
    """The bound of ratios is not always reached, as no report supports every set of options."""
    survey = SETS[name]
    reports = survey.privatize({"ticks": lacking(TICKS) if name == "several" else TICKS, "smokes": SMOKES}, rng=1)
    answer = answer_of(survey, reports, "asked")
    moved = [
        np.abs(answer_of(survey, other, "asked").value - answer.value) for other in one_lie_each(reports, "asked", 3)
    ]
    shift, farthest = answer.largest_shift(0.005), np.max(moved, axis=0)
    known = np.isfinite(answer.value)
    assert (farthest[known] <= shift[known] * (1 + 1e-9)).all()
    assert (shift[known] <= 3 * farthest[known]).all()


@pytest.mark.claim("Answers with liars cover where a share of the people knows everything and lies.", "Estimates")
@pytest.mark.long
@each("name", QUESTIONS)
def test_answers_hold_for_people_who_know_everything(name):
    """200 surveys of 600 people, 60 of whom replace their reports so that the first number becomes as large as possible."""
    survey, records, part = question_of(name)
    exact = Survey({"asked": survey.questions["asked"]}, 30.0)
    truth = first(part(answer_of(exact, exact.privatize(records, rng=1), "asked")).value)
    if isinstance(survey.questions["asked"], Mean):  # the ends to which numbers are rounded are random
        truth = float(np.mean([number for number in records["asked"] if number is not None]))
    reports = survey.privatize(records, rng=2)
    rows = kinds(reports, "asked")
    lied = [first(part(answer_of(survey, other, "asked")).value) for other in one_lie_each(reports, "asked", 1)]
    old, new = list(itertools.permutations(rows, 2))[int(np.argmax(lied))]
    lie = reports.slice(rows[new][0], 1)
    held, runs = {0.0: 0, 0.1: 0}, 200
    for seed in range(runs):
        reports = survey.privatize(records, rng=seed + 3)
        rows = kinds(reports, "asked")
        others = [row for kind, own in rows.items() if kind not in (old, new) for row in own]
        answer = part(answer_of(survey, with_lies(reports, [*rows.get(old, []), *others][:60], lie), "asked"))
        for liars in held:
            low, high = map(first, answer.interval(liars=liars))
            held[liars] += bool(low <= truth <= high)
    assert_coverage(held[0.1], runs, 0.95, detects=0.8)
    assert held[0.0] < 0.5 * runs


WORDS = Survey({"asked": Text(max_bytes=1, alphabet="ab", buckets=4, functions=2, n=600)}, 2.0)


def test_the_largest_shift_of_a_named_text_is_that_of_all_replacements():
    """Reports about prefixes are not among those of a share: some replacements change how many are."""
    reports = WORDS.privatize({"asked": ["a", "b", "a"] * 200}, rng=1)
    assert min(map(len, kinds(reports, "asked").values())) >= 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of so few buckets
        found = answer_of(WORDS, reports, "asked").shares(["a", "b"])
        others = [answer_of(WORDS, other, "asked").shares(["a", "b"]) for other in one_lie_each(reports, "asked", 3)]
    moved = np.max([np.abs(other.value - found.value) for other in others], axis=0)
    np.testing.assert_allclose(moved, found.largest_shift(0.005), rtol=1e-9)


@pytest.mark.claim("Shares of texts with liars cover where all lies are about the same text.", "Estimates")
@pytest.mark.long
def test_shares_of_texts_hold_for_people_who_know_everything():
    """60 of 600 people send the report that raises the share of "a" most, in 200 surveys; "c" is named, and not found."""
    survey = Survey({"asked": Text(max_bytes=1, alphabet="abc", optional=True, n=600, buckets=1024, functions=4)}, 6.0)
    records = {"asked": ["a", "a", "b", None, "a", "b"] * 100}
    reports = survey.privatize({"asked": ["a"] * 600}, rng=1)
    codes = sorted(kinds(reports, "asked").values(), key=len)[-10:]  # those of the true buckets
    held = {(name, liars): 0 for name in ("found", "named", "missing") for liars in (0.0, 0.1)}
    runs, shares = 200, []
    asked = survey.privatize(records, rng=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        raised = answer_of(survey, asked, "asked").shares(["a"]).value[0]
        for rows in codes:
            lied = with_lies(asked, list(range(60)), reports.slice(rows[0], 1))
            shares.append(answer_of(survey, lied, "asked").shares(["a"]).value[0])
        assert max(shares) > raised + 0.05
        lie = reports.slice(codes[int(np.argmax(shares))][0], 1)
        for seed in range(runs):
            asked = survey.privatize(records, rng=seed + 2)
            answer = answer_of(survey, with_lies(asked, list(range(60)), lie), "asked")
            assert "a" in answer.labels
            place = answer.labels.index("a")
            for liars in (0.0, 0.1):
                low, high = answer.interval(liars=liars)
                held["found", liars] += bool(low[place] <= 0.5 <= high[place])
                low, high = answer.shares(["c"]).interval(liars=liars)
                held["named", liars] += bool(low[0] <= 0.0 <= high[0])
                low, high = answer.missing.interval(liars=liars)
                held["missing", liars] += bool(low <= 1 / 6 <= high)
    for name in ("found", "named", "missing"):
        assert_coverage(held[name, 0.1], runs, 0.95, detects=0.75)
    assert held["found", 0.0] < 0.9 * runs


PAIRS = {
    "flags": ({"a": YesNo(), "b": YesNo(), "c": YesNo()}, 1.0),
    "flags and choices": ({"a": YesNo(), "b": Choice(WAYS), "c": YesNo(optional=True)}, 3.0),
    "two questions": ({"a": YesNo(), "b": YesNo()}, 4.0),
    "flips": (dict.fromkeys("abcd", YesNo()), 2.0),
}
ANSWERS = {
    "a": SMOKES,
    "b": WAY,
    "c": SMOKES[::-1],
    "d": [True, False] * 300,
}


def pairs_of(name: str) -> tuple[Survey, dict]:
    questions, epsilon = PAIRS[name]
    records = {part: ANSWERS[part] for part in questions}
    if not isinstance(questions["b"], Choice):
        records["b"] = [way == "foot" for way in WAY]
    return Survey({**questions, "asked": Pairs(*questions)}, epsilon, weights=dict.fromkeys(questions, 0)), records


@pytest.mark.parametrize(
    "name",
    ["two questions", *(pytest.param(name, marks=pytest.mark.long) for name in PAIRS if name != "two questions")],
)
def test_no_replacement_moves_tables_of_pairs_farther(name):
    """Three of 600 reports. The bound allows for the fewest possible reports about a pair, which is seldom reached."""
    survey, records = pairs_of(name)
    reports = survey.privatize(records, rng=1)
    rows = {kind: own for kind, own in kinds(reports, "asked").items() if len(own) >= 3}
    answer = answer_of(survey, reports, "asked")
    moved = np.zeros(answer.value.shape)
    pairs = list(itertools.permutations(rows.values(), 2))
    for old, new in pairs[:: max(1, len(pairs) // 200)]:
        other = answer_of(survey, with_lies(reports, old[:3], reports.slice(new[0], 1)), "asked")
        moved = np.maximum(moved, np.abs(other.value - answer.value))
    shift = answer.largest_shift(0.005)
    assert (moved <= shift * (1 + 1e-9)).all()
    assert (shift <= 1.5 * moved).all()


@pytest.mark.claim("Tables of pairs with liars cover where a share of the people lies in the worst way.", "Estimates")
@pytest.mark.long
@each("name", ["flags", "flips"])
def test_tables_of_pairs_hold_for_people_who_know_everything(name):
    """30 of 600 people replace the reports that lower the first cell most by the one that raises it most, in 200 surveys."""
    survey, records = pairs_of(name)
    first_answers, second_answers = (np.array(records[part]) for part in "ab")
    truth = float(np.mean(~first_answers & ~second_answers))
    reports = survey.privatize(records, rng=2)
    rows = kinds(reports, "asked")
    changed = []
    for own in rows.values():
        twice = with_lies(reports, [0], reports.slice(own[0], 1))
        changed.append(first(answer_of(survey, twice, "asked").value))
    order = [list(rows)[place] for place in np.argsort(changed)]
    lie = reports.slice(rows[order[-1]][0], 1)
    held, runs = {0.0: 0, 0.05: 0}, 200
    for seed in range(runs):
        reports = survey.privatize(records, rng=seed + 3)
        rows = kinds(reports, "asked")
        replaced = [row for kind in order for row in rows.get(kind, [])][:30]
        answer = answer_of(survey, with_lies(reports, replaced, lie), "asked")
        for liars in held:
            low, high = map(first, answer.interval(liars=liars))
            held[liars] += bool(low <= truth <= high)
    assert_coverage(held[0.05], runs, 0.95, detects=0.75)
    assert held[0.0] < 0.5 * runs


def test_tables_of_groups_have_the_limits_of_each_group():
    survey, records = pairs_of("flags")
    grouped = survey.run({**records, "group": ["x", "y", "y"] * 200}, by="group", rng=1)
    alone = grouped["y"]["asked"]
    assert (alone.largest_shift(0.01) > 0).all()
    assert alone.largest_shift(0).max() == 0
    assert (alone.largest_shift(0.99) == math.inf).all()
    low, high = alone.interval(liars=0.99)
    np.testing.assert_array_equal((low, high), (np.zeros(12), np.ones(12)))


def first(numbers) -> float:
    return float(np.ravel(numbers)[0])


def test_all_lies_can_be_about_one_of_several_questions():
    """Half of the people are asked each question, so 1 % of all reports are up to 2 % of those to one question."""
    survey = Survey({"asked": YesNo(), "other": YesNo()}, 2.0)
    reports = survey.privatize({"asked": SMOKES, "other": SMOKES}, rng=1)
    answer = answer_of(survey, reports, "asked")
    alone = Survey({"asked": YesNo()}, 2.0)
    whole = answer_of(alone, alone.privatize({"asked": SMOKES}, rng=1), "asked")
    assert answer.n < 400
    assert answer.largest_shift(0.01) == pytest.approx(whole.largest_shift(0.01) * 600 / answer.n)


@each("level", [0.25, 0.5])
def test_quantiles_allow_for_liars(level):
    survey, records, _ = question_of("bins")
    answer = answer_of(survey, survey.privatize(records, rng=1), "asked")
    for within in ("any", "uniform"):
        quantile = answer.quantile(level, within_bins=within)
        low, high = quantile.interval()
        lower, higher = quantile.interval(liars=0.1)
        assert within == "any" or (lower < low and high < higher)
        assert lower <= low
        assert higher >= high
        with pytest.raises(ValueError, match="limits with liars exist"):
            quantile.largest_shift(0.1)


def test_ratios_have_no_limits_where_liars_decide_who_answered():
    survey, records, _ = question_of("yes, optional")
    answer = answer_of(survey, survey.privatize(records, rng=1), "asked")
    assert answer.largest_shift(0.7) == math.inf
    assert answer.interval(liars=0.7) == (0.0, 1.0)
    np.testing.assert_array_equal(answer.interval(liars=0), answer.interval())


@each(
    "part", [lambda pairs: pairs["a", "b"], lambda pairs: pairs["a", "b"].margin("a"), lambda pairs: pairs.shares["a"]]
)
def test_parts_of_tables_of_pairs_say_that_all_tables_have_limits_with_liars(part):
    survey, records = pairs_of("flags")
    pairs = survey.run(records, rng=1)["asked"]
    assert np.isfinite(pairs.largest_shift(0.01)).all()
    for call in (part(pairs).largest_shift, lambda share: part(pairs).interval(liars=share)):
        with pytest.raises(ValueError, match="for all tables of a Pairs together, not for a part of them"):
            call(0.01)


NUMBER_PARTS = {
    "listed": lambda answer: answer,
    "function": lambda answer: answer.cdf([2.5, 5.0]),
    "share": lambda answer: answer.probability(2.5, 5.0),
    "mean": lambda answer: answer.mean,
    "median": lambda answer: answer.quantile(),
}


@each("optional", [False, True])
def test_numbers_have_limits_with_liars(optional):
    survey = Survey({"asked": Number(0, 10, cells=16, optional=optional)}, 4.0)
    records = (lacking(NUMBERS) if optional else NUMBERS) * 20
    answer = survey.run({"asked": records}, rng=1)["asked"]
    parts = {name: part(answer) for name, part in NUMBER_PARTS.items()}
    if optional:
        parts["no answer"] = answer.missing
    for part in parts.values():
        (low, high), (lower, higher) = part.interval(), part.interval(liars=0.05)
        assert np.all(lower <= low)
        assert np.all(high <= higher)
        assert np.any(lower < low)
        assert np.all(part.largest_shift(0.05) > 0)
        assert np.all(part.largest_shift(0) == 0)
    assert answer.largest_shift(0.01)[0] == pytest.approx(answer.mean.largest_shift(0.01))
    if optional:  # the forged reports decide who answered
        assert answer.mean.largest_shift(0.9) == math.inf
        np.testing.assert_array_equal(answer.interval(liars=0.9), ([0.0] * 6, [10.0] * 6))


@pytest.mark.long
@each("optional", [False, True])
def test_no_replacement_moves_numbers_farther(optional):
    """30 of 12,000 reports; the weights of the linear estimate are those of each data set, which adds a little."""
    survey = Survey({"asked": Number(0, 10, cells=8, optional=optional)}, 4.0)
    records = (lacking(NUMBERS) if optional else NUMBERS) * 20
    reports = survey.privatize({"asked": records}, rng=1)
    rows = [own for own in kinds(reports, "asked").values() if len(own) >= 30]
    answer = answer_of(survey, reports, "asked")
    moved = dict.fromkeys(("function", "mean"), 0.0)
    for old, new in list(itertools.permutations(rows, 2))[::3]:
        other = answer_of(survey, with_lies(reports, old[:30], reports.slice(new[0], 1)), "asked")
        for name in moved:
            own, lied = (NUMBER_PARTS[name](found) for found in (answer, other))
            moved[name] = np.maximum(moved[name], np.abs(np.subtract(lied.raw, own.raw)))
    for name, largest in moved.items():
        shift = NUMBER_PARTS[name](answer).largest_shift(0.0025)
        assert np.all(largest <= 1.03 * shift)
        assert np.all(shift <= 1.5 * largest)


def test_all_lies_can_be_about_a_number_among_other_questions():
    """Half of the people are asked for the number."""
    survey = Survey({"asked": Number(0, 10, cells=16), "other": YesNo()}, 4.0, weights={"asked": 1, "other": 1})
    answer = survey.run({"asked": NUMBERS * 20, "other": SMOKES * 20}, rng=1)["asked"]
    for part in (answer, answer.mean):
        share = np.ravel(part.largest_shift(0.001))[0]
        assert share == pytest.approx(np.ravel(answer._found.mean.largest_shift(0.001 * 12_000 / answer.n))[0])
    (_, low, high), (_, lower, higher) = answer.band(), answer.band(liars=0.001)
    assert np.all(lower <= low)
    assert np.all(high <= higher)
    assert np.any(lower < low)


def test_differences_of_numbers_allow_for_liars_in_both():
    survey = Survey({"asked": Number(0, 10, cells=16)}, 4.0)
    results = survey.run({"asked": NUMBERS * 20, "group": ["a", "b"] * 6000}, by="group", rng=1)
    a, b = results["a"]["asked"], results["b"]["asked"]
    for part in NUMBER_PARTS.values():
        difference = part(a) - part(b)
        shifts = part(a).largest_shift(0.002) + part(b).largest_shift(0.002)
        np.testing.assert_allclose(difference.largest_shift(0.002), shifts)
        (low, high), (lower, higher) = difference.interval(), difference.interval(liars=0.002)
        assert np.all(lower <= low)
        assert np.all(high <= higher)
    (_, low, high), (_, lower, higher) = a.difference_band(b), a.difference_band(b, liars=0.002)
    shift = a.cdf(5.0).largest_shift(0.002) + b.cdf(5.0).largest_shift(0.002)
    assert low[8] - shift - lower[8] == pytest.approx(0, abs=0.1 * shift)
    assert higher[8] - shift - high[8] == pytest.approx(0, abs=0.1 * shift)


def test_ratios_and_differences_of_answers_count_the_lies_about_one_question():
    """Each group has a survey of two questions; in each, all lies can be about the compared one."""
    survey = Survey({"asked": YesNo(), "other": YesNo()}, 4.0)
    records = {"asked": SMOKES * 10, "other": SMOKES * 10, "group": ["a", "b"] * 3000}
    results = survey.run(records, by="group", rng=1)
    a, b = results["a"]["asked"], results["b"]["asked"]
    top, bottom = a.largest_shift(0.01), b.largest_shift(0.01)
    assert (a - b).largest_shift(0.01) == pytest.approx(top + bottom)
    farthest = (a.value + top) / (b.value - bottom) - a.value / b.value
    assert farthest <= (a / b).largest_shift(0.01) <= 1.05 * farthest  # 30.2 lies about the question are rounded up


def test_questions_that_nobody_was_asked_exclude_nothing():
    result = Survey({"a": YesNo(), "b": YesNo()}, 4.0).run({"a": [True], "b": [True]}, rng=1)
    (answer,) = (answer for answer in result.values() if not answer.n)
    assert answer.interval(liars=0.01) == (0.0, 1.0)
    assert answer.largest_shift(0.01) == math.inf


def test_numbers_that_nobody_was_asked_exclude_nothing():
    survey = Survey({"a": Number(0, 1, cells=4, optional=True), "b": Number(0, 1, cells=4, optional=True)}, 4.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a single report
        result = survey.run({"a": [0.5], "b": [0.5]}, rng=1)
    (answer,) = (answer for answer in result.values() if not answer.n)
    np.testing.assert_array_equal(answer.interval(liars=0.01), ([0.0] * 6, [1.0] * 6))
    assert np.all(answer.largest_shift(0.01) == math.inf)
    assert answer.missing.interval(liars=0.01) == (0.0, 1.0)


def test_weighted_answers_have_no_limits_with_liars():
    """Liars would choose the group in which a report counts most."""
    survey = Survey({"asked": YesNo(), "way": Choice(WAYS, optional=True)}, 4.0)
    results = survey.run({"asked": SMOKES, "way": WAY, "group": ["a", "b"] * 300}, by="group", rng=1)
    weighted = poststratify(results, {"a": 0.3, "b": 0.7})
    for name in ("asked", "way"):
        with pytest.raises(ValueError, match="without weights"):
            weighted[name].interval(liars=0.01)
        for group in "ab":
            assert np.min(results[group][name].largest_shift(0.01)) > 0
