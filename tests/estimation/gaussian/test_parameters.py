"""Parameters of `GaussianMean`."""

from __future__ import annotations

import math

import pytest

from ldpfast.estimation import GaussianMean

from ...support.cases import each
from ...support.errors import raises
from ...support.gaussian import SEED, make
from ...support.statistics import normal_margin

INVALID = [
    ({"epsilon": 0.0}, ValueError, "epsilon must be a finite number > 0, got 0.0"),
    ({"epsilon": -1}, ValueError, "epsilon must be a finite number > 0, got -1"),
    ({"epsilon": math.inf}, ValueError, "epsilon must be a finite number, got inf"),
    ({"epsilon": "1"}, TypeError, "epsilon must be a number, got str"),
    ({"sigma": 0.0}, ValueError, "sigma must be a finite number > 0, got 0.0"),
    ({"sigma": -2}, ValueError, "sigma must be a finite number > 0, got -2"),
    ({"sigma": math.nan}, ValueError, "sigma must be a finite number, got nan"),
    ({"sigma": None}, ValueError, "exactly one of sigma and sigma_bounds must be given"),
    ({"sigma_bounds": (1, 2)}, ValueError, "exactly one of sigma and sigma_bounds must be given"),
    ({"sigma": None, "sigma_bounds": (2, 1)}, ValueError, "sigma_bounds must be sigma_min <= sigma_max, got (2, 1)"),
    ({"sigma": None, "sigma_bounds": (0, 1)}, ValueError, "sigma_bounds must be a finite number > 0, got 0"),
    ({"sigma": None, "sigma_bounds": (1, math.inf)}, ValueError, "sigma_bounds must be a finite number, got inf"),
    ({"sigma": None, "sigma_bounds": 1}, TypeError, "sigma_bounds must be two numbers, sigma_min and sigma_max"),
    (
        {"sigma": None, "sigma_bounds": (1, 2, 3)},
        TypeError,
        "sigma_bounds must be two numbers, sigma_min and sigma_max",
    ),
    ({"mu_bound": 0}, ValueError, "mu_bound must be a finite number > 0, got 0"),
    ({"mu_bound": -1.0}, ValueError, "mu_bound must be a finite number > 0, got -1.0"),
    ({"mu_bound": math.inf}, ValueError, "mu_bound must be a finite number, got inf"),
    ({"beta": 0}, ValueError, "beta must be in (0, 1), got 0"),
    ({"beta": 1.0}, ValueError, "beta must be in (0, 1), got 1.0"),
    ({"rounds": 0}, ValueError, "rounds must be an integer in [1, 2], got 0"),
    ({"rounds": 3}, ValueError, "rounds must be an integer in [1, 2], got 3"),
    ({"rounds": 1.0}, TypeError, "rounds must be an integer, got float"),
    (
        {"method": "best"},
        ValueError,
        "method must be one of 'robust', 'paper', 'efficient', 'robust-pairs', 'efficient-pairs', got 'best'",
    ),
    (
        {"method": "efficient", "rounds": 1},
        ValueError,
        'rounds must be 2 for method="efficient": its questions need a center',
    ),
    ({"n": 0}, ValueError, "n must be an integer in [1, 9007199254740992], got 0"),
    ({"n": 2.0}, TypeError, "n must be an integer, got float"),
]


@each("given, kind, message", INVALID, ids=[case[-1] for case in INVALID])
def test_invalid_parameters_are_errors(given, kind, message):
    arguments = {"epsilon": 1.0, "sigma": 1.0, "mu_bound": 10.0, **given}
    with raises(kind, message):
        GaussianMean(**arguments)


@pytest.mark.parametrize("epsilon", [1e-20, 44.37, 60.0])
def test_epsilon_that_coins_cannot_certify_is_an_error(epsilon):
    with pytest.raises(ValueError, match=r"^epsilon must be within what exact coins can certify, got "):
        GaussianMean(epsilon, sigma=1.0, mu_bound=10.0)


@each(
    "scale, mu_bound",
    [
        ({"sigma": 1.0}, 1e18),
        ({"sigma": 1.0}, 1e308),
        ({"sigma": 1e-200}, 1e200),
        ({"sigma": 1e308}, 1.0),
        ({"sigma": 5e-324}, 1e-300),
        ({"sigma_bounds": (1e-200, 1e200)}, 1.0),
        ({"sigma_bounds": (1.0, 1e308)}, 1.0),
    ],
)
@each("method", ["robust", "paper", "efficient"])
def test_bounds_that_doubles_cannot_resolve_are_errors(method, scale, mu_bound):
    """Near means of 2^50 sigma the probabilities themselves have no accurate digits."""
    with pytest.raises(ValueError, match=r"^(mu_bound|sigma|sigma_bounds) must be "):
        GaussianMean(1.0, mu_bound=mu_bound, method=method, **scale)


@pytest.mark.parametrize("mu", [0.0, -3.7, 2.0**39 / 3, -(2.0**40) / 3])
def test_wide_bound_on_the_mean_works(mu):
    """A bound of 2^40 standard deviations: 42 levels."""
    estimate = GaussianMean(1.0, sigma=1.0, mu_bound=2.0**40).simulate(10**7, mu, 1.0, rng=SEED)
    assert abs(estimate.value - mu) < normal_margin() * estimate.stderr < 0.01
    assert estimate.goodness > 1e-6


def test_repr_can_be_evaluated(options):
    for more in (
        {},
        {"beta": 0.01, "method": "robust-pairs", "n": 12_345},
        {"epsilon": 0.1 + 0.2, "mu_bound": 1e3 / 3},
    ):
        server = make(options, **more)
        again = eval(repr(server), {"GaussianMean": GaussianMean})
        assert repr(again) == repr(server)
        assert again._parameters() == server._parameters()
