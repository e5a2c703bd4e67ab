"""Signs of rows of a public rotation: the kernel against the reference, the exact guarantee, the shared error, and states."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp

from ..support import reference
from ..support.cases import each
from ..support.errors import raises
from ..support.exact import exact_log
from ..support.internals.kernels import privatize, stream, transform
from ..support.internals.mechanisms import ranked_signs, rotated_signs
from ..support.internals.shared import coin_integers
from ..support.keys import FIXED_KEY, KEY, SEED
from ..support.rows import ball
from ..support.sign_patterns import pattern_probabilities
from ..support.sizes import SIZES
from ..support.statistics import assert_coverage

# Reports --------------------------------------------------------------------------------------------------------------


def grid_rows(n, dim, dtype=np.float64):
    """Return rows of the ball of radius 2^10 of small integers, whose transforms are exact in single precision."""
    rng = np.random.default_rng([n, dim])
    x = rng.integers(-3, 4, (n, dim)) * (rng.random((n, dim)) < 200_000 / (dim * 1e2))
    x[: n // 2, 1:] = 0  # with one number only: many equal products
    assert (np.linalg.norm(x, axis=1) < 2**10).all()
    return x.astype(dtype)


def rotated(dim, signs, epsilon=2.0, rotation=2**64 - 59, radius=2.0**10):
    return ldp.RotatedSigns(dim, epsilon, rotation=rotation, signs=signs, radius=radius)


def reference_reports(mechanism, x, key=KEY):
    rows = mechanism._recipe.kernel.rows
    blocks = range(-(-len(x) // rows))
    return [r for b in blocks for r in reference.rotated_signs(mechanism, key, b, x[rows * b : rows * (b + 1)])]


@each("dtype", [np.float32, np.float64])
@each(
    "dim, signs, n",
    [
        (1, 2, 66),
        (3, 4, 65),
        (100, 128, 4),
        (4096, 16, 3),
        (4097, 32, 34),
        (8192, 2, 3),
        (9000, 64, 18),
        (20_000, 8, 3),
    ],
)
def test_reports_equal_the_reference(isa, dim, signs, n, dtype):
    """Bit for bit, with equal products: all sums are integers."""
    mechanism, x = rotated(dim, signs), grid_rows(n, dim, dtype)
    assert mechanism.privatize(x, rng=SEED).tolist() == reference_reports(mechanism, x)


@pytest.mark.long
@pytest.mark.parametrize("dim, signs", [(300, 256), (300, 512), (70_000, 256), (600_000, 16)])
def test_many_signs_and_dimensions_equal_the_reference(isa, dim, signs):
    mechanism, x = rotated(dim, signs, 8.0), grid_rows(2, dim, np.float32)
    assert mechanism.privatize(x, rng=SEED).tolist() == reference_reports(mechanism, x)


@each("n", [*SIZES[:7], 0, 2])
def test_sizes_around_the_blocks(n):
    mechanism, x = rotated(3, 4), grid_rows(n, 3)
    assert mechanism.privatize(x, rng=SEED).tolist() == reference_reports(mechanism, x)


def kernel_reports(x, coin, *, rotation=None, key=FIXED_KEY):
    """Return the reports for any bits of a rotation."""
    dim, signs = x.shape[1], len(coin.weights)
    size = max(4096, 1 << (dim - 1).bit_length())
    rotation = transform.signs_of_rotation(7, size.bit_length() - 1) if rotation is None else rotation
    out = np.empty((len(x), 1 + -(-signs // 64)), np.uint64)
    kernel = privatize.RotatedSigns(dim, 1.0, coin, ranked_signs.limits_of(signs), rotation)
    kernel.privatize(stream.Stream(key), 0, x, out)
    return out


@each("value, instead", [(np.inf, 2.0**41), (-np.inf, -(2.0**41)), (1e300, 2.0**41), (-1e30, -(2.0**41))])
@each("dim", [4, 5000])
def test_large_numbers_are_limited(isa, dim, value, instead):
    """The other rows do not change."""
    coin, x = rotated(4, 4)._coin, ball(6, dim, radius=1.0)
    before = kernel_reports(x, coin)
    x[::2, 1] = value
    reports = kernel_reports(x, coin)
    np.testing.assert_array_equal(reports[1::2], before[1::2])
    assert (reports[:, 1] < 16).all()
    x[::2, 1] = instead
    np.testing.assert_array_equal(reports, kernel_reports(x, coin))


@each("dim", [4, 5000])
def test_nan_counts_as_zero_and_the_record_as_the_center(isa, dim):
    """The signs are those of the direction of the other numbers, or of the opposite one; the other rows do not change."""
    coin, x = rotated(4, 4)._coin, ball(60, dim, radius=1.0)
    x[::2, 1] = 0
    before = kernel_reports(x, coin)
    opposite = kernel_reports(-x, coin)
    x[::2, 1] = np.nan
    reports = kernel_reports(x, coin)
    np.testing.assert_array_equal(reports[1::2], before[1::2])
    own, other = ((reports[::2] == reports_[::2]).all(axis=1) for reports_ in (before, opposite))
    assert (own | other).all()
    assert 0 < np.count_nonzero(own & ~other) < 30


@each("dim", [3, 5000])
def test_a_clipped_record_has_the_report_of_the_nearest_valid_one(isa, dim):
    mechanism = rotated(dim, 64, radius=1.0)
    x = ball(9, dim, radius=1.0)
    x /= np.linalg.norm(x, axis=1, keepdims=True) * (1 + 1e-9)
    np.testing.assert_array_equal(
        mechanism.privatize(2.0**30 * x, rng=SEED, clip=True), mechanism.privatize(x, rng=SEED)
    )


@each("signs", [2, 64, 128])
def test_equal_products_are_ranked_by_their_positions(isa, signs):
    """The record zero: the signs are the pattern itself."""
    mechanism = rotated(2, signs)
    words = reference.Words(KEY, "ROTATED_COINS", 0)
    for report in mechanism.privatize(np.zeros((20, 2)), rng=SEED).tolist():
        words.word()
        pattern = reference.sign_pattern(mechanism._coin, words)
        assert [report[1 + j // 64] >> j % 64 & 1 for j in range(signs)] == pattern


def test_the_pattern_changes_exactly_at_the_threshold_of_the_coin(isa):
    """heads = word draws one of the other patterns, heads = word + 1 one with a large sum; other rows do not change."""
    mechanism, x = rotated(5, 8, radius=1.0), ball(40, 5, radius=1.0)
    words = reference.Words(FIXED_KEY, "ROTATED_COINS", 0)
    words.word()
    word = words.word()  # of the first row
    reports = []
    for heads in (word, word + 1):
        coin = coin_integers.RankedSignsCoin(ranked_signs.weights_of(8), mechanism.least, heads, Fraction(2), 1.0)
        reports.append(kernel_reports(x, coin, rotation=transform.signs_of_rotation(mechanism.rotation, 12)).tolist())
        assert reports[-1] == reference.rotated_signs(mechanism, FIXED_KEY, 0, x, heads)
    assert [i for i in range(40) if reports[0][i] != reports[1][i]] == [0]


def test_parts_that_do_not_fit_are_refused():
    coin, limits, rotation = rotated(5, 4)._coin, ranked_signs.limits_of(4), transform.signs_of_rotation(1, 12)
    with pytest.raises(ValueError, match="the limits do not fit the weights"):
        privatize.RotatedSigns(5, 1.0, coin, limits[:-1].copy(), rotation)
    for words, dim in ((rotation[:-1].copy(), 5), (rotation[:64].copy(), 5), (rotation, 4097), (rotation, 0)):
        with pytest.raises(ValueError, match="the rotation does not fit the kernel"):
            privatize.RotatedSigns(dim, 1.0, coin, limits, words)
    three = ldp.RankedSigns(5, 1.0, signs=3)._coin
    with pytest.raises(ValueError, match="the number of signs must be a power of two"):
        privatize.RotatedSigns(5, 1.0, three, ranked_signs.limits_of(3), rotation)


# Guarantee ------------------------------------------------------------------------------------------------------------


@each("epsilon", [0.01, 1.5, 8.0])
@each("signs", [2, 4])
def test_the_loss_of_all_reports_is_at_most_the_guarantee(signs, epsilon):
    """The probabilities of all signs of several seeds, for records and rotations, also one without any random sign.

    The probabilities are those of the patterns, from all outcomes of the words, in the order of the reference, whose reports
    are those of the kernel.
    """
    records = np.concatenate(
        [np.eye(6)[:2], -np.eye(6)[:1], np.full((1, 6), 0.1), np.zeros((1, 6)), ball(3, 6, radius=1.0)]
    )
    largest = Fraction(1)
    for rotation in (1, 2):
        mechanism = rotated(6, signs, epsilon, rotation, 1.0)
        probability = pattern_probabilities(mechanism._coin)
        products = reference.rotated(rotation, 4096, records)
        for seed in range(10):
            rows, tables = reference.rows_of_report(seed, 4096, signs), []
            for x, values in zip(records, products, strict=True):
                norm, table = Fraction(min(float(np.linalg.norm(x)), 1.0)), dict.fromkeys(probability, Fraction(0))
                for side, part in ((1, (1 + norm) / 2), (-1, (1 - norm) / 2)):
                    order = np.argsort(side * values[rows], kind="stable")
                    for pattern, p in probability.items():
                        placed = np.zeros(signs, int)
                        placed[order] = pattern
                        table[tuple(placed.tolist())] += part * p
                assert sum(table.values()) == 1
                tables.append(table)
            largest = max(largest, *(a[z] / b[z] for a, b in itertools.permutations(tables, 2) for z in probability))
    coin = mechanism._coin
    assert largest <= coin.ratio
    assert exact_log(largest) <= mechanism.epsilon_realized <= epsilon
    assert exact_log(coin.ratio / largest) < 2.0**-58  # the bound is reached
    one_more = Fraction(
        (coin.heads + 1) * (coin_integers.WORD - coin.heads), (coin_integers.WORD - coin.heads - 1) * coin.heads
    )
    assert exact_log(coin.ratio * one_more) > epsilon
    assert mechanism.guarantee == ldp.privacy.Guarantee("local", mechanism.epsilon_realized)
    assert not mechanism.guarantee.ideal


@each("bits", [0, 2**64 - 1])
def test_a_hostile_rotation_only_permutes_signs(isa, bits):
    """Without random signs the products of one number are equal or opposite; the reports are patterns all the same."""
    coin, rotation = rotated(3, 8)._coin, np.full(128, bits, np.uint64)
    for x in (np.eye(3)[:1], np.full((1, 3), 0.5), ball(1, 3, radius=1.0)):
        reports = kernel_reports(np.repeat(x, 60, axis=0), coin, rotation=rotation)
        words = reference.Words(FIXED_KEY, "ROTATED_COINS", 0)
        for report in reports.tolist():
            words.word()
            assert bin(report[1]).count("1") == sum(reference.sign_pattern(coin, words))


def test_coins_are_those_of_ranked_signs():
    for signs, epsilon in ((4, 1.0), (256, 8.0)):
        ours, theirs = rotated(1000, signs, epsilon), ldp.RankedSigns(1000, epsilon, signs=signs)
        assert ours._coin == theirs._coin
        assert (ours.least, ours.epsilon_realized) == (theirs.least, theirs.epsilon_realized)
        assert (ours.two_level, ours.report_bits) == (theirs.two_level, theirs.report_bits)


# Rotation -------------------------------------------------------------------------------------------------------------


@each("bits, rotation", [(12, 0), (13, 2**64 - 1), (14, 12345678901234567890)])
def test_the_signs_of_a_rotation_are_those_of_its_stream(bits, rotation):
    words = transform.signs_of_rotation(rotation, bits)
    found = 1.0 - 2.0 * np.unpackbits(words.view(np.uint8), bitorder="little").reshape(2, 1 << bits)
    np.testing.assert_array_equal(found, reference.rotation_signs(rotation, 1 << bits))


@each("size", [4096, 16384])
def test_the_inverse_of_the_rotation_is_its_transpose(isa, size):
    """Exact in integers: <R x, s> = <x, R^T s>, and R R^T = 1."""
    rng, rotation = np.random.default_rng(size), 99
    words = transform.signs_of_rotation(rotation, size.bit_length() - 1)
    x, s = rng.integers(-9, 10, size), rng.integers(-9, 10, size)
    back = s.copy()
    transform.rotate_back(words, back)
    forward = reference.rotated(rotation, size, x.astype(float))
    assert int(x @ back) == int(forward @ s)
    np.testing.assert_array_equal(reference.rotated(rotation, size, back.astype(float)), float(size) ** 2 * s)


@each("bits, words, numbers", [(12, 128, 4097), (12, 64, 4096), (12, 256, 4096), (11, 64, 2048)])
def test_numbers_that_do_not_fit_a_rotation_are_refused(bits, words, numbers):
    with pytest.raises(ValueError, match="the numbers do not fit the rotation"):
        transform.rotate_back(np.zeros(words, np.uint64), np.zeros(numbers, np.int64))


def test_rotations_of_other_sizes_are_refused():
    for bits in (11, 25):
        with pytest.raises(ValueError, match="the rotation is too small or too large"):
            transform.signs_of_rotation(1, bits)


@each("dim, signs", [(3, 4), (5000, 64), (9000, 128)])
def test_decoded_reports_are_sums_of_rows_of_the_rotation(isa, dim, signs):
    mechanism = rotated(dim, signs, radius=3.0)
    reports = mechanism.privatize(ball(3, dim, radius=3.0), rng=SEED)
    size = max(4096, 1 << (dim - 1).bit_length())
    columns = reference.rotated(mechanism.rotation, size, np.eye(2, size)) / size
    for report, decoded in zip(reports.tolist(), mechanism.decode(reports), strict=True):
        bits = np.array([report[1 + j // 64] >> j % 64 & 1 for j in range(signs)])
        rows = reference.rows_of_report(report[0], size, signs)
        expected = mechanism.report.unit * columns[:, rows] @ (2.0 * bits - 1)
        np.testing.assert_allclose(decoded[:2], expected, rtol=1e-12, atol=1e-12 * mechanism.scale)


# Moments --------------------------------------------------------------------------------------------------------------


@each("signs, epsilon", [(2, 1.0), (4, 3.0), (8, 0.5), (8, 8.0)])
def test_expected_signs_are_those_of_all_patterns(signs, epsilon):
    coin = rotated(3, signs, epsilon)._coin
    expected = sum(float(p) * (2.0 * np.array(pattern) - 1) for pattern, p in pattern_probabilities(coin).items())
    np.testing.assert_allclose(ranked_signs.expected_signs(coin, coin.least), expected, rtol=0, atol=1e-14)


@pytest.mark.claim(
    "The error of `RotatedSigns` in a million dimensions is within 3 % of that of `PrivUnit`.", "Estimates"
)
@each(
    "signs, epsilon, ratio",
    [(256, 8.0, 1.0275), (256, 4.0, 1.017), (256, 16.0, 1.054), (512, 8.0, 1.016), (512, 16.0, 1.029)],
)
def test_the_total_variance_in_a_million_dimensions_is_near_the_best(signs, epsilon, ratio):
    """For unit vectors, along + (dim - 1) across - 1, which is nearly unit^2 L dim / size - 1."""
    dim = 10**6
    mechanism = ldp.RotatedSigns(dim, epsilon, rotation=1, signs=signs)
    best = ldp.PrivUnit(dim, epsilon).scale ** 2 - 1
    assert (mechanism.scale**2 - 1) / best == pytest.approx(ratio, abs=6e-4)
    assert mechanism.scale**2 == pytest.approx(mechanism.report.unit**2 * signs * dim / 2**20, rel=2e-3)
    if signs == 256 and epsilon == 8.0:
        exact = mechanism.variance(np.eye(1, dim)[0]).sum()
        assert exact / best <= 1.03
        assert exact <= mechanism.scale**2 - 1 == pytest.approx(exact, rel=1e-3)
        assert ldp.RankedSigns(dim, epsilon).scale ** 2 == pytest.approx(mechanism.scale**2, rel=1e-3)


@each("dim, ratio", [(300, 1.0232), (1000, 1.0055), (4096, 1.0), (5000, 1.0006)])
def test_the_error_is_nearly_that_of_frames(dim, ratio):
    """`RankedSigns` with as many signs. In fewer dimensions than the rotation, frames in these dimensions are better."""
    mechanism = ldp.RotatedSigns(dim, 8.0, rotation=1, signs=64)
    error = mechanism.variance(np.eye(1, dim)[0]).sum()
    assert error * (1 - 1e-12) <= mechanism.scale**2 - 1 <= 1.005 * error
    assert error / (ldp.RankedSigns(dim, 8.0, signs=64).scale ** 2 - 1) == pytest.approx(ratio, abs=1e-3)


def test_the_variance_is_that_of_the_moments():
    """Along a record and across it, in the dimensions of the rotation: padding takes its part of the error."""
    mechanism = rotated(3000, 64, 4.0, radius=2.0)
    along, across = mechanism.second_moments
    x = 2 * np.eye(3000)[5]
    variance = mechanism.variance(x)
    assert variance[5] == pytest.approx(along - 4, rel=1e-12)
    np.testing.assert_allclose(np.delete(variance, 5), across, rtol=1e-12)
    assert along + 4095 * across == pytest.approx(mechanism.report.unit**2 * 64, rel=1e-12)
    assert mechanism.variance(np.zeros(3000)).sum() == pytest.approx(
        mechanism.report.unit**2 * 64 * 3000 / 4096, rel=1e-12
    )
    assert across < along <= mechanism.report.moment
    assert mechanism.worst_variance == along


@pytest.mark.long
@pytest.mark.parametrize("kind", ["one number", "two numbers", "all numbers"])
def test_errors_are_those_of_the_formula(kind):
    """Squared errors within 5 %, with the shared error: three deviations of a chi-square variable of 10,000 degrees."""
    dim, n = 10_000, 1000
    x = np.zeros(dim, np.float32)
    x[:] = {
        "one number": np.eye(1, dim, 7),
        "two numbers": 0,
        "all numbers": np.random.default_rng(3).normal(size=dim),
    }[kind]
    if kind == "two numbers":
        x[[1, 4321]] = 0.9, 0.44
    x /= np.linalg.norm(x) * 1.00001
    for rotation in range(2):
        mechanism = ldp.RotatedSigns(dim, 8.0, rotation=rotation)
        error = mechanism.run(np.tile(x, (n, 1)), rng=rotation).value - x
        expected = mechanism.variance(x).sum() + n * dim * mechanism.shared_variance
        assert n * (error @ error) / expected == pytest.approx(1, abs=0.05)


@pytest.mark.long
@pytest.mark.parametrize("epsilon, shared", [(8.0, 0.0026), (16.0, 0.0057)])
def test_the_shared_error_is_at_most_its_bound(epsilon, shared):
    """The product of the errors of two halves, which have only the error of the rotation in common."""
    dim, n, found = 4096, 20_000, []
    x = np.random.default_rng(1).normal(size=dim).astype(np.float32)
    x /= np.linalg.norm(x) * 1.00001
    for rotation in range(3):
        mechanism = ldp.RotatedSigns(dim, epsilon, rotation=rotation)
        half = [mechanism.run(np.broadcast_to(x, (n, dim)), rng=2 * rotation + i).value - x for i in (0, 1)]
        found.append(half[0] @ half[1])
    bound = rotated_signs.shared_error(mechanism._coin, mechanism.least)
    assert bound == pytest.approx(shared, abs=6e-5)
    noise = mechanism.scale**2 / n / math.sqrt(dim) / math.sqrt(3)
    assert 0.8 * bound - 4 * noise <= np.mean(found) <= bound + 4 * noise


@pytest.mark.claim(
    "The bias of `RotatedSigns` over rotations is below 1e-3 of the length of a vector, measured.", "Estimates"
)
@pytest.mark.long
@pytest.mark.parametrize("kind", ["one number", "two numbers"])
def test_the_bias_over_rotations_is_below_a_thousandth(kind):
    """Standard errors below 3e-4. The transform of one or two numbers is the least random one."""
    dim, n, rotations = 4096, 5000, 200
    x, y = np.zeros((2, dim), np.float32)
    x[[7, 300]] = (1.0, 0.0) if kind == "one number" else (0.9, math.sqrt(0.19) - 1e-6)
    y[[7, 300]] = -x[300], x[7]
    along, across = [], []
    for rotation in range(rotations):
        mechanism = ldp.RotatedSigns(dim, 16.0, rotation=rotation)
        value = mechanism.run(np.broadcast_to(x, (n, dim)), rng=rotation).value
        along.append(value @ x - x @ x)
        across.append(value @ y)
    for found in (along, across):
        stderr = np.std(found) / math.sqrt(rotations)
        assert stderr < 3e-4
        assert abs(np.mean(found)) < 1e-3


# Estimates ------------------------------------------------------------------------------------------------------------


@pytest.mark.claim("Intervals of `RotatedSigns` include the error that all reports share.", "Estimates")
@pytest.mark.long
@pytest.mark.parametrize("n", [100, 1000, 10_000])
def test_intervals_have_their_coverage_with_the_shared_error(n):
    """.949 to .953 of 10,000 coordinates of four rotations. Without the shared error .944 at n = 10,000."""
    dim, runs = 10_000, 4
    x = np.random.default_rng(1).normal(size=dim).astype(np.float32)
    x /= np.linalg.norm(x) * 1.00001
    covered = without = 0
    for rotation in range(runs):
        mechanism = ldp.RotatedSigns(dim, 16.0, rotation=rotation)
        estimate = mechanism.run(np.broadcast_to(x, (n, dim)), rng=rotation)
        low, high = estimate.interval()
        covered += int(((low <= x) & (x <= high)).sum())
        margin = 1.96 * np.sqrt(estimate.stderr**2 - mechanism.shared_variance)
        without += int((np.abs(estimate.value - x) <= margin).sum())
    assert_coverage(np.array([covered]), dim * runs, 0.95, detects=0.94)
    assert 0.945 <= covered / (dim * runs) <= 0.955
    if n == 10_000:
        assert without / (dim * runs) < 0.9475 < covered / (dim * runs)


@pytest.mark.long
@pytest.mark.parametrize("epsilon, n", [(16.0, 32), (24.0, 100)])
def test_intervals_cover_where_all_records_have_one_coordinate(epsilon, n):
    """Normal limits at the coordinate of all records, for a large epsilon, where far reports are rare. Detects 0.87."""
    runs, covered = 600, 0
    for rotation in range(20):
        mechanism = ldp.RotatedSigns(10, epsilon, rotation=rotation)
        reports = mechanism.privatize(np.tile(np.eye(10)[0], (n * 30, 1)), rng=rotation)
        for start in range(0, n * 30, n):
            low, high = mechanism.estimate(reports[start : start + n]).interval()
            covered += bool(low[0] <= 1 <= high[0])
    assert_coverage(covered, runs, 0.95, detects=0.87)


def test_standard_errors_are_those_of_the_constants():
    """They do not depend on the sample, but along coordinates that all records share they add what the mean implies."""
    mechanism, n = rotated(50, 4, 1.0, radius=1.0), 4000
    along, across = mechanism.second_moments
    estimate = mechanism.run(np.tile(np.eye(50)[3] * 0.999, (n, 1)), rng=1)
    share = min(estimate.value[3], 1.0) ** 2
    assert share > 0.7
    expected = (across + (along - across - 1) * share) / n + mechanism.shared_variance
    assert along - across - 1 > 0
    assert estimate.stderr[3] == pytest.approx(math.sqrt(expected), rel=1e-9)
    others = np.delete(estimate.stderr, 3)
    np.testing.assert_allclose(others, math.sqrt(across / n + mechanism.shared_variance), rtol=1e-2)
    few = mechanism.estimate(mechanism.privatize(np.zeros((1, 50)), rng=1))
    assert (few.stderr >= math.sqrt(across)).all()
    assert mechanism.shared_variance == pytest.approx(
        rotated_signs.shared_error(mechanism._coin, mechanism.least) / 4096
    )


def test_the_estimate_is_the_mean_of_decoded_reports():
    mechanism = rotated(5000, 32, 4.0, radius=1.0)
    x = ball(40, 5000, np.float32, radius=1.0)
    reports = mechanism.privatize(x, rng=1)
    mean = mechanism.decode(reports).mean(axis=0)
    np.testing.assert_allclose(mechanism.estimate(reports).value, mean, rtol=0, atol=1e-12 * mechanism.scale)


# States ---------------------------------------------------------------------------------------------------------------


def test_a_state_is_the_same_on_every_way(tmp_path):
    """Arrays of both dtypes, single records, pieces in any order, groups, messages, saved and read states."""
    mechanism = rotated(5000, 16)
    x = grid_rows(70, 5000)
    reports = mechanism.privatize(x, rng=SEED)
    expected = mechanism.aggregator().update(reports)
    assert expected == mechanism.collect(x, rng=SEED) == mechanism.collect(x.astype(np.float32), rng=SEED)
    one = mechanism.aggregator()
    for report in reports:
        one.update(report)
    assert one == expected
    late = mechanism.aggregator().update(reports[40:])
    merged = ldp.load(late.to_bytes()).merge(mechanism.aggregator().update(reports[:40]))
    assert merged == expected
    assert merged.to_bytes() == expected.to_bytes()
    (tmp_path / "state").write_bytes(merged.to_bytes())
    read = ldp.load((tmp_path / "state").read_bytes())
    np.testing.assert_array_equal(read.estimate().value, mechanism.run(x, rng=SEED).value)
    messages = [mechanism.message(report) for report in reports]
    assert mechanism.aggregator().update(messages) == expected
    assert mechanism.aggregator().update(mechanism.to_arrow(reports)) == expected
    groups = mechanism.collect(x, by=np.arange(70) % 2, rng=SEED)
    assert groups[0].n == groups[1].n == 35
    assert ldp.load(groups[0].to_bytes()).merge(groups[1]) == expected
    single = mechanism.privatize(x[0], rng=SEED)
    np.testing.assert_array_equal(single, mechanism.privatize(x[:1], rng=SEED)[0])


@each("n", [4095, 4096, 9000])
def test_many_reports_are_added_on_all_threads(n):
    """From 4096 reports on, each thread has a state."""
    mechanism = rotated(5, 2)
    reports = np.random.default_rng(n).integers(0, 2**64, (n, 2), np.uint64, endpoint=False)
    reports[:, 1] %= np.uint64(4)
    expected = np.zeros(4096, np.int64)
    mechanism.report.tally(reports, expected)
    np.testing.assert_array_equal(mechanism.report.tallied(reports), expected)
    assert mechanism.aggregator().update(reports).n == n
    reports[n - 1, 1] = 4
    with raises(ValueError, f"reports must have no ones after the 2 signs; row {n - 1} has"):
        mechanism.report.tallied(reports)


@pytest.mark.claim("Reports of different rotations are not added up.", "Estimates")
def test_states_of_different_rotations_are_not_merged():
    one, other = rotated(5, 4, rotation=1), rotated(5, 4, rotation=2)
    with pytest.raises(ValueError, match=r"rotation.*1.*2|rotation.*2.*1"):
        one.aggregator().merge(other.aggregator())
    with pytest.raises(ValueError, match="rotation"):
        one.aggregator().update(other.to_arrow(other.privatize(np.zeros((2, 5)))))
    with pytest.raises(ValueError, match="reports must answer question 0 with the fingerprint"):
        one.aggregator().update([other.message(other.privatize(np.zeros(5)))])
    assert one != other
    assert one.fingerprint != other.fingerprint


@each("change", ["more than all", "odd", "even", "negative"])
def test_impossible_states_are_refused(change):
    """Each report has one sign in each stratum, so the sums of a stratum are at most n, and odd if n is."""
    mechanism = rotated(5, 4)
    aggregator = mechanism.collect(np.zeros((3, 5)), rng=1)
    report, state = mechanism.report, np.zeros(4096, np.int64)
    mechanism.report.tally(mechanism.privatize(np.zeros((3, 5)), rng=1), state)
    assert report.is_possible(state, 3)
    assert report.is_possible(np.stack([state, state]), 3)
    assert not report.is_possible(state, 5 if change == "odd" else 4) or change == "odd"
    at = {"more than all": 0, "odd": 1024, "even": 2048, "negative": 4095}[change]
    state[at] += {"more than all": 4, "odd": 1, "even": 5, "negative": -6}[change]
    assert not report.is_possible(state, 3)
    assert not report.is_possible(state * 0, 2**60)
    assert aggregator.n == 3


def test_too_many_reports_for_the_integers_are_refused():
    mechanism = rotated(5, 4)
    with pytest.raises(OverflowError, match="the mean of reports of this size needs at most 562949953421311 of them"):
        mechanism.report.mean(mechanism._recipe.decoding, np.zeros(4096, np.int64), 2**49)


def test_invalid_reports_are_rejected():
    mechanism = rotated(5, 4)
    reports = mechanism.privatize(np.zeros((4, 5)), rng=1)
    reports[2, 1] |= np.uint64(1 << 4)
    aggregator = mechanism.aggregator()
    with raises(ValueError, "reports must have no ones after the 4 signs; row 2 has"):
        aggregator.update(reports)
    with pytest.raises(TypeError, match="reports must have dtype uint64"):
        aggregator.update(reports.astype(np.int32))
    assert aggregator.n == 0


@each(
    "options, error, message",
    [
        ({"dim": 0}, ValueError, "dim must be an integer in [1, 16777216], got 0"),
        ({"dim": 2**24 + 1}, ValueError, "dim must be an integer in [1, 16777216], got 16777217"),
        ({"signs": 1}, ValueError, "signs must be an integer in [2, 512], got 1"),
        ({"signs": 1024}, ValueError, "signs must be an integer in [2, 512], got 1024"),
        ({"signs": 6}, ValueError, "signs must be a power of two in [2, 512], got 6"),
        ({"rotation": -1}, ValueError, "rotation must be an integer in [0, 18446744073709551615], got -1"),
        (
            {"rotation": 2**64},
            ValueError,
            "rotation must be an integer in [0, 18446744073709551615], got 18446744073709551616",
        ),
        ({"rotation": 1.0}, TypeError, "rotation must be an integer, got float"),
        ({"epsilon": 0.0}, ValueError, "epsilon must be a finite number > 0, got 0.0"),
        ({"epsilon": 60.0}, ValueError, "epsilon must be within what exact coins can certify, got 60.0: too large"),
        ({"radius": 1e20}, ValueError, "radius must be in [1e-18, 1e18]"),
    ],
)
def test_parameters_are_checked(options, error, message):
    with pytest.raises(error) as caught:
        ldp.RotatedSigns(**{"dim": 5, "epsilon": 1.0, "rotation": 3, "signs": 4} | options)
    assert str(caught.value).startswith(message)


def test_a_rotation_must_be_given():
    with pytest.raises(TypeError, match="rotation"):
        ldp.RotatedSigns(5, 1.0)
