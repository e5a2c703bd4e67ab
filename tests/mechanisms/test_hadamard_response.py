"""Hadamard response: the kernel against the reference, exact thresholds, and the exact channel."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp

from ..support import set_responses as reference
from ..support.cases import each
from ..support.internals.kernels import privatize, stream
from ..support.internals.mechanisms import best_mechanism
from ..support.keys import FIXED_KEY, KEY, SEED, STATISTICS_SEED
from ..support.reference import Words
from ..support.statistics import ALPHA, assert_counts

# Reports --------------------------------------------------------------------------------------------------------------


@each("epsilon, bits", [(1.0, None), (8.0, 32), (1e-6, 64)])
@each(
    "k, n, record, report",
    [
        (2, 1, "u1", "u1"),
        (2, 2, "u1", "u1"),
        (3, 257, "u1", "u1"),
        (127, 8, "u1", "u1"),
        (128, 64, "u1", "u1"),
        (255, 255, "u1", "u1"),
        (256, 256, "u1", "u2"),
        (300, 2049, "u2", "u2"),
        (65_535, 511, "u2", "u2"),
        (65_536, 513, "u2", "u4"),
        (70_000, 2047, "u4", "u4"),
        ((1 << 31) - 1, 65, "u4", "u4"),
    ],
)
def test_reports_equal_the_reference(isa, k, n, record, report, epsilon, bits):
    mechanism = ldp.HadamardResponse(k, epsilon)
    x = np.random.default_rng(n).integers(0, k, n).astype(record)
    x[-1] = k - 1
    reports = mechanism.privatize(x, rng=SEED)
    shared = 32 - k.bit_length()  # bits of a word that the code leaves to the coin
    if bits is None:
        bits = shared if 1 - ldp.HadamardResponse(k, 1.0).epsilon_realized <= 1e-5 and shared >= 20 else 32
    if bits != 32 or shared < 25:
        assert (reports.dtype, mechanism._coin.bits) == (np.dtype(report), bits)
    expected = []
    for block in range(-(-n // 2048)):
        expected += reference.hadamard_reports(mechanism._coin, KEY, block, x[2048 * block : 2048 * (block + 1)])
    assert reports.tolist() == expected


@each("bits", [20, 32, 64])
@each("k, codes, record, report", [(3, 4, "u1", "u1"), (300, 512, "u2", "u2"), (9, 16, "u1", "u1")])
def test_the_parity_is_even_exactly_below_the_threshold(isa, bits, k, codes, record, report):
    """heads = word gives an odd parity with record + 1, heads = word + 1 an even one."""
    words = Words(FIXED_KEY, "HADAMARD_RESPONSE", 0)
    drawn = words.take(16, "<u4").tolist()  # the codes, and coins of fewer than 32 bits
    x = np.arange(16).astype(record) % k
    coins = [word >> 32 - bits for word in drawn] if bits < 32 else words.take(16, f"<u{bits // 8}").tolist()
    for row, word in enumerate(coins):
        for heads, odd in ((word, 1), (word + 1, 0)):
            out = np.empty(16, report)
            privatize.HadamardResponse(k, codes, heads, bits).privatize(stream.Stream(FIXED_KEY), 0, x, out)
            assert (int(out[row]) & int(x[row]) + 1).bit_count() % 2 == odd


@each("k", [1, 2, 3, 4, 7, 8])
def test_all_draws_give_each_code_its_probability(k):
    """For each coin, all values of the uniform code give each code of the parity of the coin twice, and no other."""
    codes = 1 << k.bit_length()
    for truth in range(k):
        for tails in (0, 1):
            found = [reference.hadamard_code(truth, drawn, tails) for drawn in range(codes)]
            parity = np.array([(z & truth + 1).bit_count() % 2 for z in range(codes)])
            assert np.bincount(found, minlength=codes).tolist() == (2 * (parity == tails)).tolist()


# The sets -------------------------------------------------------------------------------------------------------------


@each("k", [2, 3, 4, 7, 8, 15, 16, 33])
def test_sets_have_half_of_the_codes_and_two_have_a_quarter_in_common(k):
    mechanism = ldp.HadamardResponse(k, 1.0)
    codes = mechanism.report.k
    assert codes // 2 <= k < codes
    member = mechanism.supported(np.arange(codes)).astype(np.int64)
    common = member.T @ member
    np.testing.assert_array_equal(common, codes // 4 + codes // 4 * np.eye(k))
    parity = [[(z & x + 1).bit_count() % 2 == 0 for x in range(k)] for z in range(codes)]
    np.testing.assert_array_equal(member, parity)


@given(st.integers(2, 300), st.integers(0, 2**32 - 1), st.sampled_from([3, 1000, 1 << 40]))
def test_hits_are_the_reports_that_support_a_category(k, seed, most):
    mechanism = ldp.HadamardResponse(k, 1.0)
    counts = np.random.default_rng(seed).integers(0, most, mechanism.report.k)
    before = counts.copy()
    hits = mechanism.debiasing.hits(counts)
    np.testing.assert_array_equal(hits, counts @ mechanism.supported(np.arange(mechanism.report.k)))
    np.testing.assert_array_equal(counts, before)


# The exact channel ----------------------------------------------------------------------------------------------------


@each("epsilon", [1e-6, 0.1, 1.0, 4.0, 30.0, 44.0])
@each("k", [2, 3, 8])
def test_the_guarantee_is_that_of_the_integers(k, epsilon):
    """One word more for heads violates epsilon."""
    mechanism = ldp.HadamardResponse(k, epsilon)
    coin = mechanism._coin
    tails = (1 << coin.bits) - coin.heads
    assert mechanism.channel().epsilon() == mechanism.epsilon_realized <= epsilon
    rows = mechanism._recipe.law.rows()
    assert max(Fraction(a, b) for row in rows for a in row for b in row) == Fraction(coin.heads, tails)
    assert math.log(coin.heads / tails) == pytest.approx(mechanism.epsilon_realized, rel=1e-9)


def exact_moments(mechanism):
    """Return the means, variances and covariances of decoded reports for each record, with exact probabilities."""
    rows = mechanism._recipe.law.rows()
    supported = mechanism.supported(np.arange(mechanism.report.k)).T.astype(int).tolist()
    for row in rows:
        whole = sum(row)
        single = [Fraction(sum(w * m for w, m in zip(row, a, strict=True)), whole) for a in supported]
        pairs = [
            [Fraction(sum(w * m * o for w, m, o in zip(row, a, b, strict=True)), whole) for b in supported]
            for a in supported
        ]
        yield (
            single,
            [[p - s * t for p, t in zip(line, single, strict=True)] for line, s in zip(pairs, single, strict=True)],
        )


@pytest.mark.parametrize("k, epsilon", [(2, 0.1), (3, 1.0), (5, 4.0), (8, 1.0)])
def test_decoded_reports_are_unbiased_with_the_stated_variance(k, epsilon):
    """Fractions, summed over all codes. The true category is supported with probability p, every other with 1/2."""
    mechanism = ldp.HadamardResponse(k, epsilon)
    p, gain = mechanism._coin.inside * mechanism._coin.size, mechanism.debiasing.line
    for x, (single, covariance) in enumerate(exact_moments(mechanism)):
        assert single == [p if j == x else Fraction(1, 2) for j in range(k)]
        scale = (gain.one - gain.zero) ** 2
        variance = [scale * float(covariance[j][j]) for j in range(k)]
        np.testing.assert_allclose(mechanism.variance(np.array([x]))[0], variance, rtol=1e-12)
        assert sum(variance) == pytest.approx(best_mechanism.total_variance(mechanism), rel=1e-12)
        # The supports of other categories i and j are correlated only if the masks of i, j and x sum to 0.
        for i in range(k):
            for j in range(i):
                together = (i + 1) ^ (j + 1) ^ (x + 1) == 0
                assert covariance[i][j] == (Fraction(1, 2) * (p - Fraction(1, 2)) if together else 0)


@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_the_covariance_of_an_estimate_is_that_of_its_reports(k, seed):
    """Against an enumeration of the decoded reports."""
    mechanism = ldp.HadamardResponse(k, 1.0)
    reports = np.random.default_rng(seed).integers(0, mechanism.report.k, 50).astype(mechanism.report.code)
    estimate, decoded = mechanism.estimate(reports), mechanism.decode(reports)
    np.testing.assert_allclose(estimate.value, decoded.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(estimate.covariance, np.cov(decoded.T, ddof=0) / 50, atol=1e-12)


def test_no_covariance_of_many_categories():
    reports = np.zeros(3, np.uint16)
    assert ldp.HadamardResponse(256, 1.0).estimate(reports).covariance.shape == (256, 256)
    assert ldp.HadamardResponse(257, 1.0).estimate(reports).covariance is None


def test_intervals_are_those_of_the_number_of_hits():
    """Debiased Clopper-Pearson limits of a binomial count."""
    mechanism = ldp.HadamardResponse(5, 1.0)
    estimate = mechanism.run(np.arange(5000) % 5, rng=SEED)
    counts = np.bincount(mechanism.privatize(np.arange(5000) % 5, rng=SEED), minlength=8)
    np.testing.assert_array_equal(estimate.rule.hits, mechanism.debiasing.hits(counts))
    assert estimate.rule.n == 5000


# Sampling -------------------------------------------------------------------------------------------------------------


def test_reports_follow_the_channel():
    """Detects errors of a cell above 0.9 percentage points, for the first and the last category."""
    mechanism, n = ldp.HadamardResponse(5, 1.0), 200_000
    for x in (0, 4):
        counts = np.bincount(mechanism.privatize(np.full(n, x), rng=STATISTICS_SEED), minlength=8)
        assert_counts(counts, n, mechanism.channel().matrix[x], detects=0.009, alpha=ALPHA / 2)


# Input ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, (1 << 31), 2.5, True])
def test_a_wrong_number_of_categories_is_refused(k):
    with pytest.raises((TypeError, ValueError), match=r"^k must be an integer"):
        ldp.HadamardResponse(k, 1.0)


@pytest.mark.parametrize("epsilon", [1e-20, 44.37, 60.0, 150.0])
def test_an_epsilon_that_no_coin_certifies_is_refused(epsilon):
    with pytest.raises(ValueError, match="epsilon must be within what exact coins can certify"):
        ldp.HadamardResponse(5, epsilon)


@each("k, record, report", [(5, "u1", "u1"), (300, "u2", "u2"), (70_000, "u4", "u4")])
def test_the_report_of_an_invalid_record_is_that_of_the_last_category(isa, k, record, report):
    mechanism = ldp.HadamardResponse(k, 1.0)
    kernel, outputs = mechanism._recipe.kernel, []
    for value in (k - 1, k, np.iinfo(record).max):
        out = np.empty(300, report)
        kernel.privatize(stream.Stream(FIXED_KEY), 0, np.full(300, value, record), out)
        outputs.append(out.tolist())
    assert outputs[0] == outputs[1] == outputs[2]


@pytest.mark.parametrize("k, dtype", [(5, "u1"), (300, "u2"), (70_000, "u4")])
def test_a_record_outside_of_the_domain_is_refused(k, dtype):
    mechanism, x = ldp.HadamardResponse(k, 1.0), np.zeros(2100, dtype)
    mechanism.privatize(x)
    for value in (k, np.iinfo(dtype).max):
        x[2060] = value
        with pytest.raises(ValueError, match=rf"^x must be integers in \[0, k\) with k={k}; index 2060 is outside"):
            mechanism.privatize(x)
