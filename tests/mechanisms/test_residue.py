"""Randomized response to residues: the kernel against the reference."""

from __future__ import annotations

import numpy as np

import ldpfast as ldp

from ..support import reference
from ..support.cases import each
from ..support.keys import KEY, SEED
from ..support.sizes import SIZES

EXTREMES = [0.0, -0.0, -5e-324, -0.1, -4.1, 1e300, -1e300, 5e-324, 2.0**52, -(2.0**52) - 1, 0.75, -0.75]


@each("dtype", [np.float32, np.float64])
@each("n", SIZES)
@each("offset, modulus", [(0.0, 5), (0.25, 5), (0.25, 4)])
def test_reports_equal_the_reference(isa, offset, modulus, n, dtype):
    mechanism = ldp.Residue(0.75, offset, modulus, 1.5)
    with np.errstate(over="ignore"):
        x = np.nan_to_num(np.concatenate([np.random.default_rng(n).normal(0, 50, n), EXTREMES]).astype(dtype))
    words = reference.Words(KEY, "RESIDUE", 0)
    expected = []
    for value in x.astype(float):
        value = value if abs(value) >= np.finfo(dtype).tiny else 0.0  # subnormal numbers count as zero
        cell = min(max(np.floor((value - offset) * (1 / 0.75)), -(2.0**51)), 2.0**51)
        expected.append(reference.respond(mechanism._coin, words, int(cell) % modulus))
    assert mechanism.privatize(x, rng=SEED).tolist() == expected


@each("width", [2.0**76 * 1.3, 2.0**77 * 1.3, 2.0**78 * 1.3])
def test_infinities_count_as_the_largest_number(isa, width):
    """Also where the cell of the largest number of single precision is one of the last ones."""
    mechanism, largest = ldp.Residue(width, 0.0, 5, 8.0), np.finfo(np.float32).max
    for end in (largest, -largest):
        reports = mechanism.privatize(np.full(64, np.copysign(np.inf, end), np.float32), clip=True, rng=SEED)
        assert reports.tolist() == mechanism.privatize(np.full(64, end), rng=SEED).tolist()
