"""Coverage of intervals, by simulation at the n that the documentation calls sufficient, for a confidence of 0.95.

Each run of a case gives one outcome per interval: whether it covers. There are two forms of each test:

- with ``--long``: few runs of each case, compared with exact binomial limits for its claim, [0.93, 0.97]. The runs of a
  family of cases, which share an estimator, are also compared together: 3,700 runs detect a coverage of 0.9 (claim 0.93),
  with a probability of 0.99. `DETECTED` has the families with fewer runs.
- with ``--slow``: 8,000 runs, whose fraction of covering intervals has a standard error of 0.0024 at 0.95. The fraction
  must be in [0.93, 0.97]. It fails with a probability below ALPHA if the true coverage is 0.95. Detects deviations of
  0.01 from the limits: 0.92 or 0.98. Where n is large, 2,000 runs have a standard error of 0.005.

Conservative intervals have no upper limit for their coverage: intervals of quantiles always contain the value, standard
errors of vectors ignore the mean, and Clopper-Pearson, Bonferroni and expected numbers of crossings are bounds. For
many coordinates or points, each run tests one that is drawn at random. Simultaneous intervals are tested at all points.
"""

from __future__ import annotations

import itertools
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy import stats

from ldpfast.estimation import (
    Frequencies,
    GaussianMean,
    GradientDescent,
    HistogramDensity,
    MedianSGD,
    NewtonStep,
    SeriesDensity,
    TruncatedMean,
    VectorMean,
)
from ldpfast.results import DoubtfulWarning

from ..support.statistics import ALPHA, assert_coverage, least_count

LOW, HIGH = 0.93, 0.97
RUNS = 8000
SEED = 20240611


@dataclass(frozen=True, eq=False)
class Case:
    """A simulation: `run` returns whether each interval covers. `few` runs are made always, `many` with ``--slow``."""

    name: str
    family: str
    run: Callable[[np.random.Generator], dict[str, bool]]
    few: int = 200
    many: int = RUNS

    def __str__(self) -> str:
        return self.name


@cache
def coverage(case: Case, runs: int) -> dict[str, float]:
    """Fraction of the runs in which each interval covers. Both forms begin with the same runs."""
    rng = np.random.default_rng([SEED, *case.name.encode()])
    counts: Counter[str] = Counter()
    for _ in range(runs):
        counts.update({name: int(covers) for name, covers in case.run(rng).items()})
    return {name: count / runs for name, count in counts.items()}


def inside(limits, truth):
    return (np.asarray(limits[0]) <= truth) & (truth <= np.asarray(limits[1]))


def vector(estimate, truth, rng):
    """Intervals of one random coordinate, and of all coordinates."""
    return {
        "pointwise": inside(estimate.interval(), truth)[rng.integers(len(truth))],
        "simultaneous": inside(estimate.interval(simultaneous=True), truth).all(),
    }


# Truncated means ------------------------------------------------------------------------------------------------------


def truncated(moment, epsilon, method, noise, distribution):
    """A truncated mean; records have E|X|^k = 1. The worst distribution has mass (r / x0)^k at x0 = k T / (k - 1)."""
    problem, n = TruncatedMean(epsilon, moment=moment, radius=1.0, n=100, method=method, noise=noise), 100
    place = moment * problem.level / (moment - 1)
    draw, mean, norm = {
        "worst": (lambda rng: place * (rng.random(n) < place**-moment), place ** (1 - moment), 1.0),
        "point": (lambda rng: np.ones(n), 1.0, 1.0),
        "signs": (lambda rng: rng.choice([-1.0, 1.0], n), 0.0, 1.0),
        "exponential": (lambda rng: rng.exponential(size=n), 1.0, math.gamma(1 + moment) ** (1 / moment)),
    }[distribution]

    def run(rng):
        estimate = problem.run(draw(rng) / norm, rng=rng)
        return {"interval": inside(estimate.interval(), mean / norm)}

    name = f"truncated mean, k={moment}, epsilon={epsilon}, {method}, {noise}, {distribution}"
    return Case(name, "truncated mean", run, 160)


# Quantiles ------------------------------------------------------------------------------------------------------------

DISTRIBUTIONS = {
    "normal": (stats.norm(), (-4.0, 4.0), lambda rng, n: rng.standard_normal(n)),
    "lognormal": (stats.lognorm(1), (0.0, 8.0), lambda rng, n: np.exp(rng.standard_normal(n))),
    "t(3)": (stats.t(3), (-6.0, 6.0), lambda rng, n: rng.standard_t(3, n)),
    "exponential, wide": (stats.expon(), (0.0, 50.0), lambda rng, n: rng.exponential(size=n)),
    "gap": (None, (-4.0, 4.0), lambda rng, n: rng.choice([-2.0, 2.0], n) + 0.5 * rng.standard_normal(n)),
    "integers": (stats.poisson(4), (0.0, 10.0), lambda rng, n: rng.poisson(4, n).astype(float)),
}


def quantile(name, q, mode, epsilon=1.0):
    """A quantile with n = `sufficient_n`; there are fewer runs where that is large."""
    distribution, ends, draw = DISTRIBUTIONS[name]
    truth = 0.0 if distribution is None else float(distribution.ppf(q))
    n = MedianSGD(epsilon, lower=ends[0], upper=ends[1], quantile=q, n=1 if mode == "fixed" else None).sufficient_n

    def run(rng):
        server = MedianSGD(epsilon, lower=ends[0], upper=ends[1], quantile=q, n=n if mode == "fixed" else None)
        return {"interval": inside(server.run(draw(rng, n), rng=rng).interval(), truth)}

    title = f"quantile {q}, {name}, {mode} horizon, epsilon={epsilon}, n={n}"
    runs = (370, RUNS) if n < 20_000 else (40, RUNS // 2) if n < 200_000 else (20, RUNS // 4)
    return Case(title, "quantile", run, *runs)


# Vectors and frequencies ----------------------------------------------------------------------------------------------


def vectors(problem, upper_probability, n=100):
    """A mean vector; rows are two opposite corners or poles."""
    lower, upper = problem.domain.range
    middle, reach = (lower + upper) / 2, (upper - lower) / 2 / (problem.dim**0.5 if problem.norm == "l2" else 1)
    truth = np.full(problem.dim, middle + (2 * upper_probability - 1) * reach)

    def run(rng):
        x = np.where(rng.random((n, 1)) < upper_probability, middle + reach, middle - reach) * np.ones(problem.dim)
        estimate = problem.run(x, rng=rng)
        return {**vector(estimate, truth, rng), "region": bool(estimate.region().contains(truth))}

    title = f"mean, {problem.norm}, dim={problem.dim}, epsilon={problem.epsilon}, share={upper_probability}, n={n}"
    return Case(title, f"mean, {problem.norm}", run, 420)


def frequencies(k, epsilon, method, n=100):
    """Frequencies; one category has probability 1/2."""
    theta, problem = np.array([0.5, *[0.5 / (k - 1)] * (k - 1)]), Frequencies(k, epsilon, mechanism=method)

    def run(rng):
        return vector(problem.run(rng.choice(k, n, p=theta), rng=rng), theta, rng)

    return Case(f"frequencies, {method}, k={k}, epsilon={epsilon}", "frequencies", run, 400)


# Densities ------------------------------------------------------------------------------------------------------------

WAVE = 0.9


def wave(rng, n):
    """Numbers with the density 1 + 0.9 cos(2 pi x), by rejection."""
    x = rng.random(5 * n)
    return x[rng.random(5 * n) * (1 + WAVE) < 1 + WAVE * np.cos(2 * np.pi * x)][:n]


def density(problem, n=100):
    """The density 1 + 0.9 cos(2 pi x) as far as the terms or the bins resolve it; a series resolves it exactly.

    There are 40 points per term. They are not symmetric: the first cosine alone has zeros, where the band has no width.
    """
    if isinstance(problem, SeriesDensity):
        points = (np.arange(40 * problem.terms) + 0.3) / (40 * problem.terms)
        truth = 1 + WAVE * np.cos(2 * np.pi * points)
    else:
        ends = np.linspace(0, 1, problem.n_bins + 1)
        points = (ends[1:] + ends[:-1]) / 2
        truth = np.diff(ends + WAVE * np.sin(2 * np.pi * ends) / (2 * np.pi)) * problem.n_bins

    def run(rng):
        estimate = problem.run(wave(rng, n), rng=rng)
        return {
            "pointwise": inside(estimate.band(points), truth)[rng.integers(len(points))],
            "simultaneous": inside(estimate.band(points, simultaneous=True), truth).all(),
        }

    if isinstance(problem, SeriesDensity):
        kind, family, few = f"{problem.terms} terms", "density, terms", 1250
    else:
        kind, family = f"{problem.n_bins} bins, {problem.noise}", f"density, {problem.noise}"
        few = 700 if problem.noise == "unary" else 1900
    return Case(f"density, {kind}, epsilon={problem.epsilon}, n={n}", family, run, few)


# Regression -----------------------------------------------------------------------------------------------------------

RESIDUAL = {"logistic": None, "linear": 1.0, "poisson": 2.0}


MIXED = 50.0  # below it, gradient descent warns of a small sample


def glm(family, dim, epsilon, mixing=MIXED, many=RUNS):
    """A generalized linear model whose rows are independent corners of a cube in the unit ball.

    No residual is clipped at the true coefficients: linear errors are uniform within 1/2, counts are 0 or twice their
    mean.
    """
    n = mixed(family, dim, epsilon, mixing)
    theta = np.resize([1.0, -1.0], dim) / dim**0.5 * (0.6 if family == "poisson" else 1)
    corners = (2 * (np.arange(2**dim)[:, np.newaxis] >> np.arange(dim) & 1) - 1) / dim**0.5
    linear = corners @ theta
    weight = {"logistic": 1 / (2 + 2 * np.cosh(linear)), "linear": np.ones(2**dim), "poisson": np.exp(linear)}[family]
    hessian = corners.T @ (weight[:, np.newaxis] * corners) / 2**dim

    def run(rng):
        which = rng.integers(0, 2**dim, n)
        x, z = corners[which], linear[which]
        if family == "logistic":
            y = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(float)
        else:
            y = z + rng.random(n) - 0.5 if family == "linear" else 2 * np.exp(z) * rng.integers(0, 2, n)
        model = GradientDescent(family, dim, epsilon, residual=RESIDUAL[family])
        estimate, j = model.run(x, y, rng=rng), rng.integers(dim)
        margin = stats.norm.isf(0.025) * math.sqrt(model.plug_in_covariance(hessian)[j, j])
        return {
            "random scaling": inside(estimate.interval(), theta)[j],
            "plug-in": abs(estimate.value[j] - theta[j]) <= margin,
        }

    kind = "regression, linear" if family == "linear" else "regression, curved"
    few = 20 if n > 100_000 else 40 if n > 50_000 else 3200 if n < 1000 else 400 if mixing > MIXED else 60
    return Case(f"regression, {family}, dim={dim}, epsilon={epsilon}, n={n}", kind, run, few, many)


def mixed(family, dim, epsilon, mixing):
    """The smallest n with the given `mixing`; `MIXED` is the limit of the `SmallSampleWarning`."""
    model = GradientDescent(family, dim, epsilon, residual=RESIDUAL[family])
    query = model.query()
    model.update(query, query.privatize(np.zeros(dim + 1)))
    return math.ceil((mixing / model.mixing) ** (1 / (1 - model.exponent)))


def newton(family, dim, epsilon, many=RUNS // 4, *, slope=None, projection=None, binary=False):
    """A generalized linear model with an intercept, at the n that `NewtonStep` calls sufficient. Rows are uniform in a cube.

    The coefficients have the norm `slope`, by default 1 or 0.6 (poisson). With `binary` the rows are corners of the cube.
    """
    options = {"radius": dim**0.5, "column": dim**0.5, "residual": {"poisson": 3.0, "linear": 2.0}.get(family)}
    options["projection"] = projection
    n = NewtonStep(family, dim, epsilon, n=4, **options).sufficient_n
    norm = slope or (0.6 if family == "poisson" else 1)
    truth = np.append(np.resize([1.0, -1.0], dim) / dim**0.5 * norm, -0.3)

    def run(rng):
        x = (rng.choice([-1.0, 1.0], (n, dim)) if binary else rng.uniform(-1, 1, (n, dim))).astype(np.float32)
        z = x @ truth[:-1] + truth[-1]
        if family == "logistic":
            y = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(float)
        else:
            y = z + rng.normal(0, 0.5, n) if family == "linear" else rng.poisson(np.exp(z)).astype(float)
        with warnings.catch_warnings():
            if slope is not None:  # near the border of the projection or beyond it, or a long step
                warnings.simplefilter("ignore", DoubtfulWarning)
            warnings.filterwarnings("ignore", "the Newton step moves", DoubtfulWarning)  # in 1 of 100 runs
            if family == "poisson":  # mean responses below 1 have less curvature than is assumed; in 1 of 60 runs
                warnings.filterwarnings("ignore", "the Hessian is too noisy", DoubtfulWarning)
            estimate, j = NewtonStep(family, dim, epsilon, n=n, **options).run(x, y, rng=rng), rng.integers(dim + 1)
        return {"Newton step": inside(estimate.interval(), truth)[j]}

    size = "" if slope is None else f"coefficient {slope:g}, projection {projection or 5:g}, "
    size = f"binary, coefficient {slope:g}, " if binary else size
    name = f"Newton step, {family}, {size}dim={dim}, epsilon={epsilon}, n={n}"
    return Case(name, "Newton step", run, 60 if n < 100_000 else 20, many)


# Gaussian means -------------------------------------------------------------------------------------------------------

MEANS_AND_SIGMAS = [(mu, sigma) for mu in (0.0, 3.7, 1000.0, -250.3) for sigma in (1.0, 5.0)]
DOCUMENTED_ERRORS = {  # median and 95th percentile of |error| epsilon sqrt(n) / sigma, by (sigma known, rounds) and n
    (True, 2): {20_000: (2.5, 7.5), 200_000: (2.5, 7.0), 1_000_000: (2.5, 7.0)},
    (True, 1): {20_000: (3.3, 10.0), 200_000: (3.2, 9.5), 1_000_000: (3.6, 9.5)},
    (False, 2): {20_000: (3.2, 9.0), 200_000: (3.2, 9.0), 1_000_000: (3.4, 8.5)},
    (False, 1): {20_000: (4.8, 17.0), 200_000: (4.5, 16.0), 1_000_000: (4.8, 15.0)},
}


def gaussian(known, rounds, epsilon, n, method="robust"):
    """A Gaussian mean at a random mean and standard deviation, with the documented quantiles of the errors.

    gaussian/test_accuracy.py has the few runs of `make test`.
    """
    half, most = DOCUMENTED_ERRORS[known, rounds][n]

    def run(rng):
        mu, sigma = MEANS_AND_SIGMAS[rng.integers(len(MEANS_AND_SIGMAS))]
        scale = {"sigma": sigma} if known else {"sigma_bounds": (0.5, 16.0)}
        server = GaussianMean(epsilon, mu_bound=4096.0, rounds=rounds, method=method, **scale)
        with warnings.catch_warnings():  # one search in thousands fails and warns: it does not cover
            warnings.simplefilter("ignore", DoubtfulWarning)
            estimate = server.simulate(n, mu, sigma, rng=rng)
        error = abs(estimate.value - mu) * epsilon * math.sqrt(n) / sigma
        found = {"mean": inside(estimate.interval(), mu), "half of the errors": error <= half}
        found["most of the errors"] = error <= most
        return found if known else {**found, "sigma": inside(estimate.sigma.interval(), sigma)}

    kind = f"{method}, sigma {'known' if known else 'unknown'}, rounds={rounds}"
    return Case(f"normal records, {kind}, epsilon={epsilon}, n={n}", "normal records", run, 0, RUNS // 4)


# Cases ----------------------------------------------------------------------------------------------------------------

BOTH, CONSERVATIVE = (LOW, HIGH), (LOW, 1.0)
VALID = (0.95, 1.0)  # Clopper-Pearson: for every n
HALF = (0.5, 1.0)  # an upper bound on a median
LESS = (0.9, HIGH)  # documented: curved likelihoods have less coverage

# The worst distribution has 1.4 large records of 100.
RARE = [(2, 20.0, "optimal", "laplace"), (3, 20.0, "optimal", "laplace")]
WORST = [
    (2, 1.0, "paper", "laplace"),
    (2, 1.0, "optimal", "laplace"),
    (1.5, 1.0, "optimal", "sign-bit"),
    (3, 4.0, "optimal", "laplace"),
    (3, 1.0, "paper", "sign-bit"),
    (2, 4.0, "optimal", "sign-bit"),
]
MODES = ("fixed", "any")


def checks() -> Iterator[tuple[Case, dict[str, tuple[float, float]]]]:
    """Cases, with limits for the coverage of each interval."""
    for arguments in WORST:
        for distribution in ("worst", "point", "signs", "exponential"):
            yield truncated(*arguments, distribution), {"interval": CONSERVATIVE}
    for arguments in RARE:
        yield truncated(*arguments, "worst"), {"interval": CONSERVATIVE}
    for name in ("normal", "lognormal", "t(3)"):
        for q in (0.5, 0.1, 0.9):
            for mode in MODES:
                yield quantile(name, q, mode), {"interval": CONSERVATIVE}
    for mode in MODES:
        yield quantile("normal", 0.5, mode, 4.0), {"interval": CONSERVATIVE}
        yield quantile("lognormal", 0.5, mode, 0.5), {"interval": CONSERVATIVE}
        for name in ("exponential, wide", "gap", "integers"):
            yield quantile(name, 0.5, mode), {"interval": CONSERVATIVE}
    limits = {"pointwise": CONSERVATIVE, "simultaneous": CONSERVATIVE, "region": BOTH}
    for upper_probability in (0.5, 0.75, 1.0):
        for dim, epsilon in ((1, 1.0), (5, 4.0), (20, 4.0)):
            yield vectors(VectorMean(dim, epsilon), upper_probability), limits
            yield vectors(VectorMean(dim, epsilon, norm="linf"), upper_probability), limits
    yield vectors(VectorMean(2, 1.0, norm="linf", lower=0.0, upper=1.0), 0.75), limits
    for k, epsilon, method in ((2, 1.0, "k-ary"), (5, 1.0, "k-ary"), (30, 1.0, "symmetric"), (30, 4.0, "optimized")):
        yield frequencies(k, epsilon, method), {"pointwise": VALID, "simultaneous": VALID}
    for terms, epsilon in ((2, 1.0), (5, 4.0), (15, 1.0)):
        yield density(SeriesDensity(epsilon, n_terms=terms)), {"pointwise": BOTH, "simultaneous": CONSERVATIVE}
    for noise, bounds in (("unary", VALID), ("laplace", CONSERVATIVE)):
        for bins, epsilon in ((2, 4.0), (12, 1.0)):
            problem = HistogramDensity(epsilon, bins=bins, noise=noise)
            yield density(problem), {"pointwise": bounds, "simultaneous": bounds}

    scaling = "random scaling"
    for arguments in (("linear", 2, 1.0), ("linear", 2, 4.0), ("linear", 5, 4.0), ("linear", 5, 1.0)):
        yield glm(*arguments), {scaling: BOTH}
    for arguments in (("poisson", 2, 4.0), ("poisson", 5, 4.0), ("logistic", 2, 4.0)):
        yield glm(*arguments), {scaling: LESS}
    yield glm("logistic", 5, 4.0, many=RUNS // 4), {scaling: LESS}
    for dim in (2, 5):
        yield glm("linear", dim, 4.0, 3 * MIXED, RUNS // 2), {scaling: BOTH, "plug-in": BOTH}
    yield glm("logistic", 2, 4.0, 3 * MIXED, RUNS // 4), {scaling: LESS, "plug-in": LESS}

    yield newton("linear", 1, 4.0), {"Newton step": BOTH}
    for arguments in (("logistic", 1, 4.0), ("poisson", 1, 4.0)):
        yield newton(*arguments), {"Newton step": CONSERVATIVE}
    for dim, slope in ((1, 1.5), (2, 1.0), (1, 0.5)):
        yield newton("logistic", dim, 4.0, slope=slope, binary=True), {"Newton step": CONSERVATIVE}
    for slope, projection in ((2.5, None), (4.0, None), (6.0, None), (6.0, 10.0), (8.0, 12.0)):
        yield newton("logistic", 1, 4.0, slope=slope, projection=projection), {"Newton step": CONSERVATIVE}
    for arguments in (("logistic", 1, 0.5), ("logistic", 3, 4.0)):
        yield newton(*arguments, RUNS // 8), {"Newton step": CONSERVATIVE}

    for (known, rounds), sizes in DOCUMENTED_ERRORS.items():
        for epsilon, n in itertools.product((0.5, 1.0, 2.0), sizes):
            limits = {"mean": BOTH, "half of the errors": HALF, "most of the errors": VALID}
            yield gaussian(known, rounds, epsilon, n), limits if known else {**limits, "sigma": BOTH}
    for epsilon, n in itertools.product((0.5, 1.0, 2.0), DOCUMENTED_ERRORS[True, 2]):
        yield gaussian(True, 2, epsilon, n, "efficient"), {"mean": BOTH}


LIMITATIONS = {
    # pattern of the name: reason why the coverage is too small; the documentation states these limitations
    r"exponential, wide": "the positions spread over a range where a parabola does not fit",
    r"gap": "the density at the median is so small that the positions do not converge",
    r"coefficient 6, projection 5": "the coefficient is beyond the projection",
    r"integers": "a parabola is fitted to a probability that is a step function",
}


def limitation(case: Case, interval: str) -> str | None:
    """Return why an interval covers too seldom; such intervals are only in the test with many runs, and expected to fail."""
    return next((why for pattern, why in LIMITATIONS.items() if re.search(pattern, f"{case}: {interval}")), None)


def parameters() -> Iterator[object]:
    """Yield the parameters of the test with many runs."""
    for case, intervals in checks():
        for interval, bounds in intervals.items():
            why = limitation(case, interval)
            marks = [] if why is None else [pytest.mark.xfail(strict=True, reason=why)]
            yield pytest.param(case, interval, bounds, id=f"{case}: {interval}", marks=marks)


PARAMETERS = {
    "test_intervals_of_a_family_cover_in_few_runs": (
        "family",
        lambda: dict.fromkeys(case.family for case, _ in checks() if case.few),
    ),
    "test_intervals_cover_in_many_runs": ("case, interval, bounds", parameters),
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make the cases only if they are run, because that takes a second."""
    names, values = PARAMETERS[metafunc.function.__name__]
    is_run = metafunc.config.getoption("--long") or metafunc.config.getoption("--slow")
    metafunc.parametrize(names, list(values()) if is_run else [])


DETECTED = {  # coverage that is detected with a probability of 0.99, by family and interval; 0.9 for all others
    ("regression, linear", "plug-in"): 0.83,
    ("regression, curved", "random scaling"): 0.72,
    ("regression, curved", "plug-in"): 0.25,
    ("Newton step", "Newton step"): 0.82,
}


@pytest.mark.claim(
    "Intervals of each kind of estimate cover at the numbers of people that are called sufficient.", "Estimates"
)
@pytest.mark.long
def test_intervals_of_a_family_cover_in_few_runs(family):
    """Each case against its own limits, and all together against their smallest claim: detects 0.9 or `DETECTED`."""
    together: dict[str, list[tuple[int, int, float]]] = {}  # covering intervals, runs and claim of each case
    for case, intervals in checks():
        if case.family != family or not case.few:
            continue
        for interval, (low, high) in intervals.items():
            if limitation(case, interval) is None:
                covering = round(coverage(case, case.few)[interval] * case.few)
                limits = least_count(case.few, low), stats.binom.isf(ALPHA, case.few, high)
                assert limits[0] <= covering <= limits[1], f"{case}: {interval} covers in {covering} of {case.few} runs"
                together.setdefault(interval, []).append((covering, case.few, low))
    assert together
    for interval, cases in together.items():
        covering, runs, claims = zip(*cases, strict=True)
        detects = DETECTED.get((family, interval), 0.9)
        assert_coverage(sum(covering), sum(runs), min(claims), detects=detects)


@pytest.mark.claim("Each interval has the coverage that its page states.", "Estimates")
@pytest.mark.slow
def test_intervals_cover_in_many_runs(case, interval, bounds):
    low, high = bounds
    if bounds in (VALID, HALF):  # random variation of the simulated fraction
        low = stats.binom.ppf(ALPHA, case.many, low) / case.many
    assert low <= coverage(case, case.many)[interval] <= high
