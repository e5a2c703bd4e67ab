"""Randomized response to bins: the kernel against the reference."""

from __future__ import annotations

import numpy as np

import ldpfast as ldp

from ..support import reference
from ..support.cases import each
from ..support.keys import KEY, SEED
from ..support.sizes import SIZES


@each("dtype", [np.float32, np.float64])
@each("n", SIZES)
@each("cuts", [(0.0,), (-1.0, 0.5, 2.0)])
def test_reports_equal_the_reference(isa, cuts, n, dtype):
    mechanism = ldp.Bins(cuts, 0.5)
    x = np.concatenate([np.random.default_rng(n).normal(0, 2, n), cuts]).astype(dtype)
    words = reference.Words(KEY, "BINS", 0)
    expected = [
        reference.respond(mechanism._coin, words, sum(cut <= value for cut in cuts)) for value in x.astype(float)
    ]
    assert mechanism.privatize(x, rng=SEED).tolist() == expected


@each("dtype", [np.float32, np.float64])
def test_clipped_records_are_finite(dtype):
    """NaN becomes the smallest number of its dtype: -MAX of double precision is -inf in single precision."""
    domain = ldp.Bins([0.25], 1.0).domain
    clipped = domain.clip(np.array([np.nan, -np.inf, np.inf], dtype))
    assert clipped.tolist() == [np.finfo(dtype).min, np.finfo(dtype).min, np.finfo(dtype).max]
