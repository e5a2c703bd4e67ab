"""Laplace noise on the distance from the nearest node: distances, coins, streams and the distribution of reports."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast import Query

from ..support import reference
from ..support.cases import each
from ..support.examples import assert_same
from ..support.geometric import rate_and_error
from ..support.internals.kernels import privatize
from ..support.internals.mechanisms import LaplaceResidue, record_recipe
from ..support.internals.shared import coin_integers, thread_pool
from ..support.keys import key_of_seed
from ..support.statistics import ALPHA, bernstein_radius, normal_margin

SEED = 20261122
KEY = key_of_seed(SEED)
FAR = 2.0**52
EXTREMES = [0.0, -0.0, 5e-324, -0.1, -4.1, 0.999, -0.999, 1.0, -1.0, 1e15, -1e15, FAR + 2, 1e300, -1e300]
EXTREMES += [np.inf, -np.inf]


def distances(x, width, offset):
    """Return the signed distances from the nearest node of offset + width Z, as encoded for the kernel."""
    return LaplaceResidue(width, offset, 1.0).encode(np.array(x))


# Distances ------------------------------------------------------------------------------------------------------------


@given(
    st.integers(-(2**40), 2**40), st.fractions("-0.499", "0.499", max_denominator=1000), st.sampled_from([0.5, 1, 8])
)
def test_distances_are_from_the_nearest_node(node, part, width):
    """Comparison with exact fractions; the tolerance is the rounding of the number itself."""
    x = float((node + part) * Fraction(width))
    nearest = Fraction(x) - round(Fraction(x) / Fraction(width)) * Fraction(width)
    (distance,) = distances([x], width, 0.0)
    assert distance == pytest.approx(float(nearest), rel=0, abs=abs(x) * 2**-52)


@given(st.floats(allow_nan=True, allow_infinity=True), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_every_number_has_a_distance_within_half_a_period(x, width, offset):
    (distance,) = distances([x], width, offset)
    assert abs(distance) <= width / 2
    assert distance == reference.signed_distance(x, width, offset)


def test_known_distances():
    x = [0.25, 1.25, -0.75, 0.75, -0.25, -7.75, np.nan]
    assert distances(x, 2.0, 0.25).tolist() == [0.0, 1.0, -1.0, 0.5, -0.5, 0.0, 0.0]


def test_numbers_beyond_the_resolution_of_doubles_count_as_nodes():
    """Beyond 2^52 periods a double is a whole number of periods."""
    for x in (1e300, -1e300, np.inf, -np.inf, np.nan, 2.0**60):
        assert distances([x], 1.0, 0.0).tolist() == [0.0]
    with np.errstate(over="raise", invalid="raise"):  # NumPy must not warn either
        assert distances([1e300], 1e-99, -1e300).tolist() == [0.0]
        assert distances([1.7e308], 1e-99, -1.7e308).tolist() == [0.0]


def test_queries_accept_what_is_not_a_finite_number():
    mechanism = LaplaceResidue(2.0, 0.25, 1.0)
    node, query = np.full(4, 0.25), Query(0, LaplaceResidue(2.0, 0.25, 1.0))
    assert_same(query.privatize([np.nan, np.inf, -np.inf, 1e300], rng=3), mechanism.privatize(node, rng=3))
    with pytest.raises(ValueError, match=r"^x must be finite numbers; index 1 is NaN \(1 of 2 are\)\. clip=True "):
        mechanism.privatize([0.0, np.nan])


@each("width, offset", [(0.0, 0.0), (-1.0, 0.0), (math.inf, 0.0), (1.0, math.nan), (1.0, math.inf)])
def test_invalid_periods_are_rejected(width, offset):
    with pytest.raises(ValueError, match=r"^(width|offset) must be a finite number"):
        LaplaceResidue(width, offset, 1.0)


# Reports --------------------------------------------------------------------------------------------------------------


@each("dtype", [np.float32, np.float64])
@each("n", [1, 2, 16, 17, 512, 513, 700])
def test_reports_equal_the_reference(isa, n, dtype):
    mechanism = LaplaceResidue(2.0, 0.25, 0.5)
    with np.errstate(over="ignore"):
        x = np.concatenate([np.random.default_rng(n).normal(0, 50, n), EXTREMES])[-max(n, 1) :].astype(dtype)
    coins = coin_integers.geometric(0.5, 512, 512, 1)
    expected = reference.laplace_residue(mechanism, coins, KEY, 0, x)
    assert mechanism.privatize(x, rng=SEED, clip=True).tolist() == expected


@pytest.mark.parametrize("epsilon", [0.25, 1.0, 3.0])
def test_the_noise_is_that_of_laplace_on_the_distances(epsilon, monkeypatch):
    """The integers have the same distribution but other streams. With the streams of `Laplace`, the reports are equal."""
    x = np.concatenate([np.random.default_rng(5).normal(0, 30, 3000), [1e300, -1e300, 7.0]])
    places = distances(x, 3.0, -0.5)
    plain = ldp.Laplace(-1.5, 1.5, epsilon).privatize(places, rng=SEED)
    assert (LaplaceResidue(3.0, -0.5, epsilon).privatize(x, rng=SEED) != plain).any()
    make = privatize.Laplace
    monkeypatch.setattr(privatize, "Laplace", lambda *arguments: make(*arguments[:-1], "number"))
    assert_same(LaplaceResidue(3.0, -0.5, epsilon).privatize(x, rng=SEED), plain)


def test_pieces_continue_with_the_record_blocks(monkeypatch):
    mechanism = LaplaceResidue(2.0, 0.25, 1.0)
    rows = mechanism._recipe.kernel.rows
    x = np.random.default_rng(1).normal(0, 30, 3 * rows + 5)
    expected, estimate = mechanism.privatize(x, rng=SEED), mechanism.run(x, rng=SEED)
    monkeypatch.setattr(record_recipe, "PIECE_BYTES", 1)
    monkeypatch.setattr(thread_pool, "SMALL", 1)
    monkeypatch.setattr(thread_pool, "_threads", 1)
    assert mechanism._recipe.piece_rows(x) == rows
    assert_same(mechanism.privatize(x, rng=SEED), expected)
    assert mechanism.run(x, rng=SEED) == estimate
    for start in range(3):  # each block has separate random words
        block = slice(start * rows, (start + 1) * rows)
        coins = coin_integers.geometric(1.0, 1024, 1024, 1)
        assert expected[block].tolist() == reference.laplace_residue(mechanism, coins, KEY, start, x[block])


# Privacy --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 8.0, 30.0])
@pytest.mark.parametrize(
    "width, offset",
    [(1.0, 0.0), *(pytest.param(*interval, marks=pytest.mark.long) for interval in ((7.5, -3.0), (1e-9, 1e9)))],
)
def test_the_kernel_gets_the_coins_of_one_span(width, offset, epsilon, monkeypatch):
    """The coins are those for distances up to half a period on both sides of a node, and the budget follows from them.

    tests/mechanisms/test_discrete_laplace.py enumerates the distribution of such noise.
    """
    given, make = [], privatize.Laplace
    monkeypatch.setattr(privatize, "Laplace", lambda *arguments: given.append(arguments) or make(*arguments))
    mechanism = LaplaceResidue(width, offset, epsilon)
    ((dim, lower, upper, grid, span, l1_limit, radius, coins, use),) = given
    assert (dim, l1_limit, radius, use) == (1, 0, 0.0, "residue")
    assert (lower, upper, grid, span) == (-width / 2, width / 2, mechanism.grid, max(1, math.ceil(1024 * epsilon)))
    assert lower + grid * span == pytest.approx(width / 2, rel=1e-12)
    assert coins == coin_integers.geometric(epsilon, span, span, 1)
    assert mechanism.epsilon_realized == coins.epsilon_realized
    with localcontext(prec=120):

        def loss(coins):
            rate, error = rate_and_error(coins)
            return span * rate + error

        assert abs(loss(coins) - Decimal(mechanism.epsilon_realized)) <= Decimal("1e-15") * Decimal(epsilon)
        for j, weights in enumerate(coins.groups):
            wrong = (weights[0], weights[1] + weights[1] // 10**12 + 1, *weights[2:])
            groups = (*coins.groups[:j], wrong, *coins.groups[j + 1 :])
            assert loss(replace(coins, groups=groups)) > loss(coins)
    assert epsilon * (1 - 1e-12) <= mechanism.epsilon_realized <= epsilon
    assert mechanism.epsilon_realized == ldp.Laplace(-1.0, 1.0, epsilon).epsilon_realized


def test_the_noise_does_not_depend_on_the_record():
    """Under one key the reports of two records differ by their distances, rounded at random to the grid.

    So a report reveals no more than a report of `Laplace`.
    """
    mechanism = LaplaceResidue(2.0, 0.25, 1.0)
    node = mechanism.privatize(np.full(600, 0.25), rng=SEED)
    for x in (*EXTREMES, np.nan):
        moved = mechanism.privatize(np.full(600, x), rng=SEED, clip=True)
        steps = (moved - node) / mechanism.grid
        distance = reference.signed_distance(x, 2.0, 0.25) / mechanism.grid
        assert set(np.rint(steps)) <= {math.floor(distance), math.ceil(distance)}
        np.testing.assert_allclose(steps, np.rint(steps), rtol=0, atol=1e-9)


def test_the_kernel_clamps_wrong_distances(monkeypatch):
    """Privacy does not depend on the encoding, because the kernel clamps distances to the interval."""
    x = np.linspace(-9, 9, 40)
    for far, end in ((1e9, 1.0), (-np.inf, -1.0)):
        reports = []
        for distance in (far, end):
            monkeypatch.setattr(LaplaceResidue, "encode", lambda _, x, distance=distance: np.full(len(x), distance))
            reports.append(LaplaceResidue(2.0, 0.0, 1.0).privatize(x, rng=SEED))
        assert_same(*reports)


# Distribution ---------------------------------------------------------------------------------------------------------


@each("x", [0.25, 0.9, -0.7, 1000.5, -999.2])
def test_reports_have_the_distance_as_their_mean(x):
    """Bernstein's inequality for noise truncated at 60 scales (probability e^-60 each). Detects an error of 0.03 widths.

    The mean square is within 2.3 percent of the documented variance, 4.42 standard errors of the square of Laplace noise.
    """
    n, mechanism = 200_000, LaplaceResidue(2.0, 0.25, 1.0)
    reports = mechanism.privatize(np.full(n, x), rng=SEED)
    distance, variance = reference.signed_distance(x, 2.0, 0.25), float(mechanism.variance(x))
    assert variance == pytest.approx(2 * 2.0**2, rel=1e-5)
    assert abs(reports.mean() - distance) < bernstein_radius(variance, 120.0, n, ALPHA)
    spread = math.sqrt(5 / n)  # relative, kurtosis 6: Var(z^2) = 5 variance^2
    assert abs(np.mean((reports - distance) ** 2) / variance - 1) < normal_margin() * spread


def test_the_estimate_is_the_mean_distance():
    mechanism, x = LaplaceResidue(8.0, 3.0, 2.0), np.random.default_rng(2).normal(99.0, 1.0, 100_000)
    estimate = mechanism.run(x, rng=SEED)
    expected = np.mean([reference.signed_distance(v, 8.0, 3.0) for v in x])
    assert abs(estimate.value - expected) < normal_margin() * estimate.stderr
    assert estimate.stderr == pytest.approx(math.sqrt((2 * (8 / 2) ** 2 + 1) / 1e5), rel=0.05)


def test_the_standard_error_of_few_reports_allows_for_all_distances():
    """Below 30 reports the spread of the records is unknown: at most half a period from the nearest node."""
    mechanism, n = LaplaceResidue(10.0, 0.0, 1.0), 5
    estimate = mechanism.estimate(mechanism.privatize(np.zeros(n), rng=1))
    assert mechanism._recipe.decoding.value_range == (-5.0, 5.0)
    assert estimate.stderr**2 == pytest.approx((mechanism.report.noise_variance + 25.0) / n)
