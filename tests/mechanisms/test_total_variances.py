"""Exact total variances of all mechanisms for frequencies: closed forms, a table, and which is best where.

The total variance is the sum of the variances of the shares of all categories, times the number of people. It is the
same for all data. The mechanisms with coins of 64 bits have the ideal variance up to a relative error of 1e-9.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.mechanisms import for_categories
from ldpfast.results import line_of

from ..cards import CARDS
from ..support.cases import each
from ..support.internals.mechanisms import (
    best_mechanism,
    projective_geometry_response,
    projective_space,
    subset_selection,
)

EPSILONS = [0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
NUMBERS = [1 << j for j in range(1, 21)]
SUBSETS = 1 << 16  # largest number of categories of SubsetSelection


def total(mechanism):
    """Return the total variance, from the debiasing of a report that supports or does not support a category."""
    line = getattr(mechanism.debiasing, "line", mechanism.debiasing)
    return float(line.variance(1.0) + (mechanism.domain.k - 1) * line.variance(0.0))


def of_subsets(k, epsilon, size=None):
    """Return the total variance of subset selection, for any k."""
    odds, size = math.exp(epsilon), size or subset_selection.best_size(k, epsilon)
    ratio = (size * odds + k - size) ** 2 / (size * (k - size) * math.expm1(epsilon) ** 2)
    return (k - 1) ** 2 / k * ratio - (k - 1) / k


def of_space(space, k, epsilon):
    """Return the total variance of projective geometry response."""
    odds, s, c = math.exp(epsilon), space.hyperplane, space.common
    whole = s * odds + space.points - s
    p, q = s * odds / whole, (c * odds + s - c) / whole
    return (p * (1 - p) + (k - 1) * q * (1 - q)) / (p - q) ** 2


MAKERS = {name: make for card in CARDS.values() for name, make in card.total_variances.items()}


def all_totals(k, epsilon):
    """Return the total variances by name, with the closed form for too many subsets."""
    makers = {name: make for name, make in MAKERS.items() if name != "SS" or k <= SUBSETS}
    return {"SS": of_subsets(k, epsilon)} | {name: total(make(k, epsilon)) for name, make in makers.items()}


@pytest.fixture(scope="module")
def grid():
    """Total variances of all mechanisms by number of categories and epsilon."""
    return {(k, epsilon): all_totals(k, epsilon) for k in NUMBERS for epsilon in EPSILONS}


def test_the_total_is_the_sum_of_the_variances_of_all_categories():
    for k, epsilon in ((2, 0.5), (7, 1.0), (300, 3.0)):
        for make in MAKERS.values():
            mechanism = make(k, epsilon)
            sums = mechanism.variance(np.array([0, k - 1])).sum(axis=1)
            np.testing.assert_allclose(sums, total(mechanism), rtol=1e-12)
            assert best_mechanism.total_variance(mechanism) == total(mechanism)


# Closed forms ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_closed_forms(grid):
    """With E = e^epsilon. Hadamard response is worse than optimized unary encoding by exactly k - 2."""
    for (k, epsilon), found in grid.items():
        odds, root, unit = math.exp(epsilon), math.exp(epsilon / 2), math.expm1(epsilon) ** 2
        assert found["k-RR"] == pytest.approx((k - 1) * (2 * odds + k - 2) / unit, rel=2e-5)
        assert found["SUE"] == pytest.approx(k * root / (root - 1) ** 2, rel=1e-9)
        assert found["OUE"] == pytest.approx(((odds + 1) ** 2 + 4 * (k - 1) * odds) / unit, rel=1e-9)
        assert found["HR"] == pytest.approx((4 * odds + (k - 1) * (odds + 1) ** 2) / unit, rel=2e-5)
        assert found["HR"] - found["OUE"] == pytest.approx(k - 2, rel=1e-4, abs=1e-4 * found["HR"])
        assert found["SS"] == pytest.approx(of_subsets(k, epsilon), rel=1e-9)


@each("order, length", [(2, 5), (3, 4), (4, 3), (7, 3), (64, 2)])
def test_a_full_space_has_the_variance_of_subsets_of_the_size_of_a_hyperplane(order, length):
    space = projective_space.Geometry(order, length)
    for epsilon in EPSILONS:
        expected = of_subsets(space.points, epsilon, space.hyperplane)
        assert of_space(space, space.points, epsilon) == pytest.approx(expected, rel=1e-9)


# Tables ---------------------------------------------------------------------------------------------------------------

# k, epsilon, totals of k-RR, SUE, OUE, SS, its size, HR, PGR, its field
TABLE = [
    (16, 1, "98.747", "62.683", "59.923", "50.976", 4, "73.923", "53.397", 4),
    (16, 4, "0.64326", "2.8962", "2.2163", "0.64326", 1, "16.216", "0.66749", 16),
    (128, 0.5, "39019", "2037.4", "2006.9", "1973.7", 48, "2132.9", "2015.2", 3),
    (128, 1, "5653.7", "501.47", "472.38", "463.09", 34, "598.38", "470.25", 4),
    (128, 2, "437.99", "117.85", "93.680", "90.254", 15, "219.68", "92.615", 11),
    (128, 4, "10.398", "23.170", "10.731", "8.6363", 2, "136.73", "10.398", 127),
    (1024, 1, "3.5599e5", "4011.7", "3772.1", "3762.7", 275, "4794.1", "3774.5", 4),
    (1024, 2, "25983", "942.77", "742.44", "738.99", 122, "1764.4", "742.17", 8),
    (1024, 4, "402.82", "185.36", "78.846", "76.706", 18, "1100.8", "78.091", 53),
    (65536, 1, "1.4547e9", "2.5675e5", "2.4135e5", "2.4134e5", 17625, "3.0688e5", "2.4193e5", 4),
]


@each("k, epsilon, response, symmetric, optimized, subsets, size, hadamard, geometry, order", TABLE)
def test_the_table_of_total_variances(
    k, epsilon, response, symmetric, optimized, subsets, size, hadamard, geometry, order
):
    """To the printed digits. Those of k-ary and Hadamard response are the closed forms: short coins lose up to 2e-5 of them."""
    found, odds = all_totals(k, float(epsilon)), math.exp(epsilon)
    exact = (k - 1) * (2 * odds + k - 2) / (odds - 1) ** 2, (4 * odds + (k - 1) * (odds + 1) ** 2) / (odds - 1) ** 2
    for name, value in zip(("k-RR", "HR"), exact, strict=True):
        assert found[name] == pytest.approx(value, rel=3e-5)
        found[name] = value
    printed = {"k-RR": response, "SUE": symmetric, "OUE": optimized, "SS": subsets, "HR": hadamard}
    for name, digits in printed.items():
        assert float(f"{found[name]:.5g}") == float(digits), name
    assert ldp.SubsetSelection(k, float(epsilon)).size == size
    assert projective_geometry_response.best_geometry(k, float(epsilon)).order == order
    assert float(f"{found['PGR']:.5g}") == float(geometry)


# Which is best --------------------------------------------------------------------------------------------------------


def test_subset_selection_is_never_worse(grid):
    """It equals k-ary response where its size is 1, and is strictly better than every other mechanism elsewhere."""
    for (k, epsilon), found in grid.items():
        others = min(value for name, value in found.items() if name != "SS")
        assert found["SS"] <= others * (1 + 1e-5)
        if subset_selection.best_size(k, epsilon) == 1:
            assert found["SS"] == pytest.approx(found["k-RR"], rel=1e-5)
        elif (k, epsilon) != (4, 0.5):
            assert found["SS"] < 0.9999999 * others


def test_the_crossing_of_k_ary_response_and_optimized_unary_encoding():
    """(k - 1) (k - 2 - 2 E) = (E + 1)^2: k = 5 for epsilon near 0, about (1 + sqrt 2) E for large epsilon."""
    for epsilon in EPSILONS:
        odds = math.exp(epsilon)
        edge = math.floor(1 + (1 + 2 * odds + math.sqrt(8 * odds**2 + 12 * odds + 5)) / 2)
        for k, better in ((edge, True), (edge + 1, False)):
            response, unary = ldp.RandomizedResponse(k, epsilon), ldp.UnaryEncoding(k, epsilon, method="optimized")
            assert (total(response) < total(unary)) == better


BEST = {  # the best mechanism apart from subset selection, by epsilon (columns) and log2 k
    1: "k-RR k-RR k-RR k-RR k-RR k-RR k-RR k-RR k-RR k-RR k-RR",
    3: "PGR PGR PGR k-RR k-RR k-RR k-RR k-RR k-RR k-RR k-RR",
    4: "PGR PGR PGR PGR k-RR k-RR k-RR k-RR k-RR k-RR k-RR",
    6: "PGR PGR PGR PGR PGR PGR k-RR k-RR k-RR k-RR k-RR",
    8: "OUE OUE PGR PGR PGR PGR PGR k-RR k-RR k-RR k-RR",
    10: "OUE OUE OUE OUE PGR OUE PGR PGR PGR k-RR k-RR",
    12: "OUE OUE OUE OUE PGR OUE PGR PGR PGR PGR k-RR",
    16: "OUE OUE OUE OUE OUE OUE OUE PGR PGR PGR PGR",
    20: "OUE OUE OUE OUE OUE OUE OUE PGR OUE PGR PGR",
}


def test_the_best_of_the_other_mechanisms(grid):
    for j, names in BEST.items():
        for epsilon, name in zip(EPSILONS, names.split(), strict=True):
            found = {key: value for key, value in grid[1 << j, epsilon].items() if key != "SS"}
            assert found[name] <= min(found.values()) * (1 + 1e-5)


RATIOS = {  # to the total variance of subset selection for 2^20 categories
    0.25: (1.0157, 1.0157),
    0.5: (1.0094, 1.0638),
    1.0: (1.0024, 1.2715),
    1.5: (1.0032, 1.6762),
    2.0: (1.0007, 2.3811),
    3.0: (1.0021, 5.5339),
    4.0: (1.0006, 14.154),
    5.0: (1.0001, 37.606),
    6.0: (1.0086, 101.37),
    8.0: (1.0013, 746.27),
}


def test_the_loss_for_a_million_categories(grid):
    for epsilon, (geometry, hadamard) in RATIOS.items():
        found = grid[1 << 20, epsilon]
        assert found["PGR"] / found["SS"] == pytest.approx(geometry, rel=1e-4)
        assert found["HR"] / found["SS"] == pytest.approx(hadamard, rel=1e-4)


@pytest.mark.long
def test_projective_geometry_loses_at_most_2_percent_for_small_epsilon():
    """From 1024 to 2^20 categories, for epsilon up to 3, also if there are more points than categories."""
    worst = 0.0
    for k in [1024, 1 << 20, *np.geomspace(1024, 1 << 20, 40).astype(int).tolist()]:
        for epsilon in (0.05, 0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0):
            worst = max(
                worst,
                of_space(projective_geometry_response.best_geometry(k, epsilon), k, epsilon) / of_subsets(k, epsilon),
            )
    assert 1.012 < worst < 1.02


# Largest variance of the share of a rare category, over that of subset selection
RARE = {
    2: {1000: 1.001, 22_000: 1.01, 10**5: 1.01, 10**6: 1.01, 3_307_948: 1.01, 10**7: 1.01},
    4: {1000: 1.001, 22_000: 1.01, 10**5: 1.01, 10**6: 1.01, 3_307_948: 1.01, 10**7: 1.01},
    5: {1000: 1.001, 22_000: 1.01, 10**5: 1.01, 10**6: 1.01, 3_307_948: 1.01, 10**7: 1.05},
    6: {1000: 1.001, 22_000: 1.02, 10**5: 1.01, 10**6: 1.01, 3_307_948: 1.01, 10**7: 1.01},
    8: {1000: 1.001, 22_000: 1.08, 10**5: 1.03, 10**6: 1.02, 3_307_948: 1.02, 10**7: 1.01},
    10: {1000: 1.001, 22_000: 1.01, 10**5: 1.44, 10**6: 1.30, 3_307_948: 1.30, 10**7: 1.30},
}


def test_the_chosen_mechanism_is_close_to_subset_selection():
    for epsilon, limits in RARE.items():
        for k, limit in limits.items():
            with warnings.catch_warnings():  # that the loss is large at epsilon 10
                warnings.simplefilter("ignore" if epsilon == 10 else "error", UserWarning)
                line = line_of(for_categories(k, float(epsilon)).debiasing)
            size = subset_selection.best_size(k, epsilon)
            p = size * math.exp(epsilon) / (size * math.exp(epsilon) + k - size)
            q = (p * (size - 1) + (1 - p) * size) / (k - 1)
            assert line.variance(0.0) <= limit * q * (1 - q) / (p - q) ** 2, (epsilon, k)


def test_the_largest_losses_up_to_epsilon_8():
    """From 4097 to ten million categories; below, subset selection itself is used."""
    worst = 0.0
    for k in np.geomspace(4097, 10**7, 25).astype(int).tolist():
        for epsilon in np.arange(1, 8.25, 1.0).tolist():
            odds = math.exp(epsilon)
            response = (k - 1) * (2 * odds + k - 2) / (odds - 1) ** 2
            best = min(of_space(projective_geometry_response.best_geometry(k, epsilon), k, epsilon), response)
            worst = max(worst, best / of_subsets(k, epsilon))
    assert 1.27 < worst < 1.285
