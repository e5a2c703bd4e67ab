"""Joint shares of answers that were randomized independently."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import designs
from ldpfast.estimation import from_reports, joint

from ..support.cases import each
from ..support.statistics import assert_coverage

THREE = [[6, 1, 1], [1, 5, 2], [1, 2, 5]]


def answers(n, seed=1):
    """Return two related categories, with 2 and 3 values."""
    rng = np.random.default_rng(seed)
    a = (rng.random(n) < 0.4).astype(int)
    return a, np.where(a == 1, rng.choice(3, n, p=[0.7, 0.2, 0.1]), rng.choice(3, n, p=[0.2, 0.2, 0.6]))


def test_margins_are_those_of_single_questions_and_the_inverse_is_the_kronecker_product():
    a, b = answers(3000)
    first, second = designs.warner(0.8), ldp.FiniteChannel(THREE)
    reports = [first.channel.privatize(a, rng=1), second.privatize(b, rng=2)]
    found = joint(reports, [first, second])
    assert found.value.shape == (2, 3)
    np.testing.assert_allclose(found.value.sum(axis=1), from_reports(np.bincount(reports[0]), first).value)
    np.testing.assert_allclose(found.value.sum(axis=0), from_reports(np.bincount(reports[1]), second).value)
    whole = np.kron(first.channel.channel().matrix, second.channel().matrix)
    counts = np.bincount(3 * reports[0].astype(int) + reports[1], minlength=6)
    np.testing.assert_allclose(found.value.ravel(), np.linalg.solve(whole.T, counts / 3000))
    np.testing.assert_allclose(np.diag(found.covariance), np.square(found.stderr).ravel(), rtol=1e-9)
    assert found.epsilon == pytest.approx(first.epsilon + second.epsilon)
    texts = np.where(reports[0] == 1, "yes", "no")
    assert joint([texts, reports[1]], [first, THREE]) == found


def test_the_estimate_is_unbiased_by_enumeration():
    """All reports of two people with the categories (0, 2) and (1, 0)."""
    first, second = np.array([[0.8, 0.2], [0.2, 0.8]]), np.array(THREE) / 8
    mean = np.zeros((2, 3))
    for r in itertools.product(range(2), range(3), range(2), range(3)):
        chance = first[0, r[0]] * second[2, r[1]] * first[1, r[2]] * second[0, r[3]]
        mean += chance * joint([[r[0], r[2]], [r[1], r[3]]], [designs.warner(0.8), THREE]).value
    np.testing.assert_allclose(mean, [[0, 0, 0.5], [0.5, 0, 0]], atol=1e-12)


@pytest.mark.long
def test_intervals_cover():
    truth = np.array([[0.6 * 0.2, 0.6 * 0.2, 0.6 * 0.6], [0.4 * 0.7, 0.4 * 0.2, 0.4 * 0.1]])
    first, second, hits, runs = designs.warner(0.8), ldp.RandomizedResponse(3, 2.0), np.zeros(6, int), 1200
    for seed in range(runs):
        a, b = answers(1000, seed)
        reports = [first.channel.privatize(a, rng=seed), second.privatize(b, rng=seed + 5000)]
        low, high = joint(reports, [first, second]).interval()
        hits += ((low < truth) & (truth < high)).ravel()
    assert_coverage(hits, runs, 0.95, detects=0.89)


def test_three_questions_and_infinite_epsilon():
    x = np.random.default_rng(3).integers(0, 2, (3, 4000))
    plain = [[1, 0], [0, 1]]
    found = joint(list(x), [plain] * 3)
    np.testing.assert_allclose(found.value, np.histogramdd(x.T, bins=[[0, 1, 2]] * 3)[0] / 4000, atol=1e-12)
    assert found.epsilon == math.inf
    assert joint(list(x), [designs.warner(0.9), plain, designs.mangat(0.5)]).value.sum() == pytest.approx(1)


@each(
    "call, message",
    [
        (lambda: joint([[0]], [THREE]), "reports and designs must be as many, at least 2, got 1 and 1"),
        (lambda: joint([[0], [1, 0]], [THREE, THREE]), "reports must be of the same people, got 1, 2 of them"),
        (lambda: joint([[0], [3]], [THREE, THREE]), "reports must be codes in [0, 2], got 3"),
        (lambda: joint([[0], [[0]]], [THREE, THREE]), "reports must have shape (n,) with n >= 1, got shape (1, 1)"),
        (lambda: joint([[0]] * 12, [THREE] * 12), "designs must have at most 4194304 combinations"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
