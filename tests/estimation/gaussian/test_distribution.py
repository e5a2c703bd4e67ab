"""Distribution of the answers of normal records."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import integrate, stats

import ldpfast as ldp
from ldpfast.reports import recipe_of

from ...support.cases import each
from ...support.internals.gaussian import ReportDistribution
from ...support.internals.kernels import normal
from ...support.statistics import assert_counts

SEED = 20261123

QUESTIONS = (
    ldp.Residue(1.0, 0.0, 4, 1.0),
    ldp.Residue(0.7, -0.3, 2, 2.0),
    ldp.Residue(math.pi, math.pi / 2, 2, 0.5),
    ldp.Residue(8.0, 0.0, 5, 1.0),
    ldp.Bins((0.4,), 1.0),
    ldp.Bins((-1.5, 0.0, 0.2, 3.0), 3.0),
)
MEANS = (0.0, 0.5, 3.7, -0.1, -250.3, 1e6 + 0.25, -1e9)
SIGMAS = (1e-3, 0.1, 0.25, 0.3499, 0.35, 0.3501, 0.5, 1.0, 3.0, 40.0)


def interval_probability(low, high, mu, sigma):
    """P(low <= X < high), from the smaller tail."""
    a, b = (low - mu) / sigma, (high - mu) / sigma
    return stats.norm.sf(a) - stats.norm.sf(b) if a > 0 else stats.norm.cdf(b) - stats.norm.cdf(a)


def direct_probabilities(question, mu, sigma):
    """Probabilities of the symbols: the sum over all cells within 12 standard deviations."""
    if isinstance(question, ldp.Bins):
        ends = (-math.inf, *question.cuts, math.inf)
        return [interval_probability(a, b, mu, sigma) for a, b in itertools.pairwise(ends)]
    found = [0.0] * question.modulus
    first, last = (math.floor((mu + side * 12 * sigma - question.offset) / question.width) for side in (-1, 1))
    for cell in range(first, last + 1):
        low = question.offset + cell * question.width
        found[cell % question.modulus] += interval_probability(low, low + question.width, mu, sigma)
    return found


@pytest.mark.long
@each("question", QUESTIONS, ids=repr)
def test_probabilities_are_sums_over_cells(question):
    """Doubles resolve the position of a mean of 1e9 in its cell up to 1e-7, so the tolerance grows with the mean."""
    distribution = ReportDistribution([question])
    for sigma in SIGMAS:
        expected = np.array([direct_probabilities(question, mu, sigma) for mu in MEANS])
        found = distribution.symbols(np.array(MEANS), sigma)
        rounding = 8 * np.abs(MEANS)[:, np.newaxis] * 2**-53 * (1 / sigma + (question in QUESTIONS[:4]))
        assert (np.abs(found.value - expected) <= 2e-13 + rounding).all()
        np.testing.assert_allclose(found.value.sum(axis=1), 1, rtol=0, atol=1e-14)


@each("sigma", [0.05, 0.5, 1.0, 5.0])
@each("question", QUESTIONS[:3], ids=repr)
def test_probabilities_are_integrals_of_the_density(question, sigma):
    mu, period = -0.1, question.width * question.modulus
    reach = math.ceil(10 * sigma / period)

    def wrapped_density(x):
        return sum(stats.norm.pdf(x + s * period, mu, sigma) for s in range(-reach, reach + 1))

    for symbol, probability in enumerate(ReportDistribution([question]).symbols(mu, sigma).value[0]):
        low = question.offset + symbol * question.width
        near = (mu - low) % period + low  # where the density has its peak
        points = [near] if low < near < low + question.width else None
        area = integrate.quad(wrapped_density, low, low + question.width, points=points, epsabs=1e-12, limit=200)[0]
        assert probability == pytest.approx(area, rel=0, abs=1e-10)


@pytest.mark.parametrize("question", QUESTIONS[:4], ids=repr)
def test_sums_over_periods_and_harmonics_agree(question):
    """Probabilities and derivatives, at the switch between the rules and below it."""
    period = question.width * question.modulus
    low = np.arange(question.modulus) * question.width
    origin, periods = np.full((2, question.modulus), [[question.offset], [period]])
    means = question.offset + np.linspace(-3, 3.999, 50) * period
    for sigma in (0.95 * normal.NARROW * period, normal.NARROW * period):
        tables = np.empty((2, 3, len(means), question.modulus))
        for rule, (value, by_mu, by_sigma) in zip((0.0, math.inf), tables, strict=True):  # harmonics, periods
            normal.cell_probabilities(
                low, low + question.width, origin, periods, means, sigma, value, by_mu, by_sigma, rule
            )
        np.testing.assert_allclose(tables[0], tables[1], rtol=0, atol=3e-13 * max(1.0, 1 / sigma))


def test_small_probabilities_of_periodic_cells_have_all_their_digits():
    """Cells 3 to 9 standard deviations from the mean, on both sides. A difference of two tails near 1 would lose the digits."""
    low, period, sigma = np.array([-0.45, -0.3, 0.15, 0.3, 0.42]), 1.0, 0.05
    high, means = low + 0.03, np.array([-0.01, 0.0, 2.02])
    value, rows = np.empty((3, 5)), np.full((2, 5), [[0.0], [period]])
    normal.cell_probabilities(low, high, *rows, means, sigma, value)

    def tail(x):
        return 0.5 * math.erfc(x / math.sqrt(2))

    for i, mean in enumerate(means - np.floor(means + 0.5)):
        for j in range(5):
            expected = 0.0
            for shift in (-1, 0, 1):
                a, b = (low[j] - mean + shift) / sigma, (high[j] - mean + shift) / sigma
                expected += tail(a) - tail(b) if a > 0 else tail(-b) - tail(-a)
            assert 0 < expected < 5e-3
            assert value[i, j] == pytest.approx(expected, rel=1e-10, abs=0)


def test_tables_that_do_not_fit_are_refused():
    cells, means, table = np.zeros(3), np.zeros(2), np.zeros((2, 3))
    for other in (cells[:2], np.zeros(4)):
        for place in range(1, 4):
            given = [cells] * 4
            given[place] = other
            with pytest.raises(ValueError, match="do not fit together"):
                normal.cell_probabilities(*given, means, 1.0, table)
    for tables in (
        (table[:1],),
        (table[:, :2].copy(),),
        (table, table[:1], table),
        (table, table, table[:1]),
        (table, table),
    ):
        with pytest.raises(ValueError, match="do not fit together"):
            normal.cell_probabilities(cells, cells, cells, cells + 1, means, 1.0, *tables)


@pytest.mark.parametrize("question", QUESTIONS[:4], ids=repr)
def test_distribution_is_periodic_in_the_mean(question):
    distribution, period = ReportDistribution([question]), question.width * question.modulus
    for sigma in (0.1, 1.0, 30.0):
        here = distribution.symbols(-0.3, sigma).value
        for turns in (-1000, -1, 1, 7):
            np.testing.assert_allclose(
                distribution.symbols(-0.3 + turns * period, sigma).value, here, rtol=0, atol=1e-10
            )


@each("question", QUESTIONS, ids=repr)
@each("sigma", [0.08, 0.34, 0.36, 1.0, 6.0])
def test_derivatives_agree_with_finite_differences(question, sigma):
    distribution, mu = ReportDistribution([question]), np.array([-1.3, 0.0, 0.45, 2.2])
    found, h = distribution.symbols(mu, sigma, derive=True), 1e-5 * sigma
    by_mu = (distribution.symbols(mu + h, sigma).value - distribution.symbols(mu - h, sigma).value) / (2 * h)
    by_sigma = (distribution.symbols(mu, sigma + h).value - distribution.symbols(mu, sigma - h).value) / (2 * h)
    np.testing.assert_allclose(found.by_mu, by_mu, rtol=0, atol=1e-8 / sigma)
    np.testing.assert_allclose(found.by_sigma, by_sigma, rtol=0, atol=1e-8 / sigma)
    np.testing.assert_array_equal(found.value, distribution.symbols(mu, sigma).value)


def test_reports_follow_the_channel_of_the_mechanism():
    """`channel` has the exact fractions of the integers of the coin."""
    distribution, found = ReportDistribution(QUESTIONS), ReportDistribution(QUESTIONS).reports(0.45, 0.8, derive=True)
    symbols = distribution.symbols(0.45, 0.8, derive=True)
    for question, piece in zip(QUESTIONS, distribution.slices, strict=True):
        matrix = question.channel().matrix
        for part in range(3):
            np.testing.assert_allclose(found[part][0, piece], symbols[part][0, piece] @ matrix, rtol=0, atol=1e-15)


def test_cells_of_all_questions_are_on_one_axis():
    distribution, later = ReportDistribution(QUESTIONS), ReportDistribution(QUESTIONS).without(2)
    assert [piece.stop - piece.start for piece in distribution.slices] == [4, 2, 2, 5, 2, 5]
    assert later.questions == QUESTIONS[2:]
    alone = np.concatenate([ReportDistribution([question]).reports(0.3, 1.2).value[0] for question in QUESTIONS])
    np.testing.assert_array_equal(distribution.reports(0.3, 1.2).value[0], alone)
    np.testing.assert_array_equal(later.reports(0.3, 1.2).value[0], alone[6:])
    counts = np.arange(20.0)
    assert distribution.sizes(counts).tolist() == [6] * 4 + [9] * 2 + [13] * 2 + [50] * 5 + [27] * 2 + [85] * 5
    expected = sum(counts[i] * math.log(alone[i]) for i in range(20))
    assert distribution.log_likelihood(counts, 0.3, 1.2) == pytest.approx([expected], rel=1e-13)


def test_information_is_the_variance_of_the_score():
    """The definition, sum over cells of N P (d log P)^2, for groups of different sizes."""
    distribution, sizes = ReportDistribution(QUESTIONS), np.repeat(np.arange(1.0, 7.0), [4, 2, 2, 5, 2, 5])
    h = 1e-5
    logs = [np.log(distribution.reports(0.3 + a, 1.2 + b).value[0]) for a, b in ((h, 0), (-h, 0), (0, h), (0, -h))]
    slopes = np.array([logs[0] - logs[1], logs[2] - logs[3]]) / (2 * h)
    expected = (slopes * sizes * distribution.reports(0.3, 1.2).value[0]) @ slopes.T
    np.testing.assert_allclose(distribution.information(sizes, 0.3, 1.2), expected, rtol=1e-6)
    np.testing.assert_allclose(distribution.information(sizes, 0.3, 1.2, False), expected[:1, :1], rtol=1e-6)


@each("question", QUESTIONS, ids=repr)
def test_answers_of_the_mechanism_follow_the_distribution(question):
    """Detects an error of a probability of 0.007, of any symbol."""
    n, mu, sigma = 300_000, -0.35, 0.9
    x = np.random.default_rng(SEED).normal(mu, sigma, n)
    counts = np.bincount(question.privatize(x, rng=SEED), minlength=recipe_of(question).coin.k)
    assert_counts(counts, n, ReportDistribution([question]).reports(mu, sigma).value[0], detects=0.007)
