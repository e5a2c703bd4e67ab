"""Bits of other systems: readers, sums, estimates and the loss."""

from __future__ import annotations

import math
import re
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.designs import BitChannel
from ldpfast.estimation import from_reports, from_sums

from ..support.cases import each
from ..support.statistics import assert_coverage

BITS = np.array([[1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]], np.uint8)


def test_all_forms_of_reports_have_the_same_sums():
    channel = BitChannel(3, 0.75, 0.25)
    texts = ["100", "110", "001", "011"]
    packed = np.packbits(BITS, axis=1, bitorder="little")
    forms = [
        BITS,
        BITS.astype(bool),
        BITS.astype(float),
        BITS.tolist(),
        texts,
        np.array(texts),
        [t.encode() for t in texts],
    ]
    for reports in forms:
        sums, n = channel.sums(reports)
        assert (sums.tolist(), n) == ([2, 2, 2], 4)
    assert channel.sums(packed, packed=True)[0].tolist() == [2, 2, 2]
    assert channel.estimate(texts) == from_sums([2, 2, 2], 4, channel)


@pytest.mark.parametrize("own, other", [("3/4", "1/4"), (0.5, 0.1), (0.2, 0.6)])
def test_estimates_follow_the_formula_of_bits(own, other):
    channel, n = BitChannel(4, own, other), 1000
    p, q = (float(Fraction(str(value))) for value in (own, other))
    sums = np.array([300, 250, 400, 350])
    found = from_sums(sums, n, channel)
    np.testing.assert_allclose(found.value, (sums / n - q) / (p - q))
    seen = sums / n
    np.testing.assert_allclose(found.stderr, np.sqrt(seen * (1 - seen) / n) / abs(p - q), rtol=1e-2)
    low, high = found.interval()
    assert (low < found.value).all() and (found.value < high).all()  # noqa: PT018
    inside = np.clip(found.value, 0, 1)
    np.testing.assert_allclose(found.covariance[0, 1], -inside[0] * inside[1] / n)


def test_the_loss_is_that_of_the_exact_probabilities():
    assert BitChannel(5, 0.75, 0.25).epsilon == pytest.approx(2 * math.log(3), rel=1e-15)
    assert BitChannel(1, 0.75, 0.25).epsilon == pytest.approx(math.log(3), rel=1e-15)
    assert BitChannel(5, 0.2, 0.6).epsilon == pytest.approx(math.log(0.8 / 0.2 * 0.6 / 0.4), rel=1e-12)
    assert BitChannel(5, 0.5, 0).epsilon == math.inf
    exact = BitChannel(9, "1/2", "1/10")
    assert exact.epsilon == pytest.approx(math.log(9), rel=1e-15)
    assert math.exp(exact.epsilon) >= 9 * (1 - 1e-15)
    assert repr(exact) == "BitChannel(k=9, own='1/2', other='1/10')"


@pytest.mark.long
def test_intervals_of_shares_and_of_differences_cover():
    """With one true category per person, the bits of two categories are related through it."""
    rng, channel, shares = np.random.default_rng(1), BitChannel(3, 0.75, 0.25), np.array([0.6, 0.3, 0.1])
    hits, runs, spread = np.zeros(3, int), 1200, []
    for _ in range(runs):
        truth = np.eye(3)[rng.choice(3, 500, p=shares)]
        found = channel.estimate(rng.random((500, 3)) < 0.25 + 0.5 * truth)
        low, high = found.interval()
        hits += (low < shares) & (shares < high)
        spread.append(found.value)
    assert_coverage(hits, runs, 0.95, detects=0.89)
    expected = channel.estimate_sums((500 * (0.25 + 0.5 * shares)).astype(int), 500).covariance
    np.testing.assert_allclose(np.cov(np.transpose(spread)), expected, atol=0.25 * expected.max())


def test_sums_of_mechanisms_and_codes():
    x = np.random.default_rng(2).integers(0, 5, 3000)
    unary, codes = ldp.UnaryEncoding(5, 1.0), ldp.RandomizedResponse(5, 1.0)
    reports = unary.privatize(x, rng=1)
    aggregator = unary.aggregator().update(reports)
    assert from_sums(aggregator.counts, 3000, unary) == aggregator.estimate()
    p, q = unary.debiasing.probabilities
    read = BitChannel(5, Fraction(p), Fraction(q)).estimate(reports, packed=True)
    np.testing.assert_allclose(read.value, aggregator.estimate().value, rtol=1e-9)
    counts = np.bincount(codes.privatize(x, rng=1), minlength=5)
    assert from_sums(counts, 3000, codes) == from_reports(counts, codes)


@each(
    "call, message",
    [
        (lambda: BitChannel(0, 0.7, 0.2), "k must be"),
        (lambda: BitChannel(3, 0.7, 0.7), "own and other must be different probabilities, got 7/10 twice"),
        (lambda: BitChannel(3, 1.7, 0.7), "own must be in [0, 1], got 1.7"),
        (lambda: BitChannel(3, 0.7, 0.2).sums(["10"]), "reports must be texts of 3 characters 0 and 1, got '10'"),
        (lambda: BitChannel(3, 0.7, 0.2).sums(["10x"]), "reports must be texts of 3 characters 0 and 1, got '10x'"),
        (lambda: BitChannel(3, 0.7, 0.2).sums([[0, 2, 1]]), "reports must be 0 and 1, got 2"),
        (lambda: BitChannel(3, 0.7, 0.2).sums([[0, 1]]), "reports must have shape (n, 3)"),
        (lambda: BitChannel(3, 0.7, 0.2).sums(np.array([[8]], np.uint8), packed=True), "reports must have 3 bits"),
        (lambda: BitChannel(3, 0.7, 0.2).sums([[8]], packed=True), "reports must be uint8 of shape (n, 1)"),
        (lambda: from_sums([1, 2, 9], 8, BitChannel(3, 0.7, 0.2)), "sums must be in [0, n] with n = 8, got 9"),
        (lambda: from_sums([1, 2], 8, BitChannel(3, 0.7, 0.2)), "sums must have shape (3,)"),
        (lambda: from_sums([1, 2], 8, ldp.Warner(1.0).channel()), "sums of codes must add up to n = 8, got 3"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
