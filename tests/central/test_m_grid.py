"""M-estimates on public grids: integers, the exact distribution for all neighboring datasets, and accuracy."""

from __future__ import annotations

import decimal
import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from ldpfast import _coins
from ldpfast._core.stream import Stream
from ldpfast.central import Custom, Huber, Logistic, Quantile, _m_grid, m_estimate
from ldpfast.central._m_estimate import Prior
from ldpfast.central._m_grid import FINER, UNITS, PublicGrids, draw

from ..support.cases import each

PSIS = [
    Huber(0.3),
    Logistic(0.1),
    Quantile(0.3),
    Custom(lambda x, theta: np.tanh(3 * (theta - x)) + 0.2 * theta, -1.2, 1.2),
    Custom(lambda x, theta: np.where(x < theta, np.nan, -np.inf), -0.5, 2.0),  # neither monotone nor finite
]
PRIORS = [Prior("uniform", 0.0, 1.0), Prior("cauchy", 0.0, 1.0)]


def slow_sums(grids: PublicGrids, counts: list[int]) -> list[int]:
    """Return the integer sums of psi at the ends of the cells, record by record."""
    low, _ = grids.psi.bounds
    points = grids.prior.lower + (grids.prior.upper - grids.prior.lower) * np.arange(grids.size) / (grids.size - 1)
    zero, found = int(np.rint(-low * (UNITS / grids.psi.width))), []
    for t, theta in enumerate(grids.thetas):
        total = 0
        for i, count in enumerate(counts):
            x = points[i : i + 1]
            if grids.of_difference:  # psi is computed from the number of steps between record and theta
                step = (grids.prior.upper - grids.prior.lower) / (len(grids.thetas) - 1)
                value = grids.psi(0.0, np.array([(t - FINER * i) * step]))
            else:
                value = grids.psi(x, theta)
            total += count * (int(grids.integers(value)[0]) - zero)
        found.append(total)
    return found


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.name)
@pytest.mark.parametrize("psi", PSIS, ids=lambda psi: type(psi).__name__)
def test_sums_are_sums_of_integers_over_the_records(psi, prior):
    grids = PublicGrids(psi, prior, 6)
    counts = [3, 0, 1, 0, 7, 2]
    assert grids.sums(np.array(counts)).tolist() == slow_sums(grids, counts)


@each("prior", PRIORS, ids=lambda prior: prior.name)
@each("psi", PSIS, ids=lambda psi: type(psi).__name__)
@each("epsilon", [0.3, 2.0, 9.0])
def test_the_exact_law_of_all_neighboring_datasets(psi, prior, epsilon):
    """All datasets of 1 to 4 records on 4 points; probabilities are fractions, e^epsilon is a decimal of 100 digits."""
    size, worst = 4, Fraction(0)
    grids = PublicGrids(psi, prior, size)
    distributions = {}
    for n in (1, 2, 3, 4):
        for counts in itertools.product(range(n + 1), repeat=size):
            if sum(counts) == n:
                masses = [int(m) for m in grids.masses(np.array(counts), epsilon)]
                distributions[counts] = [Fraction(m, sum(masses)) for m in masses]
    for counts, distribution in distributions.items():
        for i, j in itertools.permutations(range(size), 2):
            if counts[i]:
                other = list(counts)
                other[i], other[j] = other[i] - 1, other[j] + 1
                worst = max(worst, *(a / b for a, b in zip(distribution, distributions[tuple(other)], strict=True)))
    with decimal.localcontext(_coins.CONTEXT):
        allowed = Decimal(epsilon).exp()
    assert Decimal(worst.numerator) <= allowed * Decimal(worst.denominator)
    assert worst > 1


def test_the_weights_of_a_step_of_the_width_have_exactly_the_allowed_ratio():
    """A replaced record moves a distance by at most UNITS; a larger move, or a smaller ratio, would break the bound."""
    grids = PublicGrids(Huber(0.3), PRIORS[0], 4)
    low, high = (grids.integers(grids.psi(0.0, np.array([d])))[0] for d in (-9.0, 9.0))
    assert (low, high) == (0, UNITS)
    for epsilon in (0.01, 1.0, 30.0):
        table = _m_grid.weights(epsilon * (2 / _m_grid.LEVELS), 1 << 12)
        with decimal.localcontext(_coins.CONTEXT):
            half = (Decimal(epsilon) / 2).exp()
        for h in range(0, len(table) - _m_grid.LEVELS, 37):
            ratio = Fraction(int(table[h]), int(table[h + _m_grid.LEVELS]))
            assert Decimal(ratio.numerator) <= half * Decimal(ratio.denominator)
            if table[h + _m_grid.LEVELS] > 1 << 40:
                one_more = Fraction(int(table[h]), int(table[h + _m_grid.LEVELS + 1]))
                assert Decimal(one_more.numerator) > half * Decimal(one_more.denominator)


def test_draws_have_the_probabilities_of_the_masses():
    masses, stream = np.array([1, 0, 1 << 62, 3 << 60, 1 << 61], np.uint64), Stream(bytes(32))
    n = 4000
    counts = np.bincount([draw(masses, stream) for _ in range(n)], minlength=5)
    expected = masses / masses.sum(dtype=float) * n
    assert counts[1] == 0
    assert ((counts - expected) ** 2 / np.maximum(expected, 1e-9))[2:].sum() < 30  # chi-squared, 2 degrees: 3e-7


@pytest.mark.parametrize("psi, least", [("huber", 1.05), ("logistic", 1.05), ("quantile", 1.05)])
def test_the_error_is_near_that_of_the_continuous_form(psi, least):
    """Root mean squared errors over 150 datasets, with a standard deviation of the ratio of about 4 %."""
    rng, n, errors = np.random.default_rng(1), 20_000, {"grid": 0.0, "continuous": 0.0}
    for i in range(150):
        x = rng.normal(0.123, 1, n)
        for method in errors:
            value = m_estimate(x, psi, epsilon=1.0, lower=-10, upper=10, method=method, allow_ideal=True, rng=i).value
            errors[method] += (value - 0.123) ** 2
    assert (errors["grid"] / errors["continuous"]) ** 0.5 < least + 0.16


@pytest.mark.parametrize("n", [1, 10, 1_000_000])
@pytest.mark.parametrize("psi", ["quantile", "huber", "logistic"])
def test_estimates_are_near_the_records_for_every_n(psi, n):
    """Equal records leave no cell without a distance of 0 near them, whatever n is."""
    value = m_estimate(np.full(n, 3.0), psi, epsilon=50.0, lower=0, upper=10, rng=1).value
    assert abs(value - 3) < 0.01 if n > 1 else 0 <= value <= 10


def test_the_guarantee_says_whether_it_is_exact():
    x = np.linspace(0, 1, 100)
    exact = m_estimate(x, "huber", epsilon=1.0, lower=0, upper=1, rng=1)
    assert not exact.guarantee.ideal
    assert "ideal" not in repr(exact)
    ideal = m_estimate(x, "huber", epsilon=1.0, lower=0, upper=1, method="continuous", allow_ideal=True)
    assert ideal.guarantee.ideal
    assert "ideal only" in repr(ideal)
    with pytest.raises(ValueError, match="allow_ideal must be True for method='continuous', got False"):
        m_estimate(x, "huber", epsilon=1.0, lower=0, upper=1, method="continuous")
    with pytest.raises(ValueError, match="grid must be"):
        m_estimate(x, "huber", epsilon=1.0, lower=0, upper=1, grid=1)
    with pytest.raises(ValueError, match="method must be one of 'grid', 'continuous'"):
        m_estimate(x, "huber", epsilon=1.0, lower=0, upper=1, method="exact")
