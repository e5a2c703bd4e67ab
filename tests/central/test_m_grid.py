"""M-estimates on public grids: integers, the exact distribution for all neighboring datasets, and accuracy."""

from __future__ import annotations

import decimal
import itertools
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from ldpfast.central import Custom, Huber, Logistic, Quantile, m_estimate

from ..support.cases import each
from ..support.internals.central import Prior, m_grid
from ..support.internals.kernels import Stream
from ..support.internals.shared import coin_integers

PSIS = [
    Huber(0.3),
    Logistic(0.1),
    Quantile(0.3),
    Custom(lambda x, theta: np.tanh(3 * (theta - x)) + 0.2 * theta, -1.2, 1.2),
    Custom(lambda x, theta: np.where(x < theta, np.nan, -np.inf), -0.5, 2.0),  # neither monotone nor finite
]
PRIORS = [Prior("uniform", 0.0, 1.0), Prior("cauchy", 0.0, 1.0)]


def scaled(x, theta):
    """Return a psi whose scale is the median absolute deviation of the whole array."""
    return np.clip((theta - x) / (1e-3 + 10 * np.median(np.abs(x - np.median(x)))), -1, 1)


LOOKING = {  # at the other entries of their argument, or at their number
    "deviation": scaled,
    "median": lambda x, theta: np.clip(theta - x - 4 * np.median(x), -1, 1),
    "largest": lambda x, theta: np.clip(4 * (theta - x.max()) + 0 * x, -1, 1),
    "smallest": lambda x, theta: np.clip(4 * (theta - x.min()) + 0 * x, -1, 1),
    "number": lambda x, theta: np.clip(theta - x, -1, 1) / len(x),
    "order": lambda x, theta: np.clip(4 * (theta - np.roll(x, 1)), -1, 1),
}


def slow_sums(grids: m_grid.PublicGrids, counts: list[int]) -> list[int]:
    """Return the integer sums of psi at the ends of the cells, record by record."""
    low, _ = grids.psi.bounds
    points = grids.prior.lower + (grids.prior.upper - grids.prior.lower) * np.arange(grids.size) / (grids.size - 1)
    zero, found = int(np.rint(-low * (m_grid.UNITS / grids.psi.width))), []
    for t, theta in enumerate(grids.thetas):
        total = 0
        for i, count in enumerate(counts):
            x = points[i : i + 1]
            if grids.of_difference:  # psi is computed from the number of steps between record and theta
                step = (grids.prior.upper - grids.prior.lower) / (len(grids.thetas) - 1)
                value = grids.psi(0.0, np.array([(t - m_grid.FINER * i) * step]))
            else:
                value = grids.psi(x, theta)
            total += count * (int(grids.integers(value)[0]) - zero)
        found.append(total)
    return found


@each("prior", PRIORS, ids=lambda prior: prior.name)
@each("psi", PSIS, ids=lambda psi: type(psi).__name__)
def test_sums_are_sums_of_integers_over_the_records(psi, prior):
    grids = m_grid.PublicGrids(psi, prior, 6)
    counts = [3, 0, 1, 0, 7, 2]
    assert grids.sums(np.array(counts)).tolist() == slow_sums(grids, counts)


def largest_ratio(grids: m_grid.PublicGrids, numbers: tuple[int, ...], epsilon: float) -> Fraction:
    """Return the largest ratio of two probabilities of a cell, over all neighboring datasets of these numbers of records."""
    distributions, worst = {}, Fraction(0)
    for n in numbers:
        for counts in itertools.product(range(n + 1), repeat=grids.size):
            if sum(counts) == n:
                masses = [int(m) for m in grids.masses(np.array(counts), epsilon)]
                distributions[counts] = [Fraction(m, sum(masses)) for m in masses]
    for counts, distribution in distributions.items():
        for i, j in itertools.permutations(range(grids.size), 2):
            if counts[i]:
                other = list(counts)
                other[i], other[j] = other[i] - 1, other[j] + 1
                worst = max(worst, *(a / b for a, b in zip(distribution, distributions[tuple(other)], strict=True)))
    return worst


def assert_at_most(epsilon: float, ratio: Fraction) -> None:
    """Compare a ratio with e^epsilon, a decimal of 100 digits."""
    with decimal.localcontext(coin_integers.CONTEXT):
        allowed = Decimal(epsilon).exp()
    assert Decimal(ratio.numerator) <= allowed * Decimal(ratio.denominator)


@pytest.mark.claim("A released M-estimate loses at most epsilon.", "Trusted curator")
@each("prior", PRIORS, ids=lambda prior: prior.name)
@each("psi", PSIS, ids=lambda psi: type(psi).__name__)
@each("epsilon", [0.3, 2.0, 9.0])
def test_the_exact_law_of_all_neighboring_datasets(psi, prior, epsilon):
    """All datasets of 1 to 4 records on 4 points."""
    worst = largest_ratio(m_grid.PublicGrids(psi, prior, 4), (1, 2, 3, 4), epsilon)
    assert_at_most(epsilon, worst)
    assert worst > 1


@each("prior", PRIORS, ids=lambda prior: prior.name)
@each("name", LOOKING)
def test_the_loss_of_a_psi_that_looks_at_other_records(name, prior):
    """All datasets of 20 records on 3 points: up to 5 epsilon if psi gets an array that depends on them."""
    assert_at_most(1.0, largest_ratio(m_grid.PublicGrids(Custom(LOOKING[name], -1, 1), prior, 3), (20,), 1.0))


def test_the_weights_of_a_step_of_the_width_have_exactly_the_allowed_ratio():
    """A replaced record moves a distance by at most UNITS; a larger move, or a smaller ratio, would break the bound."""
    grids = m_grid.PublicGrids(Huber(0.3), PRIORS[0], 4)
    low, high = (grids.integers(grids.psi(0.0, np.array([d])))[0] for d in (-9.0, 9.0))
    assert (low, high) == (0, m_grid.UNITS)
    for epsilon in (0.01, 1.0, 30.0):
        table = m_grid.weights(epsilon * (2 / m_grid.LEVELS), 1 << 12)
        with decimal.localcontext(coin_integers.CONTEXT):
            half = (Decimal(epsilon) / 2).exp()
        for h in range(0, len(table) - m_grid.LEVELS, 37):
            ratio = Fraction(int(table[h]), int(table[h + m_grid.LEVELS]))
            assert Decimal(ratio.numerator) <= half * Decimal(ratio.denominator)
            if table[h + m_grid.LEVELS] > 1 << 40:
                one_more = Fraction(int(table[h]), int(table[h + m_grid.LEVELS + 1]))
                assert Decimal(one_more.numerator) > half * Decimal(one_more.denominator)


def test_draws_have_the_probabilities_of_the_masses():
    masses, stream = np.array([1, 0, 1 << 62, 3 << 60, 1 << 61], np.uint64), Stream(bytes(32))
    n = 4000
    counts = np.bincount([m_grid.draw(masses, stream) for _ in range(n)], minlength=5)
    expected = masses / masses.sum(dtype=float) * n
    assert counts[1] == 0
    assert ((counts - expected) ** 2 / np.maximum(expected, 1e-9))[2:].sum() < 30  # chi-squared, 2 degrees: 3e-7


@pytest.mark.long
@pytest.mark.parametrize("psi, least", [("huber", 1.05), ("logistic", 1.05), ("quantile", 1.05)])
def test_the_error_is_near_that_of_the_continuous_form(psi, least):
    """Root mean squared errors over 80 datasets, with a standard deviation of the ratio of about 5.5 %."""
    rng, n, errors = np.random.default_rng(1), 20_000, {"grid": 0.0, "continuous": 0.0}
    for i in range(80):
        x = rng.normal(0.123, 1, n)
        for method in errors:
            value = m_estimate(x, psi, epsilon=1.0, lower=-10, upper=10, method=method, allow_ideal=True, rng=i).value
            errors[method] += (value - 0.123) ** 2
    assert (errors["grid"] / errors["continuous"]) ** 0.5 < least + 0.16


@each("n", [1, 10, 1_000_000])
@each("psi", ["quantile", "huber", "logistic"])
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


@pytest.mark.parametrize("prior", ["uniform", "cauchy"])
def test_a_custom_psi_gets_the_same_arguments_for_all_records(prior):
    """Every call, in order: the points, their number and theta depend on the public arguments only."""

    def calls(x):
        seen = []

        def psi(x, theta):
            seen.append((x.copy(), theta))
            x[:] = np.clip(theta - x, -1, 1)  # the array is a copy, which may be changed
            return x

        arguments = {"epsilon": 1.0, "lower": 0, "upper": 3, "grid": 33, "prior": prior}
        value = m_estimate(x, Custom(psi, -1, 1), rng=1, **arguments).value
        expected = m_estimate(x, Custom(lambda x, t: np.clip(t - x, -1, 1), -1, 1), rng=1, **arguments).value
        assert value == expected
        return seen

    some, others = calls([0.0, 0.1, 3.0]), calls(np.random.default_rng(1).uniform(0, 3, 1000))
    assert len(some) == len(others)
    for (x, theta), (y, other) in zip(some, others, strict=True):
        assert theta == other
        np.testing.assert_array_equal(x, y)


@each("method", ["grid", "continuous"])
@each("name", LOOKING)
def test_a_custom_psi_that_looks_at_other_records_is_refused(name, method):
    psi = Custom(LOOKING[name], -1, 1)
    with pytest.raises(ValueError, match="psi must depend on each record by itself; at x = "):
        m_estimate([0.1, 0.7], psi, epsilon=1.0, lower=0, upper=1, method=method, allow_ideal=True)


def test_a_custom_psi_must_return_one_number_per_record():
    with pytest.raises(ValueError, match=r"psi must return one number per record, got shape \(1,\) for \(65,\)"):
        m_estimate([0.1], Custom(lambda x, theta: np.clip(theta - x[:1], -1, 1), -1, 1), epsilon=1.0, lower=0, upper=1)
    few = Custom(lambda x, theta: np.clip(theta - x[:65], -1, 1), -1, 1)  # right for the points of the check
    with pytest.raises(ValueError, match=r"psi must return one number per record, got shape \(65,\) for \(4096,\)"):
        m_estimate([0.1], few, epsilon=1.0, lower=0, upper=1)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda prior: prior.name)
def test_a_psi_that_is_not_a_number_is_refused_for_all_records(prior):
    """Whether there is a record at such a point makes no difference."""

    class Broken(Huber):
        def __call__(self, x, theta):
            values = super().__call__(x, theta)
            return np.where(values == values.max(), np.nan, values)

    grids = m_grid.PublicGrids(Broken(0.3), prior, 4)
    for counts in ([3, 0, 0, 0], [0, 0, 0, 3], [1, 1, 0, 1]):
        with pytest.raises(ValueError, match="psi must be numbers, got nan"):
            grids.sums(np.array(counts))
