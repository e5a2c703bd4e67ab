"""Limits that hold for every number of reports at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

import ldpfast as ldp
from ldpfast.results import CodeCounts, Debiasing
from ldpfast.results._anytime import of_hits
from ldpfast.survey import Choice, Histogram, Mean, Survey, YesNo, compare

from .support.cases import each

PLAIN = Debiasing(0.0, 1.0)


@each("hits, n", [(0, 1), (1, 1), (3, 10), (0, 25), (700, 1000)])
def test_binomial_limits_are_where_the_mixture_of_likelihoods_has_the_level(hits, n):
    """Against the integral of the likelihood over the beta distribution, computed numerically."""
    mixture = integrate.quad(lambda p: stats.binom.pmf(hits, n, p), 0, 1, weight="alg", wvar=(-0.5, -0.5))[0] / np.pi
    for tail in (0.025, 0.0005):
        low, high = (float(x) for x in of_hits(np.array(hits), n, PLAIN, tail))
        for limit in (low, high):
            if 0 < limit < 1:
                assert mixture / stats.binom.pmf(hits, n, limit) == pytest.approx(1 / (2 * tail), rel=1e-6)
        assert (low == 0) == (hits == 0)
        assert (high == 1) == (hits == n)


def crossings(hits: np.ndarray, p: float, tail: float) -> float:
    """Return the share of paths, shape (paths, n), in which some interval excludes p."""
    n = np.arange(1, hits.shape[1] + 1)
    low, high = of_hits(hits, n, PLAIN, tail)
    return float(((low > p) | (high < p)).any(axis=1).mean())


@pytest.mark.claim("`anytime_interval` is valid at all times at once.", "Estimates")
@pytest.mark.parametrize("p", [0.3, *(pytest.param(p, marks=pytest.mark.long) for p in (0.05, 0.5))])
def test_paths_seldom_leave_the_limits_but_leave_those_of_one_time(p):
    rng = np.random.default_rng(3)
    hits = np.cumsum(rng.random((400, 1000)) < p, axis=1)
    assert crossings(hits, p, 0.05) <= 0.10 + 0.03
    n = np.arange(1, 1001)
    low, high = stats.beta.ppf(0.05, hits, n - hits + 1), stats.beta.ppf(0.95, hits + 1, n - hits)
    assert ((low > p) | (high < p)).any(axis=1).mean() > 0.3


@pytest.mark.long
@pytest.mark.parametrize("p", [0.02, 0.27, 0.5])
def test_paths_of_a_million_reports_seldom_leave_the_limits(p):
    """Counts at 2,000 times from 1 to 1e6; 2,000 paths."""
    rng = np.random.default_rng(4)
    times = np.unique(np.geomspace(1, 1e6, 2000).astype(np.int64))
    steps = np.diff(times, prepend=0)
    hits = np.cumsum(rng.binomial(steps, p, (2000, len(times))), axis=1)
    low, high = of_hits(hits, times, PLAIN, 0.025)
    left = ((low > p) | (high < p)).any(axis=1).mean()
    assert left <= 0.05
    assert left > 0.001  # the limits are not empty words


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_bets_on_codes_are_fair_and_agree_with_the_limits_of_two_codes(epsilon):
    sign = ldp.SignBit(0, 1, epsilon)
    n, hits = 20_000, 11_000
    zero, one = sign.debiasing.zero, sign.debiasing.one
    codes = CodeCounts(np.array([n - hits, hits]), np.array([zero, one]), np.ones(1))
    low, high = codes.limits(zero, one, 0.025)
    exact = of_hits(np.array(hits), n, Debiasing(zero, one), 0.025)
    assert high - low == pytest.approx(float(exact[1] - exact[0]), rel=0.25)
    assert exact[0] - 0.02 * (one - zero) < low < exact[0] + 0.02 * (one - zero)


def test_bets_exclude_only_what_the_capital_excludes():
    """Against the capital itself on a fine grid, for a ratio whose denominators can be negative."""
    rng = np.random.default_rng(5)
    for _ in range(20):
        counts = rng.integers(0, 400, 4)
        top, bottom = rng.normal(0, 2, 4), rng.normal(1, 1, 4)
        codes = CodeCounts(counts, top, bottom)
        low, high = (float(x) for x in codes.limits(-3.0, 3.0, 0.025))
        gains = top - np.array([[-3.0], [3.0]]) * bottom
        stakes = 0.95 * 2.0 ** (-np.arange(48) / 2)
        stakes = np.concatenate([stakes / max(-gains.min(), 1e-300), -stakes / max(gains.max(), 1e-300)])
        for r in np.linspace(-3, 3, 2001):
            with np.errstate(divide="ignore"):
                capital = np.log1p(np.multiply.outer(stakes, top - r * bottom)) @ counts
            if np.logaddexp.reduce(capital) - np.log(96) < np.log(1 / 0.05):
                assert low - 1e-9 <= r <= high + 1e-9


def paths_of_means(times: np.ndarray, paths: int, seed: int) -> float:
    """Return the share of paths of reports by `Window` whose limits exclude the mean at some time."""
    mechanism, rng = ldp.Window(0, 1, 2.0), np.random.default_rng(seed)
    records = rng.beta(0.5, 2.0, (paths, int(times[-1])))
    reports = mechanism.privatize(records.ravel(), rng=seed).reshape(records.shape)
    k, left = len(mechanism.debiasing.values), 0
    for row in reports:
        excluded = False
        for n in times:
            counts = np.bincount(row[:n], minlength=k)
            low, high = CodeCounts(counts, mechanism.debiasing.values, np.ones(1)).limits(-0.5, 1.5, 0.05)
            excluded |= bool(low > 0.2 or high < 0.2)
        left += excluded
    return left / paths


@pytest.mark.long
def test_paths_of_means_seldom_leave_the_limits():
    assert paths_of_means(np.array([1, 10, 30, 100, 300, 1000]), 40, 6) <= 0.25


@pytest.mark.long
def test_many_paths_of_means_seldom_leave_the_limits():
    assert paths_of_means(np.unique(np.geomspace(1, 20_000, 40).astype(int)), 60, 7) <= 0.10 + 0.08


@pytest.mark.parametrize("epsilon", [1.0, 9.0])
def test_every_answer_has_them(epsilon):
    questions = {
        "yes": YesNo(),
        "maybe": YesNo(optional=True),
        "minutes": Mean(0, 60),
        "age": Mean(0, 100, optional=True),
        "way": Choice(["foot", "car", "bus"], optional=True),
        "time": Histogram([0, 10, 20, 30]),
    }
    survey, n = Survey(questions, epsilon), 60_000
    rng = np.random.default_rng(8)
    frame = {
        "yes": rng.random(n) < 0.3,
        "maybe": rng.random(n) < 0.4,
        "minutes": rng.uniform(0, 30, n),
        "age": rng.uniform(20, 60, n),
        "way": rng.choice(["foot", "car", "bus"], n, p=[0.5, 0.3, 0.2]),
        "time": rng.uniform(0, 30, n),
    }
    truth = {"yes": 0.3, "maybe": 0.4, "minutes": 15, "age": 40, "way": [0.5, 0.3, 0.2], "time": [1 / 3] * 3}
    aggregator = survey.collect(frame, rng=9)
    result = aggregator.estimate()
    limits = aggregator.anytime_interval()
    assert list(limits) == list(questions)
    for name, (low, high) in limits.items():
        assert np.all(low <= np.asarray(truth[name])), name
        assert np.all(np.asarray(truth[name]) <= high), name
        plain = result[name].interval()
        ratio = (np.asarray(high) - low) / (np.asarray(plain[1]) - plain[0])
        assert np.all(ratio > 1.1), name
        assert np.all(ratio < 2.6) or epsilon < 2, name
        wider = result[name].anytime_interval(simultaneous=True)
        assert np.all(wider[0] <= low + 1e-9)
        assert np.all(wider[1] >= high - 1e-9)
        assert type(low) is type(plain[0])


def test_differences_have_them_and_other_limits_are_refused():
    a, b = (ldp.Warner(2.0).run(np.arange(20_000) % m == 0, rng=m) for m in (2, 4))
    (low_a, high_a), (low_b, high_b) = a.anytime_interval(0.975), b.anytime_interval(0.975)
    low, high = (a - b).anytime_interval()
    assert (low, high) == pytest.approx((low_a - high_b, high_a - low_b))
    assert low < 0.25 < high
    with pytest.raises(ValueError, match="anytime limits of a ratio exist"):
        (a / b).anytime_interval()
    with pytest.raises(
        ValueError, match=r"anytime limits exist for shares of binomial counts.* got limits by BoundedSum"
    ):
        ldp.Laplace(0, 1, 1.0).run(np.full(100, 0.5), rng=1).anytime_interval()
    with pytest.raises(ValueError, match="confidence must be"):
        a.anytime_interval(1.0)
    with pytest.raises(TypeError, match="simultaneous must be"):
        a.anytime_interval(simultaneous="yes")
    answer = Survey({"a": Choice(list("abcdefghijklmnopqrst"), optional=True)}, 1.0).run({"a": ["a"] * 500}, rng=1)["a"]
    with pytest.raises(ValueError, match="anytime limits of a ratio exist for the codes of one k-ary response"):
        answer.anytime_interval()


def test_questions_without_answers_have_the_whole_range():
    result = Survey({"a": YesNo(), "b": Mean(0, 10)}, 12.0).run({"a": [True], "b": [3.0]}, rng=1)
    empty = next(name for name in result if not result[name].n)
    assert result[empty].anytime_interval() == result[empty].range
    assert (
        np.isnan(
            compare(
                {
                    1: result,
                    2: Survey({"a": YesNo(), "b": Mean(0, 10)}, 12.0).run({"a": [True] * 99, "b": [3.0] * 99}, rng=1),
                }
            ).table["difference"]
        ).sum()
        == 1
    )
