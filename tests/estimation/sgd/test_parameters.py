"""Invalid parameters of the protocols of stochastic gradient descent, and of the gradient mechanism."""

from __future__ import annotations

import math

from ldpfast.estimation import GradientDescent, MedianSGD
from ldpfast.mechanisms import Gradient

from ...support.cases import each
from ...support.errors import raises

INVALID = [
    (MedianSGD, (0.0,), {"lower": 0, "upper": 1}, "epsilon must be a finite number > 0, got 0.0"),
    (MedianSGD, (1.0,), {"lower": 1, "upper": 1}, "lower and upper must be finite with lower < upper, got 1 and 1"),
    (MedianSGD, (1.0,), {"lower": 0, "upper": math.inf}, "upper must be a finite number, got inf"),
    (MedianSGD, (1.0,), {"lower": 0, "upper": 1, "quantile": 0}, "quantile must be in (0, 1), got 0"),
    (MedianSGD, (1.0,), {"lower": 0, "upper": 1, "quantile": 1.0}, "quantile must be in (0, 1), got 1.0"),
    (MedianSGD, (1.0,), {"lower": 0, "upper": 1, "n": 0}, "n must be an integer in [1, 9007199254740992], got 0"),
    (Gradient, ("normal", (0.0,), 1.0), {}, "family must be one of 'logistic', 'linear', 'poisson', got 'normal'"),
    (Gradient, ("logistic", (0.0,), 1.0), {"norm": "l1"}, "norm must be one of 'l2', 'linf', got 'l1'"),
    (
        Gradient,
        ("logistic", (0.0,), 1.0),
        {"noise": ""},
        "noise must be one of 'auto', 'half-space', 'laplace', got ''",
    ),
    (Gradient, ("logistic", 0.0, 1.0), {}, "position must have shape (dim,), got shape ()"),
    (Gradient, ("logistic", ((0.0,),), 1.0), {}, "position must have shape (dim,), got shape (1, 1)"),
    (Gradient, ("logistic", (math.nan,), 1.0), {}, "position must be a finite number, got nan"),
    (Gradient, ("logistic", (), 1.0), {}, "position must hold at least 1 coefficient beside the intercept, got 0"),
    (
        Gradient,
        ("logistic", (0.0,), 1.0),
        {"column": 1.0},
        "position must hold at least 1 coefficient beside the intercept, got 1",
    ),
    (Gradient, ("logistic", (0.0,), 1.0), {"column": -1.0}, "column must be 0 or in [1e-15, 1e15], got -1.0"),
    (Gradient, ("logistic", (0.0,), 1.0), {"radius": 0}, "radius must be a finite number > 0, got 0"),
    (
        Gradient,
        ("linear", (0.0,), 1.0),
        {},
        "residual must be given for the family 'linear', whose residuals have no bound",
    ),
    (Gradient, ("poisson", (0.0,), 1.0), {"residual": -1}, "residual must be a finite number > 0, got -1"),
    (GradientDescent, ("logistic", 0, 1.0), {}, "features must be an integer in [1, 262144], got 0"),
    (GradientDescent, ("logistic", 1, 1.0), {"exponent": 0.5}, "exponent must be in (1/2, 1), got 0.5"),
    (GradientDescent, ("logistic", 1, 1.0), {"exponent": 1}, "exponent must be in (1/2, 1), got 1"),
    (GradientDescent, ("logistic", 1, 1.0), {"eta0": 0}, "eta0 must be a finite number > 0, got 0"),
    (GradientDescent, ("logistic", 1, 1.0), {"projection": 0}, "projection must be a finite number > 0, got 0"),
    (
        GradientDescent,
        ("logistic", 1, 1.0),
        {"covariance": "no"},
        "covariance must be one of 'diagonal', 'full', 'none', got 'no'",
    ),
]


@each("kind, arguments, options, message", INVALID, ids=[case[-1] for case in INVALID])
def test_invalid_parameters_are_errors(kind, arguments, options, message):
    with raises(ValueError, message):
        kind(*arguments, **options)
