"""Trigonometric series: the kernel against the reference."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldpfast import _core
from ldpfast._core import series

from ..support import reference
from ..support.examples import assert_same

pytestmark = pytest.mark.usefixtures("isa")

COSINE = 2e-14  # error of the polynomial of the values, 1e-14, and roundings of kernel and reference
TERM, HARMONIC = 6.4e-7, 4.2e-9  # error of a term, and its growth with the frequency


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 1, 7, 64, 257])
@pytest.mark.parametrize("terms", [1, 2, 3, 16, 33, 1000])
def test_terms_equal_the_reference(terms, n, dtype):
    """The tolerance is the stated one: positions have 32 bits, and terms are rounded to floats."""
    compiled = series.Series(terms, -3.0, 4.5)
    x = np.random.default_rng(n).uniform(-3, 4.5, n).astype(dtype)
    if n > 5:
        x[:6] = -3, 4.5, -1e30, np.inf, np.nan, 0.75
    inside = np.where(np.isnan(x), 0.75, np.clip(x, -3, 4.5))
    out, plain = np.empty((2, n, terms), np.float32)
    compiled.terms(x, out)
    expected = reference.series_terms(terms, -3.0, 4.5, inside)
    assert (np.abs(out - expected) <= TERM + HARMONIC * (np.arange(terms) // 2 + 1)).all()
    _core.set_isa("plain")
    compiled.terms(x, plain)
    assert_same(out, plain)


@pytest.mark.parametrize("n", [0, 1, 255, 256, 257, 600])
@pytest.mark.parametrize("terms", [1, 2, 3, 16, 33, 200])
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
    _core.set_isa("plain")
    compiled.values(coefficients, x, plain)
    assert_same(out, plain)
