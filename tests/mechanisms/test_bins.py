"""Randomized response to bins: the kernel against the reference."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp

from ..support import reference
from ..support.keys import KEY, SEED
from ..support.sizes import SIZES


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("cuts", [(0.0,), (-1.0, 0.5, 2.0)])
def test_reports_equal_the_reference(isa, cuts, n, dtype):
    mechanism = ldp.Bins(cuts, 0.5)
    x = np.concatenate([np.random.default_rng(n).normal(0, 2, n), cuts]).astype(dtype)
    words = reference.Words(KEY, "BINS", 0)
    expected = [
        reference.respond(mechanism._coin, words, sum(cut <= value for cut in cuts)) for value in x.astype(float)
    ]
    assert mechanism.privatize(x, rng=SEED).tolist() == expected
