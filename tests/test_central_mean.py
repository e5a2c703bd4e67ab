"""Truncated means: what the noise guarantees, exactly; what the result says about its error."""

from __future__ import annotations

import functools
import math
import re
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize, stats

import ldpfast as ldp
from ldpfast import _coins
from ldpfast._core import sums
from ldpfast._core.stream import Stream
from ldpfast.central import _mean, _noise, mean
from ldpfast.central._noise import FINE, Grid
from ldpfast.privacy import concentrated_delta, gaussian_delta

from .support import reference
from .support.statistics import ALPHA, bernstein_radius, hoeffding_radius

KEY = bytes(range(32))
DEFINITIONS = {
    "pure": {"epsilon": 1.0},
    "smooth": {"epsilon": 1.0},
    "approximate": {"epsilon": 1.0, "delta": 1e-6},
    "kl": {"epsilon": 0.5},
    "tv": {"epsilon": 0.3},
}
MOMENTS = [1.5, 2.0, 4.0, math.inf]


@pytest.fixture(autouse=True)
def _remembered(monkeypatch):
    """The search for sigma^2 once for many estimates."""
    monkeypatch.setattr(_mean, "gaussian", functools.lru_cache(_noise.gaussian))


def total(row, radius=1.0):
    """A row as integers of the fine grid."""
    row = np.ascontiguousarray(np.atleast_2d(row))
    state = np.zeros((row.shape[1], 2), np.uint64)
    sums.add_clipped(row, row.shape[1], radius, np.empty(2 * row.shape[1]), state)
    return np.array(reference.wide(state), dtype=object)


# Sensitivity ----------------------------------------------------------------------------------------------------------


def neighbours(dim, rng):
    """Pairs of rows of the unit ball and beyond: antipodal on the ball, on the diagonal, on an axis, at random, huge."""
    axis, diagonal = np.eye(dim)[0], np.full(dim, dim**-0.5)
    yield axis, -axis
    yield diagonal, -diagonal
    yield np.nextafter(axis, 2), np.nextafter(-axis, -2)
    yield diagonal * (1 + 1e-16 * np.arange(dim)), -diagonal
    yield 1e30 * diagonal, -1e30 * axis
    for _ in range(40):
        x = rng.standard_normal(dim)
        x /= np.linalg.norm(x)
        yield x, -x
        yield x * rng.choice([0.3, 1.0, 5.0]), rng.standard_normal(dim)
        yield x, np.sign(x) * -diagonal


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("radius", [1.0, 1.7, 1e-3])
@pytest.mark.parametrize("dim", [1, 2, 5, 100])
def test_counted_sensitivities_bound_what_is_released(dim, radius, dtype):
    """After clipping, adding and rounding, with the same offsets: the span, the l1 and the l2 diameter in integers."""
    rng, close = np.random.default_rng(dim), 0.0
    grids = [Grid.of(dim, steps) for steps in (1, 7, 1024, 10_240)] + [Grid(dim, 1), Grid(dim, 3)]
    for x, y in neighbours(dim, rng):
        a, b = total((radius * x).astype(dtype), radius), total((radius * y).astype(dtype), radius)
        others = np.array([int(v) for v in rng.integers(-(1 << 60), 1 << 60, dim)], dtype=object)
        for grid in grids:
            assert math.isqrt(sum(int(v) ** 2 for v in a - b)) <= grid._fine
            key = rng.bytes(32)
            moved = np.array(grid.round(others + a, Stream(key)), dtype=object) - np.array(
                grid.round(others + b, Stream(key)), dtype=object
            )
            assert max(abs(moved)) <= grid.span
            assert sum(abs(moved)) <= grid.l1
            assert sum(moved**2) <= grid.l2_squared
            close = max(close, sum(abs(moved)) / grid.l1)
    assert close > 0.6  # the bound is not idle


@pytest.mark.parametrize("dim", [1, 2, 3, 5, 100, 1001])
def test_sensitivities_by_the_offsets_alone(dim):
    """Every residue of the worst row: the number of steps that rounding adds is at most one per coordinate."""
    for step in (1, 2, 3, 7):
        grid = Grid(dim, step)
        for t in (grid._fine, grid._fine - 1, grid._fine // 2):
            most = max((t + r) // step - r // step for r in range(step))
            assert most <= t // step + 1
            assert most <= grid.span
    assert Grid(dim, 5).l1 >= Fraction(Grid(dim, 5)._fine * math.isqrt(dim), 5) + dim - 1
    assert Grid(dim, 5).l2_squared >= Fraction(Grid(dim, 5)._fine, 5) ** 2


def test_the_whole_step_of_rounding_is_needed():
    """Nominal sensitivity is too small: two steps where the records move by one and a little."""
    grid = Grid(1, 1 << 39)
    moved = max(
        abs(grid.round([s + 2 * FINE], Stream(bytes([i] * 32)))[0] - grid.round([s], Stream(bytes([i] * 32)))[0])
        for i in range(64)
        for s in (1, 12345678901)
    )
    assert moved == 4
    s, key = 0, bytes(32)
    moved = {
        grid.round([s + k], Stream(key))[0] - grid.round([s], Stream(key))[0] for k in range(0, grid.step, 1 << 33)
    }
    assert moved == {0, 1}


def test_the_offset_is_uniform_and_keeps_the_mean():
    """A step of 2^31: offsets by chi-square in 32 cells, and each total is rounded to one of its two neighbours."""
    grid, n = Grid(4096, 1 << 31), 4096
    state = np.array([k * 524_288 for k in range(n)], dtype=object)
    found = np.array(grid.round(state, Stream(KEY)))
    assert set(found.tolist()) == {0, 1}
    expected = np.arange(n) / 4096
    assert abs(found.sum() - expected.sum()) <= n * bernstein_radius(1 / 6, 1.0, n, ALPHA)


# Noise: Laplace -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 2.5, 30.0])
@pytest.mark.parametrize("dim", [1, 2, 5, 100, 5000])
@pytest.mark.parametrize("definition", ["pure", "smooth"])
def test_laplace_noise_keeps_the_budget(definition, dim, epsilon):
    """The loss of the integers in use, recomputed with 120 digits at the counted diameter; digits reach over the span."""
    found = _noise.laplace(definition, epsilon, dim)
    coins, grid = found.coins, found.grid
    with localcontext(prec=120):
        rate = -(Decimal(coins.carry) / (1 << 128)).ln() / (1 << len(coins.digits))
        eta = sum(
            (abs((Decimal(m) / ((1 << 128) - m)).ln() + rate * (1 << j)) for j, m in enumerate(coins.digits)),
            Decimal(0),
        )
        assert rate * grid.l1 + min(dim, grid.l1) * eta <= Decimal(epsilon) * (1 + Decimal("1e-15"))
    assert 1 << len(coins.digits) >= grid.span
    assert found.guarantee.definition == definition
    assert epsilon * (1 - 1e-2) <= found.guarantee.epsilon <= epsilon
    ideal = 2 * (2 * math.sqrt(dim) / epsilon) ** 2  # in units of the radius
    assert found.variance * (grid.step / FINE) ** 2 <= ideal * (1.05 if epsilon >= 0.1 else 1.5)


@pytest.mark.parametrize("dim", [2, 3, 5, 7, 50])
def test_laplace_noise_has_the_variance_of_the_exact_diameter(dim):
    """8 d^2 / (n a)^2 in all (A-10), and a little for the grid."""
    found = _noise.laplace("pure", 1.0, dim)
    assert found.variance * (found.grid.step / FINE) ** 2 == pytest.approx(8 * dim, rel=5e-3)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("steps", [2, 3, 5])
def test_the_release_of_a_number_by_enumeration(steps, epsilon):
    """All offsets of a coarse grid, narrow coins: the exact loss of every pair of totals a diameter apart, or less."""
    grid, width = Grid(1, 2 * FINE // steps), 16
    with localcontext(_coins.CONTEXT):
        rate, count = Decimal(epsilon) / grid.span, 1
        while 1 << count < grid.span:
            count += 1
        digits, carry = _coins.geometric_integers(rate, count, width)
        eta = _coins.geometric_error(digits, carry, width, rate)
        pmf = reference.geometric_law(digits, carry, width, 4)
        limit = (rate * grid.span + eta).exp() * (1 + Decimal("1e-60"))
        reach = len(pmf) - 2 * grid.span

        def chance(y, s):  # of the report y, for a total of s sixteenths of a step: up with the rest's probability
            whole, rest = divmod(s, 16)
            up = Fraction(rest, 16)
            of = lambda n: pmf[n if n >= 0 else -1 - n] / 2  # noqa: E731
            return (1 - up) * of(y - whole) + up * of(y - whole - 1)

        for s in range(16):
            for t in range(16 * steps + 1):
                for y in range(-reach + 2 * grid.span, reach, 3):
                    ratio = chance(y, s) / chance(y, s + t)
                    ratio = max(ratio, 1 / ratio)
                    assert Decimal(ratio.numerator) <= limit * Decimal(ratio.denominator)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 2.0, 2.5, 8.0, 60.0])
@pytest.mark.parametrize("dim", [1, 2, 3, 16, 100])
def test_smooth_privacy_per_fine_step(dim, epsilon):
    """The loss is at most epsilon |x - x'| / (2 T): one step of the fine grid, in each coordinate, where it costs most.

    There the total is a multiple of a coarse step, and the report is above it: P(report) goes from P(N = 1) to a mixture with
    P(N = 0), with as many words of the offset as round up now.
    """
    found = _noise.laplace("smooth", epsilon, dim)
    step, m = found.grid.step, found.coins.digits[0]
    words = (1 << 64) - -(-((step - 1) << 64) // step)  # those whose offset is the largest: they alone go up
    assert ((1 << 64) - words) * step >> 64 == step - 1 > ((1 << 64) - words - 1) * step >> 64
    with localcontext(prec=80):
        ratio = Decimal((1 << 128) - m) / Decimal(m)  # P(N = 0) / P(N = 1)
        loss = dim * (1 + (ratio - 1) * Decimal(words) / (1 << 64)).ln()
        allowed = Decimal(found.guarantee.epsilon) * Decimal(dim).sqrt() / (2 * FINE)
        assert loss <= allowed


# Noise: Gaussian ------------------------------------------------------------------------------------------------------


def discrete(sigma2, reach):
    y = np.arange(-reach, reach + 1, dtype=float)
    return y, np.exp(-(y**2) / (2 * sigma2))


def hockey_stick(epsilon, shift, sigma2):
    """Of the discrete Gaussian law from itself moved by an integer, summed; from differences of logarithms."""
    reach = int(shift + 16 * math.sqrt(sigma2) + 50)
    y, weight = discrete(sigma2, reach)
    log_ratio = (shift**2 - 2 * shift * y) / (2 * sigma2)  # of p(y) over p(y - shift)
    where = log_ratio > epsilon
    return float(np.sum(weight[where] * -np.expm1(epsilon - log_ratio[where])) / np.sum(weight))


PAIRS = [(e, d) for e in (0.05, 0.3, 1.0, 4.0, 10.0, 30.0) for d in (1e-2, 1e-5, 1e-9, 1e-14)]


@pytest.mark.parametrize("epsilon, delta", PAIRS)
def test_gaussian_noise_of_a_number_holds_by_an_exact_sum(epsilon, delta):
    """At the counted sensitivity and at smaller ones; and no more than 1 percent more variance than the continuous law's."""
    found = _noise.gaussian("approximate", epsilon, delta, 1)
    span, sigma2 = found.grid.span, found.parameter
    exact = hockey_stick(epsilon, span, sigma2)
    assert 0.9 * delta <= exact <= delta * (1 + 1e-12)
    for shift in (1, span // 2, span - 1):
        assert hockey_stick(epsilon, shift, sigma2) <= delta
    ideal = (ldp.privacy.gaussian_sigma(epsilon, delta) * 2 * FINE / found.grid.step) ** 2
    assert ideal < sigma2 <= 1.02 * ideal


@pytest.mark.parametrize("epsilon, delta", PAIRS)
@pytest.mark.parametrize("shift", [1, 2, 10, 1025])
def test_discrete_delta_is_an_upper_bound(shift, epsilon, delta):
    for factor in (0.7, 1.0, 1.3):
        sigma2 = max(1, math.ceil((factor * shift * ldp.privacy.gaussian_sigma(epsilon, delta)) ** 2))
        exact, bound = hockey_stick(epsilon, shift, sigma2), _noise.discrete_delta(epsilon, shift, math.sqrt(sigma2))
        assert exact <= bound
        if shift == 1025 and epsilon <= 10:
            assert bound <= 1.25 * exact


def test_published_and_continuous_calibrations_fall_short():
    """noise.md, section 6: the continuous sigma, at a sensitivity of few steps, gives more than delta; A-8 gives far more."""
    for epsilon, delta, steps, times in ((10.0, 1e-6, 2, 1.93), (1.0, 1e-5, 1, 1.035)):
        sigma = steps * ldp.privacy.gaussian_sigma(epsilon, delta)
        assert hockey_stick(epsilon, steps, sigma**2) / delta == pytest.approx(times, rel=3e-3)
        assert _noise.discrete_delta(epsilon, steps, sigma) > delta
    published = lambda a, d: math.sqrt(math.log(1 / d) / 2) / a  # noqa: E731
    for a, d, truth in ((1, 1e-3, 0.0106), (1, 1e-6, 8.3e-4), (1, 1e-9, 8.8e-5), (0.1, 1e-6, 5.4e-5)):
        assert gaussian_delta(a, published(a, d)) == pytest.approx(truth, rel=0.01)
        assert published(a, d) < ldp.privacy.gaussian_sigma(a, d)
    assert gaussian_delta(1, math.sqrt(math.log(1e6)) / 2) == pytest.approx(0.0106, rel=0.01)  # appendix C
    # variance T^2 / (n^2 b) for a divergence of b, rate a n / (T sqrt d): both give twice of what they promise.
    b, d = 0.3, 4
    assert 2.0**2 / (2 * 1 / b) == pytest.approx(2 * b)
    assert 2 * math.sqrt(d) * (1 / math.sqrt(d)) == 2
    kl = _noise.gaussian("kl", b, 0.0, 1)
    assert kl.variance * (kl.grid.step / FINE) ** 2 == pytest.approx(2 / b, rel=3e-3)
    pure = _noise.laplace("pure", 1.0, d)
    assert pure.variance * (pure.grid.step / FINE) ** 2 == pytest.approx(8 * d, rel=5e-3)


@pytest.mark.parametrize("dim", [1, 2, 30])
@pytest.mark.parametrize("epsilon", [1e-4, 0.3, 5.0])
def test_divergence_of_integer_shifts_is_exact(dim, epsilon):
    found = _noise.gaussian("kl", epsilon, 0.0, dim)
    square, sigma2 = found.grid.l2_squared, found.parameter
    assert square / (2 * sigma2) <= Fraction(epsilon) < square / (2 * max(1, sigma2 - 1)) or sigma2 == 1
    assert found.guarantee == ldp.privacy.Guarantee("kl", epsilon)
    for s2, shift in ((4, 3), (1, 1), (50, 7)):
        y, p = discrete(s2, 400)
        inside = np.abs(y) < 25 * math.sqrt(s2)
        p, log_ratio = p[inside] / p.sum(), (shift**2 - 2 * shift * y[inside]) / (2 * s2)
        assert np.sum(p * log_ratio) == pytest.approx(shift**2 / (2 * s2), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.05, 0.3, 0.9, 0.999])
def test_total_variation_of_a_number_by_an_exact_sum(epsilon):
    found = _noise.gaussian("tv", epsilon, 0.0, 1)
    exact = hockey_stick(0.0, found.grid.span, found.parameter)
    assert 0.98 * epsilon <= exact <= epsilon
    assert hockey_stick(0.0, found.grid.span // 2, found.parameter) < epsilon


@pytest.mark.parametrize("epsilon, delta", PAIRS)
@pytest.mark.parametrize("dim", [2, 50])
def test_gaussian_noise_of_rows(dim, epsilon, delta):
    """At the steps in use the discrete law is as good as the continuous one, of which delta is known."""
    found = _noise.gaussian("approximate", epsilon, delta, dim)
    assert found.parameter > 100
    exact = gaussian_delta(epsilon, math.sqrt(found.parameter), math.sqrt(found.grid.l2_squared))
    assert exact <= delta
    ideal = (ldp.privacy.gaussian_sigma(epsilon, delta) * 2 * FINE / found.grid.step) ** 2
    assert found.parameter <= 2.5 * ideal
    tv = _noise.gaussian("tv", min(epsilon, 0.9), 0.0, dim)
    shift = math.sqrt(tv.grid.l2_squared)
    assert ldp.privacy.gaussian_tv(math.sqrt(tv.parameter), shift) <= min(epsilon, 0.9)


@pytest.mark.parametrize("shift", [(1, 0), (1, 1), (2, 1), (5, 3)])
@pytest.mark.parametrize("sigma2", [1, 4, 30])
def test_concentrated_delta_bounds_the_exact_sum_in_the_plane(sigma2, shift):
    y, p = discrete(sigma2, 60 + 12 * math.isqrt(sigma2))
    weight = np.multiply.outer(p, p) / p.sum() ** 2
    square = shift[0] ** 2 + shift[1] ** 2
    log_ratio = (square - 2 * np.add.outer(shift[0] * y, shift[1] * y)) / (2 * sigma2)
    for epsilon in (0.1, 1.0, 3.0, 10.0):
        where = log_ratio > epsilon
        exact = np.sum(weight[where] * -np.expm1(epsilon - log_ratio[where]))
        assert exact <= concentrated_delta(epsilon, square / (2 * sigma2)) * (1 + 1e-12)


@pytest.mark.parametrize("rho", [1e-6, 1e-3, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 30.0])
def test_concentrated_delta_is_the_least_over_all_orders(rho, epsilon):
    """Above the exact delta of the continuous law with the same rho, and near the minimum that another search finds."""

    def log_delta(log_order):
        a = 1 + math.exp(log_order)
        return (a - 1) * (a * rho - epsilon) + a * math.log1p(-1 / a) - math.log(a - 1)

    starts = np.linspace(math.log(1e-6), math.log(1e8), 400)
    best = min(starts, key=log_delta)
    found = optimize.minimize_scalar(log_delta, bounds=(best - 0.2, best + 0.2), method="bounded").fun
    value = concentrated_delta(epsilon, rho)
    assert value >= gaussian_delta(epsilon, 1 / math.sqrt(2 * rho))
    if found > -600:
        assert math.log(value) == pytest.approx(found, abs=0.02)


def test_refused_where_no_noise_is_enough():
    for definition in ("kl", "tv"):
        with pytest.raises(ValueError, match="epsilon must be larger, for 3 coordinates, got 1e-30"):
            _noise.gaussian(definition, 1e-30, 0.0, 3)
    with pytest.raises(ValueError, match="epsilon must be within what exact coins can certify"):
        _noise.laplace("pure", 1e-30, 3)


# The estimate ---------------------------------------------------------------------------------------------------------


def records(n, dim, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_t(3, n) if dim == 1 else rng.standard_t(3, (n, dim)) / math.sqrt(dim)


@pytest.mark.parametrize("privacy", DEFINITIONS)
@pytest.mark.parametrize("dim", [1, 3])
def test_the_value_is_the_exact_sum_and_the_noise(privacy, dim):
    """With the noise of the same stream taken off, less than one coarse step from the clipped mean."""
    x, level = records(1000, dim), 1.5
    estimate = mean(x, privacy=privacy, moment=4, radius=2.0, rule=level, rng=7, **DEFINITIONS[privacy])
    options = DEFINITIONS[privacy]
    if privacy in ("pure", "smooth"):
        noise = _noise.laplace(privacy, options["epsilon"], dim)
    else:
        noise = _noise.gaussian(privacy, options["epsilon"], options.get("delta", 0.0), dim)
    stream = ldp._random.open_stream(7)
    rows = x.reshape(-1, dim)
    twin = [sum(column) for column in zip(*(reference.clipped_row(r, level) for r in rows), strict=True)]
    assert _mean.clipped_sum(x, dim, level, "raise").tolist() == twin
    integers = noise.grid.round(np.array(twin, dtype=object), stream)
    unit = noise.grid.step / FINE * level / 1000
    np.testing.assert_array_equal(
        np.atleast_1d(estimate.value),
        (np.array(integers) + noise.draw(stream)) * (noise.grid.step / FINE * level) / 1000,
    )
    clipped = rows * np.minimum(1, level / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300))
    assert np.abs(np.array(integers) * unit - clipped.mean(axis=0)).max() <= unit * (1 + 1e-6)
    assert estimate.level == level
    assert estimate.n == 1000
    assert np.shape(estimate.value) == np.shape(estimate.stderr) == (() if dim == 1 else (dim,))


def test_threads_layouts_and_dtypes_give_the_same_bytes(threads, tmp_path):
    x = records(40_000, 3).astype(np.float32)
    options = {"epsilon": 1.0, "moment": 4, "radius": 2.0, "rng": 5}
    wanted = mean(x, **options)
    wide = np.zeros((40_000, 7), np.float32)
    wide[:, 1::2] = x
    np.save(tmp_path / "x.npy", x)
    forms = [
        x.astype(np.float64),
        np.asfortranarray(x),
        wide[:, 1::2],
        x[::-1],
        np.random.default_rng(1).permutation(x),
        x.astype(">f4"),
        x.astype(">f8"),
        np.load(tmp_path / "x.npy", mmap_mode="r"),
    ]
    for form in forms:
        assert mean(form, **options) == wanted
    assert mean(x[:50].tolist(), **options) == mean(x[:50], **options)
    one = x[:, 0].copy()
    for form in (one.astype(np.float64), x[:, 0], one[::-1], one.astype(">f4")):
        assert mean(form, **options) == mean(one, **options)
    whole = np.arange(-30_000, 30_000)
    assert mean(whole.astype(np.int16), **options) == mean(whole.astype(np.float64), **options)


def test_threads_agree(threads):
    x = records(100_000, 1)
    assert mean(x, epsilon=1.0, moment=4, radius=2.0, rng=5).value == _known()


@functools.cache
def _known():
    before = ldp.get_num_threads()
    ldp.set_num_threads(1)
    value = mean(records(100_000, 1), epsilon=1.0, moment=4, radius=2.0, rng=5).value
    ldp.set_num_threads(before)
    return value


def test_rows_that_are_not_finite_count_as_zero():
    x = records(500, 3)
    good, x[7, 1], x[99, 0], x[499] = x.copy(), np.nan, np.inf, -np.inf
    good[[7, 99, 499]] = 0
    options = {"epsilon": 1.0, "moment": 4, "radius": 2.0, "rng": 5}
    assert mean(x, nan="centre", **options) == mean(good, **options)
    with pytest.raises(
        ValueError, match=r"x must be finite numbers \(or nan='centre'\); index 7 is outside \(3 of 500 are\)$"
    ):
        mean(x, **options)


# Laws that are as bad as a moment allows ------------------------------------------------------------------------------


def worst(moment, radius, level, dim, n, rng, reps):
    """Zero, or a row at k T / (k - 1) on the first axis, with the chance that the moment leaves: all of the bias."""
    place = radius if math.isinf(moment) else level * moment / (moment - 1)
    chance = 1.0 if math.isinf(moment) else min(1.0, (radius / place) ** moment)
    x = np.zeros((reps, n, dim))
    x[:, :, 0] = place * (rng.random((reps, n)) < chance)
    return x, place * chance


def signs(radius, dim, n, rng, reps):
    """Rows at the radius on either side: all of the variance."""
    x = np.zeros((reps, n, dim))
    x[:, :, 0] = radius * rng.choice([-1.0, 1.0], (reps, n))
    return x, 0.0


CASES = [(p, "grid") for p in DEFINITIONS] + [(p, "l2") for p in ("pure", "smooth")]


@pytest.mark.parametrize("privacy, noise", CASES)
@pytest.mark.parametrize("rule", ["sharp", "paper"])
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("dim", [1, 20])
def test_risk_is_above_the_error_of_the_worst_laws(privacy, noise, rule, moment, dim):
    """One law has all of the bias, one all of the variance, both the noise: the bound is above their errors and, in three
    terms, at most twice the larger. Luck: six standard errors of 150 means of 300 records (1e-9 by the normal law)."""
    n, reps = 300, 150
    options = {
        "privacy": privacy,
        "noise": noise,
        "rule": rule,
        "moment": moment,
        "radius": 1.0,
        **DEFINITIONS[privacy],
    }
    given, rng, largest = mean(np.zeros((n, dim)), rng=1, **options), np.random.default_rng(3), 0.0
    for x, truth in (worst(moment, 1.0, given.level, dim, n, rng, reps), signs(1.0, dim, n, rng, reps)):
        values = np.array([mean(x[i], rng=i, **options).value for i in range(reps)])
        errors = np.sum((values - truth * np.eye(dim)[0]) ** 2, axis=1)
        luck = 6 * errors.std() / math.sqrt(reps)
        assert errors.mean() <= given.risk + luck
        largest = max(largest, errors.mean() + luck)
    assert given.risk <= 2 * largest


def test_risk_for_a_moment_below_2():
    """A level far out, and rows there: the sampling error alone is sqrt(T / r) r^2 / n."""
    n, level = 2000, 400.0
    rng, errors = np.random.default_rng(0), []
    chance = level**-1.5
    for i in range(300):
        x = level * (rng.random(n) < chance)
        estimate = mean(x, noise="l2", epsilon=400.0, moment=1.5, radius=1.0, rule=level, rng=i)
        errors.append((estimate.value - level * chance) ** 2)
    assert np.mean(errors) - 6 * np.std(errors) / math.sqrt(300) <= estimate.risk


@pytest.mark.parametrize("moment", [1.5, 2.0, 3.0, 10.0])
@pytest.mark.parametrize("level", [0.5, 1.0, 2.0, 30.0])
def test_bias_and_second_moment_of_truncated_rows(moment, level):
    """Against a search over laws of two points (extreme for one moment and one integral): never above, and attained."""
    bias, square = _mean._truncated(moment, 1.0, level)
    t = np.geomspace(0.01, 1000, 20_001)
    chance = np.minimum(1.0, t**-moment)
    worst_bias, worst_square = np.max(np.maximum(t - level, 0) * chance), np.max(np.minimum(t, level) ** 2 * chance)
    assert worst_bias <= bias * (1 + 1e-12)
    assert worst_square <= square * (1 + 1e-12)
    if level >= 1:
        assert worst_bias == pytest.approx(bias, rel=1e-4)
        assert worst_square == pytest.approx(square, rel=1e-3)


def test_truncation_of_bounded_rows():
    assert _mean._truncated(math.inf, 2.0, 2.0) == (0.0, 4.0)
    assert _mean._truncated(math.inf, 2.0, 0.5) == (1.5, 0.25)
    assert _mean._truncated(math.inf, 2.0, 9.0) == (0.0, 4.0)
    for rule in ("sharp", "paper"):
        assert mean([0.5], epsilon=1, moment=math.inf, radius=3, rule=rule, rng=1).level == 3


def test_levels():
    """Sharp: no other level has a smaller bound. Paper: the published rates, with the radius (A-11)."""
    x = np.zeros((400, 9))
    for privacy, options in DEFINITIONS.items():
        for moment in (1.5, 2.0, 7.0):
            given = {"privacy": privacy, "moment": moment, "radius": 5.0, "rng": 1, **options}
            best = mean(x, **given)
            for factor in (0.8, 0.99, 1.01, 1.3):
                other = mean(x, **{**given, "rule": best.level * factor})
                assert other.risk >= best.risk * (1 - 1e-9)
    a, n, d, k = 1.0, 400, 9, 4.0
    rates = {
        "pure": (n * a / d) ** (1 / k),
        "smooth": (n * a / d) ** (1 / k),
        "approximate": ((n * a) ** 2 / (d * math.log(1e6))) ** (1 / (2 * k)),
        "kl": (n**2 * 0.5 / d) ** (1 / (2 * k)),
        "tv": (n * 0.3 / math.sqrt(d)) ** (1 / k),
    }
    for privacy, rate in rates.items():
        estimate = mean(x, privacy=privacy, moment=k, radius=5.0, rule="paper", rng=1, **DEFINITIONS[privacy])
        assert estimate.level == pytest.approx(5 * rate, rel=1e-12)


@pytest.mark.parametrize("privacy, noise", CASES)
@pytest.mark.parametrize("dim", [1, 4])
def test_noise_is_the_deviation_of_repeated_releases(privacy, noise, dim):
    """6000 numbers; 6 standard errors of the variance of a law with kurtosis 6 (Laplace's). The 1/4 for rounding: 1e-4."""
    x, reps = records(50, dim), 6000 // dim
    options = {"privacy": privacy, "noise": noise, "moment": 4, "radius": 2.0, **DEFINITIONS[privacy]}
    found = [mean(x, rng=i, **options) for i in range(reps)]
    values = np.array([np.atleast_1d(e.value) for e in found])
    clipped = _mean.clipped_sum(x, dim, found[0].level, "raise") / FINE * found[0].level / 50
    error = values - clipped.astype(float)
    n = error.size
    assert np.mean(error**2) == pytest.approx(found[0].noise ** 2, rel=6 * math.sqrt(5.5 / n) + 1e-3)
    assert abs(error.mean()) <= 6 * found[0].noise / math.sqrt(n)


@pytest.mark.parametrize("dim", [1, 2, 7, 100])
def test_l2_noise(dim):
    """Kolmogorov and Smirnov: the norm has the gamma law of `dim` degrees, a coordinate of the direction the arcsine's kin.
    Sees 7 percentage points. The variance is half of the grid's in high dimension."""
    n, epsilon, level = 2200, 0.7, 1.5
    options = {"epsilon": epsilon, "moment": math.inf, "radius": level, "noise": "l2"}
    w = np.array([mean(np.zeros((1, dim)), rng=i, **options).value for i in range(n)])
    norm = np.linalg.norm(w, axis=1)
    radius = hoeffding_radius(n, ALPHA)  # Massart's inequality has the same form
    for seen, law in (
        (norm, stats.gamma(dim, scale=2 * level / epsilon).cdf),
        ((w[:, 0] / norm) ** 2 if dim > 1 else (w[:, 0] > 0) + np.zeros(n), stats.beta(0.5, (dim - 1) / 2 or 1).cdf),
    ):
        if dim == 1 and seen is not norm:
            assert abs(seen.mean() - 0.5) <= radius
            continue
        z = np.sort(seen)
        assert np.abs(np.arange(1, n + 1) / n - law(z)).max() <= radius + 1 / n
    estimate = mean(np.zeros((50, dim)), rng=1, **options)
    assert estimate.noise**2 * dim == pytest.approx(4 * dim * (dim + 1) / (50 * epsilon) ** 2 * level**2, rel=1e-12)
    grid = mean(np.zeros((50, dim)), rng=1, **{**options, "noise": "grid"})
    assert estimate.noise**2 / grid.noise**2 == pytest.approx(
        (dim + 1) / (2 * dim), rel=0.02 if dim in (1, 100) else 0.6
    )


@pytest.mark.parametrize("privacy", DEFINITIONS)
@pytest.mark.parametrize("moment", [1.5, 2.0, 4.0])
def test_intervals_cover_the_mean_of_the_population(privacy, moment):
    """400 intervals of 90 percent for a law with just that moment: at least the nominal share, less 6 deviations."""
    n, reps, tail = 400, 400, moment + 0.1
    rng = np.random.default_rng(1)
    radius = (tail / (tail - moment)) ** (1 / moment)  # of a Pareto law from 1
    hits = 0
    for i in range(reps):
        estimate = mean(
            1 + rng.pareto(tail, n), privacy=privacy, moment=moment, radius=radius, rng=i, **DEFINITIONS[privacy]
        )
        low, high = estimate.interval(0.9)
        hits += low <= tail / (tail - 1) <= high
    assert hits / reps >= 0.9 - 6 * math.sqrt(0.09 / reps)


def test_intervals_allow_for_the_worst_bias():
    """The law with all of the bias, 600 intervals of 95 percent."""
    n, reps, level = 500, 600, 2.0
    x, truth = worst(2.0, 1.0, level, 1, n, np.random.default_rng(2), reps)
    hits = 0
    for i in range(reps):
        low, high = mean(x[i, :, 0], epsilon=1.0, moment=2, radius=1.0, rule=level, rng=i).interval()
        hits += low <= truth <= high
    assert hits / reps >= 0.95 - 6 * math.sqrt(0.0475 / reps)


def test_what_the_result_says():
    estimate = mean([1.0, 2.0, 3.0], epsilon=2.0, moment=math.inf, radius=3.0, rng=1)
    assert estimate.guarantee.definition == "pure"
    assert estimate.epsilon <= 2.0
    data = estimate.to_dict()
    assert {"level", "noise", "risk", "value", "guarantee"} <= set(data)
    assert "epsilon = 2" in repr(estimate)
    assert mean([1.0], privacy="tv", epsilon=0.2, moment=3, radius=1, rng=1).guarantee == ldp.privacy.Guarantee(
        "tv", 0.2
    )
    approximate = mean([1.0], privacy="approximate", epsilon=1, delta=0.1, moment=3, radius=1, rng=1)
    assert (approximate.guarantee.epsilon, approximate.guarantee.delta) == (1.0, 0.1)


# Bad input ------------------------------------------------------------------------------------------------------------

GOOD = {"x": [0.1, 0.2], "epsilon": 1.0, "moment": 2, "radius": 1.0}
BAD = [
    ({"epsilon": 0}, ValueError, "epsilon must be a finite number > 0, got 0"),
    ({"epsilon": -1.0}, ValueError, "epsilon must be a finite number > 0, got -1.0"),
    ({"epsilon": math.nan}, ValueError, "epsilon must be a finite number"),
    ({"epsilon": 65.0}, ValueError, "epsilon must be at most 64 for privacy='pure', got 65.0"),
    ({"epsilon": 1e-30}, ValueError, "epsilon must be"),
    ({"epsilon": "1"}, TypeError, "epsilon must be a number, got str"),
    ({"privacy": "zcdp"}, ValueError, "privacy must be one of 'pure'"),
    ({"noise": "laplace"}, ValueError, "noise must be one of 'grid', 'l2'"),
    ({"noise": "l2", "privacy": "kl"}, ValueError, "noise must be \"grid\" for privacy='kl'"),
    ({"nan": "ignore"}, ValueError, "nan must be one of 'raise', 'centre'"),
    ({"rule": "best"}, ValueError, "rule must be one of 'sharp', 'paper'"),
    ({"rule": 0.0}, ValueError, "rule must be a finite number > 0"),
    ({"rule": None}, TypeError, "rule must be a number"),
    ({"delta": 0.1}, ValueError, "delta must be 0 for privacy='pure', got 0.1"),
    ({"delta": 0.1, "privacy": "kl"}, ValueError, "delta must be 0 for privacy='kl'"),
    ({"privacy": "approximate"}, ValueError, r"delta must be in \(0, 1\), got 0.0"),
    ({"privacy": "approximate", "delta": 1.0}, ValueError, r"delta must be in \(0, 1\), got 1.0"),
    ({"privacy": "tv", "epsilon": 1.0}, ValueError, r"epsilon must be in \(0, 1\) for privacy=\"tv\""),
    ({"moment": 1}, ValueError, "moment must be > 1, or inf, got 1"),
    ({"moment": -math.inf}, ValueError, "moment must be a finite number"),
    ({"moment": math.nan}, ValueError, "moment must be a finite number"),
    ({"radius": 0}, ValueError, "radius must be a finite number > 0"),
    ({"radius": math.inf}, ValueError, "radius must be a finite number"),
    ({"x": []}, ValueError, "x must hold at least 1 record, got none"),
    ({"x": np.zeros((0, 3))}, ValueError, "x must hold at least 1 record, got none"),
    ({"x": 3.0}, ValueError, r"x must have shape \(n,\), got shape \(\)"),
    ({"x": np.zeros((2, 2, 2))}, ValueError, r"x must have shape \(n,\), got shape"),
    ({"x": ["a"]}, TypeError, "x must be real numbers"),
    ({"x": [1j]}, TypeError, "x must be real numbers"),
    ({"x": np.zeros(3, bool)}, TypeError, "x must be real numbers"),
    ({"x": np.ma.zeros(3)}, TypeError, "x must not be a masked array"),
    ({"x": [[1.0], [1.0, 2.0]]}, TypeError, "x must be an array of numbers"),
    ({"rng": "seed"}, TypeError, "rng must be None, an int"),
]


@pytest.mark.parametrize("change, error, message", BAD, ids=[str(next(iter(c.items())))[:40] for c, *_ in BAD])
def test_bad_input(change, error, message):
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    with pytest.raises(error, match=message):
        mean(**{"rng": rng, **GOOD, **change})
    assert rng.bit_generator.state == before


def test_no_value_of_a_record_is_in_a_message():
    x = np.full(200_000, 123.456)
    x[150_000], x[199_999] = np.nan, np.inf
    with pytest.raises(ValueError, match="index 150000 is outside") as caught:
        mean(**{**GOOD, "x": x})
    assert str(caught.value) == "x must be finite numbers (or nan='centre'); index 150000 is outside (2 of 200000 are)"


def test_nothing_is_drawn_for_records_that_are_refused():
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    with pytest.raises(ValueError, match="index 0 is outside"):
        mean(**{**GOOD, "x": [math.nan]}, rng=rng)
    assert rng.bit_generator.state == before


EXTREME = [
    {"radius": 1e-300, "moment": math.inf},
    {"radius": 1e200},
    {"radius": 1e300, "moment": 1.9},
    {"rule": 1e-5, "moment": 1e6},
    {"epsilon": 1e300, "noise": "l2"},
    {"epsilon": 1e-320, "noise": "l2"},
    {"x": np.zeros((3, 0))},
    {"x": np.full((3, 2), 1.7e308)},
    {"rule": 1e-310},
]


@pytest.mark.parametrize("change", EXTREME, ids=lambda c: str(next(iter(c.items())))[:30].replace("\n", " "))
def test_extreme_parameters(change):
    """An answer that is finite and right, or an error that says what is allowed."""
    options = {**GOOD, **change}
    try:
        estimate = mean(**options, rng=1)
    except ValueError as error:
        assert re.match("(x|radius|rule|moment|epsilon)( and rule)? must ", str(error))  # noqa: PT017
        assert "index -1" not in str(error)  # noqa: PT017
        return
    assert np.isfinite(estimate.value).all()
    assert np.isfinite(estimate.risk)
    assert np.all(np.abs(estimate.value) <= 100 * estimate.level + 100 * np.max(estimate.stderr))


@pytest.mark.parametrize("level", [1e-18, 1e18])
@pytest.mark.parametrize("size", [0.0, 1e-300, 0.3, 1.0, 1.0000001, 1e6, 1e150])
def test_smallest_and_largest_balls_clip(level, size):
    """At the limits of the levels: no square vanishes or overflows unnoticed."""
    row = np.array([[0.6, -0.8]]) * min(size * level, 1e300)
    found = [int(v) for v in _mean.clipped_sum(row, 2, level, "raise")]
    assert found == [round(0.6 * min(size, 1) * FINE), round(-0.8 * min(size, 1) * FINE)]


def test_levels_beyond_the_limits_are_refused():
    for change in ({"rule": 9e-19}, {"rule": 1.1e18}, {"radius": 1e-30, "moment": math.inf}):
        with pytest.raises(ValueError, match=r"must give a level.* in \[1e-18, 1e\+18\], got"):
            mean(**{**GOOD, **change})
    assert np.isfinite(mean(**{**GOOD, "rule": 1e-18}).value)
    assert np.isfinite(mean(**{**GOOD, "rule": 1e18}).value)


@pytest.mark.parametrize("dim", [1, 4])
def test_sums_are_clamped_where_the_noise_is_cut_off(dim):
    """The kernel's noise stops at 2^47: beyond 2^47 - |sum| the report would tell the sum apart."""
    grid, n = Grid.of(dim, 1024), 50
    most = max(abs(v) for v in grid.round(n * total(np.eye(dim)[0]), Stream(KEY)))
    assert most + grid.limit(n) < 1 << 47
    assert grid.limit(n) > (1 << 47) - n * 2000
    with pytest.raises(ValueError, match="x must hold fewer records for integers of 48 bits, got"):
        grid.limit(1 << 47)


def test_without_a_seed_every_release_is_new():
    assert mean(**GOOD).value != mean(**GOOD).value
    rng = np.random.default_rng(5)
    first, second = mean(**GOOD, rng=rng), mean(**GOOD, rng=rng)
    assert first.value != second.value
    assert mean(**GOOD, rng=3) == mean(**GOOD, rng=np.random.SeedSequence(3))
