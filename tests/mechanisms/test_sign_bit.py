"""One bit of a number: the kernel against the reference, and exact thresholds."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast._core import privatize, stream

from ..support import reference
from ..support.keys import FIXED_KEY, KEY, SEED
from ..support.sizes import SIZES


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
def test_reports_equal_the_reference(isa, n, dtype):
    mechanism = ldp.SignBit(-1.5, 4.0, 1.0)
    x = np.concatenate([np.random.default_rng(n).uniform(-1.5, 4.0, n), [-1.5, 4.0]]).astype(dtype)
    words = reference.Words(KEY, "SignBit", 0)
    expected = [reference.sign_bit(mechanism._heads, -1.5, 4.0, words, value) for value in x.astype(float)]
    assert mechanism.privatize(x, rng=SEED).tolist() == expected


def test_the_bit_is_one_exactly_below_the_threshold(isa):
    """At the upper end the threshold is `heads`: heads = word gives 0, heads = word + 1 gives 1."""
    for row, word in enumerate(reference.Words(FIXED_KEY, "SignBit", 0).take(16, "<u8").tolist()):
        for heads, bit in ((word, 0), (word + 1, 1)):
            out = np.empty(16, np.uint8)
            privatize.SignBit(-1.0, 1.0, heads).privatize(stream.Stream(FIXED_KEY), 0, np.ones(16), out)
            assert out[row] == bit
