"""Simulated counts of reports: their exact joint distribution, populations, problems, and the mechanisms without one."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.domains import Ball, Categories
from ldpfast.estimation import Frequencies, HistogramDensity, RangeQueries, SeriesDensity, TruncatedMean, VectorMean
from ldpfast.mechanisms import Gradient, Hessian, LaplaceOneHot
from ldpfast.reports import Grid, SampledSigns, Views
from ldpfast.survey import Repeated, YesNo

from ..cards import CARDS, KINDS, card_of
from ..support.cases import each
from ..support.channels import exact_rows
from ..support.errors import raises
from ..support.internals.mechanisms import LaplaceResidue, linf_ball, projective_geometry_response, projective_space
from ..support.statistics import ALPHA, assert_counts, hoeffding_radius, normal_margin

SEED = 20261122
DRAWS = 3000  # of a state of few people
ADVICE = "Privatize and count a sample of records instead"


# Exact distributions --------------------------------------------------------------------------------------------------


def state_of_code(mechanism, code):
    """Return the state of one report, by its number in the channel."""
    state, report = np.zeros_like(mechanism.report.new_state()), mechanism.report
    if isinstance(report, SampledSigns):
        coordinates, signs = divmod(code, 1 << report.sampled)
        chosen = list(itertools.combinations(range(report.dim), report.sampled))[coordinates]
        for i, j in enumerate(chosen):
            state[2 * j + (signs >> i & 1)] = 1
    elif isinstance(report, ldp.reports.Bits):
        state[:] = [code >> place & 1 for place in range(report.k)]
    elif isinstance(report, Views):
        report.tally(views_of(mechanism)[code : code + 1], state)
    else:
        state[code] = 1
    return tuple(state.tolist())


def views_of(mechanism):
    """Return all reports of a `ViewResponse` in the order of its channel: 10,000 people give each of the few that there are."""
    records = np.zeros((10_000, len(mechanism.sizes)), np.uint8)
    found = np.unique(mechanism.privatize(records, rng=SEED), axis=0)
    return found[np.lexsort(found.T)]


def states_of_people(mechanism, rows):
    """Return the exact distribution of the state, for people whose reports have the probabilities of the rows."""
    states = {tuple(mechanism.report.new_state().tolist()): 1.0}
    one = [state_of_code(mechanism, code) for code in range(len(rows[0]))]
    for row in rows:
        after: Counter = Counter()
        for (state, p), (more, q) in itertools.product(states.items(), zip(one, row, strict=True)):
            if q:
                after[tuple(a + b for a, b in zip(state, more, strict=True))] += p * q
        states = after
    return states


def assert_same_distribution(expected, draw, draws):
    """Compare the frequency of each state with its probability. Detects an error of 4 / sqrt(draws) of a probability."""
    found = Counter(draw() for _ in range(draws))
    assert found.keys() <= expected.keys()
    counts, p = [found[state] for state in expected], [float(p) for p in expected.values()]
    assert_counts(counts, draws, p, detects=4 / math.sqrt(draws))


def state_drawer(mechanism, population, n):
    generator = np.random.default_rng(SEED)
    return lambda: tuple(ldp.simulate(mechanism, population, n, rng=generator)._counts.group().states[0].tolist())


SIMULATED = [case for card in CARDS.values() for case in card.simulated]
CATEGORIES = [case.mechanism for case in SIMULATED if isinstance(case.mechanism.domain, Categories)]
CUBES = [case.mechanism for case in SIMULATED if isinstance(case.mechanism.domain, Ball)]
NUMBERS = [case for case in SIMULATED if case.row is not None]


@pytest.mark.long
@pytest.mark.parametrize("mechanism", CATEGORIES, ids=repr)
def test_states_of_few_people_have_the_distribution_of_the_channel(mechanism):
    """Every state of three reports, two of them of the same category, is enumerated; of two if a report has many values."""
    k, rows = mechanism.domain.k, exact_rows(mechanism)
    people = (k - 2, k - 1, k - 1) if len(rows[0]) <= 27 else (k - 1, k - 1)
    expected = states_of_people(mechanism, [rows[x] for x in people])
    counts = np.bincount(people, minlength=k)
    assert_same_distribution(expected, state_drawer(mechanism, counts, len(people)), DRAWS)


@pytest.mark.long
def test_shares_are_those_of_people_who_are_drawn():
    """Two people of a population answer; the categories of both are random."""
    mechanism, shares = ldp.SubsetSelection(4, 1.0, size=2), [0.5, 0.3, 0.2, 0.0]
    rows = exact_rows(mechanism)
    expected = states_of_people(mechanism, [np.array(shares) @ rows] * 2)
    assert_same_distribution(expected, state_drawer(mechanism, shares, 2), DRAWS)


def vertex_probabilities(plus):
    """Return the probabilities of all vertices for independent signs with these probabilities."""
    signs = np.arange(1 << len(plus))[:, np.newaxis] >> np.arange(len(plus)) & 1
    return np.where(signs, plus, 1 - np.asarray(plus)).prod(axis=1)


@pytest.mark.long
@pytest.mark.parametrize("mechanism", CUBES, ids=repr)
def test_signs_of_few_people_have_the_distribution_of_the_channel(mechanism):
    """A vector is a mixture of vertices. Multiples of radius / 128 are rounded without a common random part."""
    dim, rows = mechanism.dim, exact_rows(mechanism)
    first, second = (2.0, -1.0, 0.25, 0.0)[:dim], (-2.0, 0.5, 1.0, -2.0)[:dim]
    mixed = [vertex_probabilities([(1 + v / 2) / 2 for v in x]) @ rows for x in (first, first, second)]
    expected = states_of_people(mechanism, mixed)
    assert_same_distribution(expected, state_drawer(mechanism, {first: 2, second: 1}, 3), DRAWS)


def test_the_rounding_of_a_vector_is_that_of_the_kernel():
    """Probability that all of three coordinates are plus, over all values of the random bits that they share."""
    steps = np.array([0.3, -0.77, 0.5001]) * 2.0**30
    sizes, plus = linf_ball.rounding(steps)
    assert sizes.sum() == linf_ball.SHARED
    # A coordinate is plus if the byte times 2^23 is below the step minus the shared bits. Products of 24 bits are exact.
    shared = np.arange(linf_ball.SHARED, dtype=np.int32)
    exact = [
        -(-(int(step) + (1 << 30) - shared) // linf_ball.SHARED).astype(np.float32) / 256 for step in np.trunc(steps)
    ]
    mean = (exact[0] * exact[1] * exact[2]).mean(dtype=np.float64)
    assert (sizes / linf_ball.SHARED) @ plus.prod(axis=1) == pytest.approx(mean, abs=1e-13)
    assert (sizes / linf_ball.SHARED) @ plus[:, :2].prod(axis=1) == pytest.approx(
        (exact[0] * exact[1]).mean(dtype=np.float64), abs=1e-13
    )
    np.testing.assert_allclose((sizes / linf_ball.SHARED) @ plus, (1 + np.trunc(steps) / 2**30) / 2, atol=1e-15)


def test_vectors_at_the_ends_of_the_box_are_rounded_to_themselves():
    sizes, plus = linf_ball.rounding(np.array([-(2.0**30), 2.0**30, 0.0]))
    assert sizes.tolist() == [linf_ball.SHARED]
    assert plus.tolist() == [[0.0, 1.0, 0.5]]


@pytest.mark.long
@pytest.mark.parametrize("mechanism, x, row", NUMBERS, ids=lambda value: "" if callable(value) else repr(value)[:30])
def test_codes_of_a_number_have_the_distribution_of_the_channel(mechanism, x, row):
    expected = states_of_people(mechanism, [row(mechanism)] * 2)
    assert_same_distribution(expected, state_drawer(mechanism, {x: 2}, 2), DRAWS)


@pytest.mark.long
def test_a_gradient_is_simulated_by_its_ball():
    """A row with features 1, -1 and the label 1 has the gradient (-1/2, 1/2) at the origin."""
    mechanism = Gradient("logistic", (0.0, 0.0), 1.0, norm="linf")
    rows = exact_rows(mechanism.ball)
    expected = states_of_people(mechanism, [vertex_probabilities([0.25, 0.75]) @ rows] * 2)
    assert_same_distribution(expected, state_drawer(mechanism, {(1.0, -1.0, 1.0): 2}, 2), DRAWS)


# Noise on a grid ------------------------------------------------------------------------------------------------------


def integers_of(aggregator):
    """Return the exact sums of the integers of the reports and of their squares."""
    words = aggregator._counts.group().states[0].tolist()
    return [low + (high << 64) - ((high >> 63) << 128) for low, high in words]


def noise_cdf(coin, index):
    """Return the distribution function of index + N at the integers from index - 2^digits on, without carries."""
    probability = np.ones(1)
    for weights in coin.groups:
        probability = np.outer(np.array(weights) / 2.0**128, probability).ravel()
    two_sided = np.concatenate([probability[::-1], probability]) / 2
    return np.arange(index - len(probability), index + len(probability)), np.cumsum(two_sided.astype(np.float64))


@pytest.mark.long
@pytest.mark.parametrize("share", [0.0, 0.375])
def test_one_laplace_report_has_the_distribution_of_the_noise(share):
    """By the inequality of Dvoretzky, Kiefer, Wolfowitz and Massart. Carries have a probability below 1e-10."""
    mechanism, draws = ldp.Laplace(0.0, 1.0, 1.0), 800
    x = (100 + share) * mechanism.grid
    generator = np.random.default_rng(SEED)
    found = []
    for _ in range(draws):
        total, square = integers_of(ldp.simulate(mechanism, {x: 1}, 1, rng=generator))
        assert square == total**2
        found.append(total)
    at, below = noise_cdf(mechanism._coin, 100)
    expected = (1 - share) * below + share * np.concatenate([[0.0], below[:-1]])
    empirical = np.searchsorted(np.sort(found), at, side="right") / draws
    assert np.abs(empirical - expected).max() <= hoeffding_radius(draws, ALPHA)


def test_sums_of_two_laplace_reports_are_those_of_two_integers():
    mechanism, generator = ldp.Laplace(0.0, 1.0, 1.0), np.random.default_rng(SEED)
    for _ in range(50):
        total, square = integers_of(ldp.simulate(mechanism, {0.25: 1, 0.75: 1}, 2, rng=generator))
        difference = math.isqrt(2 * square - total**2)
        assert difference**2 == 2 * square - total**2
        assert (total + difference) % 2 == 0


@pytest.mark.parametrize("n", [10**6, 10**12, 1 << 60])
def test_laplace_reports_have_the_moments_of_the_noise(n):
    """Normal limits for the sums of n reports; the approximation is exact to far less than 1e-3."""
    mechanism = ldp.Laplace(0.0, 1.0, 1.0)
    x = 100.375 * mechanism.grid
    total, square = integers_of(ldp.simulate(mechanism, {x: n}, n, rng=SEED))
    variance = mechanism.variance(x) / mechanism.grid**2
    mean = Fraction(total, n) + Fraction(1, 2)
    assert abs(float(mean - Fraction(803, 8))) <= normal_margin(2) * math.sqrt(variance / n)
    spread = float(Fraction(square, n) - Fraction(total, n) ** 2)
    assert (
        abs(spread / variance - 1) <= normal_margin(2) * math.sqrt(5 / n) + 1e-9
    )  # the kurtosis of Laplace noise is 6


def test_carries_of_the_noise_are_drawn():
    """The variance of one coin with many carries follows from its integers. Detects an error of 3 %."""
    mechanism, people = ldp.Laplace(0.0, 1.0, 1.0), 10**6
    coin = mechanism._coin
    changed = type(coin)(coin.digits, coin.groups, (1 << 128) * 3 // 4, coin.epsilon_realized)
    law = dataclasses.replace(mechanism._recipe.law, coin=changed)
    first, second = law._noise_sums(people, np.random.default_rng(SEED))
    mean, variance = changed.mean_and_variance
    assert abs(first / people - mean) <= normal_margin(2) * math.sqrt(variance / people)
    assert abs(second / people / (variance + mean**2) - 1) <= normal_margin(2) * math.sqrt(20 / people)


def test_columns_of_laplace_noise_are_those_of_one_hot_vectors():
    mechanism, n = LaplaceOneHot(3, 1.0), 10**9
    aggregator = ldp.simulate(mechanism, [0.5, 0.3, 0.2], n, rng=SEED)
    assert len(integers_of(aggregator)) == 6
    radius = normal_margin(3) * math.sqrt((mechanism.report.noise_variance + 0.25) / n)
    np.testing.assert_allclose(aggregator.estimate().value, [0.5, 0.3, 0.2], rtol=0, atol=radius)


@pytest.mark.long
@pytest.mark.parametrize(
    "k, epsilon, order, length", [(40, 1.0, 3, 4), (20, 1.0, 4, 3), (60, 4.5, 67, 2), (28, 2.5, 67, 3)]
)
def test_codes_that_are_drawn_one_after_another_follow_the_channel(monkeypatch, k, epsilon, order, length):
    """For two categories. Detects an error of 1 percentage point of a code, or of all codes outside of a set."""
    monkeypatch.setattr(projective_space, "MAX_DRAWN", 0)
    monkeypatch.setattr(
        projective_geometry_response, "best_geometry", lambda *_: projective_space.Geometry(order, length)
    )
    mechanism, n = ldp.ProjectiveGeometryResponse(k, epsilon), 200_000
    for category in (k - 1, 0):
        counts = ldp.simulate(mechanism, {category: n}, n, rng=SEED + category).counts
        weights = exact_rows(mechanism)[category]
        levels = np.unique(weights)
        by_level = [counts[weights == level].sum() for level in levels]
        assert_counts(
            by_level, n, [level * (weights == level).sum() for level in levels], detects=0.01, alpha=ALPHA / 4
        )
        assert_counts(counts, n, weights, detects=0.01, alpha=ALPHA / 4)


# Many people ----------------------------------------------------------------------------------------------------------


def moments(mechanism, rows, counts):
    """Return the exact mean and covariance of the state."""
    one = np.array([state_of_code(mechanism, code) for code in range(len(rows[0]))], np.float64)
    mean, covariance = 0.0, 0.0
    for row, count in zip(rows, counts, strict=True):
        first = row @ one
        mean = mean + count * first
        covariance = covariance + count * ((one.T * row) @ one - np.outer(first, first))
    return mean, covariance


@pytest.mark.long
@pytest.mark.parametrize("mechanism", [m for card in CARDS.values() for m in card.moments], ids=repr)
def test_counts_of_many_people_have_the_exact_mean_and_covariance(mechanism):
    """In 40 directions, sums of squares are chi-square up to the error of the normal approximation for 10^8 people.

    The bounds are those of Laurent and Massart (2000), Lemma 1. They are 26 %.
    """
    n, k, draws = 10**8, mechanism.domain.k, 2000
    counts = np.full(k, n // (2 * k))
    counts[0] += n - counts.sum()
    mean, covariance = moments(mechanism, exact_rows(mechanism), counts)
    generator = np.random.default_rng(SEED)
    states = np.array(
        [ldp.simulate(mechanism, counts, n, rng=generator)._counts.group().states[0] for _ in range(draws)]
    )
    size = len(mean)
    directions = np.concatenate([np.eye(size)[:15], np.where(generator.random((25, size)) < 0.5, -1.0, 1.0)])
    level = math.log(4 * len(directions) / ALPHA)
    for direction in directions:
        variance = direction @ covariance @ direction
        along = (states - mean) @ direction
        if variance < 1e-6 * n:  # the direction is fixed: all codes are counted
            assert np.abs(along).max() <= 1e-6 * n
            continue
        assert abs(along.mean()) <= math.sqrt(2 * level * variance / draws)
        ratio = (along**2).mean() / variance - 1
        assert -2 * math.sqrt(level / draws) <= ratio <= 2 * math.sqrt(level / draws) + 2 * level / draws


@each("n", [1000, 10**9, 1 << 60])
@each("example", KINDS, ids=str)
def test_every_kind_of_mechanism_is_simulated_or_refused(example, n):
    """Simulated aggregators are possible, can be saved, and have the estimates of reports."""
    mechanism = example.mechanism
    population = population_of(example, 3)
    if card_of(mechanism).refuses_simulation(mechanism):
        ball = getattr(mechanism, "ball", mechanism)
        with pytest.raises(ValueError, match=rf"^mechanism must have reports .* got {type(ball).__name__}.*{ADVICE}$"):
            ldp.simulate(mechanism, population, n, rng=SEED)
        return
    aggregator = ldp.simulate(mechanism, population, n, rng=SEED)
    assert aggregator.n == n
    assert mechanism._recipe.is_possible(aggregator._counts.group().states, aggregator.n)
    assert ldp.Aggregator.from_bytes(aggregator.to_bytes()) == aggregator
    assert ldp.simulate(mechanism, population, n, rng=SEED) == aggregator
    # Eight draws, because counts of a thousand bits are equal with probability 0.02.
    assert any(ldp.simulate(mechanism, population, n) != aggregator for _ in range(8))
    estimate = aggregator.estimate()
    assert np.isfinite(estimate.value).all()
    assert type(estimate) is type(mechanism.run(example.records(100)))


def population_of(example, size):
    """Return a population of few random records, with different shares."""
    shares = np.arange(1.0, size + 1) / (size * (size + 1) / 2)
    if type(example.mechanism.domain).__name__ == "Categories":
        k = example.mechanism.domain.k
        return np.concatenate([shares, np.zeros(k - size)]) if k > size else np.full(k, 1 / k)
    population: Counter = Counter()
    for x, share in zip(example.records(size).tolist(), shares, strict=True):
        population[tuple(x) if isinstance(x, list) else x] += share  # records may be equal
    return population


COUNTED = [
    example
    for example in KINDS
    if not card_of(example.mechanism).refuses_simulation(example.mechanism)
    and not isinstance(example.mechanism.report, Grid)
]


@each("example", COUNTED, ids=str)
def test_simulated_counts_agree_with_those_of_reports(example):
    """By Hoeffding's inequality for all counts. Differences above 1 % of n are found."""
    mechanism, n = example.mechanism, 400_000
    records = example.records(2)
    counts = np.array([n // 4, n - n // 4])
    if type(mechanism.domain).__name__ == "Categories":
        records = np.array([0, mechanism.domain.k - 1], mechanism.domain.dtype)
        population = np.bincount(records, counts, mechanism.domain.k).astype(int)
    else:
        keys = [tuple(x) if isinstance(x, list) else x for x in records.tolist()]
        population = dict(zip(keys, counts.tolist(), strict=True))
    simulated = ldp.simulate(mechanism, population, n, rng=SEED)
    counted = mechanism.aggregator().update(mechanism.privatize(np.repeat(records, counts, axis=0), rng=SEED))
    radius = hoeffding_radius(n, ALPHA / len(counted._counts.group().states[0]) / 2)
    np.testing.assert_allclose(
        simulated._counts.group().states[0] / n, counted._counts.group().states[0] / n, rtol=0, atol=2 * radius
    )


@each("n", [10**9, 1 << 60])
@each("mechanism", [make(50, 1.0) for card in CARDS.values() for make in card.total_variances.values()], ids=repr)
def test_intervals_of_simulated_shares_hold_the_population(mechanism, n):
    """The intervals have the confidence 1 - ALPHA for all shares together. Beta quantiles limit their width for 2^60 people."""
    counts = np.arange(1, 51) * (n // 1275)
    counts[0] += n - counts.sum()
    estimate = ldp.simulate(mechanism, counts, n, rng=SEED).estimate()
    low, high = estimate.interval(1 - ALPHA, simultaneous=True)
    assert (low <= counts / n).all()
    assert (counts / n <= high).all()
    assert (high - low).max() < max(24 * (mechanism.variance(0)[1] / n) ** 0.5, 1e-5)


def test_the_mean_of_a_simulated_population_is_estimated():
    population = {1.0: 0.25, 3.0: 0.5, 8.0: 0.25}
    for mechanism in (ldp.SignBit(0, 10, 1.0), ldp.Window(0, 10, 1.0), ldp.Laplace(0, 10, 1.0)):
        low, high = ldp.simulate(mechanism, population, 10**9, rng=SEED).estimate().interval(1 - ALPHA)
        assert low < 3.75 < high
        assert high - low < 0.01


def test_the_mean_vector_of_a_simulated_population_is_estimated():
    population = {(1.0, *[0.3] * 99): 0.5, (0.0, *[-0.7] * 99): 0.5}
    for mechanism in (ldp.LinfBall(100, 1.0), ldp.SampledCube(100, 4.0), ldp.SampledCube(100, 8.0, sampled=100)):
        low, high = (
            ldp.simulate(mechanism, population, 10**9, rng=SEED).estimate().interval(1 - ALPHA, simultaneous=True)
        )
        assert (low < [0.5, *[-0.2] * 99]).all()
        assert (high > [0.5, *[-0.2] * 99]).all()


def test_large_mechanisms_are_simulated():
    for mechanism in (
        ldp.UnaryEncoding(65_536, 1.0),
        ldp.SubsetSelection(1024, 1.0),
        ldp.RandomizedResponse(65_536, 1.0),
    ):
        k = mechanism.k
        aggregator = ldp.simulate(mechanism, np.full(k, 1 / k), 10**9, rng=SEED)
        assert mechanism._recipe.is_possible(aggregator._counts.group().states, aggregator.n)
        if isinstance(mechanism, ldp.SubsetSelection):
            assert sum(aggregator._counts.group().states[0].tolist()) == 10**9 * mechanism.size


# Populations ----------------------------------------------------------------------------------------------------------


def test_kinds_of_populations():
    mechanism = ldp.RandomizedResponse(
        3, 40.0
    )  # reports are the categories, up to a probability below 1e-16 per person
    assert ldp.simulate(mechanism, [3, 4, 5], 12, rng=SEED).counts.tolist() == [3, 4, 5]
    assert ldp.simulate(mechanism, np.array([3, 4, 5], np.uint8), 12, rng=SEED).counts.tolist() == [3, 4, 5]
    assert ldp.simulate(mechanism, {2: 5, 0: 7}, 12, rng=SEED).counts.tolist() == [7, 0, 5]
    assert ldp.simulate(mechanism, {1: Fraction(1)}, 12, rng=SEED).counts.tolist() == [0, 12, 0]
    assert ldp.simulate(mechanism, [0.0, 1.0, 0.0], 12, rng=SEED).counts.tolist() == [0, 12, 0]
    assert ldp.simulate(ldp.Warner(40.0), {True: 9, False: 3}, 12, rng=SEED).counts.tolist() == [3, 9]
    assert ldp.simulate(mechanism, [1, 0, 0], 1, rng=SEED).counts.tolist() == [1, 0, 0]
    third = ldp.simulate(mechanism, [Fraction(1, 3)] * 3, 12, rng=SEED)
    assert third.counts.sum() == 12


@each("rng", [7, np.random.SeedSequence(7), np.random.default_rng(7), np.random.PCG64(7), None])
def test_sources_of_randomness(rng):
    """A generator is advanced, and the same seed gives the same counts."""
    mechanism, shares = ldp.UnaryEncoding(20, 1.0), np.full(20, 0.05)
    first, second = (ldp.simulate(mechanism, shares, 10**9, rng=rng) for _ in range(2))
    assert (first == second) == isinstance(rng, int | np.random.SeedSequence)


RR, BIT = ldp.RandomizedResponse(3, 1.0), ldp.SignBit(0, 1, 1.0)
NAME = "shares_or_counts must"
SUMS = f"{NAME} be integers with the sum n=10, or floats with the sum 1, got "
BAD_POPULATIONS = [
    (RR, [3, 3, 3], ValueError, SUMS + "integers with the sum 9"),
    (RR, [0.5, 0.5, 0.5], ValueError, SUMS + "floats with the sum 1.5"),
    (RR, [3.0, 3.0, 4.0], ValueError, SUMS + "floats with the sum 10.0"),
    (RR, [12, -1, -1], ValueError, f"{NAME} be >= 0, got -1"),
    (RR, [1.5, -0.5, 0.0], ValueError, f"{NAME} be >= 0, got -0.5"),
    (RR, [math.nan, 0.5, 0.5], ValueError, f"{NAME} be finite numbers, got nan"),
    (RR, [0.5, 0.5], ValueError, f"{NAME} have shape (3,), got shape (2,)"),
    (RR, 10, ValueError, f"{NAME} have shape (3,), got shape ()"),
    (RR, [True, False, False], TypeError, f"{NAME} be a number or an array of numbers, got dtype bool"),
    (RR, ["a", "b", "c"], TypeError, f"{NAME} be a number or an array of numbers, got dtype <U1"),
    (RR, {}, ValueError, f"{NAME} have at least one record, got none"),
    (RR, {3: 10}, ValueError, f"{NAME} have records that are integers in [0, k) with k=3; index 0 is not"),
    (RR, {0.5: 10}, TypeError, f"{NAME} have records of the domain: x must be integers, got dtype float64"),
    (RR, {0: 5, 1: 0.5}, ValueError, SUMS + "floats with the sum 5.5"),
    (
        BIT,
        [0.5, 0.5],
        TypeError,
        f"{NAME} be a mapping from records, numbers in [lower, upper] = [0.0, 1.0], to shares or counts, got list",
    ),
    (
        BIT,
        {0.5: 5, 1.5: 5},
        ValueError,
        f"{NAME} have records that are numbers in [lower, upper] = [0.0, 1.0]; index 1 is not",
    ),
    (
        BIT,
        {math.nan: 10},
        ValueError,
        f"{NAME} have records that are numbers in [lower, upper] = [0.0, 1.0]; index 0 is not",
    ),
    (
        ldp.LinfBall(2, 1.0),
        {(0.5,): 10},
        ValueError,
        f"{NAME} have records of the domain: x must have dim=2 in its last axis, got shape (1, 1)",
    ),
]


@each("mechanism, population, kind, message", BAD_POPULATIONS)
def test_bad_populations_are_refused(mechanism, population, kind, message):
    with raises(kind, message):
        ldp.simulate(mechanism, population, 10, rng=SEED)


def test_other_bad_arguments_are_refused():
    with raises(TypeError, "mechanism must be a Mechanism, a Problem or a Survey, got str"):
        ldp.simulate("k-ary", [1.0], 10)
    for n in (0, 1 << 62):
        with raises(ValueError, f"n must be an integer in [1, {(1 << 62) - 1}], got {n}"):
            ldp.simulate(RR, [1.0, 0.0, 0.0], n)
    with raises(TypeError, "n must be an integer, got float"):
        ldp.simulate(RR, [1.0, 0.0, 0.0], 1e9)
    with raises(TypeError, "rng must be None, an int, a SeedSequence, a Generator or a BitGenerator, got str"):
        ldp.simulate(RR, [1.0, 0.0, 0.0], 10, rng="seed")


@each(
    "mechanism, population, reason",
    [
        (ldp.L2Ball(2, 1.0), {(0.0, 0.5): 1.0}, "its reports have too many values"),
        (ldp.LaplaceVector(2, 1.0), {(0.0, 0.5): 1.0}, 'the coordinates are independent for norm="linf" only'),
        (ldp.Laplace(0, 1, 1e-6), {0.5: 1.0}, "its noise has more than 2^20 values"),
        (ldp.LinfBall(4097, 1.0), {(0.5,) * 4097: 1.0}, "dim must be at most 4096"),
        (ldp.SampledCube((1 << 20) + 1, 1.0), {(0.5,) * ((1 << 20) + 1): 1.0}, "dim must be at most 1048576"),
        (
            ldp.LinfBall(2000, 1.0),
            {tuple(np.linspace(-1, 1, 2000).tolist()): 1.0},
            "the coordinates of the records have too many different values. Multiples of radius / 128 are always possible",
        ),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_mechanisms_without_an_exact_form_are_refused(mechanism, population, reason):
    message = (
        f"mechanism must have reports that can be simulated by exact counts, got {mechanism!r}: {reason}. {ADVICE}"
    )
    with raises(ValueError, message):
        ldp.simulate(mechanism, population, 10**9)


def test_many_different_coordinates_are_possible_as_multiples_of_a_step():
    x = tuple((np.arange(-128, 129) / 128).tolist())
    aggregator = ldp.simulate(ldp.LinfBall(257, 1.0), {x: 1.0}, 10**9, rng=SEED)
    low, high = aggregator.estimate().interval(1 - ALPHA, simultaneous=True)
    assert (low <= x).all()
    assert (x <= high).all()


# Problems -------------------------------------------------------------------------------------------------------------


def test_frequencies_are_simulated_for_labels():
    problem = Frequencies(["yes", "no", "maybe"], 1.0)
    aggregator = ldp.simulate(problem, {"yes": 0.7, "no": 0.3}, 10**9, rng=SEED)
    estimate = problem.estimate(aggregator)
    assert estimate.categories == ("yes", "no", "maybe")
    np.testing.assert_allclose(estimate.value, [0.7, 0.3, 0.0], atol=1e-3)
    assert ldp.simulate(problem, [0.7, 0.3, 0.0], 10**9, rng=SEED).n == 10**9
    assert ldp.Aggregator.from_bytes(aggregator.to_bytes()) == aggregator
    with raises(ValueError, f"{NAME} have records that are among the k=3 declared categories; index 0 is not"):
        ldp.simulate(problem, {"never": 1.0}, 10)


@pytest.mark.parametrize("noise", ["laplace", "sign-bit"])
def test_numbers_beyond_the_threshold_are_truncated(noise):
    problem = TruncatedMean(1.0, moment=3, radius=9, n=10**6, method=30.0, noise=noise, lower=0)
    estimate = problem.estimate(ldp.simulate(problem, {1e6: 0.5, -1e6: 0.5}, 10**9, rng=SEED))
    assert estimate.value == pytest.approx(15, abs=0.02)


def test_records_are_encoded_as_the_problem_does():
    boxes = VectorMean(2, 1.0, norm="linf", lower=[0, 10], upper=[1, 20])
    value = boxes.estimate(ldp.simulate(boxes, {(0.25, 15.0): 1.0}, 10**9, rng=SEED)).value
    np.testing.assert_allclose(value, [0.25, 15.0], atol=0.02)
    ranges = RangeQueries(64, 1.0)
    found = ranges.estimate(ldp.simulate(ranges, np.full(64, 1 / 64), 10**9, rng=SEED))
    assert found.range(0, 32).value == pytest.approx(0.5, abs=1e-3)
    density = HistogramDensity(1.0, bins=4)
    value = density.estimate(ldp.simulate(density, {0.1: 0.75, 0.9: 0.25}, 10**9, rng=SEED)).value
    np.testing.assert_allclose(value, [0.75, 0.0, 0.0, 0.25], atol=0.01)


def test_a_problem_with_its_own_kernel_is_refused():
    problem = SeriesDensity(1.0, n_terms=4)
    message = (
        f"mechanism must have reports that can be simulated by exact counts, got {problem!r}: it encodes records and "
        f"privatizes them at once. {ADVICE}"
    )
    with raises(ValueError, message):
        ldp.simulate(problem, {0.5: 1.0}, 10)


def test_laplace_residues_and_hessians_are_simulated():
    residues = ldp.simulate(LaplaceResidue(2.0, 0.0, 1.0), {7.5: 1.0}, 10**9, rng=SEED).estimate()
    assert residues.value == pytest.approx(-0.5, abs=0.001)
    question = Hessian("linear", (0.0,), 1.0, norm="linf", residual=1.0)
    value = ldp.simulate(question, {(1.0, 0.0): 1.0}, 10**9, rng=SEED).estimate().value
    np.testing.assert_allclose(value, question.encode(np.array([[1.0, 0.0]]))[0], atol=0.001)


def test_a_round_is_not_simulated():
    asked = Repeated(YesNo(), permanent=3.0, round=2.0, rounds=9).in_round(2)
    with raises(TypeError, "mechanism must be a Mechanism, a Problem or a Survey, got RepeatedRound"):
        ldp.simulate(asked, [7, 3], n=10, rng=1)
