"""Common properties of the half-space mechanisms: the constant, and the one sign that depends on the record."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp

from ..support import reference
from ..support.cases import each
from ..support.internals.kernels import privatize, stream
from ..support.internals.mechanisms import half_space
from ..support.keys import FIXED_KEY, SEED

# The sign -------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.* had NaN:ldpfast.ClippedWarning")
@pytest.mark.claim(
    "The guarantees of `LinfBall` and `L2Ball` also hold for NaN and for infinite and huge records.",
    "Privacy of reports",
)
@each("dtype", [np.float32, np.float64])
@each("dim", [1, 2, 27, 64, 5000, 40_000])
def test_reports_of_two_records_are_equal_or_opposite(isa, dim, dtype):
    """Only one sign depends on the record: under one key the reports of any two records are equal or opposite.

    This also holds for NaN and for infinite, huge and subnormal records.
    """
    tiny, huge = np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max
    rows = [0.0, 1.0, -1.0, tiny, -tiny, huge, -huge, np.nan, np.inf, -np.inf]
    plain = [np.random.default_rng(i).uniform(-1, 1, dim) for i in range(3)]
    records = np.array([*(np.full(dim, value) for value in rows), *plain]).astype(dtype)
    linf, l2 = ldp.LinfBall(dim, 1.0), ldp.L2Ball(dim, 1.0)
    first = linf.privatize(records[0], rng=SEED), l2.privatize(records[0], rng=SEED)
    signs = set()
    for record in records:
        packed = np.unpackbits(linf.privatize(record, rng=SEED, clip=True) ^ first[0], count=dim, bitorder="little")
        assert packed.min() == packed.max()
        vector = l2.privatize(record, rng=SEED, clip=True)
        sign = np.sign(vector[0]) * np.sign(first[1][0])
        np.testing.assert_array_equal(vector, sign * first[1])
        signs.add(sign)
    assert signs <= {1.0, -1.0}


@each("dim", [1, 2, 27, 64, 40_000])
def test_the_sign_changes_exactly_at_the_threshold(isa, dim):
    """One unit more in `heads` changes the sign of exactly the report whose word equals the old threshold."""
    n = 3 if dim < 1000 else 1
    x = np.linspace(-1, 1, n * dim).reshape(n, dim)
    for row, word in enumerate(reference.Words(FIXED_KEY, "LINF_SIGN", 0).take(2 * n, "<u8")[1::2].tolist()):
        reports = []
        for heads in (word, word + 1):
            out = np.empty((n, (dim + 7) // 8), np.uint8)
            privatize.LinfBall(dim, 1.0, heads, 0).privatize(stream.Stream(FIXED_KEY), 0, x, out)
            reports.append(np.unpackbits(out, axis=1, count=dim, bitorder="little"))
        changed = reports[0] != reports[1]
        assert changed[row].all()
        assert not np.delete(changed, row, axis=0).any()
    words = reference.Words(FIXED_KEY, "L2_SIGN", 0).take(2 * n, "<u8").tolist()
    for row in range(n):
        reports = []
        for heads in (words[2 * row + 1], words[2 * row + 1] + 1):
            out = np.empty((n, dim))
            privatize.L2Ball(dim, 1.0, 1.0, heads).privatize(stream.Stream(FIXED_KEY), 0, x / np.sqrt(dim), out)
            reports.append(out)
        assert (reports[0][row] == -reports[1][row]).all()
        np.testing.assert_array_equal(np.delete(reports[0], row, axis=0), np.delete(reports[1], row, axis=0))


# The constant ---------------------------------------------------------------------------------------------------------


@each("dim", range(1, 9))
def test_the_constant_by_enumeration(dim):
    """On the hypercube the constant is 1 / E|mean sign| over all vertices, where ties count as zero."""
    weight = [math.comb(dim, a) for a in range(dim + 1)]
    mean = Fraction(sum(w * abs(2 * a - dim) for a, w in enumerate(weight)), dim << dim)
    c = half_space.half_space_constant(dim if dim % 2 else dim + 1)
    assert c == pytest.approx(float(1 / mean), rel=1e-14)


def test_known_values_of_the_constant():
    known = [1, 1.5707963267948966, 2, 2.356194490192345, 2.6666666666666665, 2.945243112740431, 3.2]
    np.testing.assert_allclose([half_space.half_space_constant(d) for d in range(1, 8)], known, rtol=1e-15)


@each("dim", [1, 2, 10, 198, 199, 200, 201, 1000, 123_457, 10**7])
def test_products_of_consecutive_constants(dim):
    """c(d) c(d + 1) = pi d / 2, for every size and across the change of formula at 200."""
    c = half_space.half_space_constant
    assert c(dim) * c(dim + 1) == pytest.approx(math.pi * dim / 2, rel=1e-13)


def test_the_dimension_of_the_constant_is_at_least_one():
    with pytest.raises(ValueError, match=r"^dim must be an integer >= 1, got 0$"):
        half_space.half_space_constant(0)
