"""Choice of the mechanism with the smallest variance."""

from __future__ import annotations

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import for_categories, for_interval


@pytest.mark.parametrize(
    "epsilon, kind", [(0.5, ldp.SignBit), (2.2, ldp.SignBit), (2.4, ldp.Laplace), (4.0, ldp.Laplace)]
)
def test_the_interval_mechanism_has_the_smaller_largest_variance(epsilon, kind):
    assert for_interval(-3.0, 5.0, epsilon) == kind(-3.0, 5.0, epsilon)


@pytest.mark.parametrize("k, epsilon", [(2, 0.1), (5, 1.0), (10, 1.0), (11, 1.0), (64, 1.0), (64, 4.0)])
def test_the_category_mechanism_has_the_smallest_variance_for_a_rare_category(k, epsilon):
    def rare(mechanism: ldp.Mechanism) -> float:
        return float(mechanism.variance(0)[1])

    candidates = [ldp.RandomizedResponse(k, epsilon), ldp.UnaryEncoding(k, epsilon, "optimized")]
    assert rare(for_categories(k, epsilon)) == min(map(rare, candidates))
    assert isinstance(for_categories(k, epsilon), ldp.RandomizedResponse) == (k <= 3 * np.exp(epsilon) + 2)
