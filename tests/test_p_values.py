"""P-values from the tails of limits: the inversion of the intervals, of many numbers at once."""

from __future__ import annotations

import itertools
import math
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ldpfast.results import Binomial, BoundedSum, Debiasing, Estimate, Fieller, Joined, Normal, StudentT, WithGaps
from ldpfast.results._differences import Recovered
from ldpfast.results._roots import roots
from ldpfast.results._test_result import p_values
from ldpfast.survey import Choice, Mean, Survey, YesNo, compare

from .support.cases import each

M = 24
RULES = ("binomial", "bounded", "normal", "t", "ratio", "normal ratio", "t ratio", "gaps")


def numbers(kind: str, rng: np.random.Generator) -> SimpleNamespace:
    """Return numbers with a rule, from few and many reports."""
    n, line = rng.integers(3, 3000), Debiasing(-0.2, 1.3)
    if kind == "binomial":
        hits = rng.binomial(n, rng.uniform(0, 0.6, M))
        stderr = 1.5 * np.sqrt((hits / n + 0.01) * (1 - hits / n) / n)
        return SimpleNamespace(value=np.asarray(line(hits / n)), stderr=stderr, rule=Binomial(hits, n, line))
    value, stderr = rng.uniform(0, 1, M), rng.uniform(0.1, 0.5, M) / np.sqrt(n)
    if kind == "bounded":
        return SimpleNamespace(value=value, stderr=stderr, rule=BoundedSum(1.3 * rng.uniform(0.1, 1, M) / n, 1.2 / n))
    if kind == "normal":
        return SimpleNamespace(value=value, stderr=stderr, rule=Normal())
    if kind == "t":
        return SimpleNamespace(value=value, stderr=stderr, rule=StudentT(rng.uniform(2, 50, M)))
    bottom = rng.uniform(0.02, 1, M)
    vn, vd = (bottom * value + 0.3) / n, (bottom + 0.3) / n
    step = 1.4 / n if kind in ("ratio", "gaps") else 0.0
    freedom = 7.5 if kind == "t ratio" else math.inf
    rule: Any = Fieller(bottom * value, bottom, vn, vd, 0.5 * np.sqrt(vn * vd), 0.0, 1.0, step, freedom=freedom)
    if kind == "gaps":
        gaps = rng.random(M) < 0.3
        value, rule = np.where(gaps, np.nan, value), WithGaps(rule, gaps)
    return SimpleNamespace(value=value, stderr=np.sqrt(vn + vd) / bottom, rule=rule)


def require_inverse(found: SimpleNamespace, rng: np.random.Generator) -> None:
    """Require that limits with a tail above and below a p-value by a part of 1e-9 exclude the hypothesis, and do not."""
    value, stderr, rule = found.value, found.stderr, found.rule
    null = np.nan_to_num(value) + 2 * rng.normal(size=M) * stderr
    less, greater, both = (p_values(rule, value, stderr, null, side) for side in ("less", "greater", "two-sided"))
    np.testing.assert_array_equal(both, np.minimum(1, 2 * np.minimum(less, greater)))
    tested = 0
    for p, excluded in ((less, lambda limits: limits[1] < null), (greater, lambda limits: limits[0] > null)):
        shown = (p < 0.5) & (p > 1e-290)  # no interval has a tail above a half; 5.7e-300 is the smallest p-value
        tail = np.where(shown, p, 0.25)
        assert excluded(rule.bounds(value, stderr, tail * (1 + 1e-9)))[shown].all()
        assert not excluded(rule.bounds(value, stderr, tail * (1 - 1e-9)))[shown].any()
        tested += int(shown.sum())
    assert tested >= M // 4


@each("kind", RULES)
def test_p_values_invert_the_limits(kind):
    rng = np.random.default_rng(1)
    for _ in range(3):
        require_inverse(numbers(kind, rng), rng)


@pytest.mark.claim("P-values of differences agree with the inversion of their intervals to 1e-9.", "Estimates")
@each("first", RULES)
@each("second", RULES)
def test_p_values_of_differences_invert_the_limits(first, second):
    rng = np.random.default_rng(2)
    a, b = numbers(first, rng), numbers(second, rng)
    found = SimpleNamespace(value=a.value - b.value, stderr=np.hypot(a.stderr, b.stderr), rule=Recovered(a, b))
    assert found.rule.has_tails
    require_inverse(found, rng)


@pytest.mark.parametrize("tail", [0.4, 0.025, 1e-6])
def test_limits_of_ratios_have_their_tail_and_nothing_beyond_is_left(tail):
    """Also next to limits that are infinite, where an iteration of the margin does not converge."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        rule = numbers("ratio", rng).rule
        for side, limit in zip((-1, 1), rule.bounds(None, None, tail), strict=True):
            finite = np.isfinite(limit)
            np.testing.assert_allclose(rule.tails(None, None, limit, side)[finite], tail, rtol=1e-9)
            assert (rule.tails(None, None, limit, side)[~finite] >= tail).all()
            step = np.where(finite, np.abs(limit), 0) + 1e-3
            for size in np.logspace(-6, 6, 30):
                assert (rule._tails(side, limit + side * step * size)[finite] <= tail).all()


def test_joined_rules_have_the_limits_of_each():
    rng = np.random.default_rng(4)
    guarantee = Survey({"a": YesNo()}, 1.0).guarantee
    parts = [numbers(kind, rng) for kind in RULES for _ in range(2)]
    estimates = [Estimate(part.value, part.stderr, 100, guarantee, None, part.rule) for part in parts]
    estimates += [a._minus(b) for a, b in itertools.pairwise(estimates)]
    estimates += [Estimate(0.3, 0.1, 100, guarantee, None, Normal(bias=0.02)) for _ in range(2)]  # not joined
    joined = Joined(estimates)
    for found, (low, high), p in zip(estimates, joined.limits(0.01), joined.two_sided(), strict=True):
        for limit, expected in zip((low, high), found._limits_at(0.01), strict=True):
            np.testing.assert_array_equal(limit, np.ravel(expected))
        np.testing.assert_array_equal(p, np.ravel(found.test().pvalue))


def test_roots_of_jumps_are_neighbors():
    low, high = roots(lambda x: np.where(x < np.pi, -np.inf, np.inf), np.zeros(2), np.array([4.0, 1e6]))
    assert (low < np.pi).all()
    assert (high >= np.pi).all()
    np.testing.assert_allclose(high, low, rtol=1e-14)


def test_a_comparison_of_thousands_of_rows_takes_seconds():
    """14 optional questions by 25 regions: 4,704 rows, for which bisection of the limits took minutes."""
    survey = Survey({f"q{i}": Choice(14, optional=True) for i in range(14)}, 4.0)
    rng = np.random.default_rng(5)
    frame = {name: rng.integers(0, 14, 5000) for name in survey.questions} | {"region": rng.integers(0, 25, 5000)}
    comparison = compare(survey.run(frame, by="region", rng=1))
    start = time.process_time()
    table = comparison.table
    assert time.process_time() - start < 5
    assert len(table) == 14 * 14 * 24
    first = next(iter(comparison.differences.values()))
    np.testing.assert_array_equal(table["pvalue"][:14], first.test().pvalue)
    start = time.process_time()
    assert comparison.table["pvalue"] == table["pvalue"]
    assert "Holm" in repr(comparison)
    assert time.process_time() - start < 1


def test_groups_without_reports_have_the_p_value_one():
    survey = Survey({"a": YesNo(optional=True), "b": Mean(0, 1, optional=True)}, 2.0, answers=1)
    frame = {"a": [True] * 40, "b": [0.5] * 40, "region": ["N"] * 39 + ["S"]}
    table = compare(survey.run(frame, by="region", rng=1)).table
    assert 1.0 in table["pvalue"]
    assert np.isfinite(table["pvalue"]).all()
