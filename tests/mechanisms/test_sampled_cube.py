"""Signs of sampled coordinates: the kernel against the reference, the exact channel, and designs."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast.mechanisms._sampled_cube import _signal, tail

from ..support import reference
from ..support.cases import each
from ..support.errors import raises
from ..support.exact import exact_log, least_double_not_below
from ..support.internals.kernels import privatize, stream
from ..support.internals.mechanisms import sampled_cube
from ..support.internals.shared import coin_integers
from ..support.keys import FIXED_KEY, KEY, SEED, STATISTICS_SEED
from ..support.sizes import SIZES
from ..support.statistics import ALPHA, assert_counts, bernstein_radius

# Reports --------------------------------------------------------------------------------------------------------------


def rows_of(n, dim, dtype):
    x = np.random.default_rng([n, dim]).uniform(-1.7, 1.7, (n, dim))
    x[::3, 0], x[1::3, -1] = 1.7, -1.7
    return np.clip(x.astype(dtype), dtype(-1.7), dtype(1.7))


def by_blocks(function, mechanism, key, x):
    """Return the reports of the reference, block by block."""
    parts = [function(mechanism, key, block, x[512 * block : 512 * (block + 1)]) for block in range(-(-len(x) // 512))]
    return np.concatenate(parts)


@each("dtype", [np.float32, np.float64])
@each(
    "dim, sampled, threshold, n",
    [
        (2, 1, 1, 65),
        (3, 2, 2, 33),
        (5, 4, 3, 64),
        (9, 8, 6, 9),
        (64, 62, 40, 31),
        (128, 3, 2, 65),
        (129, 5, 5, 65),
        (200, 62, 32, 7),
        (32_768, 4, 4, 5),
        (32_769, 9, 6, 5),
        (100_000, 30, 20, 3),
    ],
)
def test_reports_equal_the_reference(isa, dim, sampled, threshold, n, dtype):
    """Reports of one, two and four bytes; patterns as one number, sets of disagreements and rejected patterns."""
    mechanism = ldp.SampledCube(dim, 2.0, radius=1.7, sampled=sampled, threshold=threshold)
    x = rows_of(n, dim, dtype)
    got = mechanism.privatize(x, rng=SEED, clip=True)
    assert got.dtype == np.min_scalar_type(2 * dim - 1)
    np.testing.assert_array_equal(got, by_blocks(reference.sampled_cube, mechanism, KEY, x))


@st.composite
def cubes(draw):
    """Draw a mechanism with at most 62 signs."""
    k = draw(st.integers(1, 62))
    dim, threshold = draw(st.integers(k, 70)), draw(st.integers(k // 2 + 1, k))
    least = max(0.1, 0.7 * threshold - 40)  # a coin with a signal
    return ldp.SampledCube(dim, draw(st.floats(least, 10)), radius=1.7, sampled=k, threshold=threshold)


@given(cubes(), st.integers(1, 40))
def test_reports_of_any_design_equal_the_reference(mechanism, n):
    x = rows_of(n, mechanism.dim, np.float64)
    got = mechanism.privatize(x, rng=SEED)
    if mechanism.sampled < mechanism.dim:
        np.testing.assert_array_equal(got, reference.sampled_cube(mechanism, KEY, 0, x))
    else:
        signs = np.unpackbits(got, axis=1, count=mechanism.dim, bitorder="little")
        np.testing.assert_array_equal(signs, reference.cap_cube(mechanism, KEY, 0, x))


@each("n", [*SIZES, 0, 2, 31, 32, 33])
def test_sizes_around_the_blocks(isa, n):
    mechanism = ldp.SampledCube(7, 4.0, radius=1.7)
    assert (mechanism.sampled, mechanism.threshold) == (4, 4)
    x = rows_of(n + 1, 7, np.float64)[:n]
    got = mechanism.privatize(x, rng=SEED)
    np.testing.assert_array_equal(got, by_blocks(reference.sampled_cube, mechanism, KEY, x) if n else np.empty((0, 4)))


@each("dtype", [np.float32, np.float64])
@each(
    "dim, threshold, n",
    [
        (1, 1, 65),
        (2, 2, 64),
        (7, 4, 9),
        (8, 8, 9),
        (9, 6, 65),
        (61, 35, 5),
        (62, 32, 9),
        (62, 62, 3),
        (63, 32, 9),
        (63, 40, 5),
        (64, 33, 65),
        (65, 38, 7),
        (128, 72, 5),
        (300, 165, 3),
    ],
)
def test_reports_of_all_coordinates_equal_the_reference(isa, dim, threshold, n, dtype):
    mechanism = ldp.SampledCube(
        dim, 3.0 if threshold < dim else dim / 2 + 1, radius=1.7, sampled=dim, threshold=threshold
    )
    x = rows_of(n, dim, dtype)
    got = mechanism.privatize(x, rng=SEED, clip=True)
    expected = by_blocks(reference.cap_cube, mechanism, KEY, x)
    np.testing.assert_array_equal(np.unpackbits(got, axis=1, count=dim, bitorder="little"), expected)
    if dim % 8:  # the rest of the last byte is zeros
        assert (got[:, -1] >> dim % 8 == 0).all()


@each("dim, sampled, threshold", [(3, 1, 1), (9, 4, 3), (9, 5, 5), (7, 7, 5), (64, 64, 33), (100, 100, 58)])
def test_the_side_changes_exactly_at_the_threshold_of_the_coin(isa, dim, sampled, threshold):
    """heads = word gives the other side in the first row, heads = word + 1 the side of the record."""
    x = np.sign(np.random.default_rng(1).uniform(-1, 1, (40, dim)))
    mechanism = ldp.SampledCube(dim, 2.0, sampled=sampled, threshold=threshold)
    up_to = (
        [tail(sampled, a)[0] for a in range(sampled, threshold - 1, -1)] if sampled <= sampled_cube.MAX_SAMPLED else []
    )
    word = reference.Words(FIXED_KEY, "CUBE_SIGNS", 0).word()
    agreements = []
    for heads in (word, word + 1):
        if sampled == dim:
            out, kernel = np.empty((40, (dim + 7) // 8), np.uint8), privatize.CapCube(dim, 1.0, heads, threshold, up_to)
            kernel.privatize(stream.Stream(FIXED_KEY), 0, x, out)
            signs = np.unpackbits(out, axis=1, count=dim, bitorder="little")
            np.testing.assert_array_equal(signs, reference.cap_cube(mechanism, FIXED_KEY, 0, x, heads))
            agreements.append(int((signs[0] == (x[0] > 0)).sum()))
        else:
            out = np.empty((40, sampled), np.uint8)
            kernel = privatize.SampledCube(dim, sampled, 1.0, heads, threshold, up_to)
            kernel.privatize(stream.Stream(FIXED_KEY), 0, x, out)
            np.testing.assert_array_equal(out, reference.sampled_cube(mechanism, FIXED_KEY, 0, x, heads))
            agreements.append(int((out[0] % 2 == (x[0, out[0] >> 1] > 0)).sum()))
    assert agreements[0] < threshold <= agreements[1]


@pytest.mark.parametrize("value", [np.nan, np.inf, 5.0])
def test_only_sampled_coordinates_are_read(value):
    """An invalid number in a coordinate that is not sampled has no effect; in a sampled one it is an error."""
    mechanism = ldp.SampledCube(6, 2.0)
    x = rows_of(300, 6, np.float64) / 1.7
    reports = mechanism.privatize(x, rng=SEED)
    sampled = np.zeros(x.shape, bool)
    np.put_along_axis(sampled, (reports >> 1).astype(int), True, axis=1)
    assert sampled.sum() == 300 * mechanism.sampled
    np.testing.assert_array_equal(mechanism.privatize(np.where(sampled, x, value), rng=SEED), reports)
    row, column = np.argwhere(sampled)[7]
    x[row, column] = value
    with pytest.raises(ValueError, match=r"^x must"):
        mechanism.privatize(x, rng=SEED)


# The exact channel ----------------------------------------------------------------------------------------------------


def pattern_probabilities(given, k):
    """Return the probability of each pattern of disagreements, by all values of the uniform integers of the kernel.

    `given` holds the integers of the kernel: heads, threshold and the numbers of patterns with at most so many.
    """
    heads, threshold, up_to = given
    inside, outside = Counter(), Counter()
    for drawn in range(up_to[-1]):  # a number of disagreements, then an ordered choice of different places
        size = next(i for i, count in enumerate(up_to) if drawn < count)
        choices = list(itertools.permutations(range(k), size))
        for places in choices:
            inside[sum(1 << i for i in places)] += Fraction(1, up_to[-1] * len(choices))
    wrong = [z for z in range(1 << k) if z.bit_count() > k - threshold]
    for z in wrong:
        outside[z] = Fraction(1, len(wrong))
    p = Fraction(heads, coin_integers.WORD)
    return [p * inside[z] + (1 - p) * outside[z] for z in range(1 << k)]


@each("k, threshold", [(k, a) for k in range(1, 7) for a in range(k // 2 + 1, k + 1)])
def test_patterns_are_uniform_on_both_sides(k, threshold, monkeypatch):
    """Exactly heads / patterns for each pattern of one side, and the rest equally for the others."""
    given, make = [], privatize.SampledCube
    monkeypatch.setattr(privatize, "SampledCube", lambda *a: given.append((a[3], a[4], a[5])) or make(*a))
    mechanism = ldp.SampledCube(9, 2.0, sampled=k, threshold=threshold)
    found = pattern_probabilities(given[0], k)
    assert sum(found) == 1
    count = sum(math.comb(k, a) for a in range(threshold, k + 1))
    heads = mechanism._coin.heads
    for z, probability in enumerate(found):
        is_inside = k - z.bit_count() >= threshold
        words, size = (heads, count) if is_inside else (coin_integers.WORD - heads, 2**k - count)
        assert probability == Fraction(words, size * coin_integers.WORD)
    ratio = Fraction(heads * (2**k - count), (coin_integers.WORD - heads) * count)
    assert max(found) / min(found) == ratio
    assert mechanism.epsilon_realized == least_double_not_below(exact_log(ratio)) <= 2.0
    assert exact_log(Fraction((heads + 1) * (2**k - count), (coin_integers.WORD - heads - 1) * count)) > 2.0


SMALL = [(d, k, a) for d in range(1, 5) for k in range(1, d + 1) for a in range(k // 2 + 1, k + 1)]


def all_reports(dim, k):
    """Return all reports in the order of the channel."""
    if k == dim:
        codes = np.arange(1 << dim)
        return np.packbits(codes[:, np.newaxis] >> np.arange(dim) & 1, axis=1, bitorder="little")
    sets = itertools.combinations(range(dim), k)
    return np.array(
        [[2 * j + (z >> i & 1) for i, j in enumerate(places)] for places in sets for z in range(1 << k)], np.uint8
    )


@each("dim, k, threshold", SMALL)
@each("epsilon", [0.3, 1.0, 4.0])
def test_the_channel_has_the_stated_loss_mean_and_variance(dim, k, threshold, epsilon):
    mechanism = ldp.SampledCube(dim, epsilon, radius=2.0, sampled=k, threshold=threshold)
    channel = mechanism.channel()
    assert channel.epsilon() == mechanism.epsilon_realized <= epsilon
    vertices = 2 * (2.0 * (np.arange(1 << dim)[:, np.newaxis] >> np.arange(dim) & 1) - 1)
    decoded = mechanism.decode(all_reports(dim, k))
    np.testing.assert_allclose(channel.matrix @ decoded, vertices, rtol=0, atol=1e-11 * np.abs(decoded).max())
    second = channel.matrix @ decoded**2
    np.testing.assert_allclose(mechanism.variance(vertices), second - 4, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(second, mechanism.worst_variance, rtol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 4.0, 8.0])
def test_the_guarantee_of_a_large_cube_is_that_of_its_integers(epsilon):
    for dim in (62, 63, 64, 100, 1000, 4096):
        mechanism = ldp.SampledCube(dim, epsilon, sampled=dim)
        count, heads = sum(math.comb(dim, a) for a in range(mechanism.threshold, dim + 1)), mechanism._coin.heads
        ratio = Fraction(heads * (2**dim - count), (coin_integers.WORD - heads) * count)
        assert mechanism.epsilon_realized == least_double_not_below(exact_log(ratio)) <= epsilon
        assert exact_log(Fraction((heads + 1) * (2**dim - count), (coin_integers.WORD - heads - 1) * count)) > epsilon
        share = Fraction(count, 2**dim)
        excess = sum(math.comb(dim, a) * (2 * a - dim) for a in range(mechanism.threshold, dim + 1))
        p = Fraction(heads, coin_integers.WORD)
        m = (p / share - (1 - p) / (1 - share)) * Fraction(excess, dim * 2**dim)
        assert mechanism.scale == pytest.approx(float(1 / m), rel=1e-13)


# Rounding -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("real", [np.float32, np.float64])
def test_signs_are_rounded_with_the_stated_probability(real):
    """The number of words of 32 bits that give plus, by bisection: (1 + x / r) / 2 of them, up to one."""
    for radius in (1.0, 1.7, 1e-3, 1e18):
        for x in (-1.0, -0.75, -1e-9, 0.0, 1e-9, 0.3, 1.0):
            value = float(real(x) * real(radius)) if abs(x) < 1 else x * radius
            low, high = -(1 << 31), 1 << 31  # plus below `low`, minus from `high` on, as signed words
            while low < high:
                middle = (low + high) // 2
                plus = reference.sign_at(value, radius, middle % (1 << 32))
                low, high = (middle + 1, high) if plus else (low, middle)
            exact = (1 + Fraction(value) / Fraction(radius)) * (1 << 31)
            assert abs(low + (1 << 31) - exact) <= (0 if abs(x) == 1 else 1 + 1e-6)


# Designs --------------------------------------------------------------------------------------------------------------

TABLE = [  # dim, epsilon, Duchi's cube with the repair, one coordinate, best, sampled, threshold
    (10, 1.0, "60.734", "46.827", "46.827", 1, 1),
    (10, 4.0, "10.337", "10.760", "4.2154", 4, 4),
    (100, 1.0, "685.86", "468.27", "468.27", 1, 1),
    (100, 2.0, "240.18", "172.41", "132.21", 2, 2),
    (100, 4.0, "144.80", "107.60", "42.154", 4, 4),
    (100, 8.0, "133.93", "100.13", "13.400", 100, 64),
    (1000, 2.0, "2606.4", "1724.1", "1322.1", 2, 2),
    (1000, 8.0, "1495.4", "1001.3", "133.03", 1000, 544),
]


def is_printed(value, text):
    """Whether a number rounds to the printed digits."""
    return abs(value - float(text)) <= 0.501 * 10.0 ** -len(text.partition(".")[2])


@each("dim, epsilon, duchi, single, best, sampled, threshold", TABLE)
def test_variances_of_the_table(dim, epsilon, duchi, single, best, sampled, threshold):
    mechanism = ldp.SampledCube(dim, epsilon)
    assert (mechanism.sampled, mechanism.threshold) == (sampled, threshold)
    assert is_printed(mechanism.worst_variance, best)
    assert is_printed(ldp.SampledCube(dim, epsilon, sampled=1).worst_variance, single)
    assert is_printed(ldp.LinfBall(dim, epsilon, ties="thin").worst_variance, duchi)


def exact_variance(dim, k, threshold, epsilon):
    """Largest variance in real arithmetic, by another formula: sums over the number of agreements."""
    odds = math.exp(epsilon)
    weights = [math.comb(k, a) / 2**k * (odds if a >= threshold else 1) for a in range(k + 1)]
    m = math.fsum(w * (2 * a - k) for a, w in enumerate(weights)) / k / math.fsum(weights)
    return dim / k / m**2


@each("dim", [1, 2, 3, 4, 7, 16, 62, 63, 80])
@each("epsilon", [0.1, 1.0, 2.5, 4.0, 7.0, 10.0])
def test_the_design_is_the_best_of_all(dim, epsilon):
    """Every number of coordinates and every threshold."""
    sizes = [*range(1, min(dim, 62) + 1), dim]
    best = min(exact_variance(dim, k, a, epsilon) for k in sizes for a in range(k // 2 + 1, k + 1))
    k, threshold = sampled_cube.best_design(dim, epsilon, None, None)
    assert exact_variance(dim, k, threshold, epsilon) <= best * (1 + 1e-12)
    assert _signal(k, threshold, epsilon) == pytest.approx((dim / k / best) ** 0.5, rel=1e-12)
    assert ldp.SampledCube(dim, epsilon).worst_variance == pytest.approx(best, rel=1e-9)
    for k in (1, 5, 13, 62):
        if k <= dim:
            fixed = min(exact_variance(dim, k, a, epsilon) for a in range(k // 2 + 1, k + 1))
            assert ldp.SampledCube(dim, epsilon, sampled=k).worst_variance == pytest.approx(fixed, rel=1e-9)


def test_the_best_numbers_of_coordinates():
    found = {e: {ldp.SampledCube(d, e).sampled for d in (12, 64)} for e in (0.2, 1.0, 2.0, 4.0)}
    assert found == {0.2: {1}, 1.0: {1}, 2.0: {2}, 4.0: {4}}


def test_the_variance_is_never_above_that_of_half_spaces():
    """Smaller than `LinfBall` with both rules for ties for dim >= 3. In dimension 2 it can be the same channel, in 1 it is."""
    for dim in [*range(1, 65), 100, 1000, 5000]:
        for epsilon in (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 20.0, 44.0):
            sampled = ldp.SampledCube(dim, epsilon).worst_variance
            for ties in ("keep", "thin"):
                ratio = sampled / ldp.LinfBall(dim, epsilon, ties=ties).worst_variance
                assert ratio <= (1 - 1e-3 if dim > 2 else 1 + 1e-12)
    assert ldp.SampledCube(2, 3.0).worst_variance == pytest.approx(
        ldp.LinfBall(2, 3.0, ties="thin").worst_variance, rel=1e-12
    )


def test_the_ratio_to_half_spaces_at_epsilon_four():
    """A quarter for ties="keep", up to 0.42 for ties="thin" and few coordinates."""
    for dim in (10, 20, 50, 100, 1000):
        sampled = ldp.SampledCube(dim, 4.0).worst_variance
        assert 0.23 < sampled / ldp.LinfBall(dim, 4.0).worst_variance < 0.251
        assert 0.25 < sampled / ldp.LinfBall(dim, 4.0, ties="thin").worst_variance < 0.42


@each("dim", [63, 64, 100, 1000, 4096])
def test_a_set_of_many_signs_is_drawn_in_a_bounded_time(dim):
    """The smaller set has at least 2^-12 of all patterns, so a row is drawn 2048 times on average at most.

    The best threshold without this limit would need 8e6 draws at epsilon 20, and 1e15 at 40.
    """
    for epsilon in (0.1, 1.0, 5.0, 8.0, 10.0, 12.0, 20.0, 40.0, 44.0):
        for mechanism in (ldp.SampledCube(dim, epsilon), ldp.SampledCube(dim, epsilon, sampled=dim)):
            if mechanism.sampled > sampled_cube.MAX_SAMPLED:
                assert tail(dim, mechanism.threshold)[0] << sampled_cube.RARE_BITS >= 1 << dim
    x = np.zeros((3, dim))
    assert len(ldp.SampledCube(dim, 40.0).privatize(x, rng=1)) == 3
    assert len(ldp.SampledCube(dim, 40.0, sampled=dim).privatize(x, rng=1)) == 3


# Estimates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "dim, epsilon, options", [(20, 4.0, {}), (20, 4.0, {"sampled": 7}), (70, 6.0, {"sampled": 70})]
)
def test_reports_have_the_mean_and_the_variance_of_the_record(dim, epsilon, options):
    """Bernstein's inequality for every coordinate. Detects a bias of eight standard errors.

    Also detects an error of 1.7 percentage points of the probability that a coordinate is sampled.
    """
    n, mechanism = 60_000, ldp.SampledCube(dim, epsilon, radius=2.0, **options)
    x = np.linspace(-2, 2, dim)
    decoded = mechanism.decode(mechanism.privatize(np.tile(x, (n, 1)), rng=STATISTICS_SEED))
    bound, variance = mechanism.scale + 2, mechanism.variance(x)
    assert (np.abs(decoded.mean(axis=0) - x) <= bernstein_radius(variance, bound, n, ALPHA / 2 / dim)).all()
    assert_counts((decoded != 0).sum(axis=0), n, mechanism.sampled / dim, detects=0.017, alpha=ALPHA / 2)
    np.testing.assert_allclose(variance, mechanism.worst_variance - x**2, rtol=1e-12)


@pytest.mark.parametrize("sampled, threshold, inside", [(4, 3, 5), (4, 4, 1), (3, 2, 4)])
def test_patterns_of_the_kernel_are_uniform(sampled, threshold, inside):
    """Detects errors of 1.6 percentage points, of every pattern for every sampled set."""
    n, dim = 60_000, 5
    mechanism = ldp.SampledCube(dim, 2.0, sampled=sampled, threshold=threshold)
    vertex = np.array([1.0, -1.0, 1.0, 1.0, -1.0])
    items = mechanism.privatize(np.tile(vertex, (n, 1)), rng=STATISTICS_SEED)
    order = np.argsort(items, axis=1)
    items = np.take_along_axis(items, order, axis=1)
    differ = ((items & 1) != (vertex[items >> 1] > 0)) @ (1 << np.arange(sampled))
    sets = (1 << (items >> 1).astype(int)).sum(axis=1)
    heads = mechanism._coin.heads / 2**64
    expected = np.array([
        heads / inside if sampled - z.bit_count() >= threshold else (1 - heads) / (2**sampled - inside)
        for z in range(1 << sampled)
    ])  # fmt: skip
    joint = np.zeros((1 << dim, 1 << sampled), int)
    np.add.at(joint, (sets, differ), 1)
    used = [s for s in range(1 << dim) if s.bit_count() == sampled]
    assert_counts(joint[used], n, expected / len(used), detects=0.016)
    assert joint[used].sum() == n


# Parameters -----------------------------------------------------------------------------------------------------------

DRAWN = (
    "threshold must be above half of the number k of signs and at most k, with k <= 62, or k = dim <= 4096 and at least 1"
    " of 4096 patterns with so many agreements, got {}"
)


@each(
    "dim, epsilon, options, message",
    [
        (0, 1.0, {}, f"dim must be an integer in [1, {1 << 30}], got 0"),
        (5, 1.0, {"sampled": 6}, "sampled must be an integer in [1, 5], got 6"),
        (100, 1.0, {"sampled": 63}, "sampled must be at most 62, or dim with dim <= 4096, got 63"),
        (4097, 1.0, {"sampled": 4097}, "sampled must be at most 62, or dim with dim <= 4096, got 4097"),
        (9, 1.0, {"sampled": 4, "threshold": 2}, "threshold must be an integer in [3, 4], got 2"),
        (9, 1.0, {"sampled": 4, "threshold": 5}, "threshold must be an integer in [3, 4], got 5"),
        (9, 1.0, {"threshold": 10}, "threshold must be an integer in [1, 9], got 10"),
        (10_000, 1.0, {"threshold": 100}, DRAWN.format(100)),
        (200, 1.0, {"threshold": 80}, DRAWN.format(80)),
        (100, 5.0, {"sampled": 100, "threshold": 90}, DRAWN.format(90)),
        (4096, 40.0, {"threshold": 2400}, DRAWN.format(2400)),
    ],
)
def test_parameters_are_checked(dim, epsilon, options, message):
    with raises(ValueError, message):
        ldp.SampledCube(dim, epsilon, **options)


def test_a_threshold_alone_determines_the_number_of_coordinates():
    for dim, threshold in ((9, 1), (9, 3), (100, 40), (100, 60), (4096, 2100)):
        mechanism = ldp.SampledCube(dim, 3.0, threshold=threshold)
        assert mechanism.threshold == threshold
        assert mechanism.sampled // 2 < threshold <= mechanism.sampled
    assert ldp.SampledCube(9, 3.0, sampled=4, threshold=4) == ldp.SampledCube(9, 3.0, sampled=4, threshold=4)
    assert eval(repr(ldp.SampledCube(9, 3.0)), {"SampledCube": ldp.SampledCube}) == ldp.SampledCube(9, 3.0)


def test_channels_of_many_entries_are_not_enumerated():
    with pytest.raises(ValueError, match="too many reports to enumerate"):
        ldp.SampledCube(12, 4.0).channel()
