"""Estimation in the local model: exact risks and biases, rates, labels in any container, client and server against one call.

Risks are those of one decoded report: an estimate is the mean of n independent ones. Coverage has a file of its own.
"""

from __future__ import annotations

import math
import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

import ldpfast as ldp
from ldpfast import estimation
from ldpfast.estimation import (
    Frequencies,
    GradientDescent,
    HistogramDensity,
    MedianSGD,
    SeriesDensity,
    SparseMean,
    TruncatedMean,
    VectorMean,
    _problem,
    project_simplex,
)
from ldpfast.results import Normal, RandomScaling, SmallSampleWarning, random_scaling, random_scaling_quantile

from .support.examples import assert_same, assert_same_estimate
from .support.statistics import ALPHA, bernstein_radius

SEED = 20240611
N = 100_000

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")


def h(epsilon):
    return 1 / math.tanh(epsilon / 2)


def constant(dim):
    """c(d) = sqrt(pi) Gamma((d + 1) / 2) / Gamma(d / 2)."""
    return math.sqrt(math.pi) * math.exp(special.gammaln((dim + 1) / 2) - special.gammaln(dim / 2))


def cube_bound(dim, epsilon, radius=1.0):
    """B of section 6.3, ties kept."""
    return radius * h(epsilon) * constant(dim if dim % 2 else dim + 1)


# Exact risks ----------------------------------------------------------------------------------------------------------


def linear(x):
    return 0.5 + x  # a density on [0, 1]


def linear_draw(rng, n):
    return (np.sqrt(1 + 8 * rng.random(n)) - 1) / 2


def linear_coefficients(k):
    """Of 0.5 + x: the integral of x sqrt2 cos is 0, that of x sqrt2 sin(2 pi m x) is -sqrt2 / (2 pi m)."""
    j = np.arange(1, k + 1)
    return np.where(j % 2, 0.0, -math.sqrt(2) / (2 * math.pi * np.maximum(j // 2, 1)))


THETA = np.array([0.5, 0.3, 0.15, 0.05])


def unary_risk(k, theta, epsilon):
    e = math.exp(epsilon / 2)
    return 1 - theta @ theta + k * e / (e - 1) ** 2


def kary_risk(k, theta, epsilon):
    e = math.exp(epsilon)
    p, q = e / (e + k - 1), 1 / (e + k - 1)
    return k * q * (1 - q) / (p - q) ** 2 + (1 - 2 * q) / (p - q) - theta @ theta


def two_points(rng, n, dim, length):
    """Rows +-v of the given length, + with chance 3/4: the mean is v / 2."""
    row = np.full(dim, length / math.sqrt(dim))
    return np.where(rng.random((n, 1)) < 0.75, row, -row), row / 2


def vectors(dim, length):
    return lambda rng, n: two_points(rng, n, dim, length)


def categories(rng, n):
    return rng.choice(4, n, p=THETA), THETA


def clipped_uniform(rng, n):
    """Uniform on [-3, 3], level 2: symmetric, so clipping has no bias; E clip^2 = (2/3) (4/3) + (1/3) 4."""
    return rng.uniform(-3, 3, n), 0.0


RISKS = {
    # problem: records and target, n times the risk by the formulas of the specification
    "l2": (VectorMean(3, 1.0, radius=2.0), vectors(3, 2.0), (2 * h(1) * constant(3)) ** 2 - 1),
    "l2 wide": (VectorMean(40, 2.0), vectors(40, 1.0), (h(2) * constant(40)) ** 2 - 0.25),
    "linf odd": (VectorMean(5, 1.0, "linf"), vectors(5, 5**0.5), 5 * cube_bound(5, 1.0) ** 2 - 5 / 4),
    "linf even": (VectorMean(4, 0.5, "linf", 3.0), vectors(4, 6.0), 4 * cube_bound(4, 0.5, 3.0) ** 2 - 9.0),
    "box": (
        VectorMean(2, 1.0, "linf", lower=0.0, upper=1.0),
        lambda rng, n: ((rng.random((n, 2)) < 0.5).astype(float), np.full(2, 0.5)),
        2 * cube_bound(2, 1.0, 0.5) ** 2,
    ),
    "symmetric": (Frequencies(4, 1.0, "symmetric"), categories, unary_risk(4, THETA, 1.0)),
    "k-ary": (Frequencies(4, 1.0, "k-ary"), categories, kary_risk(4, THETA, 1.0)),
    "series": (
        SeriesDensity(1.0, n_terms=6),
        lambda rng, n: (linear_draw(rng, n), linear_coefficients(6)),
        6 * cube_bound(6, 1.0, math.sqrt(2)) ** 2 - linear_coefficients(6) @ linear_coefficients(6),
    ),
    "histogram": (
        HistogramDensity(1.0, bins=2),
        lambda rng, n: (linear_draw(rng, n), np.array([0.375, 0.625])),
        unary_risk(2, np.array([0.375, 0.625]), 1.0),
    ),
    "sign-bit": (TruncatedMean(1.0, 2, 1.0, 16, 2.0, "sign-bit"), clipped_uniform, (2 * h(1)) ** 2),
}


@pytest.mark.parametrize("problem, draw, risk", RISKS.values(), ids=RISKS)
def test_risks_are_those_of_the_formulas(problem, draw, risk):
    """E|Z - target|^2 of a decoded report, which is n times the risk of the mean, by Bernstein's inequality: squared errors
    are in [0, M], so their variance is at most M times their mean. Sees 2 to 4 percent."""
    x, target = draw(np.random.default_rng(SEED), N)
    reports = problem.privatize(x, rng=SEED)
    decoded = problem.mechanism.decode(reports).astype(np.float64)
    if isinstance(problem, VectorMean):
        decoded = problem._centre + problem._half * decoded
    np.testing.assert_allclose(problem.estimate(reports).value, decoded.mean(0), rtol=1e-9, atol=1e-9)
    decoded = decoded.reshape(N, -1)
    lengths = np.linalg.norm(decoded, axis=1)  # all the same, or the coordinates have two values each
    reach = lengths.max() if np.ptp(lengths) < 1e-6 * lengths.max() else np.linalg.norm(np.abs(decoded).max(0))
    largest, squares = (reach + np.linalg.norm(target)) ** 2, ((decoded - target) ** 2).sum(1)
    assert abs(squares.mean() - risk) <= bernstein_radius(largest * risk, largest, N, ALPHA)
    bias = np.abs(decoded.mean(0) - target).max()
    assert bias <= bernstein_radius(risk, math.sqrt(largest), N, ALPHA / np.size(target))


def test_the_loss_of_a_series_density_is_that_of_its_terms_and_the_tail():
    """The integral of (f_hat - f)^2, by the midpoint rule: with the risk of the terms it makes the risk of the density."""
    estimate = SeriesDensity(4.0, n_terms=4).run(linear_draw(np.random.default_rng(1), 500), rng=1)
    grid, theta = (np.arange(10**5) + 0.5) / 10**5, linear_coefficients(4)
    tail = 1 / 12 - theta @ theta  # of the integral of (x - 1/2)^2
    loss = np.mean((estimate(grid) - linear(grid)) ** 2)
    assert loss == pytest.approx(np.sum((estimate.value - theta) ** 2) + tail, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("k", [2, 30])
def test_unary_reports_have_half_the_variance_of_laplace_noise(epsilon, k):
    """8 / a^2 against e^{a/2} / (e^{a/2} - 1)^2 = 1 / (4 sinh^2(a / 4)): the ratio is 2 (sinh(a / 4) / (a / 4))^2."""
    laplace, unary = (HistogramDensity(epsilon, bins=k, noise=noise).mechanism for noise in ("laplace", "unary"))
    assert laplace.report.noise_variance == pytest.approx(8 / epsilon**2, rel=1e-6)
    ratio = laplace.report.noise_variance / unary.debiasing.variance(0.0)
    assert ratio == pytest.approx(2 * (math.sinh(epsilon / 4) / (epsilon / 4)) ** 2, rel=1e-6)


# Truncated means ------------------------------------------------------------------------------------------------------

NOISES = ["laplace", "sign-bit"]


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_mean_squared_error_is_sampling_noise_and_squared_bias(noise, epsilon):
    values, level, n = np.array([-5.0, -1.0, 0.0, 0.5, 1.5, 9.0]), 2.0, 50
    problem = TruncatedMean(epsilon, 2, 10.0, n, level, noise)
    error, clipped = problem.mean_squared_error(values), np.clip(values, -level, level)
    assert error.sampling == pytest.approx(clipped.var() / n, rel=1e-12)
    exact = {
        "laplace": 8 * level**2 / epsilon**2,
        "sign-bit": (level * h(epsilon)) ** 2 - np.mean(clipped**2),
    }[noise]
    assert error.noise == pytest.approx(exact / n, rel=1e-5)  # the grid adds to the noise
    assert error.squared_bias == pytest.approx((values.mean() - clipped.mean()) ** 2, rel=1e-12)
    assert error.total == error.sampling + error.noise + error.squared_bias


@pytest.mark.parametrize(
    "moment, level, values",
    [
        (2, 1.0, [2, 0, 0, 0]),  # x0 = k T / (k - 1), of mass (r / x0)^k
        (2, 2.0, [4] + [0] * 15),
        (3, 1.0, [1.5] * 8 + [0] * 19),
        (1.5, 1 / 3 * 4, [4] + [0] * 7),
        (2, 1.0, [-2, 0, 0, 0]),
    ],
)
def test_the_bound_on_the_bias_is_attained(moment, level, values):
    problem = TruncatedMean(1.0, moment, 1.0, 100, level)
    assert np.mean(np.abs(values) ** moment) == pytest.approx(1, rel=1e-12)
    k = moment
    assert problem.bias_bound == pytest.approx((k - 1) ** (k - 1) / k**k * level ** (1 - k), rel=1e-12)
    assert problem.mean_squared_error(values).squared_bias == pytest.approx(problem.bias_bound**2, rel=1e-12)


@given(
    st.lists(st.floats(-100, 100), min_size=1, max_size=20).filter(lambda v: max(map(abs, v)) > 1e-3),
    st.floats(1.01, 12),
    st.floats(0.01, 100),
    st.sampled_from(["paper", "opt", 0.5, 30.0]),
    st.sampled_from(NOISES),
    st.integers(1, 10**6),
)
def test_no_law_with_the_moment_exceeds_the_bounds(values, moment, radius, rule, noise, n):
    """Any population, scaled to E|X|^k = r^k."""
    x = np.array(values)
    x *= radius / np.mean(np.abs(x / np.abs(x).max()) ** moment) ** (1 / moment) / np.abs(x).max()
    problem = TruncatedMean(1.0, moment, radius, n, rule, noise)
    error, bound = problem.mean_squared_error(x), problem.mean_squared_error()
    assert math.sqrt(error.squared_bias) <= problem.bias_bound * (1 + 1e-9) + 1e-12 * radius
    assert error.total <= bound.total * (1 + 1e-6)  # noise on a grid depends on the place in this digit


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("moment", [1.2, 2, 3, 10])
def test_levels(moment, noise):
    """ "paper": r (n a^2)^(1/(2k)). "opt": noise and squared bias, of any other level, are no smaller."""
    n, epsilon, radius = 10_000, 0.5, 3.0
    assert TruncatedMean(epsilon, moment, radius, n, "paper", noise).level == pytest.approx(
        radius * (n * epsilon**2) ** (1 / (2 * moment))
    )

    def cost(rule):
        problem = TruncatedMean(epsilon, moment, radius, n, rule, noise)
        return float(problem.mechanism.variance(0.0)) / n + problem.bias_bound**2

    level = TruncatedMean(epsilon, moment, radius, n, "opt", noise).level
    assert all(cost("opt") <= cost(level * factor) * (1 + 1e-6) for factor in (0.5, 0.9, 0.97, 1.03, 1.1, 2.0))
    assert cost("opt") <= cost("paper")


def test_known_ends_leave_out_what_is_impossible():
    both = TruncatedMean(1.0, 2, 10.0, 100, 5.0, lower=0.0, upper=3.0)
    assert both.mechanism.domain.range == (0.0, 3.0)
    assert both.bias_bound == 0
    one = TruncatedMean(1.0, 2, 10.0, 100, 5.0, lower=0.0)
    assert one.mechanism.domain.range == (0.0, 5.0)
    assert one.bias_bound > 0


# Intervals ------------------------------------------------------------------------------------------------------------


@given(st.floats(0, 50), st.floats(1e-3, 100), st.floats(0.01, 0.999999))
def test_a_known_bias_widens_the_interval_to_exact_coverage(bias, stderr, confidence):
    """For a true bias of the bound on either side the interval covers with exactly the confidence, for a smaller one more."""
    value = np.zeros(3)
    low, high = Normal(bias * stderr).bounds(value, np.full(3, stderr), (1 - confidence) / 2)
    np.testing.assert_array_equal(low, -high)
    margin = high[0] / stderr

    def covers(b):
        return stats.norm.sf(margin - b) + stats.norm.sf(margin + b)

    assert covers(bias) == pytest.approx(1 - confidence, rel=1e-6)
    assert all(covers(bias * share) <= (1 - confidence) * (1 + 1e-6) for share in (0, 0.3, 0.9))


@pytest.mark.parametrize("confidence, quantile", [(0.9, 5.323), (0.95, 6.747), (0.99, 10.017)])
def test_quantiles_of_random_scaling(confidence, quantile):
    """Tables have three decimals; by simulation of Brownian motion to 2 points, Bernstein."""
    exact = random_scaling_quantile((1 - confidence) / 2)
    assert exact == pytest.approx(quantile, abs=1e-3)
    low, high = RandomScaling().bounds(np.array(3.0), np.array(2.0), (1 - confidence) / 2)
    assert (low + high) / 2 == pytest.approx(3.0)
    assert (high - low) / 2 == pytest.approx(2.0 * exact / math.sqrt(6))
    steps, runs = 300, 50_000
    rng, outside = np.random.default_rng(SEED), 0
    for _ in range(10):
        walk = np.cumsum(rng.standard_normal((runs // 10, steps), np.float32), axis=1)
        bridge = walk - np.outer(walk[:, -1], np.arange(1, steps + 1) / steps)
        outside += np.sum(np.abs(walk[:, -1]) > exact * np.sqrt(np.mean(bridge**2, axis=1)))
    assert abs(outside / runs - (1 - confidence)) <= bernstein_radius(0.1, 1, runs, ALPHA) + 2 / steps


def test_the_standard_error_of_random_scaling_is_its_definition():
    """6 V / n with V = (1 / n^2) sum of s^2 (mean of the first s - mean)^2."""
    n = 37
    x = np.random.default_rng(1).normal(5, 1, (n, 2))
    sums, s = np.cumsum(x, axis=0), np.arange(1, n + 1)[:, np.newaxis]
    direct = np.sum(s**2 * (sums / s - sums[-1] / n) ** 2, axis=0) / n**2
    given_sums = random_scaling(n, sums[-1], (sums**2).sum(0), (s * sums).sum(0))
    np.testing.assert_allclose(given_sums**2, 6 * direct / n, rtol=1e-9)


SUFFICIENT = {
    "truncated": (TruncatedMean(1.0, 2, 1.0, 100).run, 100),
    "l2": (lambda x: VectorMean(1, 1.0).run(x[:, np.newaxis]), 100),
    "series": (SeriesDensity(1.0, n_terms=1).run, 100),
    "histogram laplace": (HistogramDensity(1.0, bins=2, noise="laplace").run, 100),
    "median": (lambda x: MedianSGD(3.0, 0, 1).run(x), MedianSGD(3.0, 0, 1).sufficient_n),
    "histogram": (HistogramDensity(1.0, bins=2).run, 1),
    "sparse": (lambda x: SparseMean(1, 1.0, 1.0).run(x[:, np.newaxis]), 1),
    "frequencies": (lambda x: Frequencies(2, 1.0).run(x.astype(int)), 1),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("run, least", SUFFICIENT.values(), ids=SUFFICIENT)
def test_fewer_reports_than_intervals_need_are_a_warning(run, least):
    assert run(np.zeros(least)).n == least
    if least > 1:
        with pytest.warns(SmallSampleWarning, match=rf"^n = {least - 1} is too small .* at least {least}$"):
            run(np.zeros(least - 1))


@pytest.mark.parametrize("mode", [{}, {"n": 300}])
def test_the_median_is_the_mean_of_the_later_positions_and_its_interval_a_parabola_through_the_answers(mode):
    """Left out: the largest power of two up to a quarter of all."""
    server, rng, positions, bits = MedianSGD(1.0, -1.0, 1.0, **mode), np.random.default_rng(1), [], []
    for _ in range(300):
        query = server.query()
        positions.append(server.position)
        report = query.privatize(rng.normal(), rng=rng)
        bits.append(int(np.ravel(report)[0]))
        server.update(query, report)
    kept, answers = np.array(positions[64:]), np.array(bits[64:])
    estimate = server.estimate()
    assert estimate.value == pytest.approx(kept.mean(), rel=1e-9, abs=1e-12)
    v = (kept - kept.mean()) / kept.std()
    design = np.stack([v**0, v, v**2], axis=1)
    crossing = estimate.rule
    np.testing.assert_allclose(crossing.coefficients, np.linalg.lstsq(design, answers, rcond=None)[0], atol=1e-9)
    np.testing.assert_allclose(crossing.inverse, np.linalg.inv(design.T @ design) / 4, rtol=1e-8, atol=1e-12)
    assert crossing.level == pytest.approx(0.5)
    low, high = estimate.interval()
    for end, limit in ((low, -1.0), (high, 1.0)):
        if end not in (limit, estimate.value):
            excess, error = crossing.excess(np.array((end - crossing.centre) / crossing.scale))
            assert abs(excess) == pytest.approx(stats.norm.isf(0.025) * error, rel=1e-6)


def test_answers_that_cannot_tell_give_no_limits():
    few = MedianSGD(1.0, 0.0, 1.0).run([0.5] * 5, rng=1)
    assert few.stderr == math.inf
    assert few.interval() == (-math.inf, math.inf)


# Rates ----------------------------------------------------------------------------------------------------------------


def slope(n, risk):
    return np.polyfit(np.log(n), np.log(risk), 1)[0]


RATES = {
    "truncated 2": (-1 / 2, lambda n: TruncatedMean(0.5, 2, 1.0, n, "opt").mean_squared_error().total),
    "truncated 4": (-3 / 4, lambda n: TruncatedMean(0.5, 4, 1.0, n, "opt").mean_squared_error().total),
    "truncated 1.5": (-1 / 3, lambda n: TruncatedMean(0.5, 1.5, 1.0, n).mean_squared_error().total),
    "series 1": (-2 / 4, lambda n: series_bound(n, 1.0)),
    "series 2": (-4 / 6, lambda n: series_bound(n, 2.0)),
    "histogram": (-1 / 2, lambda n: histogram_bound(n, "unary")),
    "histogram laplace": (-1 / 2, lambda n: histogram_bound(n, "laplace")),
}


def series_bound(n, beta, epsilon=1.0, radius=1.0, terms=None):
    problem = SeriesDensity(epsilon, n, beta, radius)
    k = problem.terms if terms is None else terms
    return k * cube_bound(k, epsilon, math.sqrt(2)) ** 2 / n + radius**2 * (k + 1) ** (-2 * beta)


def histogram_bound(n, noise, epsilon=1.0, slope=1.0, bins=None):
    bins = HistogramDensity(epsilon, n, noise=noise, lipschitz=slope).n_bins if bins is None else bins
    e = math.exp(epsilon / 2)
    variance = e / (e - 1) ** 2 if noise == "unary" else 8 / epsilon**2
    return slope**2 / (12 * bins**2) + bins**2 * variance / n


@pytest.mark.parametrize("rate, risk", RATES.values(), ids=RATES)
def test_rates(rate, risk):
    """Slopes of the exact bounds over four decades; rounding of the number of terms moves single points."""
    sizes = np.geomspace(1e7, 1e11, 25).astype(int)
    assert slope(sizes, [risk(int(n)) for n in sizes]) == pytest.approx(rate, abs=0.05)


@pytest.mark.parametrize("n", [100, 10_000, 10**6, 10**9])
@pytest.mark.parametrize("epsilon, beta, radius", [(1.0, 2.0, 1.0), (0.3, 1.0, 5.0), (4.0, 0.6, 0.5), (2.0, 6.0, 20.0)])
def test_numbers_of_terms_and_bins_have_the_smallest_bound(n, epsilon, beta, radius):
    terms = SeriesDensity(epsilon, n, beta, radius).terms
    assert terms == min(range(1, 3 * terms + 50), key=lambda k: series_bound(n, beta, epsilon, radius, k))
    for noise in ("unary", "laplace"):
        bins = HistogramDensity(epsilon, n, noise=noise, lipschitz=radius).n_bins
        for other in (bins - 1, bins + 1):
            if other >= 2:  # two bins at least; the formula is rounded, not the bound
                assert histogram_bound(n, noise, epsilon, radius) <= 1.2 * histogram_bound(
                    n, noise, epsilon, radius, other
                )


@pytest.mark.parametrize("mode, factor", [("fixed", 2 / 3), ("any", math.sqrt(2))])
@pytest.mark.parametrize("n", [100, 1600])
def test_the_gap_of_the_median_is_within_its_bound(mode, factor, n):
    """Records at the ends, the upper with chance 0.55: of the quantile loss the gap of a position t is (1 - t) / 20, in
    [0, 0.1], so Bernstein's inequality with variance 0.1 bound. factor (upper - lower) G / sqrt n. The bound falls by four
    from n = 100 to n = 1600."""
    rng, runs, epsilon = np.random.default_rng(SEED), 1000, 1.0
    bound = factor * 2 * (h(epsilon) / 2) / math.sqrt(n)
    gaps = []
    for _ in range(runs):
        server = MedianSGD(epsilon, -1.0, 1.0, n=n if mode == "fixed" else None)
        gaps.append((1 - server.run(np.where(rng.random(n) < 0.55, 1.0, -1.0), rng).value) / 20)
    assert np.mean(gaps) <= bound + bernstein_radius(0.1 * bound, 0.1, runs, ALPHA)


def test_the_naive_median_is_biased_for_a_skewed_law_and_the_other_is_not():
    x = np.exp(np.random.default_rng(1).normal(size=200_000))
    naive, sgd = estimation.naive_median(x, 1.0, 0, 16, rng=1), estimation.median(x, 1.0, 0, 16, rng=1)
    limit = np.median(x + np.random.default_rng(2).laplace(0, 16, len(x)))
    assert naive.interval(1 - ALPHA)[0] > 1.05
    assert abs(naive.value - limit) < 8 * math.hypot(naive.stderr, naive.stderr)
    low, high = sgd.interval(1 - ALPHA)
    assert low < 1 < high
    assert high - low < 0.3


# The simplex ----------------------------------------------------------------------------------------------------------

NUMBERS = st.lists(st.floats(-5, 5), min_size=1, max_size=12).map(np.array)


@given(NUMBERS, st.integers(0, 2**32))
def test_the_projection_is_a_distribution_nearer_to_every_distribution(v, seed):
    p = project_simplex(v)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(project_simplex(p), p, atol=1e-12)
    for q in np.random.default_rng(seed).dirichlet(np.full(len(v), 0.3), 20):
        assert np.linalg.norm(p - q) <= np.linalg.norm(v - q) + 1e-12
        assert (v - p) @ (q - p) <= 1e-10  # the variational inequality: p is the nearest
    np.testing.assert_array_equal(project_simplex(v[::-1]), p[::-1])


@given(st.lists(st.floats(-2, 2), min_size=2, max_size=5).map(np.array))
def test_the_projection_is_the_solution_of_the_quadratic_program(v):
    """Brute force: for every support, the point where the constraint is all that binds."""
    points = []
    for mask in range(1, 2 ** len(v)):
        support = np.array([mask >> j & 1 for j in range(len(v))], bool)
        p = np.where(support, v - (v[support].sum() - 1) / support.sum(), 0)
        if p.min() >= -1e-12:
            points.append(p)
    best = min(points, key=lambda p: np.sum((p - v) ** 2))
    np.testing.assert_allclose(project_simplex(v), best, atol=1e-9)


def test_rows_are_projected_alone():
    v = np.random.default_rng(1).normal(size=(2, 5, 3))
    np.testing.assert_array_equal(project_simplex(v), [[project_simplex(row) for row in block] for block in v])
    problem = Frequencies(5, 0.2, project=True)
    estimate = problem.run(np.zeros(40, int), rng=1)
    np.testing.assert_array_equal(estimate.value, estimate.projected)
    np.testing.assert_array_equal(estimate.value, project_simplex(estimate.raw))
    assert estimate.raw.min() < 0


# Vectors --------------------------------------------------------------------------------------------------------------


def test_the_shrunken_mean_is_that_of_james_and_stein():
    """max(0, 1 - B^2 / (n |m|^2)) m for the ball."""
    dim, epsilon = 30, 1.0
    for n in (200, 20_000):
        estimate = VectorMean(dim, epsilon).run(np.tile(np.eye(dim)[0], (n, 1)), rng=1)
        noise = (h(epsilon) * constant(dim)) ** 2 / n
        factor = max(0.0, 1 - noise / (estimate.value @ estimate.value))
        np.testing.assert_allclose(estimate.shrunken, factor * estimate.value, rtol=1e-6, atol=1e-12)
    box = VectorMean(2, 0.01, "linf", lower=[0, 10], upper=[1, 30]).run(np.full((100, 2), [0.5, 20.0]), rng=3)
    away = (box.value - [0.5, 20]) / [0.5, 10]
    factor = max(0.0, 1 - 2 * cube_bound(2, 0.01) ** 2 / 100 / (away @ away))
    np.testing.assert_allclose(box.shrunken, [0.5, 20] + factor * away * [0.5, 10], rtol=1e-6)


def test_a_region_is_around_the_value():
    estimate = VectorMean(3, 1.0).run(np.zeros((1000, 3)), rng=1)
    region = estimate.region()
    assert region.contains(estimate.value)
    assert_same(region.contains(np.stack([estimate.value, estimate.value + 100])), [True, False])
    np.testing.assert_allclose(region.radii, math.sqrt(stats.chi2.isf(0.05, 3)) * estimate.stderr, rtol=1e-6)
    assert not region.contains(estimate.value + 1.001 * region.radii * [1, 0, 0])
    smaller = estimate.region(0.5)
    assert (smaller.radii < region.radii).all()


def test_a_sparse_mean_is_thresholded():
    """Of 60 coordinates two are not zero. On the event of Hoeffding's inequality, of chance 1 - ALPHA, the support is within
    the true one and the squared error at most 4 s penalty^2."""
    dim, n = 60, 20_000
    x = np.zeros((n, dim))
    x[:, [3, 40]] = 2, -1.5
    bound = cube_bound(dim, 2.0, 2.0)
    penalty = bound * math.sqrt(2 * math.log(2 * dim / ALPHA) / n)
    estimate = SparseMean(dim, 2.0, 2.0, penalty).run(x, rng=1)
    np.testing.assert_allclose(estimate.value, np.sign(estimate.raw) * np.maximum(np.abs(estimate.raw) - penalty, 0))
    assert set(estimate.support) <= {3, 40}
    assert np.sum((estimate.value - x[0]) ** 2) <= 4 * 2 * penalty**2
    default = SparseMean(dim, 2.0, 2.0).run(x, rng=1)
    assert default.penalty == pytest.approx(bound * math.sqrt(2 * math.log(2 * dim * n) / n), rel=1e-6)
    np.testing.assert_array_equal(default.raw, estimate.raw)
    assert estimate.interval()[0].shape == (dim,)


# Densities ------------------------------------------------------------------------------------------------------------

DENSITIES = {
    "series even": SeriesDensity(2.0, n_terms=6, lower=-1.0, upper=3.0),
    "series odd": SeriesDensity(2.0, n_terms=5),
    "series 1": SeriesDensity(2.0, n_terms=1, lower=-1.0),
    "histogram": HistogramDensity(2.0, bins=7, lower=-1.0, upper=3.0),
    "histogram laplace": HistogramDensity(2.0, bins=2, noise="laplace"),
}


@pytest.fixture(params=DENSITIES.values(), ids=DENSITIES)
def density(request):
    """An estimate from numbers near the lower end."""
    lower, upper = request.param.domain.range
    x = lower + (upper - lower) * np.random.default_rng(1).beta(2, 5, 3000)
    return request.param.run(x, rng=2)


def by_hand(density, x):
    """Sums of cosines and sines, or heights of bins."""
    u = (x - density.lower) / (density.upper - density.lower)
    width, value = density.upper - density.lower, np.asarray(density.value)
    if not hasattr(density, "scale"):
        heights = value * len(value) / width
        return heights[np.minimum((u * len(value)).astype(int), len(value) - 1)]
    total = np.ones_like(u)
    for j, coefficient in enumerate(value, 1):
        wave = np.cos if j % 2 else np.sin
        total += coefficient * math.sqrt(2) * wave(2 * np.pi * ((j + 1) // 2) * u)
    return total / width


def test_a_density_is_its_sum_at_a_million_points(density):
    x = np.random.default_rng(3).uniform(density.lower, density.upper, 10**6)
    np.testing.assert_allclose(
        density(x), by_hand(density, x), rtol=0, atol=1e-12 * np.abs(density.value).sum() + 1e-12
    )


def test_a_density_is_a_function_on_points_of_any_shape(density):
    x = np.linspace(density.lower, density.upper, 12)
    values = density(x)
    assert_same(density(x.reshape(3, 4)), values.reshape(3, 4))
    assert_same(density(list(x[::-1])), values[::-1].copy())
    assert type(density(float(x[3]))) is float
    assert density(float(x[3])) == values[3]
    assert_same(density(np.array([])), np.array([]))
    outside = [density.lower - 1e-9, density.upper + 1e-9, math.inf, -math.inf, math.nan]
    for curve in (density, density.project(), *(lambda x, i=i: density.band(x)[i] for i in (0, 1))):
        assert not np.asarray(curve(outside)).any()


def integral(density, curve):
    """By the midpoint rule on 2^15 places: exact for polynomials and bins up to edges."""
    step = (density.upper - density.lower) / 2**15
    return np.sum(curve(density.lower + step * (np.arange(2**15) + 0.5))) * step


def test_integrals(density):
    if hasattr(density, "scale"):
        assert integral(density, density) == pytest.approx(1, abs=1e-9)
    projected = density.project()
    assert integral(density, projected) == pytest.approx(1, abs=1e-3)
    assert projected(np.linspace(density.lower, density.upper, 999)).min() >= 0
    width = density.upper - density.lower

    def distance(curve):
        law = stats.beta(2, 5)
        return integral(density, lambda x: (curve(x) - law.pdf((x - density.lower) / width) / width) ** 2)

    assert distance(projected) <= distance(density) * (1 + 1e-3)


def test_bands(density):
    """The ends of a series' pointwise band are heights f with (estimate - f)^2 = z^2 variance(f), the exact variance
    (B^2 sum of squares - (f - 1)^2) / n; those of bins are the intervals of the shares."""
    x = np.linspace(density.lower, density.upper, 50)
    width, size = density.upper - density.lower, len(density.value)
    low, high = density.band(x, 0.9)
    if hasattr(density, "scale"):
        u, j = 2 * np.pi * (x - density.lower) / width, np.arange(1, size + 1)[:, np.newaxis]
        squares = 2 * np.where(j % 2, np.cos((j + 1) // 2 * u), np.sin((j + 1) // 2 * u)) ** 2
        for end in (low, high):
            variance = (density.scale**2 * squares.sum(0) - (end * width - 1) ** 2) / density.n
            expected = stats.norm.isf(0.05) ** 2 * variance
            np.testing.assert_allclose(((density(x) - end) * width) ** 2, expected, rtol=1e-6, atol=1e-9)
    else:
        which = np.minimum((x - density.lower) / width * size, size - 1).astype(int)
        for band, limit in zip((low, high), density.interval(0.9), strict=True):
            np.testing.assert_allclose(band, limit[which] * size / width, rtol=1e-9)
    assert (low <= density(x) + 1e-9).all()
    assert (density(x) <= high + 1e-9).all()
    wide_low, wide_high = density.band(x, 0.9, simultaneous=True)
    assert (wide_low <= low + 1e-9).all()
    assert (high <= wide_high + 1e-9).all()


def test_plots(density):
    figure = pytest.importorskip("matplotlib.figure")
    axes = density.plot()
    assert axes.get_ylabel() == "density"
    assert axes.get_xlim() == (density.lower, density.upper)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["95 %, simultaneous", "private estimate, n = 3,000"]
    mine = figure.Figure().add_subplot()
    assert density.plot(mine, confidence=0.5, simultaneous=False) is mine
    assert "50 %, pointwise" in [text.get_text() for text in mine.get_legend().get_texts()]
    mine.figure.canvas.draw()


@pytest.mark.parametrize("noise", ["unary", "laplace"])
def test_bins_are_those_of_numpy(noise):
    problem = HistogramDensity(1.0, bins=8, lower=-1.0, upper=3.0, noise=noise)
    x = np.concatenate([np.random.default_rng(1).uniform(-1, 3, 1000), np.linspace(-1, 3, 9)])
    for dtype in (np.float32, np.float64):
        numbers = x.astype(dtype)
        counts = np.bincount(problem._encode(numbers), minlength=8)
        np.testing.assert_array_equal(counts, np.histogram(numbers, 8, (-1, 3))[0])


# Labels ---------------------------------------------------------------------------------------------------------------

WORDS = ("never", "sometimes", "often")
ANSWERS = [WORDS[i] for i in np.random.default_rng(1).integers(0, 3, 500)]

CONTAINERS = {
    "list": lambda v: v,
    "tuple": tuple,
    "numpy": np.array,
    "object": lambda v: np.array(v, object),
    "series": pd.Series,
    "series, another index": lambda v: pd.Series(v, index=range(len(v), 0, -1)),
    "series of objects": lambda v: pd.Series(v, dtype=object),
    "index": pd.Index,
    "categorical": pd.Categorical,
    "categorical series": lambda v: pd.Series(v, dtype="category"),
    "categories in another order": lambda v: pd.Categorical(v, ["unused", *sorted({*v} - {None})[::-1]], ordered=True),
    "arrow": pa.array,
    "large arrow": lambda v: pa.array(v, pa.large_string()),
    "chunked": lambda v: pa.chunked_array([v[:100], [], v[100:]]),
    "dictionary": lambda v: pa.array(v).dictionary_encode(),
    "chunked dictionary": lambda v: pa.chunked_array(
        [pa.array(v[:100]).dictionary_encode(), pa.array(v[100:]).dictionary_encode()]
    ),
}


@pytest.fixture(params=CONTAINERS.values(), ids=CONTAINERS)
def container(request):
    return request.param


def test_labels_in_any_container_are_their_codes(container):
    codes = [WORDS.index(word) for word in ANSWERS]
    expected = Frequencies(3, 1.0).run(codes, rng=1)
    for declared in (WORDS, list(WORDS), np.array(WORDS)):
        estimate = Frequencies(declared, 1.0).run(container(ANSWERS), rng=1)
        assert_same_estimate(estimate, expected)
        assert estimate.categories == WORDS
    assert estimate.to_dict()["categories"] == list(WORDS)


@pytest.mark.parametrize("wrong, count", [("seldom", 1), ("Often", 1), (None, 1)])
def test_answers_that_are_missing_or_undeclared_are_refused(container, wrong, count):
    answers = list(ANSWERS)
    answers[37] = wrong
    if wrong == "seldom":
        answers[400], count = "rarely", 2
    message = rf"^x must be among the k=3 declared categories; index 37 is outside \({count} of 500 are\)$"
    for call in ("run", "privatize"):
        with pytest.raises(ValueError, match=message):
            getattr(Frequencies(WORDS, 1.0), call)(container(answers))


@pytest.mark.parametrize(
    "labels, values",
    [
        ((10, 20), np.array([10, 20, 20], np.uint8)),
        ((10, 20), pa.array([10, 20, 20], pa.int8())),
        ((10, 20), pd.Series([10, 20, 20], dtype="Int64")),
        ((1.5, 2.5), np.array([1.5, 2.5, 2.5], np.float32)),
        ((False, True), np.array([False, True, True])),
        ((False, True), pa.array([False, True, True])),
        ((b"x", b"y"), np.array([b"x", b"y", b"y"])),
        ((None, "some"), [None, "some", "some"]),
    ],
)
def test_labels_of_other_kinds(labels, values):
    np.testing.assert_array_equal(Frequencies(labels, 1.0).domain.records(values)[0], [0, 1, 1])


def test_labels_may_be_tuples():
    problem = Frequencies([("a", 1), ("b", 2)], 1.0)
    np.testing.assert_array_equal(problem.domain.records([("a", 1), ("b", 2), ("b", 2)])[0], [0, 1, 1])


def test_one_person_answers_one_word():
    problem = Frequencies(WORDS, 1.0)
    for word in ("often", np.str_("often")):
        report = problem.privatize(word, rng=1)
        assert np.shape(report) == ()
        assert_same(report, Frequencies(3, 1.0).privatize(2, rng=1))
    assert problem.estimate(report).n == 1


# Client and server ----------------------------------------------------------------------------------------------------


def numbers(rng, n):
    return rng.normal(size=n)


def uniform(rng, n):
    return rng.random(n)


def words(rng, n):
    return np.array(WORDS)[rng.integers(0, 3, n)]


def rows(dim, norm="l2"):
    def draw(rng, n):
        x = rng.normal(size=(n, dim))
        return x / np.maximum(1, np.linalg.norm(x, np.inf if norm == "linf" else 2, axis=1, keepdims=True)) * 0.999

    return draw


PROBLEMS = {
    "truncated": (TruncatedMean(1.0, 2, 1.0, 900), numbers),
    "truncated sign-bit": (TruncatedMean(1.0, 2, 1.0, 900, "opt", "sign-bit", lower=-0.5), numbers),
    "l2": (VectorMean(3, 1.0), rows(3)),
    "linf": (VectorMean(9, 1.0, "linf"), rows(9, "linf")),
    "box": (VectorMean(2, 1.0, "linf", lower=[-1, -2], upper=[1, 3]), rows(2, "linf")),
    "sparse": (SparseMean(20, 1.0, 1.0), rows(20, "linf")),
    "k-ary": (Frequencies(5, 1.0, "k-ary"), lambda rng, n: rng.integers(0, 5, n)),
    "unary": (Frequencies(40, 1.0), lambda rng, n: rng.integers(0, 40, n)),
    "labels": (Frequencies(WORDS, 1.0), words),
    "series": (SeriesDensity(1.0, n_terms=5, lower=-1.0, upper=3.0), lambda rng, n: rng.uniform(-1, 3, n)),
    "histogram": (HistogramDensity(1.0, bins=12), uniform),
    "histogram laplace": (HistogramDensity(1.0, bins=5, noise="laplace"), uniform),
}


@pytest.fixture(params=PROBLEMS.values(), ids=PROBLEMS)
def problem_and_records(request):
    problem, draw = request.param
    return problem, draw(np.random.default_rng(5), 20_011)


def dtypes(x):
    if x.dtype.kind == "f":
        return [x, x.astype(np.float32), x.astype(">f8"), x[::-1][::-1], np.asfortranarray(x)]
    return [x, x.astype(np.int16), x.astype(np.uint8)] if x.dtype.kind == "i" else [x, x.tolist()]


def test_reports_estimate_what_one_call_does(problem_and_records, threads, monkeypatch):
    """Bit for bit, whatever the pieces are in which records are read; twice, to see that a problem has no state."""
    problem, x = problem_and_records
    whole = problem.privatize(x, rng=SEED)
    monkeypatch.setattr(_problem, "PIECE_BYTES", 1 << 14)
    for records in dtypes(x):
        for _ in range(2):
            reports = problem.privatize(records, rng=SEED)
            assert_same_estimate(problem.estimate(reports), problem.run(records, rng=SEED))
    assert_same(problem.privatize(x, rng=SEED), whole)
    estimate = problem.run(x, rng=SEED)
    assert type(estimate) is type(problem.estimate(whole))
    assert estimate.guarantee == problem.mechanism.guarantee


def test_two_servers_merge(problem_and_records):
    problem, x = problem_and_records
    reports = problem.privatize(x, rng=1)
    first, second = problem.aggregator().update(reports[:7001]), problem.aggregator().update(reports[7001:])
    sent = ldp.Aggregator.from_bytes(second.to_bytes())
    merged = problem.estimate(first.merge(sent))
    assert merged.n == len(x)
    together = problem.estimate(reports)
    np.testing.assert_allclose(merged.value, together.value, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(merged.stderr, together.stderr, rtol=1e-9)
    if not isinstance(problem.mechanism, ldp.L2Ball):  # sums of floats depend on their order
        assert_same_estimate(merged, together)
    assert first.n == len(x)  # an aggregator can go on after an estimate
    assert problem.estimate(first.update(reports[:5])).n == len(x) + 5


def test_one_record_is_a_row_less(problem_and_records):
    problem, x = problem_and_records
    report = problem.privatize(x[0], rng=1)
    batch = problem.privatize(x[:1], rng=1)
    assert_same(report, batch[0])
    assert problem.estimate(report).n == 1
    assert_same_estimate(problem.run(x[0], rng=1), problem.run(x[:1], rng=1))


PROTOCOLS = {
    "median": lambda x: MedianSGD(1.0, -1, 1).run(x[:, 0], 1),
    "descent": lambda x: GradientDescent("linear", 2, 1.0, residual=1.0).run(x[:, :2], x[:, 2], 1),
}


def memory_map(path, x):
    path = path / f"{len(x)}.npy"
    np.save(path, x)
    return np.load(path, mmap_mode="r")


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_maps_are_records(problem_and_records, tmp_path, dtype):
    problem, x = problem_and_records
    x = x.astype(dtype) if x.dtype.kind == "f" else x
    assert_same_estimate(problem.run(memory_map(tmp_path, x), rng=1), problem.run(x, rng=1))
    x = np.random.default_rng(1).uniform(-1, 1, (5000, 3)).astype(dtype)
    for protocol in PROTOCOLS.values():
        assert_same_estimate(protocol(memory_map(tmp_path, x)), protocol(x))


@pytest.mark.parametrize("name", [*(name for name in PROBLEMS if name != "labels"), *PROTOCOLS])
def test_memory_does_not_depend_on_n(name, tmp_path):
    """Peaks for n and 4 n differ by less than a tenth of what the records take; both are beyond one piece."""
    peaks = []
    for n in (1 << 18, 1 << 20) if name in PROBLEMS else (1 << 20, 1 << 22):
        problem, draw = PROBLEMS.get(name, (None, rows(3, "linf")))
        run = PROTOCOLS.get(name, lambda x, problem=problem: problem.run(x, rng=1))
        x = draw(np.random.default_rng(1), n)
        records = memory_map(tmp_path, x.astype(np.float32) if x.dtype.kind == "f" else x)
        del x
        tracemalloc.start()
        run(records)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < records.nbytes / 10


@pytest.mark.parametrize("name", ["truncated", "l2", "linf", "box", "sparse", "series", "histogram"])
def test_clip_projects_what_is_out_of_range(name):
    problem, draw = PROBLEMS[name]
    x = draw(np.random.default_rng(5), 50)
    x[3], x[7] = 1e6, np.nan
    if name == "truncated":
        x[3] = np.inf
    with pytest.raises(ValueError, match=r"index [37] is outside \([12] of 50 are\)$"):
        problem.run(x)
    reports = problem.privatize(x, rng=1, clip=True)
    assert_same_estimate(problem.estimate(reports), problem.run(x, rng=1, clip=True))
    x[3], x[7] = draw(np.random.default_rng(5), 50)[[3, 7]]
    others = np.delete(np.arange(50), [3, 7])
    assert_same(problem.privatize(x, rng=1)[others], reports[others])


VALUES = {name: problem for name, (problem, _) in PROBLEMS.items()} | {
    "listed": Frequencies(list(WORDS), 1.0),
    "terms from n": SeriesDensity(1.0, 100),
    "bins from n": HistogramDensity(1.0, 100),
}


@pytest.mark.parametrize("problem", VALUES.values(), ids=VALUES)
def test_problems_are_values(problem):
    again = eval(repr(problem), vars(estimation))
    assert again == replace(problem) == pickle.loads(pickle.dumps(problem)) == problem
    assert hash(again) == hash(problem)
    assert again.mechanism == problem.mechanism


SHORTCUTS = {
    "truncated_mean": ({"epsilon": 1.0, "moment": 2, "radius": 1.0}, TruncatedMean(1.0, 2, 1.0, 300), numbers),
    "vector_mean": ({"epsilon": 1.0, "norm": "linf", "radius": 1.0}, VectorMean(4, 1.0, "linf", 1.0), rows(4, "linf")),
    "sparse_mean": ({"epsilon": 1.0, "radius": 1.0}, SparseMean(4, 1.0, 1.0), rows(4, "linf")),
    "frequencies": ({"k": WORDS, "epsilon": 1.0, "mechanism": "k-ary"}, Frequencies(WORDS, 1.0, "k-ary"), words),
    "series_density": ({"epsilon": 1.0, "smoothness": 1.0}, SeriesDensity(1.0, 300, 1.0), uniform),
    "histogram_density": ({"epsilon": 1.0, "lipschitz": 9.0}, HistogramDensity(1.0, 300, lipschitz=9.0), uniform),
    "median": ({"epsilon": 1.0, "lower": -1, "upper": 1}, MedianSGD(1.0, -1, 1, n=300), numbers),
    "quantile": (
        {"q": 0.1, "epsilon": 1.0, "lower": -1, "upper": 1},
        MedianSGD(1.0, -1, 1, quantile=0.1, n=300),
        numbers,
    ),
}


@pytest.mark.parametrize("name", SHORTCUTS)
def test_one_call_is_the_problem_for_the_length_of_the_array(name):
    arguments, problem, draw = SHORTCUTS[name]
    x = draw(np.random.default_rng(5), 300)
    assert_same_estimate(getattr(estimation, name)(x, **arguments, rng=3), problem.run(x, rng=3))


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_plug_in_covariances_are_their_formula(norm):
    """B^2 / d H^-2 in the l2 norm and B^2 H^-2 in the other, whatever the data are, over the 42 of 50 positions that are
    averaged; the intercept's coefficient is that of one, not of its column."""
    x, y = np.random.default_rng(1).uniform(-0.5, 0.5, (50, 2)), np.zeros(50)
    root = np.random.default_rng(2).normal(size=(3, 3))
    hessian = root @ root.T + np.eye(3)
    inverse = np.linalg.inv(hessian)
    noise = (h(2) * constant(3) * math.hypot(1, 2)) ** 2 / 3 if norm == "l2" else cube_bound(3, 2, 2.0) ** 2
    model = GradientDescent("logistic", 2, 2.0, norm=norm, column=2.0)
    model.run(x, y, 1)
    expected = inverse @ np.diag([noise, noise, noise / 4]) @ inverse / 42
    np.testing.assert_allclose(model.plug_in_covariance(hessian), expected, rtol=1e-6)
