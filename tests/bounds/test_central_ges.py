"""Bounds of a functional with a known gross error sensitivity, from a private release."""

from __future__ import annotations

import pytest

from ldpfast import bounds


def test_lower_bound_constants():
    """The lower bound times n epsilon, if privacy dominates the error."""
    n, a = 1000.0, 1e-2
    assert bounds.central_ges(n, a, 0, ges=1.0).lower * n * a == pytest.approx(0.279, abs=3e-3)
    assert bounds.central_ges(n, a, 0, ges=1.0, method="paper").lower * n * a == pytest.approx(0.0219, abs=5e-4)


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda: bounds.central_ges(9, 0.4, 0, ges=1, method="paper"),
            r"Theorem 1, needs epsilon < log\(2\) / 2, got epsilon=0.4$",
        ),
        (
            lambda: bounds.central_ges(9, 0.1, 0.1, ges=1, method="paper"),
            r"needs delta <= \(1 - e\^-epsilon\) / 16, got delta=0.1",
        ),
        (
            lambda: bounds.central_ges(2, 0.1, 0, ges=1, method="paper"),
            r"needs n >= ceil\(log 2 / \(2 epsilon\)\), got n=2",
        ),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
