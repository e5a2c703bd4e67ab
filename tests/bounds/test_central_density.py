"""Bounds of a density on the unit cube, from a private release."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ldpfast import bounds

from ..support.internals.bounds import central_privacy
from ..support.modules import module_of

inside = module_of(bounds.central_density)


def test_lower_bound_constants():
    """Constants in one dimension, if privacy dominates the error and if sampling does."""
    assert bounds.central_density(1e8, 1, 1e-5).lower * 1e3 == pytest.approx(0.09, abs=0.01)
    assert bounds.central_density(1e9, 1, 20).lower * 1e9 ** (2 / 3) == pytest.approx(0.064, abs=0.01)


def test_packing_gives_a_weaker_lower_bound():
    """The constants of the closed form, recomputed with `packing`."""
    n, a = 1e6, 0.1
    for d in (1, 2, 3):
        sharp, packed = bounds.central_density(n, d, a), bounds.central_density(n, d, a, method="packing")
        assert packed.lower < sharp.lower / 20
        assert packed.lower == bounds.central_density(n, d, a, method="paper").lower
        m = 1 / math.sqrt(48 * (d + 1) * (d + 2) * packed.lower)
        assert m == pytest.approx(2 * round(m / 2))
        signs = m**d / 2
        points = int(Decimal(signs / 8).exp())  # too large for a double
        error = bounds.methods.packing(int(n), a, points=max(2, points), share=1 / (2 * m))
        assert error >= 1 / 6
        separation = 4 * m ** -(d + 2) / ((d + 1) * (d + 2)) * signs / 4  # squared distance
        assert packed.lower <= separation / 4 * error


@given(st.floats(1.0, 1e9), st.floats(1e-3, 40))
def test_best_number_of_cells(n, a):
    """Comparison with all numbers per axis up to about twice the best."""
    for d in (1, 3):
        m = np.arange(2.0, n ** (1 / (d + 2)) * 2 + 5)
        risk = (m**d - 1) / n + 8 * m ** (2 * d) / (n * a) ** 2 + d / (12 * m**2)
        best = float(inside._cells(np.array(n), np.array(a), np.array(float(d))))
        assert best == pytest.approx(min(d / 12, risk.min()), rel=1e-9)


@pytest.mark.parametrize("n, epsilon", [(500, 0.05), (5000, 0.01), (5000, 20.0), (20_000, 0.1)])
def test_tents_give_the_lower_bound(n, epsilon):
    """Search over densities in one dimension that differ in one pair of tents of slope 1, with distances by integration.

    The bound of the Hellinger distance belongs to the coarsest tents, and costs up to 2 %.
    """
    x, best, privacy = (np.arange(20_160) + 0.5) / 20_160, 0.0, central_privacy.CentralPrivacy("", "pure", epsilon, 0.0)
    for m in range(2, 50, 2):
        width = 1 / m
        tent = np.minimum(x % width, width - x % width) * np.where((x // width) % 2 == 0, 1, -1)
        first, second = 1 + tent, 1 + np.where(x < 2 * width, -tent, tent)
        tv, hellinger = np.mean(np.abs(first - second)) / 2, np.mean((np.sqrt(first) - np.sqrt(second)) ** 2)
        for s in (0.2, 0.4, 0.5, 0.6, 0.75):
            if tv <= privacy.reach(n, s) * (1 + 1e-3) or 1 - (1 - hellinger / 2) ** (2 * n) <= s**2:
                best = max(best, m / 2 * np.mean((first - second) ** 2) / 4 * (1 - s))
    lower = float(bounds.central_density(n, 1, epsilon).lower)
    assert 0.8 * best <= lower <= best * (1 + 2e-3)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: bounds.central_density(9, 2, 1, method="best"),
            r"^method must be one of 'sharp', 'packing', 'paper', got 'best'$",
        ),
        (lambda: bounds.central_density(9, 51, 1), r"Proposition 5, needs dim <= 50, got dim=51$"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
