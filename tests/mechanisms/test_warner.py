"""Warner's randomized response: the kernel against the reference, and exact thresholds."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import privatize, stream
from ..support.internals.shared import coin_integers
from ..support.keys import FIXED_KEY, KEY, SEED
from ..support.sizes import SIZES


@each("n", SIZES)
def test_reports_equal_the_reference(isa, n):
    mechanism = ldp.Warner(0.7)
    x = np.random.default_rng(n).integers(0, 2, n)
    words = reference.Words(KEY, "WARNER", 0)
    assert mechanism.privatize(x, rng=SEED).tolist() == [reference.respond(mechanism._coin, words, t) for t in x]


def test_the_truth_is_kept_exactly_below_the_threshold(isa):
    """keep = word reports the opposite; keep = word + 1 reports the true answer."""
    for row, word in enumerate(reference.Words(FIXED_KEY, "WARNER", 0).take(16, "<u8").tolist()):
        for keep, kept in ((word, False), (word + 1, True)):
            out = np.empty(16, np.uint8)
            coin = coin_integers.ResponseCoin(2, 64, keep, 2, 0.0)
            privatize.Warner(coin).privatize(stream.Stream(FIXED_KEY), 0, np.ones(16, np.uint8), out)
            assert (out[row] == 1) == kept


@pytest.mark.parametrize("epsilon", [44.3614, 44.0])
def test_the_largest_epsilon_works(epsilon):
    """The false answer has one or two of 2^64 words. The division by `reciprocal` is still exact."""
    assert ldp.Warner(epsilon).privatize(np.ones(5000, np.uint8), rng=1).all()
