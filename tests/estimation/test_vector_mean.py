"""Mean vectors: shrinkage, and confidence regions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.estimation import VectorMean
from ldpfast.mechanisms import for_ball, for_box
from ldpfast.reports import recipe_of

from ..support.cases import each
from ..support.errors import raises
from ..support.examples import assert_same
from ..support.internals.estimation import Spread, largest_quantile, least_probability, mixture_probability
from ..support.noise_scales import l2_scale, linf_scale
from ..support.statistics import assert_coverage

pytestmark = pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")


def test_shrunken_mean_is_the_james_stein_estimate():
    """The factor for the ball is max(0, 1 - B^2 / (n |m|^2))."""
    dim, epsilon = 30, 1.0
    for n in (200, 20_000):
        estimate = VectorMean(dim, epsilon, mechanism="half-space").run(np.tile(np.eye(dim)[0], (n, 1)), rng=1)
        noise = l2_scale(dim, epsilon) ** 2 / n
        factor = max(0.0, 1 - noise / (estimate.value @ estimate.value))
        np.testing.assert_allclose(estimate.shrunken, factor * estimate.value, rtol=1e-6, atol=1e-12)
    problem = VectorMean(2, 0.01, norm="linf", lower=[0, 10], upper=[1, 30], mechanism="half-space")
    box = problem.run(np.full((100, 2), [0.5, 20.0]), rng=3)
    away = (box.value - [0.5, 20]) / [0.5, 10]
    factor = max(0.0, 1 - 2 * linf_scale(2, 0.01) ** 2 / 100 / (away @ away))
    np.testing.assert_allclose(box.shrunken, [0.5, 20] + factor * away * [0.5, 10], rtol=1e-6)


def test_region_is_an_ellipsoid_around_the_value():
    estimate = VectorMean(3, 1.0, mechanism="half-space").run(np.zeros((1000, 3)), rng=1)
    region = estimate.region()
    assert region.contains(estimate.value)
    assert_same(region.contains(np.stack([estimate.value, estimate.value + 100])), [True, False])
    for points in (1.0, [1.0], [[1.0]], np.zeros((2, 4)), np.zeros((2, 2, 3))):
        with pytest.raises(ValueError, match=r"^points must have "):
            region.contains(points)
    with pytest.raises(TypeError, match=r"^points must be real numbers"):
        region.contains(["a", "b", "c"])
    np.testing.assert_allclose(region.radii, math.sqrt(stats.chi2.isf(0.05, 3)) * estimate.stderr, rtol=1e-6)
    assert not region.contains(estimate.value + 1.001 * region.radii * [1, 0, 0])
    smaller = estimate.region(0.5)
    assert (smaller.radii < region.radii).all()


# The mechanism of a ball ----------------------------------------------------------------------------------------------


@each("dim, epsilon", [(1, 1.0), (2, 1.0), (10, 4.0), (512, 8.0), (20_000, 4.0)])
def test_the_default_for_a_box_is_the_mechanism_with_the_smallest_error(dim, epsilon):
    problem = VectorMean(dim, epsilon, norm="linf", radius=2.0)
    half_spaces = VectorMean(dim, epsilon, norm="linf", radius=2.0, mechanism="half-space")
    assert problem.mechanism == for_box(dim, epsilon, radius=2.0)
    assert VectorMean.from_dict(problem.to_dict()) == problem
    assert half_spaces.mechanism == ldp.LinfBall(dim, epsilon, radius=2.0)
    assert problem.mechanism.worst_variance <= half_spaces.mechanism.worst_variance
    ends = VectorMean(dim, epsilon, norm="linf", lower=0, upper=[3.0] * dim)
    assert ends.mechanism == for_box(dim, epsilon)


@each("dim, sampled, threshold", [(1, 1, 1), (4, 4, 3), (5, 5, 3), (5, 3, 2), (4, 2, 2), (6, 1, 1)])
def test_the_moment_along_a_vertex_is_that_of_the_channel(dim, sampled, threshold):
    """And the mean square of a coordinate, which is the mean of the moments in all directions."""
    cube = ldp.SampledCube(dim, 3.0, radius=2.0, sampled=sampled, threshold=threshold)
    last = np.array(
        recipe_of(cube).law.rows()[-1], float
    )  # of the vertex with signs + only; in the order of sets, then of signs
    last /= last.sum()
    plus = np.tile([z.bit_count() for z in range(1 << sampled)], len(last) >> sampled)
    products = cube.scale * (2 * plus - sampled) / math.sqrt(dim)
    assert cube.moment == pytest.approx(last @ products**2, rel=1e-9)
    assert cube.worst_variance == pytest.approx(cube.scale**2 * sampled / dim, rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("dim, epsilon", [(2, 1.0), (5, 6.0), (10, 4.0)])
def test_regions_of_boxes_cover(dim, epsilon):
    """All people at one vertex, where they spread least; half of them at the opposite one, where they spread most."""
    problem, runs = VectorMean(dim, epsilon, norm="linf"), 1000
    for people in (np.ones((2000, dim)), np.repeat([[1.0], [-1.0]], 1000, axis=0) * np.ones(dim)):
        hits = sum(bool(problem.run(people, rng=seed).region().contains(people.mean(axis=0))) for seed in range(runs))
        assert_coverage(hits, runs, 0.94, detects=0.88)


@each("dim, epsilon", [(1, 1.0), (3, 1.0), (100, 16.0), (512, 8.0), (20_000, 4.0)])
def test_the_default_for_a_ball_is_the_mechanism_with_the_smallest_error(dim, epsilon):
    problem = VectorMean(dim, epsilon, radius=2.0)
    assert problem.mechanism == for_ball(dim, epsilon, radius=2.0)
    assert repr(problem.mechanism) in repr(problem)
    again = VectorMean.from_dict(problem.to_dict())
    assert again == problem
    assert again.fingerprint == problem.fingerprint
    assert problem != VectorMean(dim, epsilon, radius=2.0, mechanism="half-space") or dim == 1


def test_the_error_of_512_dimensions_at_epsilon_8():
    """The best possible mechanism has 66.6, half-spaces 862."""
    problem, n = VectorMean(512, 8.0), 100
    x = np.eye(512)[np.arange(n) % 3]
    estimate = problem.run(x, rng=1)
    assert problem.mechanism.scale**2 < 70
    assert ((estimate.value - x.mean(axis=0)) ** 2).sum() * n == pytest.approx(
        problem.mechanism.scale**2 - 1 / 3, rel=0.2
    )
    np.testing.assert_allclose((estimate.stderr**2).sum() * n, problem.mechanism.scale**2, rtol=0.03)


@each(
    "mechanism",
    [
        ldp.RankCodebook(5, 4.0, vectors=8),
        ldp.RankedSigns(5, 4.0, signs=3),
        ldp.RotatedSigns(5, 4.0, rotation=3, signs=16),
        "half-space",
    ],
)
@each("dtype", ["float32", "float64"])
def test_reports_are_those_of_the_mechanism(mechanism, dtype):
    problem = VectorMean(5, 4.0, mechanism=mechanism)
    x = (np.eye(5)[[0, 1, 4] * 50] * 0.7).astype(dtype)
    reports = problem.privatize(x, rng=1)
    np.testing.assert_array_equal(reports, problem.mechanism.privatize(x, rng=1))
    whole = problem.aggregator().update(reports)
    parts = problem.aggregator().update(reports[:20]).merge(problem.aggregator().update(reports[20:]))
    assert whole == parts == ldp.Aggregator.from_bytes(whole.to_bytes())
    estimate, raw = parts.estimate(), problem.mechanism.estimate(reports)
    np.testing.assert_array_equal(estimate.value, raw.value)
    np.testing.assert_array_equal(estimate.stderr, raw.stderr)


def test_regions_of_a_rotation_include_the_error_that_reports_share():
    """The squared length of the noise is that of n reports and of the rotation, which n does not reduce."""
    dim, n = 4096, 50_000
    mechanism = ldp.RotatedSigns(dim, 16.0, rotation=3)
    problem = VectorMean(dim, 16.0, mechanism=mechanism)
    aggregator = problem.aggregator().update(np.tile(problem.privatize(np.zeros((1, dim)), rng=1), (n, 1)))
    estimate = aggregator.estimate()
    shared = dim * mechanism.shared_variance
    assert shared > 0.05 * mechanism.scale**2 / n
    assert (estimate.scale**2).sum() == pytest.approx(mechanism.scale**2 + n * shared, rel=1e-12)
    assert problem == VectorMean(dim, 16.0, mechanism=for_ball(dim, 16.0, rotation=3))
    with pytest.raises(ValueError, match="rotation"):
        VectorMean(dim, 16.0, mechanism=for_ball(dim, 16.0, rotation=4)).aggregator().merge(aggregator)


@each(
    "arguments, error, message",
    [
        (
            {"mechanism": ldp.LinfBall(3, 1.0)},
            TypeError,
            "mechanism must be a name or one of L2Ball, RankCodebook, RankedSigns, RotatedSigns for norm='l2', got LinfBall",
        ),
        (
            {"mechanism": ldp.L2Ball(3, 1.0), "norm": "linf"},
            TypeError,
            "mechanism must be a name or one of LinfBall, SampledCube for norm='linf', got L2Ball",
        ),
        (
            {"mechanism": ldp.L2Ball(4, 1.0)},
            ValueError,
            "mechanism must be for dim=3, epsilon=1.0 and radius=1.0, got L2Ball(dim=4, epsilon=1.0, radius=1.0)",
        ),
        (
            {"mechanism": ldp.L2Ball(3, 2.0)},
            ValueError,
            "mechanism must be for dim=3, epsilon=1.0 and radius=1.0, got L2Ball(dim=3, epsilon=2.0, radius=1.0)",
        ),
        (
            {"mechanism": ldp.L2Ball(3, 1.0), "radius": 2.0},
            ValueError,
            "mechanism must be for dim=3, epsilon=1.0 and radius=2.0, got L2Ball(dim=3, epsilon=1.0, radius=1.0)",
        ),
    ],
)
def test_a_mechanism_for_other_records_is_refused(arguments, error, message):
    with raises(error, message):
        VectorMean(3, 1.0, **arguments)


# Regions --------------------------------------------------------------------------------------------------------------


@each(
    "dim, directions, rest",
    [
        (1, 1, 0.0),
        (2, 1, 0.7),
        (3, 1, 1e-5),
        (3, 2, 50.0),
        (7, 1, 1.0),
        (100, 16, 0.02),
        (512, 1, 0.9),
        (512, 256, 4.0),
    ],
)
def test_probabilities_of_mixtures_follow_the_definition(dim, directions, rest):
    """By a sample, and for equal weights the chi-square distribution."""
    generator = np.random.default_rng(1)
    sample = 3 * generator.chisquare(directions, 200_000)
    if dim > directions:
        sample += rest * generator.chisquare(dim - directions, 200_000)
    for limit in np.quantile(sample, (0.05, 0.5, 0.95)):
        probability = float(mixture_probability(limit, np.array(3.0), np.array(rest), dim, directions))
        assert probability == pytest.approx((sample <= limit).mean(), abs=0.006)
    limits = np.array([1.0, dim, 3.0 * dim])
    equal = mixture_probability(limits, np.array(1.0), np.array(1.0), dim, directions)
    np.testing.assert_allclose(equal, stats.chi2.cdf(limits, dim), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dim, excess", [(2, 1.0), (3, 0.2), (20, 5.0), (1000, 300.0)])
@pytest.mark.long
def test_the_quantile_of_a_region_is_enough_for_records_in_any_number_of_directions(dim, excess):
    """At 95 % one direction is the worst; at 50 to 80 % others are, whose share of the excess is smaller."""
    rest = (dim - excess) / dim
    for confidence in (0.5, 0.7, 0.8, 0.95):
        limit = largest_quantile(confidence, rest + excess, rest, dim)
        found = [
            float(mixture_probability(np.array(limit), np.array(rest + excess / m), np.array(rest), dim, m))
            for m in sorted({int(m) for m in np.geomspace(1, dim, 100)})
        ]
        assert min(found) == pytest.approx(confidence, abs=2e-3)
        first, others = np.array(rest + excess), np.array(rest)
        assert float(least_probability(np.array(limit), first, others, dim)) == pytest.approx(confidence, abs=1e-9)
        if confidence == 0.95:
            assert found[0] == min(found)


def test_variances_of_a_spread_are_those_of_the_least_favorable_records():
    """All records equal to e_1: the variance along it is that of one report. Opposite records: the second moment."""
    mechanism = for_ball(6, 6.0)
    along, across = mechanism.second_moments
    square = mechanism.scale**2 / 6
    spread = Spread(along / square, across / square, square**-0.5)
    first, rest = spread.weights(np.array([0.0, 1 / square]), 6)
    equal = mechanism.variance(np.eye(6)[0])
    largest = max(equal[0], across)
    np.testing.assert_allclose(first * square, [along, largest], rtol=1e-6)
    np.testing.assert_allclose(rest * square, [across, (equal.sum() - largest) / 5], rtol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize(
    "mechanism, opposite",
    [
        (ldp.RankCodebook(8, 12.0, vectors=128), True),
        (ldp.RankedSigns(20, 4.0, signs=10), False),
        (ldp.RotatedSigns(20, 16.0, rotation=3, signs=256), False),
    ],
    ids=["codebook, opposite", "signs, equal", "rotated, equal"],
)
def test_regions_and_intervals_cover(mechanism, opposite):
    """95 % regions and simultaneous intervals, for equal people and for opposite ones. Detects a coverage of 0.8."""
    problem, n, runs = VectorMean(mechanism.dim, mechanism.epsilon, mechanism=mechanism), 200, 200
    x = np.eye(mechanism.dim)[[0] * n]
    if opposite:
        x[::2] *= -1
    mean, inside, within = x.mean(axis=0), 0, 0
    for run in range(runs):
        estimate = problem.run(x, rng=run)
        low, high = estimate.interval(simultaneous=True)
        inside += bool(estimate.region().contains(mean))
        within += bool(((low <= mean) & (mean <= high)).all())
    assert_coverage([inside, within], runs, 0.95, detects=0.8)
