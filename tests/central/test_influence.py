"""Influence functions and gross error sensitivities: closed forms, limits, and the definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, stats

from ldpfast.central import (
    ArithmeticMean,
    Huber,
    Logistic,
    Quantile,
    TrimmedMean,
    gross_error_sensitivity,
    influence,
    plot_influence,
)

from ..support.cases import each

NORMAL = stats.norm()
FUNCTIONALS = [
    ArithmeticMean(),
    Quantile(0.5),
    Quantile(0.8),
    TrimmedMean(0.1),
    TrimmedMean(0.0),
    Huber(1.0),
    Logistic(0.5),
]
DISTRIBUTIONS = [
    NORMAL,
    stats.expon(1, 3),
    stats.laplace(-2, 0.5),
    stats.uniform(2, 1),
    stats.gamma(3),
    stats.norm(1e4, 1e-2),
]
functional_ids = {"ids": repr}
distribution_ids = {"ids": lambda p: f"{p.dist.name}{p.args}"}


@each(
    "functional, expected",
    [("median", 1.2533), (TrimmedMean(0.1), 1.6019), (Huber(1.0), 1.4648), ("logistic", 2.4199), ("mean", math.inf)],
)
def test_known_values_for_the_standard_normal(functional, expected):
    assert gross_error_sensitivity(functional, NORMAL) == pytest.approx(expected, abs=5e-5)


def test_closed_forms():
    exponential = stats.expon()
    places = np.array([0.0, 0.5, 3.0, math.inf])
    median, density = math.log(2), 0.5
    np.testing.assert_allclose(
        influence("median", exponential, places), np.where(places < median, -0.5, 0.5) / density, rtol=1e-12
    )
    np.testing.assert_allclose(influence("mean", exponential, places), places - 1, rtol=1e-12)
    for q in (0.1, 0.9):
        expected = max(q, 1 - q) / (1 - q)  # the density at the quantile is 1 - q
        assert gross_error_sensitivity(Quantile(q), exponential) == pytest.approx(expected, rel=1e-12)
    # Huber with a large c is the mean.
    everywhere = influence(Huber(5.0), stats.uniform(), [0.0, 0.3, 1.0])
    np.testing.assert_allclose(everywhere, [-0.5, -0.2, 0.5], rtol=1e-9)
    # Trimmed mean of the uniform distribution: clip(x, a, 1 - a) - 1/2 over 1 - 2 a.
    trimmed = influence(TrimmedMean(0.2), stats.uniform(), [0.0, 0.3, 1.0])
    np.testing.assert_allclose(trimmed, np.array([-0.3, -0.2, 0.3]) / 0.6, rtol=1e-9)


@pytest.mark.parametrize("rho", [1e-3, 0.1, 0.4])
def test_influence_of_a_share_rho_on_the_median(rho):
    high = NORMAL.ppf(1 / (2 * (1 - rho))) / rho
    assert gross_error_sensitivity("median", NORMAL, rho) == pytest.approx(high, rel=1e-9)
    at_two = min(max(2.0, -high * rho), high * rho) / rho
    assert influence("median", NORMAL, 2.0, rho) == pytest.approx(at_two, rel=1e-9)


@pytest.mark.long
@each("p", DISTRIBUTIONS, **distribution_ids)
@each("functional", FUNCTIONALS, **functional_ids)
def test_influence_of_a_share_tends_to_the_influence(functional, p):
    """At points away from jumps and kinks, the difference is of order rho."""
    places = p.ppf([1e-6, 0.07, 0.3, 0.62, 0.93, 1 - 1e-6])
    limit = influence(functional, p, places)
    unit = np.abs(limit).max()
    errors = [np.abs(influence(functional, p, places, rho) - limit).max() / unit for rho in (1e-2, 1e-4)]
    assert errors[0] < 0.2
    assert errors[1] < 1e-3
    if not isinstance(functional, ArithmeticMean) and functional != TrimmedMean(0.0):
        low, high = p.ppf([1e-6, 1 - 1e-6])
        scaled = [gross_error_sensitivity(functional, p, rho, lower=low, upper=high) for rho in (0.0, 1e-4, 1e-2)]
        assert scaled[0] == pytest.approx(unit, rel=1e-12)
        assert scaled[1] == pytest.approx(scaled[0], rel=1e-3)


@each("p", DISTRIBUTIONS, **distribution_ids)
@each("functional", FUNCTIONALS, **functional_ids)
def test_influence_has_mean_zero_and_its_supremum_at_the_ends(functional, p):
    low, high = p.ppf([1e-12, 1 - 1e-12])
    u = np.linspace(0, 1, 4001)[1:-1]
    values = influence(functional, p, p.ppf(u))
    ends = gross_error_sensitivity(functional, p, lower=low, upper=high)
    assert np.abs(values).max() <= ends * (1 + 1e-12)
    assert abs(values.mean()) < 4e-3 * ends
    assert (np.diff(values) >= -1e-9 * ends).all()


def statistic_of_data(functional, x):
    """Return the statistic of the empirical distribution."""
    x = np.sort(x)
    n = len(x)
    if isinstance(functional, ArithmeticMean):
        return x.mean()
    if isinstance(functional, Quantile):
        return x[math.ceil(functional.q * n - 1e-9) - 1]
    if isinstance(functional, TrimmedMean):
        cut = np.clip(np.arange(n + 1) / n, functional.trim, 1 - functional.trim)
        return (x * np.diff(cut)).sum() / (1 - 2 * functional.trim)
    ends = (x[0] - 10, x[-1] + 10)  # the midpoint if there are several roots
    return (
        sum(optimize.brentq(lambda t, by=by: functional(x, t).sum() + by, *ends, xtol=1e-14) for by in (-1e-12, 1e-12))
        / 2
    )


@each("n", [1, 10, 19, 60])
@each("functional", [*FUNCTIONALS, TrimmedMean(0.25), Huber(0.3)], **functional_ids)
def test_influence_on_data_is_the_effect_of_one_more_record(functional, n):
    """With rho = 1 / (n + 1), the mixture is the empirical distribution of n + 1 records."""
    rng = np.random.default_rng(n)
    x = rng.integers(-3, 4, n) + 0.1 * rng.normal(size=n) * (n == 19)  # ties, except for n = 19
    rho = 1 / (n + 1)
    for place in (-50.0, -0.7, 0.0, 0.123, 2.0, 50.0):
        expected = (statistic_of_data(functional, np.append(x, place)) - statistic_of_data(functional, x)) / rho
        got = influence(functional, x, place, rho)
        assert isinstance(got, float)
        assert got == pytest.approx(expected, rel=1e-9, abs=1e-8)


@each(
    "functional", [ArithmeticMean(), TrimmedMean(0.1), TrimmedMean(0.13), Huber(1.0), Logistic(1.0)], **functional_ids
)
def test_influence_on_data_is_the_limit_of_the_definition(functional):
    """For one of the trimmed means n trim is an integer, where its quantiles jump."""
    x = np.random.default_rng(0).normal(size=50)
    places = np.concatenate([[-math.inf, math.inf] if functional != ArithmeticMean() else [], np.linspace(-3, 3, 31)])
    small = influence(functional, x, places, 1e-7)
    np.testing.assert_allclose(influence(functional, x, places), small, rtol=1e-5, atol=1e-5)


def test_influence_on_many_data_is_that_of_the_distribution():
    """The empirical distribution of 200,000 records gives three digits."""
    x = NORMAL.ppf((np.arange(200_000) + 0.5) / 200_000)
    for functional in (TrimmedMean(0.1), Huber(1.0), Logistic(1.0)):
        expected = gross_error_sensitivity(functional, NORMAL)
        assert gross_error_sensitivity(functional, x) == pytest.approx(expected, rel=1e-3)
    expected = gross_error_sensitivity("median", NORMAL, 0.01)
    assert gross_error_sensitivity("median", x, 0.01) == pytest.approx(expected, rel=1e-3)


def test_influence_beyond_the_breakdown_point_is_infinite():
    for functional, rho in (("median", 0.6), (TrimmedMean(0.1), 0.2), (Huber(1.0), 0.5), ("logistic", 0.7)):
        for p in (NORMAL, np.arange(20.0)):
            assert gross_error_sensitivity(functional, p, rho) == math.inf
            assert influence(functional, p, -math.inf, rho) == -math.inf
            assert math.isfinite(influence(functional, p, 1e3, rho))


def test_bounds_of_the_record_and_shapes_of_the_result():
    assert gross_error_sensitivity("mean", stats.uniform(), lower=0, upper=1) == pytest.approx(0.5)
    assert gross_error_sensitivity("mean", [0.0, 0.0, 1.0, 0.0], lower=0, upper=1) == pytest.approx(0.75)
    assert influence("mean", NORMAL, [[1.0, 2.0]]).shape == (1, 2)
    assert influence(Huber(1.0), NORMAL, np.zeros((2, 1)), 0.1).shape == (2, 1)
    assert isinstance(influence("median", NORMAL, 3), float)


def test_plot_of_several_functionals():
    pytest.importorskip("matplotlib")
    ax = plot_influence(["median", TrimmedMean(0.1), Huber(1.0)], NORMAL, lower=-3, upper=3)
    curves = [line for line in ax.get_lines() if not line.get_label().startswith("_")]
    assert [line.get_label() for line in curves] == ["Quantile(q=0.5)", "TrimmedMean(trim=0.1)", "Huber(c=1.0)"]
    for line, functional in zip(curves, ("median", TrimmedMean(0.1), Huber(1.0)), strict=True):
        x, y = line.get_data()
        np.testing.assert_allclose(y, influence(functional, NORMAL, x))
    assert ax.get_ylabel() == "influence (unit of the estimate)"
    again = plot_influence(["median"], np.arange(9.0), lower=0, upper=8, rho=0.1, ax=ax)
    assert again is ax
    assert ax.get_ylabel() == "influence of a share of 0.1 (unit of the estimate)"


@each(
    "call, error, message",
    [
        (lambda: influence("mode", NORMAL, 0), ValueError, "functional must be one of 'mean', 'median'"),
        (
            lambda: influence(np.mean, NORMAL, 0),
            TypeError,
            "functional must be a string, ArithmeticMean, TrimmedMean, .*, got ",
        ),
        (lambda: influence("mean", stats.cauchy(), 0), ValueError, "distribution must have a finite mean"),
        (lambda: influence("mean", stats.poisson(3), 0), TypeError, "frozen continuous distribution"),
        (lambda: influence("mean", "norm", 0), TypeError, "distribution must be real numbers"),
        (lambda: influence("mean", [], 0), ValueError, r"distribution must have shape \(n,\) with n >= 1"),
        (
            lambda: influence("mean", [0.0, np.nan], 0),
            ValueError,
            r"distribution must be finite numbers; index 1 is outside",
        ),
        (lambda: influence("median", [1.0, 2.0], 0), ValueError, "rho must be > 0 for a quantile of data"),
        (lambda: influence("mean", NORMAL, 0, -0.1), ValueError, r"rho must be in \[0, 1\), got -0.1"),
        (lambda: influence("mean", NORMAL, 0, 1), ValueError, r"rho must be in \[0, 1\), got 1"),
        (lambda: influence("mean", NORMAL, math.nan), ValueError, "x must be numbers, got nan"),
        (lambda: influence(Huber(0.01), [0.0, 1.0], 0), ValueError, "a slope > 0 at its root"),
        (lambda: TrimmedMean(0.5), ValueError, r"trim must be in \[0, 1/2\)"),
        (
            lambda: gross_error_sensitivity("mean", NORMAL, lower=1, upper=0),
            ValueError,
            "lower < upper, got 1 and 0",
        ),
        (
            lambda: gross_error_sensitivity("mean", NORMAL, lower=math.nan),
            ValueError,
            "must be a finite number",
        ),
        (lambda: plot_influence(["mean"], NORMAL, lower=0, upper=0), ValueError, "lower < upper"),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
