"""The hypercube mechanism: the kernel against the reference, exact thresholds, and the published tie rule."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.privacy import Channel

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import privatize, stream
from ..support.internals.shared import coin_integers
from ..support.keys import FIXED_KEY, KEY, SEED

# Reports --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [3, 100])
def test_a_block_has_as_many_rows_as_fit_in_4_kib_of_signs(dim):
    """The first row of the second block has the first coins of that block."""
    mechanism, rows = ldp.LinfBall(dim, 1.0), 32768 // dim
    x = np.random.default_rng(1).uniform(-1, 1, (rows + 2, dim))
    got = np.unpackbits(mechanism.privatize(x, rng=SEED)[rows:], axis=1, count=dim, bitorder="little")
    np.testing.assert_array_equal(got, reference.linf_rows(mechanism, KEY, 1, x[rows:]))


@each("dtype", [np.float32, np.float64])
@each("dim, n", [(1, 1), (1, 65), (2, 9), (7, 8), (8, 64), (27, 65), (64, 9), (65, 7), (128, 8), (513, 3)])
def test_reports_equal_the_reference(isa, dim, n, dtype):
    mechanism = ldp.LinfBall(dim, 1.0, radius=1.7)
    x = np.clip(np.random.default_rng(n).uniform(-2, 2, (n, dim)), -1.7, 1.7).astype(dtype)
    got = mechanism.privatize(x, rng=SEED, clip=True)
    expected = reference.linf_rows(mechanism, KEY, 0, x)
    np.testing.assert_array_equal(np.unpackbits(got, axis=1, count=dim, bitorder="little"), expected)


@each("dtype", [np.float32, np.float64])
@each("dim, n", [(2, 64), (4, 65), (8, 100), (64, 9)])
def test_reports_with_thin_ties_equal_the_reference(isa, dim, n, dtype):
    mechanism = ldp.LinfBall(dim, 1.0, ties="thin")
    x = np.random.default_rng(n).uniform(-1, 1, (n, dim)).astype(dtype)
    got = np.unpackbits(mechanism.privatize(x, rng=SEED), axis=1, count=dim, bitorder="little")
    expected = reference.linf_rows(mechanism, KEY, 0, x, 2 * (reference.WORD - mechanism._recipe.coin.heads))
    np.testing.assert_array_equal(got, expected)


def test_a_tie_is_kept_with_twice_the_smaller_probability(monkeypatch):
    """The probability is 2 (1 - p) from the same integer. It is not used for ties="keep" and in odd dimension."""
    given, make = [], privatize.LinfBall
    monkeypatch.setattr(privatize, "LinfBall", lambda *arguments: given.append(arguments) or make(*arguments))
    mechanism = ldp.LinfBall(4, 1.0, ties="thin")
    ldp.LinfBall(4, 1.0)
    ldp.LinfBall(5, 1.0, ties="thin")
    assert [arguments[3] for arguments in given] == [2 * (reference.WORD - mechanism._recipe.coin.heads), 0, 0]


@each("dim", [2, 4])
def test_a_tie_is_kept_exactly_below_the_threshold(isa, dim):
    """The first tie of a block reads the first word. keep = word redraws the direction; keep = word + 1 keeps it."""
    x = np.zeros((40, dim))
    mechanism = ldp.LinfBall(dim, 1.0, ties="thin")
    word = reference.Words(FIXED_KEY, "LINF_TIE", 0).word()
    seen = []
    for keep in (word, word + 1):
        out = np.empty((40, 1), np.uint8)
        kernel = privatize.LinfBall(dim, 1.0, mechanism._recipe.coin.heads, keep)
        kernel.privatize(stream.Stream(FIXED_KEY), 0, x, out)
        expected = reference.linf_rows(mechanism, FIXED_KEY, 0, x, keep)
        np.testing.assert_array_equal(np.unpackbits(out, axis=1, count=dim, bitorder="little"), expected)
        seen.append(expected)
    assert (seen[0] != seen[1]).any()


# The exact channel ----------------------------------------------------------------------------------------------------


@each("dim", range(1, 7))
@each("ties", ["keep", "thin"])
def test_the_largest_ratio_over_a_grid_of_inputs_is_that_of_two_vertices(dim, ties):
    """The random rounding of a record to a vertex mixes the rows of the channel."""
    mechanism = ldp.LinfBall(dim, 1.0, ties=ties)
    rows = np.array(mechanism._recipe.law.rows(), dtype=object)
    levels = (0, 1, 2, 3, 4) if dim <= 4 else (0, 2, 4)  # P(plus) in quarters; 4 is the upper end
    mixtures = []
    for point in itertools.product(levels, repeat=dim):
        weights = np.array([1], dtype=object)
        for plus in point:
            weights = np.kron(weights, np.array([4 - plus, plus], dtype=object))
        mixtures.append(weights)
    channel = np.array(mixtures, dtype=object).dot(rows)
    worst = max(Fraction(max(column), min(column)) for column in channel.T)
    assert worst == Fraction(mechanism._recipe.coin.heads, coin_integers.WORD - mechanism._recipe.coin.heads)
    assert coin_integers.log_up(worst) == mechanism.epsilon_realized


def closed_half_spaces(dim, heads):
    """Return the rows of the published rule: uniform on the closed half-space of the record, or on the opposite one."""
    tails = coin_integers.WORD - heads
    rows = []
    for v in range(1 << dim):
        agree = [dim - (v ^ z).bit_count() for z in range(1 << dim)]
        size = sum(2 * a >= dim for a in agree)
        rows.append([Fraction(heads * (2 * a >= dim) + tails * (2 * a <= dim), size) for a in agree])
    return rows


@pytest.mark.claim(
    "The published tie rule of the hypercube mechanism is only log(1 + e^epsilon)-private in even dimension.",
    "Privacy of reports",
)
@each("dim", [2, 4, 6])
@each("epsilon", [0.1, 0.5, 1.0, 3.0])
def test_the_published_tie_rule_violates_its_guarantee_in_even_dimension(dim, epsilon):
    """Its true privacy parameter is log(1 + e^epsilon), which is never below log 2."""
    heads = coin_integers.binary(epsilon).heads
    rows = closed_half_spaces(dim, heads)
    total = sum(rows[0])
    published = Channel([[value / total for value in row] for row in rows])
    assert published.epsilon() == pytest.approx(math.log1p(math.exp(epsilon)), rel=1e-12)
    assert published.epsilon() > epsilon + 0.04


@pytest.mark.parametrize("dim", [1, 3, 5])
def test_the_published_rule_is_correct_in_odd_dimension(dim):
    heads = coin_integers.binary(1.0).heads
    rows = closed_half_spaces(dim, heads)
    assert Channel(rows).epsilon() == ldp.LinfBall(dim, 1.0).epsilon_realized
