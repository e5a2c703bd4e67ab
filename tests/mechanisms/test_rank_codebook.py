"""Public random directions: the kernel against the reference, the exact guarantee, and the moments of the reports."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast.mechanisms._rank_codebook import _signal

from ..support import reference
from ..support.cases import each
from ..support.errors import raises
from ..support.exact import exact_log, least_double_not_below
from ..support.internals import kernels
from ..support.internals.kernels import privatize, stream
from ..support.internals.mechanisms import half_space, rank_codebook
from ..support.internals.shared import coin_integers
from ..support.keys import FIXED_KEY, KEY, SEED, STATISTICS_SEED
from ..support.rows import ball
from ..support.sizes import SIZES
from ..support.statistics import ALPHA, bernstein_radius, hoeffding_radius

# Reports --------------------------------------------------------------------------------------------------------------


@each("dtype", [np.float32, np.float64])
@each(
    "dim, vectors, n",
    [
        *((2, 1, 65), (2, 5, 9), (3, 16, 33), (8, 2, 64), (31, 7, 9)),
        *((33, 3, 7), (64, 64, 5), (65, 17, 5), (513, 9, 3), (5000, 4, 2)),
    ],
)
def test_reports_equal_the_reference(isa, dim, vectors, n, dtype):
    """Products in double precision decide as those in single precision, as no two are that close here."""
    mechanism, x = ldp.RankCodebook(dim, 2.0, radius=2.0, vectors=vectors), ball(n, dim, dtype)
    assert mechanism.privatize(x, rng=SEED).tolist() == reference.rank_codebook(mechanism, KEY, 0, x)


@given(st.integers(2, 40), st.integers(1, 20), st.floats(0.05, 20), st.integers(1, 12))
def test_reports_of_any_parameters_equal_the_reference(dim, vectors, epsilon, n):
    mechanism, x = ldp.RankCodebook(dim, epsilon, radius=2.0, vectors=vectors), ball(n, dim)
    assert mechanism.privatize(x, rng=SEED).tolist() == reference.rank_codebook(mechanism, KEY, 0, x)


@each("dim, vectors, n", [(4, 128, 9), (4, 129, 9), (100, 130, 5), (7, 1000, 3), (2, 16_384, 2)])
def test_many_vectors_equal_the_reference(isa, dim, vectors, n):
    """The set of more than 128 vectors is found by other comparisons."""
    mechanism, x = ldp.RankCodebook(dim, 6.0, radius=2.0, vectors=vectors), ball(n, dim)
    assert mechanism.privatize(x, rng=SEED).tolist() == reference.rank_codebook(mechanism, KEY, 0, x)


@each("n", [*SIZES, 0, 2, 255, 256, 257])
def test_sizes_around_the_blocks(n):
    mechanism, x = ldp.RankCodebook(3, 2.0, radius=2.0, vectors=4), ball(n, 3)
    blocks = range(-(-n // 256))
    expected = [
        report for b in blocks for report in reference.rank_codebook(mechanism, KEY, b, x[256 * b : 256 * (b + 1)])
    ]
    assert mechanism.privatize(x, rng=SEED).tolist() == expected


def test_dimension_one_ranks_equal_products_by_their_index(isa):
    """The cosines are 1 or -1 exactly: all are ties."""
    x = np.resize([1.0, -1.0], (200, 1))
    for vectors in (1, 4, 7, 128, 129, 400):
        mechanism = ldp.RankCodebook(1, 1.5, vectors=vectors)
        assert mechanism.privatize(x, rng=SEED).tolist() == reference.rank_codebook(mechanism, KEY, 0, x)


def kernel_reports(heads, dim, vectors, top, x):
    out = np.empty(len(x), np.uint64)
    kernel = privatize.RankCodebook(dim, 1.0, 1.0, heads, vectors, top)
    kernel.privatize(stream.Stream(FIXED_KEY), 0, x, out)
    return out


@each("value", [0.0, np.nan, 5e-324, 1e-60])
@each("dim, vectors, top", [(1, 4, 2), (3, 5, 5), (3, 5, 1), (20, 16, 7), (9, 1, 1), (3, 200, 90), (5, 300, 300)])
def test_exactly_top_candidates_are_raised_for_equal_products(isa, value, dim, vectors, top):
    """All products are zero or NaN, so that the first vectors are ranked first, one sign of each.

    The candidate is then known from the words of the stream: number r of the set is vector r, and number r of the other set
    is the opposite of vector r for r < top, else candidate top + r. This holds for no other size of the set.
    """
    x, words = np.full((100, dim), value), reference.Words(FIXED_KEY, "CODEBOOK_COINS", 0)
    inside, outside = (kernel_reports(heads, dim, vectors, top, x) for heads in (coin_integers.WORD - 1, 0))
    bits = (2 * vectors - 1).bit_length()
    seeds = [seed >> bits for seed in reference.Words(FIXED_KEY, "CODEBOOK_SEEDS", 0).take(100, "<u8").tolist()]
    assert (inside >> bits).tolist() == (outside >> bits).tolist() == seeds
    for raised, other in zip((inside % (1 << bits)).tolist(), (outside % (1 << bits)).tolist(), strict=True):
        flip = words.word() >> 63  # the record is zero: a fair coin
        words.word()
        first, second = reference.word_below(words, top), reference.word_below(words, 2 * vectors - top)
        assert raised // 2 == first
        assert other // 2 == second if second < top else other == top + second
        if not np.isnan(value):
            assert raised % 2 == 1 - flip
            assert second >= top or other % 2 == flip


@each("vectors, top", [(128, 20), (128, 90), (130, 1), (130, 60), (300, 50), (300, 200), (300, 299)])
def test_equal_cosines_of_two_sizes_are_ranked_by_their_index(isa, vectors, top):
    """The record is the smallest normal number of single precision in one dimension, and subnormal numbers are zero.

    So its product with a direction u below 1 is zero, and its cosine with another one is the record itself: two sizes.
    """
    x, bits = np.full((20, 1), 2.0**-126), (2 * vectors - 1).bit_length()
    words, seeds = (reference.Words(FIXED_KEY, f"CODEBOOK_{use}", 0) for use in ("COINS", "SEEDS"))
    for report in kernel_reports(coin_integers.WORD - 1, 1, vectors, top, x).tolist():
        seed, flip = seeds.word() >> bits, words.word() >> 63
        words.word()
        number, _ = reference.word_below(words, top), reference.word_below(words, 2 * vectors - top)
        u = reference.directions(1, vectors, seed)[:, 0]
        if np.abs(np.abs(u) - 1).min() > 1e-5:
            best = sorted(range(vectors), key=lambda j: bool(abs(u[j]) < 1))[:top]
            raised = sorted(2 * j + int((u[j] > -1) != flip) for j in best)  # zero counts as positive
            assert report == seed << bits | raised[number]


@each("value", [np.inf, -np.inf, 1e300, np.nan])
def test_any_record_has_a_report_of_the_format(isa, value):
    x = ball(200, 4, radius=1.0)
    x[::2, 1] = value
    reports = kernel_reports(1 << 63, 4, 3, 2, x)
    assert (reports % 8 < 6).all()
    np.testing.assert_array_equal(reports[1::2], kernel_reports(1 << 63, 4, 3, 2, ball(200, 4, radius=1.0))[1::2])


def test_the_set_changes_exactly_at_the_threshold_of_the_coin(isa):
    """heads = word reports one of the other candidates, heads = word + 1 one of the set; other rows do not change."""
    mechanism, x = ldp.RankCodebook(5, 2.0, vectors=6), ball(40, 5, radius=1.0)
    words, row = reference.Words(FIXED_KEY, "CODEBOOK_COINS", 0), 0
    words.word()
    word = words.word()  # of the first row
    reports = []
    for heads in (word, word + 1):
        reports.append(kernel_reports(heads, 5, 6, mechanism.top, x).tolist())
        assert reports[-1] == reference.rank_codebook(mechanism, FIXED_KEY, 0, x, heads)
    assert [i for i in range(40) if reports[0][i] != reports[1][i]] == [row]


def test_the_opposite_direction_is_taken_exactly_from_the_threshold_on(isa):
    """The norm decides whether the record is replaced by its opposite: it is if (1 + norm) / 2 is equal to the coin."""
    tested = 0
    for seed in range(20):
        key = bytes([seed] * 32)
        coin = (reference.Words(key, "CODEBOOK_COINS", 0).word() >> 11) / 2**53
        if coin < 0.5:  # no norm has this threshold
            continue
        found = []
        for norm in (2 * coin - 1, 2 * coin - 1 + 2.0**-52):
            x, out = np.array([[norm]]), np.empty(1, np.uint64)
            kernel = privatize.RankCodebook(1, 1.0, 1.0, coin_integers.WORD - 1, 6, 1)
            kernel.privatize(stream.Stream(key), 0, x, out)
            found.append(int(out[0]))
        assert found[0] ^ found[1] == 1  # one candidate and its opposite
        tested += 1
    assert tested >= 5


def test_directions_are_the_same_on_all_instruction_sets_and_equal_the_reference():
    before, found = kernels.isa(), {}
    try:
        for isa in kernels.isas():
            kernels.set_isa(isa)
            for dim in (1, 2, 7, 8, 9, 31, 32, 33, 64, 65, 100, 511, 512, 513, 5000):
                mechanism = ldp.RankCodebook(dim, 2.0, radius=3.0, vectors=4)
                seeds = np.array([0, 1, (1 << 61) - 1, 12345678901234567], np.uint64)[:, np.newaxis]
                decoded = mechanism.decode((seeds << np.uint64(3) | np.arange(8, dtype=np.uint64)).ravel())
                np.testing.assert_allclose(np.linalg.norm(decoded, axis=1), mechanism.scale, rtol=1e-6)
                np.testing.assert_array_equal(decoded[::2], -decoded[1::2])
                for i, seed in enumerate(seeds[:, 0].tolist()):
                    u = reference.directions(dim, 4, seed)
                    u *= mechanism.scale / np.linalg.norm(u, axis=1, keepdims=True)
                    np.testing.assert_allclose(
                        decoded[8 * i + 1 : 8 * i + 8 : 2], u, rtol=0, atol=1e-4 * mechanism.scale
                    )
                assert found.setdefault(dim, decoded.tobytes()) == decoded.tobytes()
    finally:
        kernels.set_isa(before)


# Guarantee ------------------------------------------------------------------------------------------------------------


@each("epsilon", [0.01, 0.5, 1.0, 4.0, 8.0, 20.0])
@each("dim, vectors", [(1, 1), (3, 7), (100, 16), (50, 256)])
def test_the_guarantee_is_that_of_the_integers(dim, vectors, epsilon):
    mechanism = ldp.RankCodebook(dim, epsilon, vectors=vectors)
    top, heads, candidates = mechanism.top, mechanism._coin.heads, 2 * vectors
    ratio = Fraction(heads * (candidates - top), (coin_integers.WORD - heads) * top)
    assert mechanism.epsilon_realized == least_double_not_below(exact_log(ratio)) <= epsilon
    assert exact_log(Fraction((heads + 1) * (candidates - top), (coin_integers.WORD - heads - 1) * top)) > epsilon
    assert mechanism.guarantee.epsilon == mechanism.epsilon_realized
    assert not mechanism.guarantee.ideal


def test_the_audit_finds_no_larger_loss():
    """A lower confidence limit of the loss, from reports on opposite records."""
    v = np.array([1.0, 0, 0]) * (1 - 1e-12)
    mechanism = ldp.RankCodebook(3, 1.0, vectors=4)
    decoded = [
        mechanism.decode(mechanism.privatize(np.tile(s * v, (50_000, 1)), rng=3 + i)) for i, s in enumerate((1, -1))
    ]
    radius = hoeffding_radius(50_000, ALPHA / 18)
    for edge in np.linspace(-0.8, 0.8, 9) * mechanism.scale:
        rates = [float((z[:, 0] > edge).mean()) for z in decoded]
        assert rates[0] - radius <= math.exp(mechanism.epsilon_realized) * (rates[1] + radius)


# Moments --------------------------------------------------------------------------------------------------------------


def moments(*sizes):
    return rank_codebook.top_moment(*sizes, 1), rank_codebook.top_moment(*sizes, 2)


@each("vectors, top", [(1, 1), (2, 1), (5, 2), (16, 11), (64, 64), (256, 1), (256, 100)])
def test_moments_in_dimension_three_are_those_of_order_statistics(vectors, top):
    """|t| is uniform on [0, 1], so that value number i from the top is a beta variable with mean (J + 1 - i) / (J + 1)."""
    orders = [Fraction(vectors + 1 - i, vectors + 1) for i in range(1, top + 1)]
    squares = [q * Fraction(vectors + 2 - i, vectors + 2) for i, q in enumerate(orders, 1)]
    first, second = moments(3, vectors, top)
    assert first == pytest.approx(float(sum(orders) / top), rel=1e-12)
    assert second == pytest.approx(float(sum(squares) / top), rel=1e-12)


@each("vectors", [1, 3, 16, 64, 256])
@each("dim", [1, 2, 3, 4, 5, 10, 100, 1000, rank_codebook.MAX_DIM])
def test_moments_of_all_vectors_are_those_of_one(dim, vectors):
    """E|t| = 1 / c(d) and E t^2 = 1 / d, also as a weighted mean of the set of one vector and the rest."""
    first, second = moments(dim, vectors, vectors)
    assert first == pytest.approx(1 / half_space.half_space_constant(dim), rel=1e-10)
    assert second == pytest.approx(1 / dim, rel=1e-10)
    sizes = [moments(dim, vectors, top) for top in {1, (vectors + 1) // 2, vectors}]
    assert all(first * (1 - 1e-12) <= a <= 1 and second * (1 - 1e-12) <= b <= a for a, b in sizes)


def test_moments_in_dimension_two_by_another_integral():
    """E of the largest of J values |sin| of a uniform angle: the integral of 1 - P(all below)."""
    angle = (np.arange(200_000) + 0.5) / 200_000 * math.pi / 2
    for vectors in (1, 2, 8, 64):
        below = (angle * 2 / math.pi) ** vectors  # P(all |t| <= sin a), and d sin a = cos a da
        first = ((1 - below) * np.cos(angle)).mean() * math.pi / 2
        second = ((1 - below) * 2 * np.sin(angle) * np.cos(angle)).mean() * math.pi / 2
        assert moments(2, vectors, 1) == pytest.approx((first, second), rel=1e-9)


@each("dim, vectors, top", [(2, 8, 3), (5, 16, 1), (10, 16, 7), (100, 64, 28), (1000, 16, 11)])
def test_moments_equal_those_of_random_directions(dim, vectors, top):
    """Bernstein's inequality. Detects errors of 1 percent."""
    n, rng = 40_000, np.random.default_rng(STATISTICS_SEED)
    normal = rng.normal(size=(n, vectors))
    t = np.abs(normal) / np.sqrt(normal**2 + (rng.chisquare(dim - 1, (n, vectors)) if dim > 1 else 0))
    best = np.sort(t, axis=1)[:, -top:]
    first, second = moments(dim, vectors, top)
    spread = best.mean(axis=1).var() * 1.2  # of the sample, with a margin
    assert abs(best.mean() - first) <= bernstein_radius(spread, 1, n, ALPHA / 2)
    squares = (best**2).mean(axis=1)
    assert abs(squares.mean() - second) <= bernstein_radius(squares.var() * 1.2, 1, n, ALPHA / 2)


@each("epsilon", [0.1, 1.0, 3.0, 8.0, 30.0])
@each("dim, vectors", [(1, 5), (2, 16), (3, 64), (100, 16), (1000, 33)])
def test_the_size_of_the_set_is_the_best(dim, vectors, epsilon):
    signals = [_signal(dim, vectors, top, epsilon) for top in range(1, vectors + 1)]
    assert signals[rank_codebook.best_top(dim, vectors, epsilon) - 1] == pytest.approx(max(signals), rel=1e-13)


TABLE = [  # dim, epsilon, half-spaces, J = 16 and its set, J = 64 and its set, ratio to PrivUnit in percent
    (100, 0.5, "2604.58", "2535.74", 14, "2513.32", 54, 1.3, 0.4),
    (100, 1.0, "730.887", "644.657", 11, "633.203", 45, 2.5, 0.7),
    (100, 2.0, "268.464", "167.416", 7, "162.149", 28, 4.5, 1.2),
    (100, 4.0, "167.178", "47.6831", 2, "43.9999", 9, 12, 2.8),
    (100, 8.0, "155.506", "22.9239", 1, "15.4916", 1, 81, 22),
    (1000, 0.5, "26172.3", "25476.8", 14, "25250.7", 54, 1.3, 0.4),
    (1000, 1.0, "7350.88", "6479.35", 11, "6365.27", 45, 2.5, 0.7),
    (1000, 2.0, "2705.80", "1686.00", 7, "1633.31", 28, 4.5, 1.2),
    (1000, 4.0, "1688.37", "483.156", 2, "446.646", 9, 12, 2.8),
    (1000, 8.0, "1571.12", "236.009", 1, "160.739", 1, 81, 22),
]


@each("dim, epsilon, half, few, few_top, many, many_top, few_loss, many_loss", TABLE)
def test_errors_of_the_table(dim, epsilon, half, few, few_top, many, many_top, few_loss, many_loss):
    best = ldp.PrivUnit(dim, epsilon).scale ** 2 - 1
    for vectors, text, top, loss in ((16, few, few_top, few_loss), (64, many, many_top, many_loss)):
        mechanism = ldp.RankCodebook(dim, epsilon, vectors=vectors)
        error = float(mechanism.variance(np.eye(dim)[0]).sum())
        assert mechanism.top == top
        assert abs(error - float(text)) <= 0.51 * 10.0 ** -len(text.partition(".")[2])
        assert error == pytest.approx(mechanism.scale**2 - 1, rel=1e-9)
        assert 0.75 * loss <= 100 * (error / best - 1) <= loss
    error = ldp.L2Ball(dim, epsilon).scale ** 2 - 1
    assert abs(error - float(half)) <= 0.51 * 10.0 ** -len(half.partition(".")[2])


MANY = [  # dim, epsilon, vectors, error
    (4, 16.0, 4096, 0.0081316),
    (4, 16.0, 16_384, 0.0065212),
    (16, 8.0, 4096, 1.6165),
    (64, 8.0, 16_384, 7.9607),
    (100, 8.0, 1024, 12.946),
    (100, 16.0, 256, 10.161),
]


@each("dim, epsilon, vectors, error", MANY)
def test_errors_with_many_vectors(dim, epsilon, vectors, error):
    mechanism = ldp.RankCodebook(dim, epsilon, vectors=vectors)
    assert mechanism.scale**2 - 1 == pytest.approx(error, rel=1e-4)
    near = [_signal(dim, vectors, top, epsilon) for top in range(max(1, mechanism.top - 3), mechanism.top + 4)]
    assert _signal(dim, vectors, mechanism.top, epsilon) == pytest.approx(max(near), rel=1e-13)


def test_the_measured_error_with_many_vectors_is_the_stated_one():
    """The mean of 4000 reports, and its squared error in 4 dimensions: within 6 standard deviations of the total."""
    mechanism, n = ldp.RankCodebook(4, 6.0, vectors=1024), 4000
    record = np.array([0.6, 0, -0.8, 0])
    found = mechanism.decode(mechanism.privatize(np.tile(record, (n, 1)), rng=STATISTICS_SEED)).astype(np.float64)
    squares = ((found - record) ** 2).sum(axis=1)
    assert squares.mean() == pytest.approx(mechanism.scale**2 - 1, abs=6 * squares.std() / math.sqrt(n))
    assert np.abs(found.mean(axis=0) - record).max() < 6 * math.sqrt(mechanism.worst_variance / n)


@pytest.mark.parametrize("dim", [1, 2, 5, 100])
def test_the_error_lies_between_those_of_the_best_mechanism_and_of_half_spaces(dim):
    for epsilon in (0.1, 1.0, 4.0, 10.0):
        scales = [ldp.RankCodebook(dim, epsilon, vectors=vectors).scale for vectors in (1, 4, 16, 64)]
        assert scales[0] == pytest.approx(ldp.L2Ball(dim, epsilon).scale, rel=1e-9)
        assert all(b <= a * (1 + 1e-12) for a, b in itertools.pairwise(scales))
        assert scales[-1] >= ldp.PrivUnit(dim, epsilon).scale * (1 - 1e-9)


@pytest.mark.parametrize(
    "dim, vectors, epsilon, length", [(1, 3, 1.0, 0.5), (2, 4, 3.0, 1.0), (3, 6, 2.0, 0.6), (5, 8, 4.0, 1.0)]
)
def test_mean_and_variance_by_all_candidates_of_many_seeds(dim, vectors, epsilon, length):
    """Exact sums over the candidates of a seed, both signs of the rounding and both outcomes of the coin.

    The means over seeds are compared by Hoeffding's inequality: the mean report of a seed has at most the norm 1 / first, and
    squares are at most B^2.
    """
    n, mechanism = 30_000, ldp.RankCodebook(dim, epsilon, vectors=vectors)
    x = np.arange(1.0, dim + 1)
    x *= length / np.linalg.norm(x)
    bits, top, coin = (2 * vectors - 1).bit_length(), mechanism.top, mechanism._coin
    reports = (np.arange(n, dtype=np.uint64)[:, np.newaxis] << np.uint64(bits)) + np.arange(
        2 * vectors, dtype=np.uint64
    )
    z = mechanism.decode(reports.ravel()).reshape(n, 2 * vectors, dim)
    mean, square = np.zeros((n, dim)), np.zeros((n, dim))
    for sign in (1, -1):
        order = np.argsort(-sign * (z @ x), axis=1, kind="stable")
        probability = np.full((n, 2 * vectors), float(coin.outside))
        np.put_along_axis(probability, order[:, :top], float(coin.inside), axis=1)
        np.testing.assert_allclose(probability.sum(axis=1), 1, rtol=1e-12)
        mean += (1 + sign * length) / 2 * np.einsum("nc,ncd->nd", probability, z)
        square += (1 + sign * length) / 2 * np.einsum("nc,ncd->nd", probability, z**2)
    radius = 2 * hoeffding_radius(n, ALPHA / 2 / dim)
    first = rank_codebook.top_moment(dim, vectors, top, 1)
    np.testing.assert_allclose(mean.mean(axis=0), x, rtol=0, atol=radius * length / first)
    stated = mechanism.variance(x) + x**2
    np.testing.assert_allclose(square.mean(axis=0), stated, rtol=0, atol=radius / 2 * mechanism.scale**2)
    assert stated.sum() == pytest.approx(mechanism.scale**2, rel=1e-9)


@pytest.mark.parametrize("length", [1.0, 0.5, 0.0])
def test_reports_have_the_record_as_mean_and_the_stated_variance(length):
    """Bernstein's inequality. Detects a bias of seven standard errors and a variance that is wrong by a few percent."""
    n, mechanism = 60_000, ldp.RankCodebook(6, 4.0, radius=2.0, vectors=16)
    x = np.array([2.0, 0, -1, 0, 0, 1]) * (2 * length / math.sqrt(6)) * (1 - 1e-12)
    z = mechanism.decode(mechanism.privatize(np.tile(x, (n, 1)), rng=STATISTICS_SEED))
    variance, bound = mechanism.variance(x), 2 * mechanism.scale
    assert (np.abs(z.mean(axis=0) - x) <= bernstein_radius(variance, bound, n, ALPHA / 12)).all()
    square, most = variance + x**2, mechanism.scale**2
    assert (np.abs((z**2).mean(axis=0) - square) <= bernstein_radius(most * square, most, n, ALPHA / 12)).all()
    if length == 0:
        np.testing.assert_allclose(variance, most / 6)


def test_the_stated_variance_is_largest_at_the_ends_of_the_axes():
    """`worst_variance` is the second moment along the record, at least that across it and that at the center."""
    for dim, vectors, epsilon in ((1, 1, 1.0), (2, 3, 0.5), (5, 16, 4.0), (100, 64, 8.0)):
        mechanism = ldp.RankCodebook(dim, epsilon, radius=2.0, vectors=vectors)
        end = 2 * np.eye(dim)[0] * (1 - 1e-12)
        assert mechanism.worst_variance == pytest.approx(mechanism.variance(end)[0] + 4, rel=1e-9)
        assert mechanism.worst_variance * (1 + 1e-12) >= mechanism.scale**2 / dim
        for x in np.random.default_rng(1).normal(size=(20, dim)):
            row = x * (1.9 / np.linalg.norm(x))
            assert (mechanism.variance(row) + row**2 <= mechanism.worst_variance * (1 + 1e-12)).all()


# Parameters -----------------------------------------------------------------------------------------------------------


@each(
    "arguments, options, error, message",
    [
        ((0, 1.0), {}, ValueError, "dim must be an integer in [1, 16384], got 0"),
        ((16_385, 1.0), {}, ValueError, "dim must be an integer in [1, 16384], got 16385"),
        ((2, 0.0), {}, ValueError, "epsilon must be a finite number > 0, got 0.0"),
        ((2, 1.0), {"radius": 1e19}, ValueError,
         "radius must be in [1e-18, 1e18], where single precision holds the reports, got 1e+19"),
        ((2, 1.0), {"vectors": 0}, ValueError, "vectors must be an integer in [1, 16384], got 0"),
        ((2, 1.0), {"vectors": 16_385}, ValueError, "vectors must be an integer in [1, 16384], got 16385"),
        ((2, 1.0), {"vectors": 4.0}, TypeError, "vectors must be an integer, got float"),
    ],
)  # fmt: skip
def test_parameters_are_checked(arguments, options, error, message):
    with raises(error, message):
        ldp.RankCodebook(*arguments, **options)


def test_the_ends_of_the_parameters_are_allowed(isa):
    for dim, vectors in ((1, 16_384), (rank_codebook.MAX_DIM, 2)):
        mechanism = ldp.RankCodebook(dim, 4.0, vectors=vectors)
        x = np.zeros((2, dim))
        x[:, 0] = 1.0
        reports = mechanism.privatize(x, rng=SEED)
        assert reports.tolist() == reference.rank_codebook(mechanism, KEY, 0, x)
        np.testing.assert_allclose(np.linalg.norm(mechanism.decode(reports), axis=1), mechanism.scale, rtol=1e-5)


@pytest.mark.filterwarnings("ignore:.* had NaN:ldpfast.ClippedWarning")
def test_rows_outside_the_ball_raise_or_are_clipped():
    mechanism = ldp.RankCodebook(3, 2.0, vectors=4)
    x = np.array([[2.0, 0, 0], [0, 0, 0.5]] * 20)
    with pytest.raises(ValueError, match=r"^x must"):
        mechanism.privatize(x, rng=SEED)
    expected = mechanism.privatize(np.array([[1.0, 0, 0], [0, 0, 0.5]] * 20), rng=SEED)
    np.testing.assert_array_equal(mechanism.privatize(x, rng=SEED, clip=True), expected)
    center = mechanism.privatize(np.zeros((40, 3)), rng=SEED)
    np.testing.assert_array_equal(mechanism.privatize(np.full((40, 3), np.nan), rng=SEED, clip=True), center)


def test_the_channel_is_not_enumerated():
    with raises(
        ValueError, "RankCodebook(dim=2, epsilon=1.0, radius=1.0, vectors=16) has too many reports to enumerate"
    ):
        ldp.RankCodebook(2, 1.0).channel()
