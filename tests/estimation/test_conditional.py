"""Means and quantiles of people with a flag that was randomized at a rate of its own."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

import ldpfast as ldp
from ldpfast.estimation import conditional_means, conditional_quantiles
from ldpfast.results import DoubtfulWarning

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


@pytest.mark.parametrize(
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
