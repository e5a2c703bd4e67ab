"""Numbers in surveys: their cells, their distributions with limits, comparisons and plans."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.cli import main
from ldpfast.estimation import Distribution
from ldpfast.mechanisms import DistributionResponse, simulate
from ldpfast.results import SmallSampleWarning
from ldpfast.survey import (
    Choice,
    Cross,
    Histogram,
    Mean,
    Number,
    NumberAnswer,
    Pairs,
    Repeated,
    Survey,
    YesNo,
    compare,
    k_sample,
    pool,
    poststratify,
    two_sample,
)

from ..support.cases import each
from ..support.examples import assert_same_estimate
from ..support.internals.survey import column_of
from ..support.statistics import assert_coverage

ROOT = Path(__file__).parents[2]
LISTED = (0.05, 0.25, 0.5, 0.75, 0.95)
PLACES = (np.arange(2000) + 0.5) / 2000
GAMMA = stats.gamma(2, scale=0.1).ppf(PLACES).clip(0, 1)
ZEROS = np.where(PLACES < 0.3, 0.0, stats.beta(2, 4).ppf(((PLACES - 0.3) / 0.7).clip(0, 1)))
FIVE = np.repeat([0.1, 0.25, 0.33, 0.5, 0.77], [200, 600, 400, 500, 300])
POPULATIONS = {"gamma": GAMMA, "zeros": ZEROS, "five values": FIVE}


def answer_of(x, n=20_000, epsilon=2.0, seed=1, **options) -> NumberAnswer:
    """Return the answer of n people who are drawn from some numbers in [0, 1]."""
    survey = Survey({"x": Number(0, 1, **options)}, epsilon)
    found = simulate(survey, {"x": x}, n, rng=seed).estimate()["x"]
    assert isinstance(found, NumberAnswer)
    return found


def truth_of(x):
    return np.append(x.mean(), np.quantile(x, LISTED, method="inverted_cdf"))


def function_of(x, ends):
    return np.searchsorted(np.sort(x), ends + 1e-9, side="right") / len(x)


def covers(interval, truth):
    low, high = interval
    return (low <= truth + 1e-9) & (truth <= high + 1e-9)


# Cells ----------------------------------------------------------------------------------------------------------------


def cells_of(question, values, dtype=np.float64):
    column = column_of(question)
    return column.canonical(column.read("x", np.asarray(values, dtype)), np.arange(len(values)))


@each("ends", [(0, 1), (-3, 161), (0.1, 0.3), (-1e99, 1e99), (1e6, 1e6 + 1)])
@each("cells", [2, 7, 256, 4096])
def test_a_cell_is_that_of_the_distribution(ends, cells):
    question, rng = Number(*ends, cells=cells), np.random.default_rng(1)
    lower, upper = map(float, ends)
    inner = np.linspace(lower, upper, cells + 1)
    x = np.concatenate([inner, rng.uniform(lower, upper, 3000)]).clip(lower, upper)
    assert (cells_of(question, x) == Distribution(*ends, epsilon=1.0, cells=cells)._encode(x)).all()
    assert cells_of(question, inner).tolist() == [0, *range(cells)]  # a cell contains its upper end


def test_a_cell_of_whole_numbers_is_a_whole_number():
    question = Number(-5, 94, integers=True)
    assert question.cells == question.k == 100
    x = np.arange(-5, 95)
    for dtype in (np.int8, np.int64, np.float32, np.float64):
        assert cells_of(question, x, dtype).tolist() == list(range(100))
    assert cells_of(question, [-5.0, -4.001, 3.99, 94.0]).tolist() == [0, 0, 8, 99]  # rounded down
    assert Number(-5, 94, integers=True, cells=7) == question


@each("dtype", [np.float32, np.float64, np.int16])
def test_the_cell_alone_decides_a_personal_report(dtype):
    survey, n = Survey({"x": Number(0, 64, cells=16)}, 1.0), 300
    keys = ldp.PersonKeys(bytes(32), np.arange(n))
    x = np.random.default_rng(1).integers(1, 65, n)
    expected = survey.privatize({"x": x.astype(np.float64)}, rng=keys)
    assert survey.privatize({"x": x.astype(dtype)}, rng=keys).equals(expected)
    assert survey.privatize({"x": np.ceil(x / 4) * 4 - 1.5}, rng=keys).equals(expected)  # in (4 i, 4 i + 4]
    other = survey.privatize({"x": np.where(x > 4, x - 4, x + 4)}, rng=keys)
    assert np.mean(np.array(other.column("x").to_pylist()) == expected.column("x").to_pylist()) < 0.1


def test_dates_are_days():
    first = date(2025, 1, 1)
    survey = Survey({"day": Number(first, first + timedelta(days=364), integers=True)}, 9.0)
    days = [first + timedelta(days=i % 365) for i in range(4000)]
    found = survey.run({"day": np.array(days, "M8[D]")}, rng=1)["day"]
    assert abs(found.quantile(0.5).value - (first - date(1970, 1, 1)).days - 182) < 15


@each(
    "arguments, options, message",
    [
        ((1, 1), {}, "lower < upper|lower must be below upper"),
        ((0, 1), {"cells": 1}, "cells"),
        ((0, 1), {"cells": 4097}, "cells"),
        ((0, 1), {"cells": 4096, "optional": True}, "cells"),
        ((0, 4096), {"integers": True}, "upper - lower must be below 4096 with integers=True, got 4096"),
        ((0, 4095), {"integers": True, "optional": True}, "upper - lower must be below 4095"),
        ((0.5, 9), {"integers": True}, "lower and upper must be whole numbers"),
        ((2.0**53, 2.0**53 + 2), {"integers": True}, "whole numbers within 2.53 of zero"),
        ((1e15, 1e15 + 1), {}, "cells must be fewer for so short an interval, got 256"),
    ],
)
def test_arguments_are_checked(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        Number(*arguments, **options)


def test_it_is_asked_alone():
    """Questions that combine others refuse it by name."""
    number = Number(0, 9, optional=True)
    for other in (Cross("x", "y"), Pairs("x", "y")):
        with pytest.raises(ValueError, match="'x'"):
            Survey({"x": number, "y": YesNo(optional=True), "both": other}, 1.0)
    with pytest.raises(TypeError, match="got Number"):
        Repeated(number, permanent=1.0, round=0.5, rounds=3)


# The answer -----------------------------------------------------------------------------------------------------------


@each("options", [{}, {"integers": True}, {"cells": 30}], ids=str)
def test_it_is_the_distribution_from_the_same_reports(options):
    question = Number(0, 40, **options)
    survey, problem = Survey({"x": question}, 1.0), Distribution(0, 40, epsilon=1.0, **options)
    assert survey.mechanisms["x"] == problem.mechanism == DistributionResponse(question.cells, 1.0)
    x = np.random.default_rng(1).binomial(40, 0.3, 5000)
    table = survey.privatize({"x": x}, rng=2)
    reports = np.frombuffer(b"".join(table.column("x").to_pylist()), problem.mechanism.report.dtype(np.dtype("f8")))
    found, expected = survey.estimate(table)["x"], problem.estimate(reports)
    np.testing.assert_array_equal(found.ends, expected.ends)
    for own, other in (
        (found.cdf([3, 12.5]), expected.cdf([3, 12.5])),
        (found.quantile(LISTED), expected.quantile(LISTED)),
        (found.probability(3, [9, 10]), expected.probability(3, [9, 10])),
        (found.mean, expected.mean),
    ):
        assert_same_estimate(own, other)
        np.testing.assert_array_equal(own.interval(0.9), other.interval(0.9))
    np.testing.assert_array_equal(found.band(0.9), expected.band(0.9))
    np.testing.assert_array_equal(found.density(), expected.density())
    assert found.value.tolist() == [expected.mean.value, *expected.quantile(LISTED).value]
    low, high = found.interval()
    mean_low, mean_high = expected.mean.interval()
    assert (low[0], high[0]) == (max(mean_low, 0), min(mean_high, 40))
    np.testing.assert_array_equal((low[1:], high[1:]), expected.quantile(LISTED).interval())


def test_all_numbers_are_those_of_one_distribution():
    found = answer_of(np.append(ZEROS, np.full(500, np.nan)), optional=True)
    shares = found.cdf(found.ends).value
    assert (np.diff(shares) >= 0).all()
    assert (shares[0], shares[-1]) == (0, 1)
    assert found.probability(0.2, 0.5).value == pytest.approx(found.cdf(0.5).value - found.cdf(0.2).value)
    assert found.cdf(found.quantile(0.3).value).value == pytest.approx(0.3)
    assert (found.density() * np.diff(found.ends)).sum() == pytest.approx(1)
    ends, low, high = found.band()
    assert (low <= shares).all()
    assert (shares <= high).all()
    assert (np.diff(low) >= 0).all()
    assert (np.diff(high) >= 0).all()
    single = found.cdf(ends[1:-1])._bounds()
    assert np.mean(single[1] - single[0]) < np.mean(high[1:-1] - low[1:-1])


def test_an_answer_that_all_give_is_nearly_that_of_a_compulsory_question():
    x = np.random.default_rng(1).permutation(np.repeat(GAMMA, 20))
    found, other = answer_of(x, 40_000, optional=True), answer_of(x, 40_000)
    assert abs(found.missing.value) < 4 * found.missing.stderr
    assert 1 < found.stderr[0] / other.stderr[0] < 1.6  # that all answer is not known
    np.testing.assert_allclose(found.value, other.value, atol=0.02)
    errors = [np.sqrt(np.mean(np.square(answer.cdf().stderr[:-1]))) for answer in (found, other)]
    np.testing.assert_allclose(*errors, rtol=0.08)  # one more cell costs little


def test_shares_among_answers_are_ratios_of_unbiased_estimates():
    found = answer_of(np.append(GAMMA, np.full(1000, np.nan)), optional=True, cells=20)
    linear = found._found._linear
    whole = linear.whole.raw
    answered = whole[:-1].sum()
    assert found.missing.value == pytest.approx(1 - answered)
    at = found.cdf(0.3)
    assert at.raw == pytest.approx(whole[:6].sum() / answered)
    assert found.mean.value == pytest.approx(whole[:-1] @ (np.arange(20) + 0.5) / 20 / answered)
    # The variance of a ratio by the delta method, from that of N - R D.
    row = np.append(np.append(np.ones(6), np.zeros(14)) - at.raw, 0.0)
    assert at.stderr == pytest.approx(linear.whole.of(row[np.newaxis]).stderr[0] / answered, rel=1e-6)


@pytest.mark.filterwarnings("ignore::ldpfast.results.SmallSampleWarning")
def test_nothing_is_excluded_where_those_who_answer_can_be_noise():
    found = answer_of(np.full(10, np.nan), 2000, epsilon=1.0, optional=True)
    low, high = found.interval()
    assert low.tolist() == [0] * 6
    assert high.tolist() == [1] * 6
    assert found.cdf(0.5)._bounds() == (0, 1)
    low, high = found.missing.interval()
    assert low < 1 == high or high > 0.95


def test_few_reports_warn():
    with pytest.warns(SmallSampleWarning, match="n = 50 is too small"):
        answer_of(GAMMA, 50).interval()


def test_a_question_that_nobody_was_asked_has_no_distribution():
    survey = Survey({"x": Number(0, 1, optional=True), "y": YesNo()}, 1.0, weights={"y": 1000})
    result = survey.run({"x": [0.5], "y": [True]}, rng=1)
    found = result["x"]
    assert found.n == 0
    assert np.isnan(found.value).all()
    assert "no answers" in repr(result)
    for call in (found.cdf, found.quantile, found.band, found.density, lambda: found.mean):
        with pytest.raises(ValueError, match="at least 1 answer, got n = 0"):
            call()


def test_groups_have_the_answers_of_their_people():
    survey, n = Survey({"x": Number(0, 1, cells=40, optional=True), "y": YesNo()}, 3.0), 3000
    x = np.resize(np.append(ZEROS, [np.nan] * 300), n)
    people = {"x": x, "y": np.arange(n) % 2 == 0, "group": np.array(["a", "b", "c"])[np.arange(n) // 1100]}
    results = survey.run(people, by="group", rng=1)
    table = results.to_frame(simultaneous=True)
    expected = pd.concat([results[name].to_frame(simultaneous=True).assign(group=name) for name in "abc"])
    pd.testing.assert_frame_equal(table, expected[table.columns].reset_index(drop=True), rtol=1e-9)
    counted = survey.collect(people, by="group", rng=1)
    assert_same_estimate(counted["b"].estimate()["x"], results["b"]["x"])
    merged = counted["a"].merge(counted["b"])
    assert merged.n == results["a"].n + results["b"].n
    assert ldp.load(merged.to_bytes()).estimate()["x"].n == results["a"]["x"].n + results["b"]["x"].n


def test_waves_are_pooled():
    survey = Survey({"x": Number(0, 1)}, 2.0, series="times", waves=2)
    people, keys = {"x": np.resize(GAMMA, 3000)}, ldp.PersonKeys(bytes(32), np.arange(3000))
    waves = {w: survey.in_wave(w).collect(people, rng=keys) for w in (1, 2)}
    assert pool(list(waves.values()))["x"].n == 3000
    assert compare({w: wave.estimate() for w, wave in waves.items()}).table["question"] == ["x"] * 6


def test_weights_are_refused_by_name():
    survey, n = Survey({"x": Number(0, 1), "y": YesNo()}, 3.0), 3000
    people = {"x": np.resize(GAMMA, n), "y": np.arange(n) % 2 == 0, "group": np.arange(n) % 2}
    results = survey.run(people, by="group", rng=1)
    with pytest.warns(UserWarning, match="distributions of numbers.*left out: 'x'"):
        assert list(poststratify(results, {0: 1, 1: 1})) == ["y"]
    with pytest.raises(ValueError, match="distributions of numbers"):
        poststratify(Survey({"x": Number(0, 1)}, 1.0).run(people, by="group", rng=1), {0: 1, 1: 1})


def test_the_picture_of_a_result_has_the_distribution_function():
    survey = Survey({"x": Number(0, 1), "y": Choice(["a", "b"])}, 2.0)
    result = simulate(survey, {"x": GAMMA, "y": np.resize(["a", "b"], len(GAMMA))}, 20_000, rng=1).estimate()
    page = result.plot()
    curve = next(line for ax in page.axes for line in ax.lines if len(line.get_xdata()) == 257)
    np.testing.assert_allclose(curve.get_ydata(), result["x"].cdf(result["x"].ends).value)
    assert [ax.get_title(loc="left") for ax in page.axes[:2]] == ["x: distribution", "y: share"]


@pytest.mark.long
@pytest.mark.claim("Limits of a `Number` with missing answers cover as often as they say.", "Estimates")
@pytest.mark.parametrize("name, n, epsilon", [("zeros", 3000, 4.0), ("gamma", 30_000, 1.0)])
def test_coverage_among_people_who_answered(name, n, epsilon):
    x, runs = POPULATIONS[name], 60
    frame, truth = np.append(x, np.full(len(x) // 4, np.nan)), truth_of(x)
    points, listed, band, missing = [], [], [], []
    for seed in range(runs):
        found = answer_of(frame, n, epsilon, seed, optional=True)
        ends = found.ends[1:-1:8]
        points.append(covers(found.cdf(ends).interval(), function_of(x, ends)).mean())
        listed.append(covers(found.interval(), truth))
        ends, low, high = found.band()
        band.append(covers((low, high), function_of(x, ends)).all())
        missing.append(covers(found.missing.interval(), 0.2))
    assert np.mean(points) > 0.92
    for column in (*np.transpose(listed), band, missing):
        assert_coverage(np.sum(column), runs, 0.94, detects=0.63)


@pytest.mark.claim(
    "The table of variances of numbers in docs/survey.md has the variances of the estimates.", "Estimates"
)
@each("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_the_table_of_variances_is_that_of_the_estimates(epsilon):
    text = (ROOT / "docs" / "survey.md").read_text().partition("<!-- variances of numbers -->")[2]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.strip().splitlines()[:8]]
    column = rows[0].index(f"epsilon {epsilon:g}")
    written = [float(row[column]) for row in rows[2:]]
    survey = Survey({"x": Number(0, 1), "mean": Mean(0, 1), "bin": Histogram(np.linspace(0, 1, 9))}, epsilon)
    people = dict.fromkeys(("x", "mean", "bin"), (np.arange(256) + 0.5) / 256)
    result = simulate(survey, people, 10**8, rng=1).estimate()
    x, bins, edges = result["x"], result["bin"], np.linspace(0, 1, 9)
    found = [
        result["mean"].stderr ** 2 * result["mean"].n,
        x.mean.stderr**2 * x.n,
        np.mean(bins.stderr**2) * bins.n,
        np.mean(x.probability(edges[:-1], edges[1:]).stderr ** 2) * x.n,
        bins.cdf().stderr[3] ** 2 * bins.n,
        x.cdf(0.5).stderr ** 2 * x.n,
    ]
    np.testing.assert_allclose(found, written, rtol=0.01)


def test_a_file_goes_from_toml_to_estimates_and_plans(tmp_path, capsys):
    toml, table = tmp_path / "survey.toml", tmp_path / "people.csv"
    toml.write_text('epsilon = 4.0\n[questions.wait]\ntype = "Number"\nlower = 0\nupper = 60\noptional = true\n')
    minutes = np.random.default_rng(1).gamma(2, 8, 3000).clip(0, 60).round(1)
    table.write_text("wait\n" + "".join(f"{x}\n" if x > 2 else "NA\n" for x in minutes))
    reports, state = tmp_path / "reports.parquet", tmp_path / "state.ldp"
    assert main(["privatize", str(toml), str(table), "-o", str(reports)]) == 0
    assert main(["aggregate", str(reports), "-o", str(state)]) == 0
    capsys.readouterr()
    assert main(["estimate", str(state)]) == 0
    assert "no answer" in capsys.readouterr().out
    found = ldp.load(state.read_bytes()).estimate()["wait"]
    assert covers(found.quantile(0.5).interval(0.999), np.median(minutes[minutes > 2]))
    page = tmp_path / "plan.html"
    arguments = ["plan", str(toml), "--n", "5000", "--shares", "wait=skewed", "--html", str(page)]
    assert main(arguments) == 0
    assert "skewed" in capsys.readouterr().out
    assert "half of their 95 % intervals" in page.read_text()
    with pytest.raises(SystemExit):
        main(["plan", str(toml), "--n", "5000", "--shares", "wait=bumpy"])
    assert "--shares must be QUESTION=SHARES" in capsys.readouterr().err


# Comparisons ----------------------------------------------------------------------------------------------------------


def test_a_difference_is_that_of_means_and_quantiles():
    a, b = answer_of(GAMMA, seed=1), answer_of(GAMMA / 2, seed=2)
    comparison = compare({"a": a, "b": b}, reference="b", confidence=0.95)
    table = comparison.table
    assert table["answer"] == ["mean", "5 %", "25 %", "median", "75 %", "95 %"]
    np.testing.assert_allclose(table["difference"], a.value - b.value)
    low, high = a._minus(b).interval(1 - 0.05 / 6)
    np.testing.assert_allclose(table["low"], low, atol=1e-9)
    np.testing.assert_allclose(table["high"], high, atol=1e-9)
    assert (np.array(table["low"]) < truth_of(GAMMA) / 2).all()
    assert (truth_of(GAMMA) / 2 < np.array(table["high"])).all()
    assert min(table["adjusted"]) < 0.001
    quantiles = a.quantile([0.5, 0.9])._minus(b.quantile([0.5, 0.9]))
    assert quantiles.labels == ("50 %", "90 %")
    with pytest.raises(ValueError, match="same question"):
        a.quantile(0.5) - b.quantile(0.9)


def test_the_band_of_a_difference_goes_with_the_test():
    a, b = answer_of(GAMMA, 50_000, seed=1), answer_of(GAMMA * 0.7, 50_000, seed=2)
    ends, low, high = a.difference_band(b)
    truth = function_of(GAMMA, ends) - function_of(GAMMA * 0.7, ends)
    assert covers((low, high), truth).all()
    assert high.min() < 0
    assert two_sample(a, b).pvalue < 1e-4
    _, mirrored, other = b.difference_band(a)
    np.testing.assert_allclose((mirrored, other), (-high, -low), atol=0.01)
    wide = a.difference_band(b, 0.99)
    assert (wide[1] <= low).all()
    assert (wide[2] >= high).all()
    alike = two_sample(a, answer_of(GAMMA, 50_000, seed=3))
    assert alike.pvalue > 0.01
    assert alike.method == "largest distance"
    several = k_sample({"a": a, "b": b, "c": answer_of(GAMMA, 50_000, seed=3)})
    assert several.pvalue < 1e-4
    assert several.n == 150_000


def test_errors_within_cells_are_added_in_differences():
    """The margin of a difference is the root of the sum of squares, but for the width of the two cells."""
    a, b = (answer_of(own, 1000, 4.0, seed, cells=64).quantile([0.25, 0.5]) for seed, own in enumerate((ZEROS, FIVE)))
    found, width = a._minus(b), 1 / 64
    (low_a, high_a), (low_b, high_b), (low, high) = (part.interval() for part in (a, b, found))
    for margin, x, y in (
        (found.value - low, a.value - low_a, high_b - b.value),
        (high - found.value, high_a - a.value, b.value - low_b),
    ):
        cell = np.minimum(x, width) + np.minimum(y, width)
        rest = np.hypot(np.maximum(x - width, 0), np.maximum(y - width, 0))
        np.testing.assert_allclose(margin, cell + rest)
    shares = [answer_of(own, 1000, 4.0, seed, cells=64).cdf(0.493) for seed, own in enumerate((ZEROS, FIVE))]
    low, high = shares[0]._minus(shares[1]).interval()
    assert covers((low, high), np.mean(ZEROS <= 0.493) - np.mean(FIVE <= 0.493))


@each("epsilon", [2.0, 6.0])
def test_a_spike_at_the_lower_end_is_within_the_limits_there(epsilon):
    """Reports tell the share of the first cell, of which a third of all records are the lower end itself."""
    a, b = answer_of(ZEROS, 5000, epsilon, 1), answer_of(GAMMA, 5000, epsilon, 2)
    for points in (0.0, 1e-12):
        low, high = a.cdf(points).interval()
        assert (low, high) == (0.0, a.cdf(1 / 256).interval()[1])
    assert a.cdf(-1e-3).interval() == (0.0, 0.0)
    ends, low, high = a.band()
    assert (ends[0], low[0], high[0]) == (0.0, 0.0, high[1])
    assert high[0] > 0.3
    _, low, high = a.difference_band(b)
    assert low[0] <= np.mean(ZEROS <= 0) - np.mean(GAMMA <= 0) <= high[0]
    whole = Survey({"x": Number(0, 9, integers=True)}, 4.0).run({"x": np.repeat([0, 9], 500)}, rng=1)["x"]
    assert whole.band()[2][0] == 0
    assert whole.cdf(0).value > 0.3


def test_what_cannot_be_compared_is_refused():
    a = answer_of(GAMMA)
    with pytest.raises(ValueError, match="same cells"):
        two_sample(a, answer_of(GAMMA, cells=100))
    with pytest.raises(ValueError, match="same cells"):
        a.difference_band(answer_of(GAMMA, cells=100))
    with pytest.raises(ValueError, match="same reports"):
        a.difference_band(a)
    with pytest.raises(TypeError, match="other must be the answer to a Number, got LabeledEstimate"):
        a.difference_band(a._minus(answer_of(GAMMA, seed=3)))
    with pytest.raises(ValueError, match="shares of labels"):
        a.goodness_of_fit([0.5, 0.5])
    histogram = Survey({"x": Histogram([0, 0.5, 1])}, 2.0).run({"x": GAMMA}, rng=1)["x"]
    with pytest.raises(ValueError, match="same question"):
        two_sample(a, histogram)


@pytest.mark.long
@pytest.mark.claim(
    "Differences of means and quantiles of two `Number` answers cover as often as they say.",
    "Estimates",
)
@each("first, second, n, epsilon", [("gamma", "gamma", 1000, 4.0), ("zeros", "five values", 30_000, 1.0)])
def test_coverage_of_comparisons(first, second, n, epsilon):
    x, y, runs = POPULATIONS[first], POPULATIONS[second], 60
    truth, listed, band, rejected = truth_of(x) - truth_of(y), [], [], []
    for seed in range(runs):
        a, b, c = (answer_of(own, n, epsilon, 1000 * i + seed) for i, own in enumerate((x, y, x)))
        listed.append(covers(a._minus(b).interval(), truth))
        ends, low, high = a.difference_band(b)
        band.append(covers((low, high), function_of(x, ends) - function_of(y, ends)).all())
        rejected.append([two_sample(a, c).pvalue <= 0.05, two_sample(a, b).pvalue <= 0.05])
    for column in (*np.transpose(listed), band):
        assert_coverage(np.sum(column), runs, 0.94, detects=0.63)
    same, different = np.mean(rejected, axis=0)
    assert same <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    if first != second:
        assert different > 0.9


# Plans ----------------------------------------------------------------------------------------------------------------


def test_a_plan_has_the_shapes_of_numbers():
    survey = Survey({"x": Number(0, 100), "y": YesNo(), "z": Number(0, 9, integers=True, optional=True)}, 2.0)
    plan = survey.plan(10_000)
    assert plan.quantiles["question"] == ["x"] * 3 + ["z"] * 3
    assert plan.quantiles["distribution"] == ["uniform", "normal", "skewed"] * 2
    assert plan.expected[0] == pytest.approx(plan.quantiles["median"][0])
    assert survey.plan(10_000, shares={"x": "skewed"}).expected[0] == pytest.approx(plan.quantiles["median"][2])
    assert plan.nonprivate[0] == pytest.approx(100 * 0.5 / np.sqrt(10_000))  # of a uniform distribution, all answer
    half = survey.plan(10_000, response={"x": 0.5})
    assert half.expected[0] == pytest.approx(np.sqrt(2) * plan.expected[0])
    assert survey.plan(40_000).quantiles["95 %"] == pytest.approx(np.array(plan.quantiles["95 %"]) / 2)
    assert (np.array(plan.quantiles["median +-"]) > np.array(plan.quantiles["median"])).all()
    assert "standard errors of quantiles" in repr(plan)
    assert "quantiles" in plan.to_dict()
    with pytest.raises(ValueError, match=re.escape("shares['x'] must be one of")):
        survey.plan(10_000, shares={"x": 0.5})
    assert Survey({"y": YesNo()}, 1.0).plan(100).quantiles is None
    assert survey.mechanisms["x"].epsilon == pytest.approx(2.0)
    assert Survey({"x": Number(0, 100), "y": YesNo()}, 8.0, answers="auto").answers in (1, 2)


def test_the_plan_of_a_mean_is_smaller_than_that_of_a_median():
    plan = Survey({"x": Number(0, 1), "y": Mean(0, 1)}, 1.0).plan(10_000)
    assert plan.expected[1] < plan.expected[0]


@pytest.mark.long
@pytest.mark.claim("Planned standard errors of the quantiles of a `Number` are upper bounds.", "Estimates")
@each("shape", ["uniform", "normal", "skewed"])
@each("optional", [False, True])
def test_quantiles_are_as_precise_as_planned(shape, optional):
    """Root mean squared errors are below; standard errors, which are valid for every population, are near the plan."""
    survey, n, runs = Survey({"x": Number(0, 1, optional=optional)}, 2.0), 20_000, 40
    place = {
        "uniform": PLACES,
        "normal": 0.5 + stats.norm.ppf(PLACES) / 6,
        "skewed": -np.log1p(-PLACES * -np.expm1(-6)) / 6,
    }
    x = place[shape][(place[shape] >= 0) & (place[shape] <= 1)]
    frame = np.append(x, np.full(len(x) // 4, np.nan)) if optional else x
    plan = survey.plan(n, response=0.8 if optional else 1.0)
    row = plan.quantiles["distribution"].index(shape)
    planned = np.array([plan.quantiles["median"][row], plan.quantiles["95 %"][row]])
    found = [simulate(survey, {"x": frame}, n, rng=seed).estimate()["x"] for seed in range(runs)]
    errors = np.array([answer.value[[3, 5]] for answer in found]) - np.quantile(x, [0.5, 0.95])
    assert (np.sqrt(np.mean(errors**2, axis=0)) < planned * (1 + 3 / np.sqrt(2 * runs))).all()
    margins = np.array([plan.quantiles["median +-"][row], plan.quantiles["95 % +-"][row]])
    halves = np.mean([np.subtract(*answer.quantile([0.5, 0.95]).interval()[::-1]) / 2 for answer in found], axis=0)
    assert (halves < 1.2 * margins).all()
    assert (halves > 0.6 * margins).all()


@pytest.mark.long
def test_a_difference_of_medians_is_found_with_the_planned_power():
    survey, runs = Survey({"x": Number(0, 1)}, 2.0), 60
    plan = survey.plan(10_000, compare=True, shares={"x": "normal"})
    difference = plan.comparison.smallest[0]
    x = 0.5 + stats.norm.ppf(PLACES[5:-5]) / 6
    assert 0.01 < difference < 0.2
    found = []
    for seed in range(runs):
        a, b = (
            simulate(
                survey, {"x": (x + side * difference / 2).clip(0, 1)}, 5_000, rng=2 * seed + (side > 0)
            ).estimate()["x"]
            for side in (-1, 1)
        )
        found.append(b.quantile(0.5)._minus(a.quantile(0.5)).test().pvalue <= 0.05)
    assert_coverage(np.sum(found), runs, 0.78, detects=0.37)
    needed = survey.plan(compare={"x": difference}, shares={"x": "normal"}).comparison.needed["x"]
    assert abs(needed - 10_000) < 1000
