"""Unary encoding: the kernel against the reference, and exact thresholds."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import privatize, stream
from ..support.keys import FIXED_KEY, KEY, SEED


def reference_bits(mechanism, x, block=0):
    """Return the bits of the reports of a block: a coin for each bit of the padded rows, then the bit of the category."""
    k, n = mechanism.k, len(x)
    width = 8 * mechanism.report_bytes
    words, own = (reference.Words(KEY, name, block) for name in ("UNARY_BITS", "UNARY_OWN"))
    fair = np.unpackbits(own.take(1024, np.uint8), bitorder="little")
    if n == 1:
        lanes = np.array(reference.coins_direct(words, mechanism._coin.other, width))
    else:
        lanes = np.array(reference.coins_fill(words, mechanism._coin.other << 64, n * width))
    rows = lanes.reshape(n, width)[:, :k]
    for i, category in enumerate(x):
        rows[i, category] = fair[i] if mechanism.method == "optimized" else 1 - rows[i, category]
    return rows


@pytest.mark.parametrize("k", [2, 9, 57, 1000])
def test_a_block_has_as_many_rows_as_fit_in_8_kib_of_bits(k):
    """The first row of the second block has the first coins of that block."""
    mechanism, rows = ldp.UnaryEncoding(k, 1.0), 8192 // -(-k // 8)
    x = np.random.default_rng(k).integers(0, k, rows + 2)
    bits = np.unpackbits(mechanism.privatize(x, rng=SEED)[rows:], axis=1, count=k, bitorder="little")
    np.testing.assert_array_equal(bits, reference_bits(mechanism, x[rows:], 1))


@each("method", ["symmetric", "optimized"])
@each(
    "k, n",
    [
        *((2, 1), (2, 65), (8, 9), (9, 64), (13, 1), (64, 3), (65, 8), (128, 1), (128, 63), (1000, 7)),
        *(
            (3, 129),
            (2, 257),
            (8, 1153),
        ),  # the first bit of a block of 128 bits of the categories, and many such blocks
    ],
)
def test_reports_equal_the_reference(isa, k, n, method):
    mechanism = ldp.UnaryEncoding(k, 1.0, method=method)
    x = np.random.default_rng(n).integers(0, k, n)
    reports = mechanism.privatize(x, rng=SEED)
    bits = np.unpackbits(reports, axis=1, count=k, bitorder="little")
    np.testing.assert_array_equal(bits, reference_bits(mechanism, x))
    assert mechanism.report.invalidity(reports) is None


def test_the_last_row_has_its_own_coin():
    """The coin of row 128 j is in another AES block than those before it. Other reports leave other words in the memory."""
    mechanism = ldp.UnaryEncoding(2, 1.0, method="optimized")
    for n in range(129, 1500, 128):
        x = np.zeros(n, np.int64)
        mechanism.privatize(np.zeros(4000, np.int64), rng=n)
        reports = mechanism.privatize(x, rng=SEED)
        np.testing.assert_array_equal(
            np.unpackbits(reports, axis=1, count=2, bitorder="little"), reference_bits(mechanism, x)
        )


def test_a_single_record_compares_all_digits(isa):
    for lane, word in enumerate(reference.Words(FIXED_KEY, "UNARY_BITS", 0).take(8, "<u8").tolist()):
        for other, bit in ((word, 0), (word + 1, 1)):
            out = np.empty((1, 2), np.uint8)
            kernel = privatize.UnaryEncoding(9, other, True)
            kernel.privatize(stream.Stream(FIXED_KEY), 0, np.array([8], np.uint8), out)
            assert np.unpackbits(out, bitorder="little")[lane] == bit
