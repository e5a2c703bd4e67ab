"""Formulas of the experiments: theoretical curves, risks, and methods without privacy."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ldpfast as ldp
from experiments.demo import drug_use
from experiments.studies import (
    barber_duchi_table_1,
    central,
    chaudhuri_hsu_theorem_1,
    curves,
    djw_corollary_7,
    djw_figure_6,
    djw_figure_7,
    jkmw_protocols,
)

from ...support.statistics import assert_counts


def test_the_exact_risk_of_the_series_follows_its_formula():
    """The noise contributes k B^2 of the mechanism without clipping, and nothing for infinite n."""
    kept, left = np.split(djw_corollary_7.coefficients() ** 2, [4])
    scale = ldp.LinfBall(4, 1.0, radius=np.sqrt(2)).scale
    assert djw_corollary_7.exact_risk(1_000, 4) == pytest.approx(
        (4 * scale**2 - kept.sum()) / 1_000 + left.sum(), rel=1e-12
    )
    assert djw_corollary_7.exact_risk(10**15, 4) == pytest.approx(left.sum(), rel=1e-6)


def test_the_number_of_terms_follows_from_the_sample_size():
    assert [djw_corollary_7._terms(djw_corollary_7.size_for(terms)) for terms in djw_corollary_7.FULL_AIMED] == list(
        djw_corollary_7.FULL_AIMED
    )


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_theoretical_curves_are_the_exact_variances(epsilon):
    """By the formulas: the variance of a report given its record plus the variance of the records."""
    mean = curves.mean_of("made", np.array([0.0, 1.0, 1.0, 4.0]), 0.0, 5.0)
    reach = 2.5 / math.tanh(epsilon / 2)  # a decoded bit is this far from the middle, which the mean is 1 away from
    for method, variance in ((curves.NOISE, mean.people.var() + 2 * (5 / epsilon) ** 2), (curves.BITS, reach**2 - 1)):
        assert mean.methods[method].variance(epsilon) == pytest.approx(variance, rel=2e-6)  # rounding to the grid
    people = np.array([0, 0, 1, 2, 2, 2], np.uint8)
    shares = curves.shares_of("made", people, 3)
    spread = 1 - np.sum(shares.truth**2)
    half = math.exp(epsilon / 2)
    keep, other = math.exp(epsilon) / (math.exp(epsilon) + 2), 1 / (math.exp(epsilon) + 2)
    decoded = (3 * other * (1 - other) / (keep - other) + 1 - 2 * other) / (keep - other)
    k_ary = decoded - np.sum(shares.truth**2)
    for method, variance in ((curves.BITS, spread + 3 * half / (half - 1) ** 2), (curves.KARY, k_ary)):
        assert shares.methods[method].variance(epsilon) == pytest.approx(variance, rel=1e-6)
    histogram = curves.histogram_of("made", people.astype(np.float64), 0.0, 3.0, 3)
    np.testing.assert_array_equal(histogram.truth, shares.truth)
    unary = shares.methods[curves.BITS].variance(epsilon)
    assert histogram.methods[curves.BITS].variance(epsilon) == pytest.approx(unary, rel=1e-12)
    noisy = histogram.methods[curves.NOISE].variance(epsilon)
    assert noisy == pytest.approx(spread + 24 / epsilon**2, rel=2e-6)


def test_theoretical_errors_are_the_exact_variances():
    """By the formulas, of the histograms, of sign bits of the central studies, and of the demonstration."""
    by_bin = djw_corollary_7.density(djw_corollary_7.POINTS).reshape(djw_corollary_7.BINS, -1)
    bins, half = djw_corollary_7.BINS, math.exp(djw_corollary_7.EPSILON / 2)
    for method, noise in (
        (djw_corollary_7.LAPLACE, 8 / djw_corollary_7.EPSILON**2),
        (djw_corollary_7.UNARY, half / (half - 1) ** 2),
    ):
        spread = bins * (1 - np.sum((by_bin.mean(axis=1) / bins) ** 2)) + bins**2 * noise
        exact = by_bin.var(axis=1).mean() + spread / 1000
        assert djw_corollary_7.exact_histogram_risk(method, 1000) == pytest.approx(exact, rel=2e-6)
    people = central.Counts("made", np.array([1.0, 2.0, 2.0, 4.0]), 0.5, 5.5, "points")
    reach = 2.5 / math.tanh(0.35)
    expected = math.sqrt(2 / math.pi * (reach**2 - (2.25 - 3) ** 2) / 4)
    assert people.sign_bit_error(0.7) == pytest.approx(expected, rel=1e-6)
    found = drug_use.report_variances()
    assert found[drug_use.LAPLACE] == pytest.approx(2 * (27 / 0.5) ** 2, rel=1e-6)
    assert found[drug_use.CUBE] == pytest.approx(4 * found[drug_use.CENTERED], rel=1e-6)
    assert found[drug_use.CUBE] == pytest.approx(ldp.LinfBall(27, 0.5).scale ** 2, rel=1e-6)
    assert found[drug_use.ONE_EACH] == pytest.approx(27 / (4 * math.tanh(0.25) ** 2), rel=1e-6)


def test_steps_without_privacy_agree_with_a_simple_loop():
    samples = np.random.default_rng(1).exponential(size=(3, 50))
    found = djw_figure_6.plain_steps(samples, np.array([2.0, 8.0]), (10, 50))
    for u, upper in enumerate((2.0, 8.0)):
        for r in range(3):
            guess, guesses = upper / 2, []
            for i, x in enumerate(samples[r], start=1):
                guesses.append(guess)
                guess = min(max(guess + upper / np.sqrt(2 * i) * (1 if x >= guess else -1), 0), upper)
            assert found[0][u, r] == pytest.approx(np.mean(guesses[:10]), rel=1e-12)
            assert found[1][u, r] == pytest.approx(np.mean(guesses), rel=1e-12)


def test_the_gradient_vanishes_at_the_maximum_likelihood():
    """The likelihood has a quadratic penalty."""
    made = djw_figure_7.documents(3_000, 20, 0.1, 4, 6)
    theta = djw_figure_7.maximum_likelihood(made.x, made.y, np.zeros(20))
    gradient = made.x.T @ (1 / (1 + np.exp(-made.x @ theta)) - made.y) + 20 / djw_figure_7.LENGTH**2 * theta
    assert np.abs(gradient).max() < 0.05
    assert djw_figure_7.held_out_error(theta, made.x, made.y) < 0.45


def test_each_level_of_the_search_halves_the_range():
    """Widths are halved, shares sum to one, each pair of cells is inside the previous one, the last is near the mean."""
    found = jkmw_protocols.search(np.random.default_rng(1))
    np.testing.assert_allclose(found.widths, jkmw_protocols.SHOWN_SIGMA * 2.0 ** np.arange(len(found.kept))[::-1])
    np.testing.assert_allclose(found.shares.sum(axis=1), 1, rtol=1e-12)
    low = -2
    for kept in found.kept:
        assert low <= kept <= low + 2
        low = 2 * kept
    assert found.end >= jkmw_protocols.SHOWN_BOUND
    assert abs(found.found - jkmw_protocols.SHOWN_MEAN) < 2 * jkmw_protocols.SHOWN_SIGMA


@pytest.mark.parametrize("threshold", [0.5, 0.75, 2.0])
def test_the_worst_records_have_the_moment_and_the_largest_bias(threshold):
    """E|X|^k is 1, and the bias of truncation at T is the bound (k-1)^(k-1) / k^k T^(1-k) of `central.mean`.

    The number of far records has exact limits: an error of its probability of 0.8 percentage points is detected.
    """
    k, n = barber_duchi_table_1.MOMENT, 200_000
    x, expectation = barber_duchi_table_1.worst_records(n, threshold, np.random.default_rng(1))
    norms = np.linalg.norm(x, axis=1)
    far, probability = norms.max(), np.linalg.norm(expectation) / norms.max()
    assert probability * far**k == pytest.approx(1)
    assert_counts((norms > 0).sum(), n, min(1.0, probability), detects=0.008)
    if probability < 1:
        bias = probability * (far - threshold)
        assert bias == pytest.approx((k - 1) ** (k - 1) / k**k * threshold ** (1 - k))


def test_published_rates_of_table_1():
    """With U = 1/100 the rate is U^(3/4) + 1/n, and it is at most 1; the lower rate of a divergence has no dimension."""
    n, dim, rate = np.array([10_000.0]), np.array([10.0]), barber_duchi_table_1.published_rate
    for side in ("lower", "upper"):
        assert rate("pure", side, n, dim) == pytest.approx(0.01**0.75 + 1e-4)
        assert rate("pure", side, n, 1000 * dim) == 1
    log = np.log(1e6)
    assert rate("approximate", "upper", n, dim) == pytest.approx((10 * log / 1e4) ** 0.75 + 1e-4)
    assert rate("approximate", "lower", n, dim) == pytest.approx(0.01**0.75 + 1e-4)
    assert rate("approximate", "lower", n, 10 * dim) == pytest.approx((log**2 / 1e4) ** 0.75 + 1e-4)
    assert rate("tv", "upper", n, dim) == pytest.approx((10 / 1e4) ** 0.75 + 1e-4)
    assert rate("tv", "lower", n, dim) == pytest.approx((1 / 1e4) ** 0.75 + 1e-4)
    assert rate("kl", "upper", n, dim) == pytest.approx((10 / 1e6) ** 0.75 + 1e-4)
    assert rate("kl", "lower", n, dim) == pytest.approx((1 / 1e6) ** 0.75 + 1e-4)


def test_contaminations_have_their_median():
    """Half of 60,000 records are below the median. Detects an error of 1.5 percentage points."""
    theorem, draw, n = chaudhuri_hsu_theorem_1, np.random.default_rng(1), 60_000
    assert theorem.sensitivity() == pytest.approx(1)
    assert theorem.share(0.1, 100) == 0.04
    for rho in (0.0, 0.1, 0.35):
        moved = theorem.contaminate(draw.uniform(-1, 1, n), rho, draw)
        assert_counts((moved < theorem.contaminated_median(rho)).sum(), n, 0.5, detects=0.015)
    assert theorem.contaminated_median(0.6) == theorem.contaminated_median(1.0) == 1
    assert np.median(theorem.contaminate(draw.uniform(-1, 1, n), 0.6, draw)) == 1
