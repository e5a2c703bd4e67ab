"""M-estimates by the exponential mechanism: exact density, privacy, sampler and accuracy."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np
import pytest
from scipy import stats

from ldpfast.central import (
    Custom,
    Huber,
    Logistic,
    Quantile,
    m_estimate,
    m_estimate_sample_size,
    quantile_error,
)

from ..support.cases import each
from ..support.internals.central import MonotoneEM, Prior, Uniforms, m_sampler
from ..support.internals.shared import open_stream
from ..support.modules import module_of
from ..support.statistics import ALPHA, hoeffding_radius

continuous = functools.partial(m_estimate, method="continuous", allow_ideal=True)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


class Distribution:
    """The density of the mechanism by quadrature in phi between all kinks, independent of the sampler."""

    def __init__(self, x, psi, kappa, prior, pieces=24):
        x = np.asarray(x, float)
        kinks = [x + c for c in (0.0, getattr(psi, "c", 0.0), -getattr(psi, "c", 0.0))]
        if isinstance(psi, Logistic):
            kinks.append(np.concatenate([x + psi.scale * t for t in (-8, -2, -0.5, 0.5, 2, 8)]))
        thetas = np.concatenate(kinks)
        phi = thetas if prior.name == "uniform" else np.arctan((thetas - prior.center) / prior.scale)
        low, high = prior.ends
        edges = np.unique(np.concatenate([[low, high], phi[(phi > low) & (phi < high)]]))
        edges = np.unique(np.concatenate([np.linspace(a, b, pieces + 1) for a, b in itertools.pairwise(edges)]))
        self.edges, half = edges, np.diff(edges)[:, None] / 2
        at = edges[:-1, None] + half * (1 + NODES)
        self.phi, theta = at.ravel(), prior.theta(at.ravel())
        self.log = -kappa * np.abs(sum(psi(value, theta) for value in x))
        masses = (np.exp(self.log - self.log.max()).reshape(at.shape) * half) @ WEIGHTS
        self.cumulated = np.concatenate([[0.0], np.cumsum(masses)])
        self.log_total = math.log(self.cumulated[-1]) + self.log.max()
        self.kappa, self.psi, self.prior, self.x = kappa, psi, prior, x

    def log_density(self, phi):
        """Log density with respect to phi."""
        theta = self.prior.theta(phi)
        return -self.kappa * np.abs(sum(self.psi(value, theta) for value in self.x)) - self.log_total

    def cdf(self, phi):
        return np.interp(phi, self.edges, self.cumulated / self.cumulated[-1])


def worst_loss(psi, kappa, prior, n, values):
    """Return the largest loss over all neighboring datasets of n of the values, at outputs around every kink."""
    distributions = {
        data: Distribution(data, psi, kappa, prior) for data in itertools.combinations_with_replacement(values, n)
    }
    places = np.unique(np.concatenate([p.phi for p in distributions.values()]))
    logs = {data: p.log_density(places) for data, p in distributions.items()}
    worst = 0.0
    for data, i, value in itertools.product(distributions, range(n), values):
        other = tuple(sorted((*data[:i], value, *data[i + 1 :])))
        worst = max(worst, float(np.abs(logs[data] - logs[other]).max()))
    return worst


UNIT = Prior("uniform", 0.0, 1.0)
PSIS = [Quantile(0.5), Quantile(0.2), Huber(0.05), Huber(0.4), Logistic(0.02), Logistic(0.5)]


@each("prior", ["uniform", "cauchy"])
@each("psi", PSIS, ids=repr)
def test_the_loss_is_at_most_epsilon_over_all_neighboring_datasets(psi, prior):
    unit, losses = Prior(prior, 0.0, 1.0), []
    for n, values in ((1, (0, 0.5, 1)), (2, (0, 1e-4, 0.3, 1)), (3, (0, 0.01, 0.6, 1)), (4, (0, 0.4, 1))):
        losses.append(worst_loss(psi, 1.0 / (2 * psi.width), unit, n, values))
    assert max(losses) <= 1 + 1e-9
    assert max(losses) > (
        0.99 if psi == Quantile(0.5) and prior == "uniform" else 0.2
    )  # most psi do not attain their full range here


def test_the_published_constant_exceeds_epsilon():
    """kappa = epsilon / (2 sup|psi|) loses nearly 2 epsilon for the median of two records, 1.44 epsilon for Huber of three."""
    t = 1e-5
    for kappa, low, high in ((1.0, 1.9999, 2.0), (0.5, 0.9999, 1.0)):
        assert low < worst_loss(Quantile(0.5), kappa, UNIT, 2, (0.0, t, 1.0)) <= high
    c = 0.01
    published = worst_loss(Huber(c), 1 / (2 * c), UNIT, 3, (0.0, c, 2 * c, 1.0))
    correct = worst_loss(Huber(c), 1 / (4 * c), UNIT, 3, (0.0, c, 2 * c, 1.0))
    assert published > 1.4
    assert 0.7 < correct <= 1


# Sampler --------------------------------------------------------------------------------------------------------------


def ramp(x, theta):
    """A bounded, monotone psi that is neither odd nor continuous."""
    return np.where(theta < x, -0.5, np.minimum(2.0, 0.25 + theta - x))


SAMPLED = [*PSIS, Custom(ramp, -0.5, 2.0)]
DATA = {
    "some": np.array([0.05, 0.3, 0.31, 0.31, 0.6, 0.9]),
    "many": np.random.default_rng(4).beta(2, 5, 60),
    "equal": np.full(40, 0.7),
    "low": np.zeros(25),
}


@each("prior", ["uniform", "cauchy"])
@each("data", DATA)
@each("psi", SAMPLED, ids=["median", "quantile", "huber", "wide", "logistic", "smooth", "custom"])
def test_the_envelope_brackets_the_density(psi, data, prior):
    x, unit = np.sort(DATA[data]), Prior(prior, 0.0, 1.0)
    kappa = 2.0 / psi.width
    mechanism = MonotoneEM(psi.total(x), kappa, unit)
    assert 1 - mechanism.gap.sum() / mechanism.above.sum() >= 0.9  # of the proposals are accepted
    assert mechanism.evaluations <= 250
    inside = mechanism.phi[:-1] + np.diff(mechanism.phi) * np.linspace(0.03, 0.97, 7)[:, None]
    log = -kappa * np.abs(sum(psi(value, unit.theta(inside)) for value in x))
    cells = mechanism.splits  # cells that contain a double
    assert (log <= mechanism.upper + 1e-9)[:, cells].all()
    assert (log >= mechanism.lower - 1e-9)[:, cells].all()
    if psi not in (Logistic(0.02), Huber(0.05)) or data == "some":
        total = Distribution(x, psi, kappa, unit, 200).log_total
        above = np.log(np.sum(np.diff(mechanism.phi) * np.exp(mechanism.upper - total)))
        assert -1e-3 <= above <= -math.log(0.9) + 1e-3


@pytest.mark.long
@pytest.mark.parametrize(
    "psi, data, prior, kappa",
    [
        (Quantile(0.5), "some", "uniform", 0.5),
        (Quantile(0.2), "many", "cauchy", 0.2),
        (Quantile(0.5), "equal", "uniform", 3.0),
        (Huber(0.4), "some", "uniform", 2.0),
        (Huber(0.05), "equal", "cauchy", 0.3),
        (Logistic(0.5), "many", "cauchy", 0.5),
        (Logistic(0.02), "some", "uniform", 0.5),
        (Custom(ramp, -0.5, 2.0), "some", "uniform", 0.7),
        (Quantile(0.5), "low", "cauchy", 0.05),
    ],
)
@pytest.mark.parametrize("acceptance", [0.9, 0.2])
def test_draws_follow_the_exact_distribution(psi, data, prior, kappa, acceptance, monkeypatch):
    """Kolmogorov-Smirnov with Massart's constant (Hoeffding's radius): detects a distance of 0.07.

    Also with a coarse envelope, where the shape depends on the rejections.
    """
    monkeypatch.setattr(m_sampler, "ACCEPTANCE", acceptance)
    monkeypatch.setattr(m_sampler, "SPLITS", 8 if acceptance == 0.9 else 1)
    x, unit, n = np.sort(DATA[data]), Prior(prior, 0.0, 1.0), 8000
    mechanism, draws = MonotoneEM(psi.total(x), kappa, unit), Uniforms(open_stream(11))
    theta = np.sort([mechanism.sample(draws) for _ in range(n)])
    phi = theta if prior == "uniform" else np.arctan((theta - unit.center) / unit.scale)
    exact = Distribution(x, psi, kappa, unit, 200).cdf(phi)
    ranks = np.arange(n) / n
    assert max((exact - ranks).max(), (ranks + 1 / n - exact).max()) <= hoeffding_radius(n, ALPHA)


def test_a_sum_that_is_zero_at_one_point_only_does_not_release_it():
    """sign(theta - x) is 0 at x and +-1 elsewhere: for equal records the release is uniform."""
    x = np.full(1000, 0.123456)
    for psi in (Quantile(0.5), Custom(lambda x, theta: np.sign(theta - x), -1, 1)):
        values = [continuous(x, psi, epsilon=5.0, lower=0, upper=1, rng=i).value for i in range(100)]
        assert stats.kstest(values, "uniform").pvalue > ALPHA
        assert 0.123456 not in values


def test_the_seeded_estimate_is_stable():
    """A change here changes the results of a given `rng` and belongs in the changelog."""
    arguments = {"epsilon": 1.0, "lower": 0, "upper": 1, "rng": 1}
    assert continuous([0.2, 0.3, 0.7], Huber(0.1), **arguments).value == pytest.approx(0.333450183200457, rel=1e-9)


@pytest.mark.parametrize("psi", [Quantile(0.3), Huber(0.1), Logistic(0.2)], ids=repr)
def test_totals_are_sums_over_the_records(psi):
    rng = np.random.default_rng(6)
    for offset in (0.0, 1e6):
        x = np.sort(offset + rng.choice(rng.normal(size=50), 500))
        thetas = np.concatenate([offset + np.linspace(-4, 4, 41), x[::50], [-1e16, 1e16]])
        expected = [math.fsum(psi(x, theta)) for theta in thetas]
        np.testing.assert_allclose(psi.total(x)(thetas), expected, rtol=1e-11, atol=1e-7 if offset else 1e-11)


def test_many_records_are_summed_in_pieces(monkeypatch):
    x = np.linspace(0, 1, 1000)
    expected = Logistic(0.1).total(x)(np.array([0.2, 0.7]))
    monkeypatch.setattr(module_of(Huber), "PIECE", 64)
    np.testing.assert_allclose(Logistic(0.1).total(x)(np.array([0.2, 0.7])), expected, rtol=1e-13)


# The estimate ---------------------------------------------------------------------------------------------------------


@each("psi, expected", [("quantile", 0.2), (Quantile(0.9), 0.2 + 0.5 * 1.2816), ("huber", 0.2)])
@each("prior", ["uniform", "cauchy"])
def test_estimates_are_near_the_population(psi, expected, prior):
    """For large n epsilon, within 0.05."""
    x = np.random.default_rng(9).normal(0.2, 0.5, 20_000)
    estimate = continuous(x, psi, epsilon=2.0, prior=prior, lower=-4, upper=4, rng=3)
    assert estimate.value == pytest.approx(expected, abs=0.05)
    assert estimate.stderr == math.inf
    assert (estimate.guarantee.definition, estimate.epsilon, estimate.n) == ("pure", 2.0, 20_000)
    shuffled = continuous(x[::-1].astype(">f8"), psi, epsilon=2.0, prior=prior, lower=-4, upper=4, rng=3)
    assert shuffled == estimate
    assert continuous(x, psi, epsilon=2.0, prior=prior, lower=-4, upper=4).value != estimate.value


@pytest.mark.parametrize(
    "psi", [Quantile(0.3), Huber(0.2), Logistic(0.3), Custom(ramp, -0.5, 2.0)], ids=lambda psi: type(psi).__name__
)
def test_kappa_is_epsilon_over_twice_the_width(psi):
    """The estimate is a draw of a mechanism with that kappa and the same stream, and not with another kappa."""
    x = np.sort(np.random.default_rng(5).uniform(-2, 2, 30))
    got = [continuous(x, psi, epsilon=0.4, lower=-1, upper=1, rng=i).value for i in range(5)]
    for factor, same in ((1.0, True), (2.0, False)):
        sampler = MonotoneEM(psi.total(np.clip(x, -1, 1)), factor * 0.2 / psi.width, Prior("uniform", -1.0, 1.0))
        drawn = [sampler.sample(Uniforms(open_stream(i))) for i in range(5)]
        assert (got == drawn) is same


def test_a_custom_psi_equals_the_same_psi_of_the_library():
    x = np.random.default_rng(1).normal(size=300)
    own = Custom(lambda x, theta: np.clip(theta - x, -0.5, 0.5), -0.5, 0.5)
    arguments = {"epsilon": 0.5, "lower": -2, "upper": 2, "rng": 8}
    assert continuous(x, own, **arguments).value == pytest.approx(
        continuous(x, Huber(0.5), **arguments).value, rel=1e-9
    )


def test_a_custom_psi_is_clipped_to_its_bounds():
    """The check uses a public grid; records are not on it."""
    wild = Custom(lambda x, theta: np.where(np.asarray(x) == 0.123, np.nan, 1e9), -1, 3)
    np.testing.assert_array_equal(wild(np.array([0.123, 0.5]), 0.2), [1.0, 3.0])


def test_records_that_are_not_finite_are_centered_or_rejected():
    with pytest.raises(ValueError, match=r"x must be finite numbers .*; index 1 is outside \(2 of 3 are\)"):
        m_estimate([0.1, np.nan, np.inf], "huber", epsilon=1, lower=0, upper=1)
    arguments = {"epsilon": 1, "lower": 0, "upper": 1, "rng": 2}
    centered = m_estimate([0.1, 0.5, 0.5], "huber", **arguments)
    assert m_estimate([0.1, np.nan, np.inf], "huber", nan="center", **arguments) == centered
    assert m_estimate([-9.0, 0.5, 9.0], "huber", **arguments) == m_estimate([0, 0.5, 1], "huber", **arguments)


# Accuracy under assumptions -------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize(
    "psi, slope, peak", [(Huber(1.0), 0.6826894921370859, 0.3989422804), (Logistic(1.0), 0.4132, math.inf)]
)
@pytest.mark.parametrize("prior", ["uniform", "cauchy"])
def test_sample_size_of_theorem_4_covers(psi, slope, peak, prior):
    """Standard normal records. The error is exceeded in at most 5 % of the runs. P(Binomial(60, 0.05) > 17) < 1e-9."""
    error, runs = 0.05, 60
    n = m_estimate_sample_size(
        psi, error, epsilon=1.0, slope=slope, peak=peak, prior=prior, lower=-6, upper=6, confidence=0.95
    )
    assert n < 30_000
    rng, stream, wide, misses = np.random.default_rng(n), open_stream(n), Prior(prior, -6.0, 6.0), 0
    kappa = 1.0 / (2 * psi.width)
    for _ in range(runs):
        total = psi.total(np.sort(rng.normal(size=n)))
        value = MonotoneEM(total, kappa, wide).sample(Uniforms(stream))
        low, high = total(np.array([value - error, value + error]))
        misses += not low <= 0 <= high  # no miss if the root of the sum is within error
    assert misses <= 17


def test_lipschitz_constants():
    assert Huber(3.0).lipschitz(0.4) == (2.0, 0.8)
    # tanh(t / (2 s)): total variation of the derivative, and the largest second derivative.
    t = np.linspace(-30, 30, 600_001)
    first = (1 - np.tanh(t / 4) ** 2) / 4
    l1, l2 = Logistic(2.0).lipschitz(math.inf)
    assert np.abs(np.diff(first)).sum() <= l1 <= np.abs(np.diff(first)).sum() * 1.001
    second = np.abs(np.diff(first)).max() / (t[1] - t[0])
    assert second <= l2 <= second * 1.001


def test_sample_size_is_that_of_the_theorem():
    """If the mechanism dominates, it is 16 Gamma log(6 R / (e eta)) / (epsilon e), Gamma = K / P."""
    slope, error, eta = 0.4, 1e-3, 0.02 / 3
    n = m_estimate_sample_size("logistic", error, epsilon=0.1, slope=slope, lower=-5, upper=5, confidence=0.98)
    assert n == math.ceil(16 / slope * math.log(60 / (error * eta)) / (0.1 * error))
    cauchy = m_estimate_sample_size(
        "logistic", error, epsilon=0.1, slope=slope, lower=-1, upper=1, prior="cauchy", confidence=0.98
    )
    e2 = slope / (6 * 0.1925)
    inner = math.pi / eta * ((2 * (1 + e2) ** 2 + 1) / (error / 3) + error / 6)
    assert cauchy == math.ceil(16 / slope * math.log(inner) / (0.1 * error))
    # If the sampling error dominates, the slope of the sum must be near n P.
    few = m_estimate_sample_size("logistic", 10.0, epsilon=1e3, slope=slope, lower=-5, upper=5, confidence=0.98)
    assert few == math.ceil(math.log(2 / eta) / 2 * max(6 / slope, 3 / (slope * e2)) ** 2)


def test_quantile_error_covers():
    """Uniform records on [-1, 1]: P(Binomial(200, 0.1) > 49) < 1e-9. The bound is within a factor of 8 of the error."""
    n, runs, misses, errors = 501, 200, 0, []
    bound = quantile_error(n, epsilon=0.5, density=(0.5, 0.5), lower=-1, upper=1, confidence=0.9)
    rng, stream = np.random.default_rng(1), open_stream(1)
    for _ in range(runs):
        total = Quantile(0.5).total(np.sort(rng.uniform(-1, 1, n)))
        value = MonotoneEM(total, 0.25, Prior("uniform", -1.0, 1.0)).sample(Uniforms(stream))
        errors.append(abs(value))
        misses += abs(value) > bound
    assert misses <= 49
    assert np.quantile(errors, 0.9) > bound / 8


def test_quantile_error_is_the_minimum_over_e():
    def by_search(n, epsilon, f0, f1, width, eta):
        e = np.geomspace(1e-9, 10, 200_001)
        r = math.sqrt(math.log(2 / eta) / (2 * n))
        log = np.maximum(np.log(width * f1 / (2 * e * eta)), 0)
        return ((2 * r + e + 2 / (n * epsilon) * log) / f0).min()

    for n, epsilon, f0, f1, width in (
        (1000, 1.0, 0.4, 0.6, 2.0),
        (3, 0.01, 0.5, 1.0, 1.0),
        (10**6, 0.1, 1e-3, 5.0, 100.0),
    ):
        got = quantile_error(n, epsilon=epsilon, density=(f0, f1), lower=0, upper=width, confidence=0.9)
        assert got == pytest.approx(by_search(n, epsilon, f0, f1, width, 0.05), rel=1e-6)


# Bad input ------------------------------------------------------------------------------------------------------------


def estimate(psi="huber", **changed):
    return m_estimate([0.2, 0.4], psi, **{"epsilon": 1.0, "lower": 0.0, "upper": 1.0, **changed})


def sample_size(psi="logistic", error=0.1, **changed):
    arguments = {"epsilon": 1.0, "slope": 0.5, "lower": 0.0, "upper": 1.0, **changed}
    return m_estimate_sample_size(psi, error, **arguments)


@each(
    "call, error, message",
    [
        (lambda: estimate("tukey"), ValueError, "psi must be one of 'quantile', 'huber', 'logistic', got 'tukey'"),
        (lambda: estimate(np.tanh), TypeError, "psi must be a string, Quantile, Huber, Logistic or Custom, got ufunc"),
        (lambda: estimate(lower=1), ValueError, "lower < upper, got 1 and 1.0"),
        (lambda: estimate(lower=math.nan), ValueError, "lower must be a finite number"),
        (lambda: estimate(epsilon=0), ValueError, "epsilon must be a finite number > 0"),
        (lambda: estimate(epsilon=1e7), ValueError, "epsilon must be at most 1e6"),
        (lambda: estimate(prior="normal"), ValueError, "prior must be one of 'uniform', 'cauchy'"),
        (lambda: estimate(nan="drop"), ValueError, "nan must be one of"),
        (lambda: Quantile(1.0), ValueError, r"q must be in \(0, 1\), got 1.0"),
        (lambda: Huber(0), ValueError, "c must be a finite number > 0, got 0"),
        (lambda: Huber(1e200), ValueError, r"c must be in \[1e-100, 1e100\]"),
        (lambda: Logistic(math.nan), ValueError, "scale must be a finite number"),
        (lambda: Custom(3, -1, 1), TypeError, "function must be callable, got int"),
        (lambda: Custom(ramp, 0, 1), ValueError, "low and high must have zero between them, got 0 and 1"),
        (
            lambda: estimate(Custom(lambda x, theta: 2 * (theta - x), -1, 1)),
            ValueError,
            r"psi must be in \[-1, 1\]; at x = 0.515625, theta = 0 it is -1.03125",
        ),
        (
            lambda: estimate(Custom(lambda x, theta: np.sin(9 * theta) - 0 * x, -1, 1)),
            ValueError,
            r"psi must be nondecreasing in theta; at x = 0 it falls from 0.99\d+ at theta = 0.17\d+ to 0.99\d+ at theta = 0.17",
        ),
        (lambda: estimate(Custom(lambda x, theta: x * np.nan, -1, 1)), ValueError, "at x = 0, theta = 0 it is nan"),
        (lambda: estimate(Custom(lambda x, theta: theta, -1, 1)), ValueError, r"one number per record, got shape \(\)"),
        (
            lambda: sample_size("quantile"),
            ValueError,
            r"psi must have finite Lipschitz constants for this peak, got Quantile\(q=0.5\)",
        ),
        (lambda: sample_size("huber"), ValueError, "peak=inf"),
        (lambda: sample_size(peak=0), ValueError, "peak must be > 0, got 0"),
        (lambda: sample_size(error=0), ValueError, "error must be a finite number > 0"),
        (lambda: sample_size(slope=-1), ValueError, "slope must be a finite number > 0"),
        (lambda: sample_size(confidence=1), ValueError, r"confidence must be in \(0, 1\)"),
        (
            lambda: quantile_error(10, epsilon=1, density=(2, 1), lower=0, upper=1),
            ValueError,
            r"density must be \(least, largest\), got \(2, 1\)",
        ),
        (
            lambda: quantile_error(0, epsilon=1, density=(1, 1), lower=0, upper=1),
            ValueError,
            "n must be an integer",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
