"""Any finite channel: its law by enumeration, its guarantee from the integers, and decoding without bias."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import privacy
from ldpfast.mechanisms._python import invert

from ..support.cases import each

THIRD = Fraction(1, 3)
CHANNELS = [
    [[3, 1], [1, 3]],
    [[30, 6], [3, 33]],
    [[5, 1, 1, 1], [1, 5, 1, 1], [1, 1, 4, 2]],
    [[Fraction(3, 4), Fraction(1, 4), 0], [THIRD, 2 * THIRD, 0]],
    [[(1 << 64) - 5, 5], [5, (1 << 64) - 5]],
]


class AllWords:
    """Every integer below the bound, once."""

    def below(self, bound, n):
        assert n == bound
        return np.arange(bound, dtype=np.uint64)


@pytest.mark.parametrize("rows", CHANNELS[:4], ids=str)
def test_every_code_has_exactly_its_probability(rows):
    """All values of the uniform integer, for every category."""
    channel = ldp.FiniteChannel(rows)
    total = sum(channel.rows[0])
    draw = invert([list(row) for row in channel.rows])
    for x, row in enumerate(channel.rows):
        codes = draw(np.full(total, x), AllWords())
        assert np.bincount(codes, minlength=len(row)).tolist() == list(row)
        exact = [Fraction(entry) / sum(map(Fraction, rows[x])) for entry in rows[x]]
        assert [Fraction(entry, total) for entry in row] == exact
    assert math.gcd(*(entry for row in channel.rows for entry in row)) == 1


@each("rows", CHANNELS, ids=lambda rows: str(rows)[:40])
def test_the_guarantee_is_the_largest_ratio_of_the_integers(rows):
    channel = ldp.FiniteChannel(rows)
    ratio = max(Fraction(a[z], b[z]) for a in channel.rows for b in channel.rows for z in range(len(a)) if a[z] or b[z])
    assert channel.epsilon == channel.epsilon_realized == privacy.Channel(channel.rows).epsilon()
    assert math.log(ratio) <= channel.epsilon <= math.log(ratio) * (1 + 1e-15)


def test_one_unit_of_an_integer_changes_the_guarantee():
    for m in (3, 100, 1 << 40):
        exact = ldp.FiniteChannel([[m, 1], [1, m]])
        more = ldp.FiniteChannel([[m + 1, 1], [1, m + 1]])
        assert exact.epsilon < more.epsilon or m == 1 << 40
        assert exact.epsilon >= math.log(m)


@each("rows", CHANNELS, ids=lambda rows: str(rows)[:40])
def test_the_decoded_report_is_unbiased(rows):
    """The mean over all possible codes of the decoded report is the one-hot record."""
    channel = ldp.FiniteChannel(rows)
    probability = np.array([[float(Fraction(e, sum(row))) for e in row] for row in channel.rows])
    possible = np.flatnonzero(probability.any(axis=0))
    codes = channel.decode(possible.astype(np.uint8))
    np.testing.assert_allclose(probability[:, possible] @ codes, np.eye(len(channel.rows)), atol=1e-12)


def test_the_decoding_has_the_smallest_variance_for_equal_shares():
    """Other right inverses, the pseudo-inverse among them, have larger variances."""
    channel = ldp.FiniteChannel([[8, 1, 1, 2], [1, 8, 2, 1], [3, 3, 3, 3]])
    probability = np.array(channel.rows) / 12
    share = probability.mean(axis=0)

    def variances(matrix):
        return share @ matrix**2 - 1 / 9

    best = variances(channel.debiasing.matrix)
    assert (best <= variances(np.linalg.pinv(probability)) + 1e-12).all()
    rng = np.random.default_rng(1)
    null = np.linalg.svd(probability)[2][3]
    for _ in range(50):
        other = channel.debiasing.matrix + np.outer(null, rng.normal(size=3))
        np.testing.assert_allclose(probability @ other, np.eye(3), atol=1e-9)
        assert (best <= variances(other) + 1e-12).all()


@pytest.mark.parametrize("rows", [[[9, 1], [5, 5]], [[30, 6], [3, 33]], CHANNELS[2]], ids=str)
def test_worst_variance_is_that_of_a_population(rows):
    """The variance of a decoded report, from the law of the codes, over populations of two categories."""
    channel = ldp.FiniteChannel(rows)
    probability, decoded = channel.channel().matrix, channel.debiasing.matrix
    largest = 0.0
    for a in range(len(rows)):
        for b in range(len(rows)):
            codes = np.linspace(0, 1, 10_001)[:, np.newaxis] * (probability[a] - probability[b]) + probability[b]
            variance = codes @ decoded**2 - (codes @ decoded) ** 2
            assert variance.max() <= channel.worst_variance * (1 + 1e-12)
            largest = max(largest, variance.max())
    assert largest >= channel.worst_variance * (1 - 1e-6)


@pytest.mark.parametrize("half", [1 << 20, 1 << 27, 1 << 32])
def test_an_ill_conditioned_channel_is_decoded_without_bias(half):
    """Exact expectations: the bias is at most the condition number times a few units of rounding."""
    channel = ldp.FiniteChannel(
        [[half + 1, half - 1, 2 * half], [half - 1, half + 1, 2 * half], [2 * half, half, half]]
    )
    decoded = [[Fraction(x) for x in row] for row in channel.debiasing.matrix.tolist()]
    for x, row in enumerate(channel.rows):
        for j in range(3):
            mean = sum(Fraction(weight, sum(row)) * code[j] for weight, code in zip(row, decoded, strict=True))
            assert abs(mean - (x == j)) < 8 * 2.0**-53 * (2 * half)


def test_a_channel_beyond_double_precision_is_refused():
    """The message has the condition number: the ratio of the eigenvalues of a symmetric channel."""
    half = 1 << 40
    with pytest.raises(ValueError, match=r"condition number .* must be at most 1e\+10, got 1.1e\+12$"):
        ldp.FiniteChannel([[half + 1, half - 1], [half - 1, half + 1]])
    with pytest.raises(ValueError, match=r"rows must be linearly independent.* got inf$"):
        ldp.FiniteChannel([[2, 1], [1, 2], [1, 2]])


def test_equal_channels_are_equal():
    one = ldp.FiniteChannel([[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]])
    assert one == ldp.FiniteChannel([[300, 100], [100, 300]]) == ldp.FiniteChannel(np.array([[3, 1], [1, 3]]))
    assert repr(one) == "FiniteChannel(rows=((3, 1), (1, 3)))"


@each(
    "rows, error, message",
    [
        ([[0.75, 0.25], [0.25, 0.75]], TypeError, "rows must hold integers or fractions, got float"),
        ([[True, False], [False, True]], TypeError, "rows must hold integers or fractions, got bool"),
        ("ab", TypeError, "rows must be a sequence of rows, got str"),
        (7, TypeError, "rows must be a sequence of rows, got int"),
        ([[1, 2]], ValueError, "rows must be at least 2 rows of the same length, which is at least 2"),
        ([[1], [1]], ValueError, "rows must be at least 2 rows of the same length"),
        ([[1, 2], [1, 1, 1]], ValueError, "rows must be at least 2 rows of the same length"),
        ([[3, 1], [1, 2]], ValueError, "rows must have equal, positive sums"),
        ([[3, -1], [1, 1]], ValueError, "rows must not have negative entries"),
        ([[0, 0], [0, 0]], ValueError, "rows must have equal, positive sums"),
        ([[2, 2], [2, 2]], ValueError, "rows must be linearly independent"),
        ([[1, 1, 2], [2, 1, 1], [3, 2, 3]], ValueError, "rows must have equal, positive sums"),
        ([[2, 2, 4], [4, 2, 2], [3, 2, 3]], ValueError, "rows must be linearly independent"),
        ([[1 << 64, 1], [1, 1 << 64]], ValueError, "rows must have equal, positive sums, of at most 2"),
        (np.ones((400, 400), int), ValueError, "rows must have at most 131072 entries, got 160000"),
    ],
)
def test_bad_rows(rows, error, message):
    with pytest.raises(error, match=message):
        ldp.FiniteChannel(rows)
