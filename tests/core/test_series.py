"""Values of trigonometric series: the kernel against the reference."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ..support import reference
from ..support.cases import each
from ..support.examples import assert_same
from ..support.internals import kernels
from ..support.internals.kernels import series

pytestmark = pytest.mark.usefixtures("isa")

COSINE = 2e-14  # error of the polynomial of the values, 1e-14, and roundings of kernel and reference


@each("n", [0, 1, 255, 256, 257, 600])
@each("terms", [1, 2, 3, 16, 33, 200])
def test_values_equal_the_reference(terms, n):
    """Horner's rule multiplies by exp(2 pi i u) m times, so the error of a term grows with its frequency m."""
    compiled, x = series.Series(terms, -3.0, 4.5), np.random.default_rng(n).uniform(-3, 4.5, n)
    coefficients = np.random.default_rng(terms).normal(size=terms) / np.arange(1, terms + 1)
    out, plain = np.empty((2, n))
    compiled.values(coefficients, x, out)
    expected = 1 + reference.series_terms(terms, -3.0, 4.5, x) @ coefficients
    frequency = np.arange(terms) // 2 + 1
    tolerance = 4 * COSINE * (1 + math.sqrt(2) * np.abs(coefficients) @ frequency)
    np.testing.assert_allclose(out, expected, rtol=0, atol=tolerance)
    kernels.set_isa("plain")
    compiled.values(coefficients, x, plain)
    assert_same(out, plain)
