"""Bounds of the end of a uniform distribution, from a private release."""

from __future__ import annotations

import pytest

from ldpfast import bounds


def test_lower_bound_constants():
    """The lower bound times n epsilon, if privacy dominates the error."""
    n, a = 1000.0, 1e-2
    assert bounds.central_support(n, a, t=1.0).lower * n * a == pytest.approx(0.125, abs=1e-3)


def test_the_published_lower_bound_needs_n_epsilon_of_at_least_a_quarter():
    """Otherwise it exceeds the risk of the answer t / 2, which the upper bound does not."""
    with pytest.raises(ValueError, match=r"Proposition 3, needs n epsilon >= 1/4, got n=1, epsilon=0.001$"):
        bounds.central_support(1, 1e-3, t=1.0, method="paper")
    few = bounds.central_support(1, 1e-3, t=1.0)
    assert few.lower < few.upper == 0.5
    assert bounds.central_support(250, 1e-3, t=1.0, method="paper").lower == pytest.approx(1 / 8)


def test_the_published_form_needs_tv_or_kl():
    with pytest.raises(ValueError, match=r"needs privacy='tv' or 'kl', got 'pure'$"):
        bounds.central_support(9, 1, t=1, privacy="pure", method="paper")
