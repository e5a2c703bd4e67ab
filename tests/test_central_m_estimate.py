"""M-estimators by the exponential mechanism: the law, computed; its privacy; the sampler."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from ldpfast._random import open_stream
from ldpfast.central import _m_estimate as central
from ldpfast.central._m_estimate import Custom, Huber, Logistic, Quantile

from .support.statistics import ALPHA, hoeffding_radius

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


class Law:
    """The density of the mechanism by quadrature in phi, between all kinks: an independent twin of the sampler."""

    def __init__(self, x, psi, kappa, prior, pieces=24):
        x = np.asarray(x, float)
        kinks = [x + c for c in (0.0, getattr(psi, "c", 0.0), -getattr(psi, "c", 0.0))]
        if isinstance(psi, Logistic):
            kinks.append(np.concatenate([x + psi.scale * t for t in (-8, -2, -0.5, 0.5, 2, 8)]))
        thetas = np.concatenate(kinks)
        phi = thetas if prior.name == "uniform" else np.arctan((thetas - prior.centre) / prior.scale)
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
        """With respect to phi."""
        theta = self.prior.theta(phi)
        return -self.kappa * np.abs(sum(self.psi(value, theta) for value in self.x)) - self.log_total

    def cdf(self, phi):
        return np.interp(phi, self.edges, self.cumulated / self.cumulated[-1])


def worst_loss(psi, kappa, prior, n, values):
    """Over all pairs of neighbouring data sets of n of the values, and over all outputs, at places next to every kink."""
    laws = {data: Law(data, psi, kappa, prior) for data in itertools.combinations_with_replacement(values, n)}
    places = np.unique(np.concatenate([law.phi for law in laws.values()]))
    logs = {data: law.log_density(places) for data, law in laws.items()}
    worst = 0.0
    for data, i, value in itertools.product(laws, range(n), values):
        other = tuple(sorted((*data[:i], value, *data[i + 1 :])))
        worst = max(worst, float(np.abs(logs[data] - logs[other]).max()))
    return worst


UNIT = central.Prior("uniform", 0.0, 1.0)
PSIS = [Quantile(0.5), Quantile(0.2), Huber(0.05), Huber(0.4), Logistic(0.02), Logistic(0.5)]


@pytest.mark.parametrize("prior", ["uniform", "cauchy"])
@pytest.mark.parametrize("psi", PSIS, ids=repr)
def test_the_loss_is_at_most_epsilon_over_all_neighbours(psi, prior):
    law, losses = central.Prior(prior, 0.0, 1.0), []
    for n, values in ((1, (0, 0.5, 1)), (2, (0, 1e-4, 0.3, 1)), (3, (0, 0.01, 0.6, 1)), (4, (0, 0.4, 1))):
        losses.append(worst_loss(psi, 1.0 / (2 * psi.width), law, n, values))
    assert max(losses) <= 1 + 1e-9
    assert max(losses) > (
        0.99 if psi == Quantile(0.5) and prior == "uniform" else 0.2
    )  # most psi cannot swing fully here


def test_the_published_constant_is_convicted():
    """kappa = epsilon / (2 sup|psi|) loses nearly 2 epsilon: the median of two records, Huber of three."""
    t = 1e-5
    for kappa, low, high in ((1.0, 1.9999, 2.0), (0.5, 0.9999, 1.0)):
        assert low < worst_loss(Quantile(0.5), kappa, UNIT, 2, (0.0, t, 1.0)) <= high
    c = 0.01
    published = worst_loss(Huber(c), 1 / (2 * c), UNIT, 3, (0.0, c, 2 * c, 1.0))
    correct = worst_loss(Huber(c), 1 / (4 * c), UNIT, 3, (0.0, c, 2 * c, 1.0))
    assert published > 1.4
    assert 0.7 < correct <= 1


# ---- sampler ------------------------------------------------------------------------------------------------------------


def ramp(x, theta):
    """Bounded, monotone, neither odd nor continuous."""
    return np.where(theta < x, -0.5, np.minimum(2.0, 0.25 + theta - x))


SAMPLED = [*PSIS, Custom(ramp, -0.5, 2.0)]
DATA = {
    "some": np.array([0.05, 0.3, 0.31, 0.31, 0.6, 0.9]),
    "many": np.random.default_rng(4).beta(2, 5, 60),
    "equal": np.full(40, 0.7),
    "low": np.zeros(25),
}


@pytest.mark.parametrize("prior", ["uniform", "cauchy"])
@pytest.mark.parametrize("data", DATA)
@pytest.mark.parametrize("psi", SAMPLED, ids=["median", "quantile", "huber", "wide", "logistic", "smooth", "custom"])
def test_the_envelope_brackets_the_density(psi, data, prior):
    x, law = np.sort(DATA[data]), central.Prior(prior, 0.0, 1.0)
    kappa = 2.0 / psi.width
    mechanism = central.MonotoneEM(psi.total(x), kappa, law)
    assert mechanism.certified_acceptance >= 0.9
    assert mechanism.evaluations <= 250
    inside = mechanism.phi[:-1] + np.diff(mechanism.phi) * np.linspace(0.03, 0.97, 7)[:, None]
    log = -kappa * np.abs(sum(psi(value, law.theta(inside)) for value in x))
    cells = mechanism.splits  # where there is a double inside
    assert (log <= mechanism.upper + 1e-9)[:, cells].all()
    assert (log >= mechanism.lower - 1e-9)[:, cells].all()
    if psi not in (Logistic(0.02), Huber(0.05)) or data == "some":
        total = Law(x, psi, kappa, law, 200).log_total
        above = np.log(np.sum(np.diff(mechanism.phi) * np.exp(mechanism.upper - total)))
        assert -1e-3 <= above <= -math.log(0.9) + 1e-3


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
def test_draws_follow_the_exact_law(psi, data, prior, kappa, acceptance, monkeypatch):
    """Kolmogorov-Smirnov with Massart's constant (Hoeffding's radius): sees a distance of the laws of 0.07. With a coarse
    envelope too, which leaves the shape to the rejections."""
    monkeypatch.setattr(central, "ACCEPTANCE", acceptance)
    monkeypatch.setattr(central, "SPLITS", 8 if acceptance == 0.9 else 1)
    x, law, n = np.sort(DATA[data]), central.Prior(prior, 0.0, 1.0), 8000
    mechanism, draws = central.MonotoneEM(psi.total(x), kappa, law), central.Uniforms(open_stream(11))
    theta = np.sort([mechanism.sample(draws) for _ in range(n)])
    phi = theta if prior == "uniform" else np.arctan((theta - law.centre) / law.scale)
    exact = Law(x, psi, kappa, law, 200).cdf(phi)
    ranks = np.arange(n) / n
    assert max((exact - ranks).max(), (ranks + 1 / n - exact).max()) <= hoeffding_radius(n, ALPHA)


def test_where_the_sum_is_zero_at_one_place_only():
    """sign(theta - x) is 0 at x and +-1 elsewhere: of equal records the law is uniform, and x is not released."""
    x = np.full(1000, 0.123456)
    for psi in (Quantile(0.5), Custom(lambda x, theta: np.sign(theta - x), -1, 1)):
        values = [central.m_estimate(x, psi, epsilon=5.0, lower=0, upper=1, rng=i).value for i in range(100)]
        assert stats.kstest(values, "uniform").pvalue > ALPHA
        assert 0.123456 not in values


def test_the_seeded_stream_is_pinned():
    """A change here changes what a given `rng` gives: it goes into the changelog."""
    arguments = {"epsilon": 1.0, "lower": 0, "upper": 1, "rng": 1}
    assert central.m_estimate([0.2, 0.3, 0.7], Huber(0.1), **arguments).value == pytest.approx(
        0.7996945936762209, rel=1e-9
    )


@pytest.mark.parametrize("psi", [Quantile(0.3), Huber(0.1), Logistic(0.2)], ids=repr)
def test_totals_are_sums(psi):
    rng = np.random.default_rng(6)
    for offset in (0.0, 1e6):
        x = np.sort(offset + rng.choice(rng.normal(size=50), 500))
        thetas = np.concatenate([offset + np.linspace(-4, 4, 41), x[::50], [-1e16, 1e16]])
        expected = [math.fsum(psi(x, theta)) for theta in thetas]
        np.testing.assert_allclose(psi.total(x)(thetas), expected, rtol=1e-11, atol=1e-7 if offset else 1e-11)


def test_long_records_are_summed_in_pieces(monkeypatch):
    x = np.linspace(0, 1, 1000)
    expected = Logistic(0.1).total(x)(np.array([0.2, 0.7]))
    monkeypatch.setattr(central, "PIECE", 64)
    np.testing.assert_allclose(Logistic(0.1).total(x)(np.array([0.2, 0.7])), expected, rtol=1e-13)


@pytest.mark.parametrize("psi, expected", [("quantile", 0.2), (Quantile(0.9), 0.2 + 0.5 * 1.2816), ("huber", 0.2)])
@pytest.mark.parametrize("prior", ["uniform", "cauchy"])
def test_estimates_are_near(psi, expected, prior):
    """n epsilon is large: the private estimate is within 0.05 of the population's."""
    x = np.random.default_rng(9).normal(0.2, 0.5, 20_000)
    estimate = central.m_estimate(x, psi, epsilon=2.0, prior=prior, lower=-4, upper=4, rng=3)
    assert estimate.value == pytest.approx(expected, abs=0.05)
    assert estimate.stderr == math.inf
    assert (estimate.guarantee.definition, estimate.epsilon, estimate.n) == ("pure", 2.0, 20_000)
    shuffled = central.m_estimate(x[::-1].astype(">f8"), psi, epsilon=2.0, prior=prior, lower=-4, upper=4, rng=3)
    assert shuffled == estimate
    assert central.m_estimate(x, psi, epsilon=2.0, prior=prior, lower=-4, upper=4).value != estimate.value


@pytest.mark.parametrize("psi", [Quantile(0.3), Huber(0.2), Logistic(0.3), Custom(ramp, -0.5, 2.0)], ids=repr)
def test_kappa_is_epsilon_over_twice_the_width(psi):
    """The estimate is the draw of a mechanism with that kappa and the same key; with another kappa it is another."""
    x = np.sort(np.random.default_rng(5).uniform(-2, 2, 30))
    got = [central.m_estimate(x, psi, epsilon=0.4, lower=-1, upper=1, rng=i).value for i in range(5)]
    for factor, same in ((1.0, True), (2.0, False)):
        law = central.MonotoneEM(
            psi.total(np.clip(x, -1, 1)), factor * 0.2 / psi.width, central.Prior("uniform", -1.0, 1.0)
        )
        drawn = [law.sample(central.Uniforms(open_stream(i))) for i in range(5)]
        assert (got == drawn) is same


def test_a_given_function_is_treated_as_the_same_psi_of_the_library():
    x = np.random.default_rng(1).normal(size=300)
    own = Custom(lambda x, theta: np.clip(theta - x, -0.5, 0.5), -0.5, 0.5)
    arguments = {"epsilon": 0.5, "lower": -2, "upper": 2, "rng": 8}
    assert central.m_estimate(x, own, **arguments).value == pytest.approx(
        central.m_estimate(x, Huber(0.5), **arguments).value, rel=1e-9
    )


def test_a_given_function_cannot_exceed_its_bounds():
    """Whatever it answers on records: the grid of the check is public, records are not on it."""
    wild = Custom(lambda x, theta: np.where(np.asarray(x) == 0.123, np.nan, 1e9), -1, 3)
    np.testing.assert_array_equal(wild(np.array([0.123, 0.5]), 0.2), [1.0, 3.0])


def test_records_that_are_not_finite():
    with pytest.raises(ValueError, match=r"x must be finite numbers .*; index 1 is outside \(2 of 3 are\)"):
        central.m_estimate([0.1, np.nan, np.inf], "huber", epsilon=1, lower=0, upper=1)
    arguments = {"epsilon": 1, "lower": 0, "upper": 1, "rng": 2}
    centred = central.m_estimate([0.1, 0.5, 0.5], "huber", **arguments)
    assert central.m_estimate([0.1, np.nan, np.inf], "huber", nan="centre", **arguments) == centred
    assert central.m_estimate([-9.0, 0.5, 9.0], "huber", **arguments) == central.m_estimate(
        [0, 0.5, 1], "huber", **arguments
    )


# ---- what holds under assumptions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "psi, slope, peak", [(Huber(1.0), 0.6826894921370859, 0.3989422804), (Logistic(1.0), 0.4132, math.inf)]
)
@pytest.mark.parametrize("prior", ["uniform", "cauchy"])
def test_coverage_of_theorem_4(psi, slope, peak, prior):
    """Of standard normal records: misses in at most 5 % of the runs, 1 - 3 eta. P(Binomial(60, 0.05) > 17) < 1e-9."""
    error, runs = 0.05, 60
    n = central.m_estimate_sample_size(
        psi, error, epsilon=1.0, slope=slope, peak=peak, prior=prior, lower=-6, upper=6, confidence=0.95
    )
    assert n < 30_000
    rng, stream, law, misses = np.random.default_rng(n), open_stream(n), central.Prior(prior, -6.0, 6.0), 0
    kappa = 1.0 / (2 * psi.width)
    for _ in range(runs):
        total = psi.total(np.sort(rng.normal(size=n)))
        value = central.MonotoneEM(total, kappa, law).sample(central.Uniforms(stream))
        low, high = total(np.array([value - error, value + error]))
        misses += not low <= 0 <= high  # the root of the sum is within error
    assert misses <= 17


def test_constants_of_smoothness():
    assert Huber(3.0).lipschitz(0.4) == (2.0, 0.8)
    # tanh(t / (2 s)): total variation of the derivative, and the largest second derivative.
    t = np.linspace(-30, 30, 600_001)
    first = (1 - np.tanh(t / 4) ** 2) / 4
    l1, l2 = Logistic(2.0).lipschitz(math.inf)
    assert np.abs(np.diff(first)).sum() <= l1 <= np.abs(np.diff(first)).sum() * 1.001
    second = np.abs(np.diff(first)).max() / (t[1] - t[0])
    assert second <= l2 <= second * 1.001


def test_sample_size_is_that_of_the_theorem():
    """Where the mechanism, not the sample, decides: 16 Gamma log(6 R / (e eta)) / (epsilon e), Gamma = K / P."""
    slope, error, eta = 0.4, 1e-3, 0.02 / 3
    n = central.m_estimate_sample_size("logistic", error, epsilon=0.1, slope=slope, lower=-5, upper=5, confidence=0.98)
    assert n == math.ceil(16 / slope * math.log(60 / (error * eta)) / (0.1 * error))
    cauchy = central.m_estimate_sample_size(
        "logistic", error, epsilon=0.1, slope=slope, lower=-1, upper=1, prior="cauchy", confidence=0.98
    )
    e2 = slope / (6 * 0.1925)
    inner = math.pi / eta * ((2 * (1 + e2) ** 2 + 1) / (error / 3) + error / 6)
    assert cauchy == math.ceil(16 / slope * math.log(inner) / (0.1 * error))
    # Where the sample decides: the slope of the sum has to be near n P.
    few = central.m_estimate_sample_size("logistic", 10.0, epsilon=1e3, slope=slope, lower=-5, upper=5, confidence=0.98)
    assert few == math.ceil(math.log(2 / eta) / 2 * max(6 / slope, 3 / (slope * e2)) ** 2)


def test_coverage_of_the_quantile_error():
    """Uniform records on [-1, 1]: P(Binomial(200, 0.1) > 49) < 1e-9; and the bound is within a factor of 8 of what happens."""
    n, runs, misses, errors = 501, 200, 0, []
    bound = central.quantile_error(n, epsilon=0.5, density=(0.5, 0.5), lower=-1, upper=1, confidence=0.9)
    rng, stream = np.random.default_rng(1), open_stream(1)
    for _ in range(runs):
        total = Quantile(0.5).total(np.sort(rng.uniform(-1, 1, n)))
        value = central.MonotoneEM(total, 0.25, central.Prior("uniform", -1.0, 1.0)).sample(central.Uniforms(stream))
        errors.append(abs(value))
        misses += abs(value) > bound
    assert misses <= 49
    assert np.quantile(errors, 0.9) > bound / 8


def test_quantile_error_takes_the_best_e():
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
        got = central.quantile_error(n, epsilon=epsilon, density=(f0, f1), lower=0, upper=width, confidence=0.9)
        assert got == pytest.approx(by_search(n, epsilon, f0, f1, width, 0.05), rel=1e-6)


# ---- bad input ----------------------------------------------------------------------------------------------------------


def estimate(psi="huber", **changed):
    return central.m_estimate([0.2, 0.4], psi, **{"epsilon": 1.0, "lower": 0.0, "upper": 1.0, **changed})


def size(psi="logistic", error=0.1, **changed):
    arguments = {"epsilon": 1.0, "slope": 0.5, "lower": 0.0, "upper": 1.0, **changed}
    return central.m_estimate_sample_size(psi, error, **arguments)


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: estimate("tukey"), ValueError, "psi must be one of 'quantile', 'huber', 'logistic', got 'tukey'"),
        (lambda: estimate(np.tanh), TypeError, "psi must be a word, Quantile, Huber, Logistic or Custom, got ufunc"),
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
            r"psi must not fall in theta; at x = 0 it falls from 0.99\d+ at theta = 0.17\d+ to 0.99\d+ at theta = 0.17\d+",
        ),
        (lambda: estimate(Custom(lambda x, theta: x * np.nan, -1, 1)), ValueError, "at x = 0, theta = 0 it is nan"),
        (lambda: estimate(Custom(lambda x, theta: theta, -1, 1)), ValueError, r"one number per record, got shape \(\)"),
        (lambda: size("quantile"), ValueError, r"psi must have a bounded slope for this peak, got Quantile\(q=0.5\)"),
        (lambda: size("huber"), ValueError, "peak=inf"),
        (lambda: size(peak=0), ValueError, "peak must be > 0, got 0"),
        (lambda: size(error=0), ValueError, "error must be a finite number > 0"),
        (lambda: size(slope=-1), ValueError, "slope must be a finite number > 0"),
        (lambda: size(confidence=1), ValueError, r"confidence must be in \(0, 1\)"),
        (
            lambda: central.quantile_error(10, epsilon=1, density=(2, 1), lower=0, upper=1),
            ValueError,
            r"density must be \(least, largest\), got \(2, 1\)",
        ),
        (
            lambda: central.quantile_error(0, epsilon=1, density=(1, 1), lower=0, upper=1),
            ValueError,
            "n must be an integer",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()
