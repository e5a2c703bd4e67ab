"""Quantiles of a `Histogram`: several at once, limits between the ends of bins and their coverage, and mistakes."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.survey import Histogram, Survey

from ..support.cases import each
from ..support.errors import raises
from ..support.statistics import assert_coverage

EDGES = np.linspace(0, 100, 11)
UNIFORM = "uniform"
PROBABILITIES = np.array([0.1, 0.25, 0.5, 0.9])


def answer_of(shares, n=20_000, epsilon=3.0, seed=1, edges=EDGES, optional=False, **options):
    """Return the answer of n people, all of whom are in the middle of their bin; a fifth has no answer if it is optional."""
    edges = np.asarray(edges, float)
    middles = np.repeat((edges[:-1] + edges[1:]) // 2, np.rint(1000 * np.asarray(shares)).astype(int))
    people = np.append(middles, np.full(len(middles) // 4, np.nan)) if optional else middles
    survey = Survey({"x": Histogram(edges.tolist(), optional=optional, **options)}, epsilon)
    return ldp.simulate(survey, {"x": people}, n, rng=seed).estimate()["x"]


def grouped_quantile(shares, q, edges=EDGES):
    """Return the quantiles of numbers with shares of bins in which they are spread evenly."""
    return np.interp(q, np.append(0.0, np.cumsum(shares)), edges)


FLAT = np.full(10, 0.1)


def test_several_quantiles_are_those_of_each_probability():
    answer = answer_of(FLAT)
    for within_bins in ("any", UNIFORM):
        several = answer.quantile([0.25, 0.5, 0.75], within_bins=within_bins)
        assert several.labels == ("25 %", "50 %", "75 %")
        limits = several.interval()
        for place, q in enumerate((0.25, 0.5, 0.75)):
            one = answer.quantile(q, within_bins=within_bins)
            assert (one.value, one.stderr) == (several.value[place], several.stderr[place])
            assert one.interval() == (limits[0][place], limits[1][place])
            assert isinstance(one.value, float)
        frame = several._entry_table(0.95, False)
        assert list(frame["answer"]) == ["25 %", "50 %", "75 %"]
    assert answer.quantile(np.array([0.5])).value.shape == (1,)
    assert answer.quantile([]).value.shape == (0,)


@each("optional", [False, True])
def test_limits_reach_the_probability_in_the_limits_of_the_distribution_function(optional):
    """At the lower limit the polygon through the upper limits at the edges is q, and the other way round."""
    answer = answer_of(FLAT, optional=optional)
    low, high = answer.cdf().interval()
    below, above = answer.quantile(PROBABILITIES, within_bins=UNIFORM).interval()
    np.testing.assert_allclose(np.interp(below, EDGES, [0.0, *high, 1.0]), PROBABILITIES, rtol=1e-12)
    np.testing.assert_allclose(np.interp(above, EDGES, [0.0, *low, 1.0]), PROBABILITIES, rtol=1e-12)
    first, last = answer.quantile(PROBABILITIES).interval()
    assert set(first) | set(last) <= set(EDGES)
    assert (first < below).all()
    assert (above < last).all()


def test_limits_of_both_kinds_enclose_a_quantile_where_nobody_is():
    """Half of the people are in the first bin and half in the last: every number between them is a median."""
    answer = answer_of([0.5, *[0.0] * 8, 0.5])
    low, high = answer.quantile(0.5, within_bins=UNIFORM).interval()
    assert 8 < low < 10
    assert 90 < high < 92


def test_whole_numbers_have_whole_limits():
    edges = [0, 1, 2, 6, 10, 30]
    answer = answer_of([0.1, 0.2, 0.4, 0.2, 0.1], edges=edges, integers=True)
    found = answer.quantile([0.05, 0.2, 0.45, 0.8, 0.97], within_bins=UNIFORM)
    low, high = found.interval()
    assert (low % 1 == 0).all()
    assert (high % 1 == 0).all()
    assert found.value.tolist()[:2] == [0, 1]
    assert ((low <= found.value) & (found.value <= high)).all()
    assert 2 <= low[2] <= 3 <= high[2] <= 5  # 2, 3, 4 and 5 have a tenth of the people each
    assert (found.stderr >= np.sqrt(1 / 12)).all()


def test_differences_say_what_they_assume():
    """Without an assumption the place within a bin is added to the margin; quantiles with and without one are no difference."""
    people = {"x": np.arange(40_000) % 100 + 0.5, "g": np.repeat([0, 1], 20_000)}
    groups = Survey({"x": Histogram(EDGES.tolist())}, 3.0).run(people, by="g", rng=1)
    a, b = (groups[g]["x"] for g in (0, 1))
    assert np.ptp((a.quantile(0.5) - b.quantile(0.5)).interval()) >= 20
    assumed = a.quantile(0.5, within_bins=UNIFORM) - b.quantile(0.5, within_bins=UNIFORM)
    assert np.ptp(assumed.interval()) < 10
    assert "uniform within bins" in assumed.quantity
    for one, other in (
        (a.quantile(0.5), b.quantile(0.5, within_bins=UNIFORM)),
        (a.quantile(0.5), b.quantile(0.25)),
        (a.quantile([0.5, 0.75]), b.quantile([0.25, 0.5])),
    ):
        with pytest.raises(ValueError, match=r"^estimates must answer the same question"):
            one - other


def test_mistakes_are_refused():
    answer = answer_of(FLAT)
    for bad in (0.0, [0.5, 1.0], [np.nan]):
        with pytest.raises(ValueError, match=r"^q must be in \(0, 1\)"):
            answer.quantile(bad)
    with raises(ValueError, "q must be a number or have shape (m,), got shape (1, 2)"):
        answer.quantile([[0.25, 0.5]])
    with raises(ValueError, "within_bins must be one of 'any', 'uniform', got 'even'"):
        answer.quantile(0.5, within_bins="even")


POPULATIONS = {
    "even": FLAT,
    "skewed": 0.5 ** np.arange(1, 11) / (1 - 0.5**10),
    "two bins": np.array([0, 0.35, 0, 0, 0, 0, 0, 0.65, 0, 0]),
    "one bin": np.array([0, 0, 0, 1.0, 0, 0, 0, 0, 0, 0]),
    "spike": np.array([0.05, 0.05, 0.05, 0.6, 0.05, 0.05, 0.05, 0.05, 0.05, 0]),
}


@pytest.mark.long
@pytest.mark.claim(
    "Limits of quantiles between the ends of bins cover, also with all numbers in few bins.", "Estimates"
)
@pytest.mark.parametrize(
    "population, n, epsilon, optional",
    [
        ("even", 1000, 4.0, False),
        ("skewed", 20_000, 1.0, False),
        ("skewed", 4000, 2.0, True),
        ("two bins", 4000, 2.0, True),
        ("one bin", 1000, 4.0, False),
        ("one bin", 20_000, 1.0, False),
        ("spike", 20_000, 1.0, False),
    ],
)
def test_limits_between_the_ends_of_bins_cover(population, n, epsilon, optional):
    """Every population and every size, 800 studies each.

    All records are in the middles of their bins, and the quantile is the grouped one. With all people in one bin
    the shares are at the ends of their range, which no limit exceeds: then limits cover more often.
    """
    shares, runs, covered = POPULATIONS[population], 800, np.zeros(len(PROBABILITIES), int)
    rounded = np.rint(1000 * shares) / np.rint(1000 * shares).sum()
    truth = grouped_quantile(rounded, PROBABILITIES)
    for seed in range(runs):
        found = answer_of(shares, n, epsilon, seed, optional=optional)
        low, high = found.quantile(PROBABILITIES, within_bins=UNIFORM).interval()
        covered += (low <= truth) & (truth <= high)
    assert_coverage(covered, runs, 0.93, detects=0.85, most=1.0 if population == "one bin" else 0.985)
