"""Bounds of a functional with a known range, from a private release."""

from __future__ import annotations

import math

import pytest

from ldpfast import bounds


def test_lower_bound_constants():
    assert bounds.central_range(10, 0.1, low=0, high=1).lower == pytest.approx(1 / (1 + math.e))
    assert bounds.central_range(10, 0.1, low=0, high=1, method="paper").lower == pytest.approx(1 / (4 * (2 + math.e)))


def test_a_vacuous_lower_bound_gives_the_reason():
    found = bounds.central_range(10_000, 1.0, low=0, high=1)
    assert found.lower == 0
    assert found.source.endswith("lower = 0 where e^(-epsilon n) is below the smallest double")
    assert "lower = 0" not in bounds.central_range(10, 1.0, low=0, high=1).source


def test_bad_range():
    with pytest.raises(ValueError, match=r"Theorem 2, needs low < high, got low=2, high=2$"):
        bounds.central_range(9, 1, low=2, high=2)
