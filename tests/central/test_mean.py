"""Private means of truncated rows: the release is exact, and the stated error holds."""

from __future__ import annotations

import functools
import math
import re

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.central import mean

from ..support import reference
from ..support.cases import each
from ..support.internals.central import FINE, definitions
from ..support.modules import module_of
from ..support.statistics import ALPHA, assert_counts, assert_coverage, hoeffding_radius, normal_margin

inside = module_of(mean)

DEFINITIONS = {
    "pure": {"epsilon": 1.0},
    "smooth": {"epsilon": 1.0},
    "approximate": {"epsilon": 1.0, "delta": 1e-6},
    "kl": {"epsilon": 0.5},
    "tv": {"epsilon": 0.3},
}
MOMENTS = [1.5, 2.0, 4.0, math.inf]


@pytest.fixture(autouse=True)
def _cached_noise(monkeypatch):
    """Cache the search for the least variance over many estimates."""
    monkeypatch.setattr(
        definitions.GaussianDefinition, "noise", functools.lru_cache(definitions.GaussianDefinition.noise)
    )


# The release ----------------------------------------------------------------------------------------------------------


def records(n, dim, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_t(3, n) if dim == 1 else rng.standard_t(3, (n, dim)) / math.sqrt(dim)


@each("privacy", DEFINITIONS)
@each("dim", [1, 3])
def test_the_value_is_the_rounded_exact_sum_plus_noise(privacy, dim):
    """Without the noise of the same stream, the value is within one coarse step of the clipped mean."""
    x, level = records(1000, dim), 1.5
    estimate = mean(x, privacy=privacy, moment=4, radius=2.0, method=level, rng=7, **DEFINITIONS[privacy])
    noise = definitions.definition_of(privacy, **{"delta": 0.0, **DEFINITIONS[privacy]}).noise(dim)
    stream = ldp._random.open_stream(7)
    rows = x.reshape(-1, dim)
    expected = [sum(column) for column in zip(*(reference.clipped_row(r, level) for r in rows), strict=True)]
    assert inside.clipped_sum(x, dim, level, "raise").tolist() == expected
    integers = noise.grid.round(np.array(expected, dtype=object), stream)
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


def test_threads_layouts_and_dtypes_do_not_change_the_value(threads, tmp_path):
    x = records(40_000, 3).astype(np.float32)
    options = {"epsilon": 1.0, "moment": 4, "radius": 2.0, "rng": 5}
    expected = mean(x, **options)
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
        assert mean(form, **options) == expected
    assert mean(x[:50].tolist(), **options) == mean(x[:50], **options)
    one = x[:, 0].copy()
    for form in (one.astype(np.float64), x[:, 0], one[::-1], one.astype(">f4")):
        assert mean(form, **options) == mean(one, **options)
    whole = np.arange(-30_000, 30_000)
    assert mean(whole.astype(np.int16), **options) == mean(whole.astype(np.float64), **options)


@pytest.mark.parametrize("threads", [2, 7], indirect=True)
def test_many_threads_give_the_value_of_one(threads):
    x = records(100_000, 1)
    assert mean(x, epsilon=1.0, moment=4, radius=2.0, rng=5).value == value_of_one_thread()


@functools.cache
def value_of_one_thread():
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
    assert mean(x, nan="center", **options) == mean(good, **options)
    with pytest.raises(
        ValueError, match=r"x must be finite numbers \(or nan='center'\); index 7 is outside \(3 of 500 are\)$"
    ):
        mean(x, **options)


# Error in the worst case ----------------------------------------------------------------------------------------------


def largest_bias(moment, radius, level, dim, n, rng, reps):
    """Draw means with the largest bias: rows are zero or k T / (k - 1) on the first axis, as often as the moment allows."""
    place = radius if math.isinf(moment) else level * moment / (moment - 1)
    probability = 1.0 if math.isinf(moment) else min(1.0, (radius / place) ** moment)
    x = np.zeros((reps, n, dim))
    x[:, :, 0] = place * (rng.random((reps, n)) < probability)
    return x, place * probability


def largest_variance(radius, dim, n, rng, reps):
    """Draw means with the largest variance: rows are at the radius on both sides."""
    x = np.zeros((reps, n, dim))
    x[:, :, 0] = radius * rng.choice([-1.0, 1.0], (reps, n))
    return x, 0.0


CASES = [(p, "grid") for p in DEFINITIONS] + [(p, "l2") for p in ("pure", "smooth")]


@pytest.mark.long
@each("privacy, noise", CASES)
@each("method", ["optimal", "paper"])
@each("moment", MOMENTS)
@each("dim", [1, 20])
def test_risk_is_above_the_error_of_the_worst_distributions(privacy, noise, method, moment, dim):
    """One distribution has the largest bias, one the largest variance.

    The risk is above both errors, and at most twice the larger one. The margin fits a normal error, of 150 means of 300
    records.
    """
    n, reps = 300, 150
    options = {
        "privacy": privacy,
        "noise": noise,
        "method": method,
        "moment": moment,
        "radius": 1.0,
        **DEFINITIONS[privacy],
    }
    given, rng, largest = mean(np.zeros((n, dim)), rng=1, **options), np.random.default_rng(3), 0.0
    for x, truth in (
        largest_bias(moment, 1.0, given.level, dim, n, rng, reps),
        largest_variance(1.0, dim, n, rng, reps),
    ):
        values = np.array([mean(x[i], rng=i, **options).value for i in range(reps)])
        errors = np.sum((values - truth * np.eye(dim)[0]) ** 2, axis=1)
        margin = normal_margin(2) * errors.std() / math.sqrt(reps)
        assert errors.mean() <= given.risk + margin
        largest = max(largest, errors.mean() + margin)
    assert given.risk <= 2 * largest


def test_risk_with_a_moment_below_2():
    """For rows at a large truncation radius T, the sampling error alone is sqrt(T / r) r^2 / n."""
    n, level = 2000, 400.0
    rng, errors = np.random.default_rng(0), []
    probability = level**-1.5
    for i in range(300):
        x = level * (rng.random(n) < probability)
        estimate = mean(x, noise="l2", epsilon=400.0, moment=1.5, radius=1.0, method=level, rng=i)
        errors.append((estimate.value - level * probability) ** 2)
    assert np.mean(errors) - normal_margin() * np.std(errors) / math.sqrt(300) <= estimate.risk


@each("moment", [1.5, 2.0, 3.0, 10.0])
@each("level", [0.5, 1.0, 2.0, 30.0])
def test_bias_and_second_moment_of_truncated_rows_are_attained(moment, level):
    """Comparison with a search over two-point distributions, which are extreme under one moment condition."""
    bias, square = inside._truncated(moment, 1.0, level)
    t = np.geomspace(0.01, 1000, 20_001)
    probability = np.minimum(1.0, t**-moment)
    worst_bias, worst_square = (
        np.max(np.maximum(t - level, 0) * probability),
        np.max(np.minimum(t, level) ** 2 * probability),
    )
    assert worst_bias <= bias * (1 + 1e-12)
    assert worst_square <= square * (1 + 1e-12)
    if level >= 1:
        assert worst_bias == pytest.approx(bias, rel=1e-4)
        assert worst_square == pytest.approx(square, rel=1e-3)


def test_bias_and_second_moment_of_bounded_rows():
    assert inside._truncated(math.inf, 2.0, 2.0) == (0.0, 4.0)
    assert inside._truncated(math.inf, 2.0, 0.5) == (1.5, 0.25)
    assert inside._truncated(math.inf, 2.0, 9.0) == (0.0, 4.0)
    for method in ("optimal", "paper"):
        assert mean([0.5], epsilon=1, moment=math.inf, radius=3, method=method, rng=1).level == 3


def test_levels_of_the_methods():
    """Optimal: no other truncation radius has a smaller risk. Paper: the published rates times the radius."""
    x = np.zeros((400, 9))
    for privacy, options in DEFINITIONS.items():
        for moment in (1.5, 2.0, 7.0):
            given = {"privacy": privacy, "moment": moment, "radius": 5.0, "rng": 1, **options}
            best = mean(x, **given)
            for factor in (0.8, 0.99, 1.01, 1.3):
                other = mean(x, **{**given, "method": best.level * factor})
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
        estimate = mean(x, privacy=privacy, moment=k, radius=5.0, method="paper", rng=1, **DEFINITIONS[privacy])
        assert estimate.level == pytest.approx(5 * rate, rel=1e-12)


# Noise and intervals --------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("privacy, noise", CASES)
@pytest.mark.parametrize("dim", [1, 4])
def test_noise_is_the_standard_deviation_of_repeated_releases(privacy, noise, dim):
    """The variance of 6000 numbers, for a distribution with kurtosis 6 (Laplace). Detects an error of the variance of 21 %."""
    x, reps = records(50, dim), 6000 // dim
    options = {"privacy": privacy, "noise": noise, "moment": 4, "radius": 2.0, **DEFINITIONS[privacy]}
    found = [mean(x, rng=i, **options) for i in range(reps)]
    values = np.array([np.atleast_1d(e.value) for e in found])
    clipped = inside.clipped_sum(x, dim, found[0].level, "raise") / FINE * found[0].level / 50
    error = values - clipped.astype(float)
    n = error.size
    assert np.mean(error**2) == pytest.approx(found[0].noise ** 2, rel=normal_margin(2) * math.sqrt(5.5 / n) + 1e-3)
    assert abs(error.mean()) <= normal_margin(2) * found[0].noise / math.sqrt(n)


@pytest.mark.long
@pytest.mark.parametrize("dim", [1, 2, 7, 30])
def test_l2_noise_has_its_distribution_and_variance(dim):
    """Kolmogorov-Smirnov: the norm has a gamma distribution, the square of a coordinate of the direction a beta distribution.

    Detects 7 percentage points. In high dimension the variance is half of that of noise on the grid.
    """
    n, epsilon, level = 2200, 0.7, 1.5
    options = {"epsilon": epsilon, "moment": math.inf, "radius": level, "noise": "l2"}
    w = np.array([mean(np.zeros((1, dim)), rng=i, **options).value for i in range(n)])
    norm = np.linalg.norm(w, axis=1)
    radius = hoeffding_radius(n, ALPHA)  # Massart's inequality has the same form
    for seen, cdf in (
        (norm, stats.gamma(dim, scale=2 * level / epsilon).cdf),
        ((w[:, 0] / norm) ** 2 if dim > 1 else (w[:, 0] > 0) + np.zeros(n), stats.beta(0.5, (dim - 1) / 2 or 1).cdf),
    ):
        if dim == 1 and seen is not norm:
            assert_counts(seen.sum(), n, 0.5, detects=0.075)
            continue
        z = np.sort(seen)
        assert np.abs(np.arange(1, n + 1) / n - cdf(z)).max() <= radius + 1 / n
    estimate = mean(np.zeros((50, dim)), rng=1, **options)
    assert estimate.noise**2 * dim == pytest.approx(4 * dim * (dim + 1) / (50 * epsilon) ** 2 * level**2, rel=1e-5)
    grid = mean(np.zeros((50, dim)), rng=1, **{**options, "noise": "grid"})
    assert estimate.noise**2 / grid.noise**2 == pytest.approx(
        (dim + 1) / (2 * dim), rel=0.02 if dim in (1, 30) else 0.6
    )


@pytest.mark.claim("Intervals of a released mean cover.", "Trusted curator")
@pytest.mark.long
@pytest.mark.parametrize("privacy", DEFINITIONS)
@pytest.mark.parametrize("moment", [1.5, 2.0, 4.0])
def test_intervals_cover_the_mean_of_the_population(privacy, moment):
    """Coverage of 1000 intervals of 90 % at a tail index just above the moment. Detects a coverage of 0.82."""
    n, reps, tail = 400, 1000, moment + 0.1
    rng = np.random.default_rng(1)
    radius = (tail / (tail - moment)) ** (1 / moment)  # moment of a Pareto distribution from 1
    hits = 0
    for i in range(reps):
        estimate = mean(
            1 + rng.pareto(tail, n), privacy=privacy, moment=moment, radius=radius, rng=i, **DEFINITIONS[privacy]
        )
        low, high = estimate.interval(0.9)
        hits += low <= tail / (tail - 1) <= high
    assert_coverage(hits, reps, 0.9, detects=0.82)


@pytest.mark.long
def test_intervals_cover_with_the_largest_bias():
    """Coverage of 1300 intervals of 95 %. Detects a coverage of 0.9."""
    n, reps, level = 500, 1300, 2.0
    x, truth = largest_bias(2.0, 1.0, level, 1, n, np.random.default_rng(2), reps)
    hits = 0
    for i in range(reps):
        low, high = mean(x[i, :, 0], epsilon=1.0, moment=2, radius=1.0, method=level, rng=i).interval()
        hits += low <= truth <= high
    assert_coverage(hits, reps, 0.95, detects=0.9)


def test_attributes_of_the_result():
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


# Numbers in an interval -----------------------------------------------------------------------------------------------


@each("privacy", DEFINITIONS)
def test_a_mean_in_an_interval_is_that_of_the_distances_from_its_center(privacy):
    """The same sums, noise and errors as with the center subtracted, for numbers that are clipped first."""
    lower, upper = 18.0, 65.0
    x = np.random.default_rng(1).normal(45, 20, 3000)
    found = mean(x, lower=lower, upper=upper, rng=3, privacy=privacy, **DEFINITIONS[privacy])
    distances = np.clip(x, lower, upper) - 41.5
    known = mean(distances, moment=math.inf, radius=23.5, rng=3, privacy=privacy, **DEFINITIONS[privacy])
    assert found.value == 41.5 + known.value
    assert (found.stderr, found.noise, found.level, found.risk) == (known.stderr, known.noise, 23.5, known.risk)
    assert found.guarantee == known.guarantee
    assert abs(found.value - np.clip(x, lower, upper).mean()) < 6 * found.noise + 1e-6
    assert found.stderr >= 23.5 / math.sqrt(3000)


def test_no_record_moves_a_sum_in_an_interval_by_more_than_its_length():
    """In fine steps, whatever the numbers are: ends, beyond them, huge, and infinite where these count as the center."""
    for lower, upper in ((0.0, 1.0), (-3.0, 5.0), (1e9, 1e9 + 1), (-1e100, 1e100), (1 / 3, 0.7)):
        half = (upper - lower) / 2
        values = [lower, upper, np.nextafter(lower, -np.inf), -1.7e308, 1.7e308, lower + half, np.inf, np.nan, 0.0]
        sums = [int(inside.clipped_sum(np.array([v]), 1, half, "center", (lower, upper))[0]) for v in values]
        assert max(sums) - min(sums) <= 2 * FINE
        assert (min(sums), max(sums)) == (-FINE, FINE)
        assert sums[6] == sums[7] == 0


def test_types_and_containers_do_not_change_a_mean_in_an_interval(tmp_path):
    x = np.random.default_rng(2).integers(0, 100, 10_000).astype(np.float32)
    options = {"epsilon": 1.0, "lower": 18, "upper": 65, "rng": 5}
    expected = mean(x, **options)
    np.save(tmp_path / "x.npy", x)
    memory_map = np.load(tmp_path / "x.npy", mmap_mode="r")
    for form in (x.astype(np.float64), x.astype(np.int64), x.astype(np.float16), x[::-1], x.tolist(), memory_map):
        assert mean(form, **options) == expected
    assert (np.asarray(memory_map) == x).all()
    x[3] = np.nan
    with pytest.raises(ValueError, match="index 3 is outside"):
        mean(x, **options)
    centered = x.copy()
    centered[3] = 41.5
    assert mean(x, nan="center", **options) == mean(centered, **options)


def test_limits_of_a_mean_in_an_interval_are_shown_within_it():
    found = mean([0.0] * 20, epsilon=0.5, lower=0, upper=1, rng=1)
    assert "(95 %: 0.00 to" in repr(found)
    assert found.interval()[0] < 0


@each(
    "given, listed",
    [
        ({}, "none"),
        ({"moment": 2}, "moment"),
        ({"lower": 0}, "lower"),
        ({"moment": 2, "radius": 1, "lower": 0, "upper": 1}, "moment, radius, lower, upper"),
        ({"radius": 1, "upper": 1}, "radius, upper"),
    ],
)
def test_either_a_moment_or_an_interval_is_needed(given, listed):
    message = f"either moment and radius or lower and upper must be given, got {listed}"
    with pytest.raises(ValueError, match=f"^{message}$"):
        mean([0.5], epsilon=1.0, **given)


@pytest.mark.long
@each("privacy", ["pure", "approximate"])
@each("share", [0.5, 0.02])
def test_intervals_of_a_mean_in_an_interval_cover(privacy, share):
    """2,000 releases of 500 records that are the ends of the interval: half of each is the worst case of the standard error."""
    rng, runs, covered = np.random.default_rng(1), 2000, 0
    for seed in range(runs):
        x = np.where(rng.random(500) < share, 20.0, 10.0)
        low, high = mean(x, lower=10, upper=20, rng=seed, privacy=privacy, **DEFINITIONS[privacy]).interval()
        covered += low <= 10 + 10 * share <= high
    assert_coverage(covered, runs, 0.93, detects=0.88, most=0.97 if share == 0.5 else 1.0)


# Input ----------------------------------------------------------------------------------------------------------------


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
    ({"nan": "ignore"}, ValueError, "nan must be one of 'raise', 'center'"),
    ({"method": "best"}, ValueError, "method must be one of 'optimal', 'paper'"),
    ({"method": 0.0}, ValueError, "method must be a finite number > 0"),
    ({"method": None}, TypeError, "method must be a number"),
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
    ({"moment": None}, ValueError, "either moment and radius or lower and upper must be given, got radius"),
    ({"moment": None, "radius": None, "lower": 1, "upper": 0}, ValueError, "lower and upper must be finite with"),
    (
        {"moment": None, "radius": None, "lower": 0, "upper": 1e19},
        ValueError,
        "lower and upper must be between 2e-18 and",
    ),
    ({"moment": None, "radius": None, "lower": 0, "upper": 1, "x": [[0.5]]}, ValueError, r"x must have shape \(n,\)"),
    ({"x": 3.0}, ValueError, r"x must have shape \(n,\), got shape \(\)"),
    ({"x": np.zeros((2, 2, 2))}, ValueError, r"x must have shape \(n,\), got shape"),
    ({"x": ["a"]}, TypeError, "x must be real numbers"),
    ({"x": [1j]}, TypeError, "x must be real numbers"),
    ({"x": np.zeros(3, bool)}, TypeError, "x must be real numbers"),
    ({"x": np.ma.zeros(3)}, TypeError, "x must not be a masked array"),
    ({"x": [[1.0], [1.0, 2.0]]}, TypeError, "x must be an array of numbers"),
    ({"rng": "seed"}, TypeError, "rng must be None, an int"),
]


@each("change, error, message", BAD, ids=[str(next(iter(c.items())))[:40] for c, *_ in BAD])
def test_bad_input_is_rejected_before_anything_is_drawn(change, error, message):
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    with pytest.raises(error, match=message):
        mean(**{"rng": rng, **GOOD, **change})
    assert rng.bit_generator.state == before


@pytest.mark.claim("Error messages of a curator name no value of a record.", "Trusted curator")
def test_error_messages_contain_no_value_of_a_record():
    x = np.full(200_000, 123.456)
    x[150_000], x[199_999] = np.nan, np.inf
    with pytest.raises(ValueError, match="index 150000 is outside") as caught:
        mean(**{**GOOD, "x": x})
    assert str(caught.value) == "x must be finite numbers (or nan='center'); index 150000 is outside (2 of 200000 are)"


def test_records_that_are_rejected_draw_nothing():
    rng = np.random.default_rng(1)
    before = rng.bit_generator.state
    with pytest.raises(ValueError, match="index 0 is outside"):
        mean(**{**GOOD, "x": [math.nan]}, rng=rng)
    assert rng.bit_generator.state == before


EXTREME = [
    {"radius": 1e-300, "moment": math.inf},
    {"radius": 1e200},
    {"radius": 1e300, "moment": 1.9},
    {"method": 1e-5, "moment": 1e6},
    {"epsilon": 1e300, "noise": "l2"},
    {"epsilon": 1e-320, "noise": "l2"},
    {"x": np.zeros((3, 0))},
    {"x": np.full((3, 2), 1.7e308)},
    {"method": 1e-310},
]


@each("change", EXTREME, ids=lambda c: str(next(iter(c.items())))[:30].replace("\n", " "))
def test_extreme_parameters_give_a_finite_value_or_an_error(change):
    """The error message states what is allowed."""
    options = {**GOOD, **change}
    try:
        estimate = mean(**options, rng=1)
    except ValueError as error:
        assert re.match("(x|radius|method|moment|epsilon)( and method)? must ", str(error))  # noqa: PT017
        assert "index -1" not in str(error)  # noqa: PT017
        return
    assert np.isfinite(estimate.value).all()
    assert np.isfinite(estimate.risk)
    assert np.all(np.abs(estimate.value) <= 100 * estimate.level + 100 * np.max(estimate.stderr))


@each("level", [1e-18, 1e18])
@each("size", [0.0, 1e-300, 0.3, 1.0, 1.0000001, 1e6, 1e150])
def test_rows_are_clipped_at_the_smallest_and_largest_levels(level, size):
    """No square underflows or overflows."""
    row = np.array([[0.6, -0.8]]) * min(size * level, 1e300)
    found = [int(v) for v in inside.clipped_sum(row, 2, level, "raise")]
    assert found == [round(0.6 * min(size, 1) * FINE), round(-0.8 * min(size, 1) * FINE)]


def test_levels_beyond_the_limits_are_rejected():
    for change in ({"method": 9e-19}, {"method": 1.1e18}, {"radius": 1e-30, "moment": math.inf}):
        with pytest.raises(ValueError, match=r"must give a truncation radius in \[1e-18, 1e\+18\], got"):
            mean(**{**GOOD, **change})
    assert np.isfinite(mean(**{**GOOD, "method": 1e-18}).value)
    assert np.isfinite(mean(**{**GOOD, "method": 1e18}).value)


@pytest.mark.claim("Every release draws fresh noise.", "Trusted curator")
def test_releases_differ_without_a_seed():
    assert len({mean(**GOOD).value for _ in range(6)}) > 1  # two are equal with probability 0.0003
    rng = np.random.default_rng(5)
    first, second = mean(**GOOD, rng=rng), mean(**GOOD, rng=rng)
    assert first.value != second.value
    assert mean(**GOOD, rng=3) == mean(**GOOD, rng=np.random.SeedSequence(3))
