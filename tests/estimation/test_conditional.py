"""Means and quantiles of people with a flag that was randomized at a rate of its own."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

import ldpfast as ldp
from ldpfast.estimation import ConditionalQuantiles, conditional_means, conditional_quantiles
from ldpfast.estimation._conditional_quantiles import _sorted
from ldpfast.results import DoubtfulWarning

from ..support.cases import each
from ..support.statistics import assert_coverage


def flagged(n, seed, share=0.3):
    """Return values, flags that are fair coins at rates 0.1 and 0.4, and the rates; values of true flags are exponential."""
    rng = np.random.default_rng(seed)
    high, rates = rng.random(n) < share, rng.choice([0.1, 0.4], n)
    values = np.where(high, rng.exponential(1.0, n), 1 + rng.exponential(3.0, n))
    return values, np.where(rng.random(n) < rates, rng.random(n) < 0.5, high), rates


def test_flags_without_randomness_are_the_subgroup():
    values, flags, _ = flagged(501, 1)
    inside = values[flags]
    mean = conditional_means(values, flags, rates=0.0)
    assert mean.value == pytest.approx(inside.mean())
    assert mean.stderr == pytest.approx(inside.std() / math.sqrt(len(inside)), rel=1e-6)
    assert mean.epsilon == math.inf
    for q in (0.1, 0.5, 0.9):
        exact = np.quantile(inside, q, method="inverted_cdf")
        assert conditional_quantiles(values, flags, q, rates=0.0).value == exact
    design = conditional_quantiles(values, flags.astype(int), [0.2, 0.5], [[1, 0], [0, 1]])
    assert design.value.shape == (2, 2)
    np.testing.assert_array_equal(design.value[0], np.quantile(values[~flags], [0.2, 0.5], method="inverted_cdf"))


def test_a_rate_for_all_is_a_table():
    values, flags, _ = flagged(2000, 2)
    rows = [[0.9, 0.1], [0.1, 0.9]]  # a fair coin at rate 0.2
    by_rate, by_table = conditional_means(values, flags, rates=0.2), conditional_means(values, flags, rows)
    assert by_rate.value == pytest.approx(by_table.value[1])
    assert by_rate.stderr == pytest.approx(by_table.stderr[1], rel=1e-6)
    assert by_rate.epsilon == pytest.approx(math.log(9))
    quantiles = conditional_quantiles(values, flags, [0.5, 0.75], rates=0.2)
    same = conditional_quantiles(values, flags, [0.5, 0.75], rows)
    np.testing.assert_array_equal(quantiles.value, same.value[1])
    np.testing.assert_array_equal(quantiles.interval()[0], same.interval()[0][1])
    assert by_rate.value == pytest.approx(conditional_means(values + 1e9, flags, rates=0.2).value - 1e9, abs=1e-5)


@pytest.mark.parametrize("decimals", [0, 1, 12])
def test_the_quantile_is_that_of_the_isotonic_regression(decimals):
    """Also where values are equal."""
    for seed in range(20):
        values, flags, rates = flagged(300, seed)
        values = values.round(decimals)
        weights = (flags - rates / 2) / (1 - rates)
        order = np.argsort(values, kind="stable")
        height = np.cumsum(weights[order]) / weights.sum()
        last = np.append(np.flatnonzero(np.diff(values[order])), 299)
        fitted = isotonic_regression(height[last], weights=np.diff(last, prepend=-1)).x
        for q in (0.25, 0.5, 0.9):
            expected = values[order][last][min(np.searchsorted(fitted, q - 1e-12), len(last) - 1)]
            found = conditional_quantiles(values, flags, q, rates=rates)
            assert found.value == expected
            low, high = found.interval()
            assert low <= found.value <= high


def test_cuts_at_all_values_give_the_quantiles_of_the_values():
    """In parts, merged, and by a table in the place of rates."""
    values, flags, rates = flagged(3000, 5)
    cuts, levels = np.unique(values), [0.25, 0.5, 0.9]
    parts = np.array_split(np.arange(3000), 7)
    counted, other = ConditionalQuantiles(cuts), ConditionalQuantiles(cuts)
    for place, part in enumerate(parts):
        (counted if place % 2 else other).update(values[part], flags[part], rates=rates[part])
    assert counted.merge(other).n == 3000
    found, exact = counted.estimate(levels), conditional_quantiles(values, flags, levels, rates=rates)
    np.testing.assert_array_equal(found.value, exact.value)
    np.testing.assert_array_equal(found.interval()[1], exact.interval()[1])
    assert (found.interval()[0] <= exact.interval()[0]).all()  # of unknown values between cuts
    assert found.epsilon == exact.epsilon == pytest.approx(math.log(19))
    design = [[0.8, 0.2], [0.1, 0.9]]
    table = ConditionalQuantiles(cuts, design).update(values, flags.astype(int)).estimate(0.5)
    np.testing.assert_array_equal(table.value, conditional_quantiles(values, flags, 0.5, design).value)


def test_bins_without_people_change_no_quantile():
    """Cuts below, between and above the values."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        values, flags = rng.integers(-5, 5, 500).astype(float), rng.random(500) < 0.7
        counted = ConditionalQuantiles(np.arange(-7, 7, 0.5)).update(values, flags, rates=0.1)
        found, exact = counted.estimate([0.2, 0.5]), conditional_quantiles(values, flags, [0.2, 0.5], rates=0.1)
        np.testing.assert_array_equal(found.value, exact.value)
        assert (found.interval()[0] <= exact.interval()[0]).all()
        assert (exact.interval()[1] <= found.interval()[1]).all()
    above = ConditionalQuantiles([10.0, 20.0]).update(np.full(1000, 500.0), np.ones(1000, int), rates=0.1)
    with pytest.raises(ValueError, match="cuts must reach above all quantiles"):
        above.estimate(0.5)
    with pytest.warns(DoubtfulWarning, match="not clearly above 0"):
        conditional_quantiles(np.arange(9.0), np.zeros(9, int), 0.5, rates=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_are_ordered_in_both_precisions(dtype):
    """Negative numbers, both zeros and equal ones included."""
    rng = np.random.default_rng(7)
    values = np.concatenate([rng.normal(size=500), [0.0, -0.0] * 50, rng.integers(-3, 3, 400)]).astype(dtype)
    flags = rng.random(len(values)) < 0.6
    order, ordered = _sorted(values)
    np.testing.assert_array_equal(ordered, np.sort(values))
    np.testing.assert_array_equal(values[order], ordered)
    found = conditional_quantiles(values, flags, [0.2, 0.7], rates=0.0)
    np.testing.assert_array_equal(found.value, np.quantile(values[flags], [0.2, 0.7], method="inverted_cdf"))


@pytest.mark.long
def test_intervals_between_coarse_cuts_cover():
    truth, hits, runs = -np.log([0.5, 0.25, 0.05]), np.zeros(3, int), 1000
    for seed in range(runs):
        values, flags, rates = flagged(4000, seed)
        low, high = (
            ConditionalQuantiles(np.arange(0.0, 12, 0.15))
            .update(values, flags, rates=rates)
            .estimate([0.5, 0.75, 0.95])
            .interval()
        )
        hits += (low <= truth) & (truth <= high)
    assert (hits >= 0.93 * runs).all()


def test_a_quantile_above_all_cuts_and_other_cuts_are_refused():
    values, flags, rates = flagged(500, 6)
    counted = ConditionalQuantiles([0.1, 0.2])
    with pytest.raises(ValueError, match="needs at least 1 person, got n = 0"):
        counted.estimate(0.5)
    counted.update(values, flags, rates=rates)
    with pytest.raises(ValueError, match=r"cuts must reach above all quantiles, got one above the last cut, 0.2"):
        counted.estimate(0.9)
    with pytest.raises(ValueError, match="other must have the same cuts and the same design"):
        counted.merge(ConditionalQuantiles([0.1, 0.3]))
    with pytest.raises(TypeError, match="rates must be given without a design"):
        counted.update(values, flags)
    with pytest.raises(ValueError, match=r"rates must be in \[0, 1\), got 1.0"):
        counted.update(values, flags, rates=1.0)
    assert counted.n == 500
    with pytest.raises(TypeError, match="rates must be None with a design"):
        ConditionalQuantiles([1.0], [[1, 0], [0, 1]]).update(values, flags, rates=rates)
    for cuts in ([1.0, 1.0], [], [[1.0]]):
        with pytest.raises(ValueError, match="cuts must be 1 to 16777216 ascending numbers"):
            ConditionalQuantiles(cuts)
    with pytest.raises(ValueError, match="cuts must be finite numbers, got nan"):
        ConditionalQuantiles([0.0, np.nan])
    with pytest.raises(TypeError, match="cuts must be"):
        ConditionalQuantiles(["a"])
    before = counted.estimate(0.01).value
    for part, match in (
        ([np.nan], "finite numbers"),
        ([], "shape"),
        ([[1.0]], "shape"),
        ([1.0, 2.0], "reports must have shape"),
    ):
        with pytest.raises(ValueError, match=match):
            counted.update(part, [1], rates=0.1)
    assert (counted.n, counted.estimate(0.01).value) == (500, before)
    with pytest.raises(TypeError, match="other must be a ConditionalQuantiles, got int"):
        counted.merge(1)


@pytest.mark.long
def test_intervals_of_quantiles_and_means_cover():
    truth = np.array([1.0, -np.log(0.5), -np.log(0.25), -np.log(0.05)])
    hits, runs = np.zeros(4, int), 1200
    for seed in range(runs):
        values, flags, rates = flagged(4000, seed)
        mean, quantiles = (
            conditional_means(values, flags, rates=rates),
            conditional_quantiles(values, flags, [0.5, 0.75, 0.95], rates=rates),
        )
        limits = [np.append(*pair) for pair in zip(mean.interval(), quantiles.interval(), strict=True)]
        hits += (limits[0] <= truth) & (truth <= limits[1])
    assert_coverage(hits, runs, 0.95, detects=0.89)


def test_limits_are_infinite_where_nothing_is_excluded():
    values, flags, rates = flagged(40, 3)
    with pytest.warns(DoubtfulWarning, match="so its mean and quantiles are not reliable"):
        low, high = conditional_quantiles(values, flags, 0.95, rates=np.maximum(rates, 0.9)).interval()
    assert high == math.inf or low == -math.inf


@each(
    "call, error, message",
    [
        (lambda: conditional_means([1.0], [0]), TypeError, "design or rates must be given"),
        (lambda: conditional_means([1.0], [0], ldp.Warner(1.0), rates=0.1), TypeError, "design must be None if rates"),
        (lambda: conditional_means([1.0], [0], rates=1.0), ValueError, "rates must be in [0, 1), got 1.0"),
        (lambda: conditional_means([1.0, 2], [0, 1], rates=[0.1]), ValueError, "rates must be a number or have shape"),
        (lambda: conditional_means([1.0, 2], [0, 2], rates=0.1), ValueError, "reports must be codes in [0, 1], got 2"),
        (
            lambda: conditional_quantiles([1.0, 2], [0, 1], 1.0, rates=0.1),
            ValueError,
            "quantiles must be in (0, 1), got 1.0",
        ),
        (lambda: conditional_quantiles([1.0, 2], [0, 1], [], rates=0.1), ValueError, "quantiles must have shape (m,)"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=re.escape(message)):
        call()
