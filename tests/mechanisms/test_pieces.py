"""Rows that kernels process in pieces: nothing of a record is lost at the ends of a piece."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import Gradient

from ..support.cases import each
from ..support.internals.kernels import privatize, stream
from ..support.internals.shared import coin_integers
from ..support.keys import KEY

NOISE_PIECE, UNARY_PIECE, NORM_PIECE = (
    512,
    8 * 1024,
    4096,
)  # of laplace_body.h, unary_row.h, l2_ball.c and ranges.c


def around(piece: int) -> list[int]:
    return [piece - 1, piece, piece + 1, 2 * piece + 1]


@each("method", ["symmetric", "optimized"])
@each("k", around(UNARY_PIECE))
def test_unary_reports_of_two_categories_differ_in_these_bits_only(isa, k, method):
    """Under one key. The bit of the symmetric method is flipped; that of the optimized method is replaced by a fair coin."""
    mechanism, ends = (
        ldp.UnaryEncoding(k, 1.0, method=method),
        [0, 1, 63, 64, UNARY_PIECE - 64, UNARY_PIECE - 2, UNARY_PIECE - 1],
    )
    categories = sorted({c for c in [*ends, UNARY_PIECE, UNARY_PIECE + 1, 2 * UNARY_PIECE - 1, k - 2, k - 1] if c < k})
    own = {category: set() for category in categories}
    for seed in range(1 if method == "symmetric" else 8):
        reports = np.array([mechanism.privatize(category, rng=seed) for category in categories])
        bits = np.unpackbits(reports, axis=1, count=k, bitorder="little")
        for row, category in enumerate(categories):
            other = (row + 1) % len(categories)
            differ = set(np.nonzero(bits[row] != bits[other])[0].tolist())
            assert differ <= {category, categories[other]}
            assert method == "optimized" or differ == {category, categories[other]}
            own[category].add((bits[row, category], bits[other, category]))
    if method == "optimized":  # own bit: fair; of others: heads with probability 1 / (1 + e)
        assert all(any(mine != theirs for mine, theirs in seen) for seen in own.values())


@each("dim", [1, 9, *around(NOISE_PIECE), 8192, 8193, 16385])
def test_the_limit_of_the_l1_norm_holds_for_the_whole_row(isa, dim):
    """The integers of a row are the difference to the report of the center under the same key, and exact.

    A record with a larger norm uses the limit exactly: not again in every piece, and not less.
    """
    limit, unit, zero = 1500, 1 << 10, coin_integers.GeometricCoins(2, ((1 << 128, 0, 0, 0),), 0, 0.0)
    kernel = privatize.Laplace(dim, -1.0, 1.0, 1 / unit, 2 * unit, limit, 1e9, zero, "vector")

    def integers(row):
        out = np.empty((2, dim))
        kernel.privatize(stream.Stream(KEY), 0, np.zeros((1, dim)), out[:1])
        kernel.privatize(stream.Stream(KEY), 0, row[np.newaxis], out[1:])
        return (out[1] - out[0]) * unit

    ends, alternating = np.zeros(dim), np.ones(dim)
    ends[0], ends[-1], alternating[1::2] = 1, -1 if dim > 1 else 1, -1
    found = integers(ends)
    assert found[0] == unit
    assert dim == 1 or (found[-1] == unit - limit and not found[1:-1].any())
    for row in (alternating, -alternating, np.full(dim, np.inf)):
        assert np.abs(integers(row)).sum() == min(limit, unit * dim)
    small = integers(np.full(dim, 1 / (2 * dim)))  # on average half a unit in all
    assert np.abs(small).sum() <= limit
    within = np.zeros(dim)
    within[:: max(1, dim // 4)] = 0.25
    np.testing.assert_array_equal(integers(within), within * unit)


@each("dtype", [np.float32, np.float64])
@each("dim", around(NORM_PIECE))
@each("ball", [ldp.L2Ball, ldp.LinfBall])
def test_reports_are_in_the_half_space_of_a_record_at_both_ends(isa, ball, dim, dtype):
    """With epsilon = 40 the sign follows the record but with probability e^-40, and records on the boundary are not rounded.

    A coordinate that is lost would turn half of the reports of the first records, or 1 in 80 of those of a vertex.
    """
    mechanism, axis, rng = ball(dim, 40.0), np.zeros((4, dim)), np.random.default_rng(3)
    if ball is ldp.L2Ball:
        axis[0, 0] = axis[1, -1] = 1
        axis[2, [0, -1]] = axis[3, [dim // 2, -1]] = np.sqrt(0.5) * (1 - 1e-7)
        records = np.repeat(axis, 16, axis=0)
    else:
        records = rng.choice([-1.0, 1.0], (400, dim))
    reports = mechanism.privatize(records.astype(dtype), rng=1)
    vectors = reports if ball is ldp.L2Ball else 2.0 * np.unpackbits(reports, axis=1, count=dim, bitorder="little") - 1
    products = np.einsum("ij,ij->i", vectors.astype(float), records)
    ties = products == 0  # in an even dimension, of the hypercube
    assert (products[~ties] > 0).all()
    assert not ties.any() or (ball is ldp.LinfBall and dim % 2 == 0)


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_gradients_share_no_coin_with_the_ball(norm):
    """Under one key. With shared coins all reports would be equal or opposite."""
    gradient = Gradient("linear", (0.0,) * 24, 1.0, norm=norm, residual=1.0)
    rows = np.random.default_rng(1).uniform(-0.2, 0.2, (64, 25))
    mine = gradient.privatize(rows, rng=5)
    theirs = gradient.ball.privatize(gradient.encode(rows), rng=5)
    assert mine.shape == theirs.shape
    if norm == "linf":
        mine, theirs = (np.unpackbits(part, axis=1, count=24, bitorder="little") * 2.0 - 1 for part in (mine, theirs))
    lengths = np.linalg.norm(mine, axis=1) * np.linalg.norm(theirs, axis=1)
    cosines = np.abs(np.einsum("ij,ij->i", mine, theirs)) / lengths
    assert cosines.max() < 0.9  # beyond 7 standard deviations, P < 1e-8


@each("dtype", [np.float32, np.float64])
@each("epsilon", [1.0, 1e-6])
def test_negative_zero_is_as_valid_as_zero(isa, dtype, epsilon):
    """At an end of the interval that is 0. Otherwise a second pass over the records would tell it from other records."""
    for mechanism in (
        ldp.SignBit(0.0, 1.0, epsilon),
        ldp.SignBit(-1.0, 0.0, epsilon),
        ldp.Laplace(0.0, 1.0, epsilon),
        ldp.Laplace(-1.0, 0.0, epsilon),
    ):
        kernel, low = mechanism._recipe.kernel, mechanism.domain.range[0]
        for value in (0.0, -0.0, low + 0.5, low + 1.0):
            out = np.empty(100, mechanism.report.dtype(np.dtype(dtype)))
            assert kernel.checks
            assert kernel.privatize(stream.Stream(KEY), 0, np.full(100, value, dtype), out)
