"""Bounds of the mean of vectors, from a private release."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ldpfast import bounds, central

from ..support.cases import each
from ..support.problems import definition


def test_lower_bound_constants():
    """The lower bound times (n epsilon)^2 if privacy dominates the error, and times n if sampling does."""
    n, a, big = 1000.0, 1e-2, 1e9
    tv = bounds.central_mean(n, 1, moment=math.inf, privacy="tv", epsilon=a)
    assert tv.lower * (n * a) ** 2 == pytest.approx(0.148, abs=2e-3)
    pure = bounds.central_mean(n, 1, moment=math.inf, privacy="pure", epsilon=a)
    assert pure.lower * (n * a) ** 2 == pytest.approx(0.965, abs=1e-2)
    sampling = bounds.central_mean(big, 1, moment=math.inf, privacy="pure", epsilon=50)
    assert sampling.lower * big == pytest.approx(0.207, abs=1e-3)


@each("epsilon, delta", [(1e-3, 1e-2), (1e-4, 1e-3), (0.5, 1e-5)])
@each("dim", [1, 3])
def test_the_upper_bound_is_near_the_stated_risk(epsilon, delta, dim):
    """For bounded rows, the risk has only terms for noise and sampling, even for delta far above epsilon."""
    n = 10_000
    upper = bounds.central_mean(n, dim, moment=math.inf, privacy="approximate", epsilon=epsilon, delta=delta).upper
    x = np.zeros(n) if dim == 1 else np.zeros((n, dim))
    risk = central.mean(x, privacy="approximate", epsilon=epsilon, delta=delta, moment=math.inf, radius=1.0, rng=1).risk
    assert min(risk, 1.0) <= upper * (1 + 1e-9) <= 1.01 * risk


def test_the_published_lower_bound_exceeds_the_error_of_the_answer_zero():
    """Proposition 2 lacks a minimum with 1."""
    published = bounds.central_mean(100, 1, moment=math.inf, privacy="tv", epsilon=1e-3, method="paper")
    assert published.lower == pytest.approx(1.5625)
    assert published.lower > published.upper == 1.0
    assert bounds.central_mean(100, 1, moment=math.inf, privacy="tv", epsilon=1e-3).lower <= 1


def test_the_tv_lower_bound_is_below_the_error_of_released_records_in_every_dimension():
    """The release of floor(n epsilon) random records is TV private, with risk r^2 / floor(n epsilon).

    The lower bound has the same order for a second moment.
    """
    for dim in (1, 10, 1000):
        lower = bounds.central_mean(10_000, dim, moment=2.0, privacy="tv", epsilon=0.01).lower
        assert lower <= 1 / 100
        assert lower >= 0.04 / 100


@pytest.mark.parametrize("moment", [1.2, 1.7])
def test_risks_include_the_variance_of_rare_records_with_a_moment_below_2(moment):
    """With E|X|^k = 1 and k < 2 the sampling error can exceed 1 / n, if the record is p^(-1/k) with probability p.

    The record at the truncation radius has the largest variance. The risk is the bound of this variance, level^(2 - k), over n,
    plus noise and squared bias.
    """
    n, epsilon = 10_000, 1.0
    options = {"privacy": "pure", "epsilon": epsilon, "moment": moment, "radius": 1.0}
    released = central.mean(np.zeros(n), rng=1, **options)
    p = released.level**-moment
    error = (p * released.level**2 - (p * released.level) ** 2) / n
    assert error > 2 / n
    bias = (moment - 1) ** (moment - 1) / moment**moment * released.level ** (1 - moment)
    sampling = released.risk - released.noise**2 - bias**2
    assert error <= sampling == pytest.approx(released.level ** (2 - moment) / n)
    best = bounds.central_mean(n, 1, **options)
    assert error <= best.upper * 1.5
    assert best.nonprivate > 1 / n


def test_table_1():
    table = {
        privacy: bounds.central_mean(
            [100, 10_000], 5, moment=3, radius=2.0, privacy=privacy, epsilon=0.3,
            delta=1e-6 if privacy == "approximate" else 0.0,
        )
        for privacy in ("pure", "smooth", "approximate", "kl", "tv")
    }  # fmt: skip
    for row in table.values():
        assert (row.lower < row.upper).all()
    np.testing.assert_array_equal(table["pure"].upper, table["smooth"].upper)
    u = {
        "pure": (5 / 3000) ** 2,
        "approximate": 5 * math.log(1e6) / 3000**2,
        "kl": 5 / 1e8 / 0.3,
        "tv": 5 / 3000**2,
    }
    for name, value in u.items():
        assert table[name].rate[1] == pytest.approx(4 * (value ** (2 / 3) + 1e-4))
    paper = bounds.central_mean(10_000, 5, moment=3, privacy="pure", epsilon=0.3, method="paper")
    assert paper.lower == pytest.approx((2.2 / 3000) ** (4 / 3) / 32)


def test_the_lower_bound_of_approximate_privacy_is_at_most_that_of_pure_privacy():
    for dim in (1, 30):
        pure = bounds.central_mean(1000, dim, moment=4, privacy="pure", epsilon=0.5).lower
        weaker = [
            bounds.central_mean(1000, dim, moment=4, privacy="approximate", epsilon=0.5, delta=delta).lower
            for delta in (1e-12, 1e-6, 1e-3, 0.5)
        ]
        assert weaker == sorted(weaker, reverse=True)
        assert weaker[0] <= pure * (1 + 1e-9)


@pytest.mark.long
@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("privacy", ["pure", "smooth", "kl", "tv", "approximate"])
def test_the_private_mean_errs_between_the_bounds(privacy, dim):
    """Mean squared error of 700 private means of 50 people at -1 or 1 on one axis.

    The relative standard deviation of the mean of squares is below 0.1; the margin is five of them.
    """
    rng, n, runs = np.random.default_rng(10), 50, 700
    fixed = definition(privacy, 0.8)
    bound = bounds.central_mean(n, dim, moment=math.inf, **fixed)
    records = rng.choice([-1.0, 1.0], (runs, n, 1)) * np.eye(dim)[0]
    errors = [np.sum(central.mean(x, **fixed, moment=math.inf, radius=1.0, rng=rng).value ** 2) for x in records]
    assert bound.lower < np.mean(errors) < bound.upper * 1.5
    assert np.mean(errors) > bound.upper / 2


def test_a_vacuous_lower_bound_gives_the_reason():
    found = bounds.central_mean(100, 1, moment=2, privacy="pure", epsilon=0.1, method="paper")
    assert found.source.endswith("epsilon < d / 2")


@each(
    "call, message",
    [
        (
            lambda: bounds.central_mean(9, 1, moment=2, privacy="local", epsilon=1),
            r"^privacy must be one of 'pure', 'smooth'",
        ),
        (
            lambda: bounds.central_mean(9, 1, moment=2, privacy="tv", epsilon=2),
            r"needs epsilon <= 1 for tv privacy, got epsilon=2$",
        ),
        (
            lambda: bounds.central_mean(9, 1, moment=2, privacy="approximate", epsilon=1),
            r"needs 0 < delta < 1 for approximate privacy",
        ),
        (
            lambda: bounds.central_mean(9, 1, moment=2, privacy="pure", epsilon=1, delta=0.1),
            r"needs delta = 0 for pure privacy",
        ),
        (
            lambda: bounds.central_mean(9, 1, moment=1, privacy="pure", epsilon=1),
            r"Propositions 2 and 4, needs a moment > 1",
        ),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ValueError, match=message):
        call()
