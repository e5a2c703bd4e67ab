"""Private Hessians: their entries, the bound of their length, and what is made of reports."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit

from ldpfast.mechanisms import Gradient, Hessian

from ..support.cases import each
from ..support.statistics import normal_margin

FAMILIES = [("logistic", None), ("logistic", 0.4), ("linear", 0.7), ("poisson", 1.5)]


def direct(question, record):
    """The Hessian of one record from the definition."""
    row, y = record[:-1].astype(float), record[-1]
    if question.norm == "l2":
        row = row * min(1.0, question.radius / max(np.linalg.norm(row), 1e-300))
    else:
        row = np.clip(row, -question.radius, question.radius)
    if question.column > 0:
        row = np.append(row, question.column)
    z = row @ np.array(question.position)
    fitted = {"logistic": expit(z), "linear": z, "poisson": np.exp(z)}[question.family]
    weight = {"logistic": fitted * (1 - fitted), "linear": 1.0, "poisson": fitted}[question.family]
    if question.family == "poisson":
        weight = min(weight, max(question.residual, 3.0))
    if question.residual is not None and abs(fitted - y) >= question.residual:
        weight = 0.0
    return weight * np.outer(row, row)


def records_of(family, features, n, rng):
    y = {"logistic": rng.integers(0, 2, n), "linear": rng.normal(size=n), "poisson": rng.poisson(1.0, n)}[family]
    return np.column_stack([rng.normal(size=(n, features)), y])


@each("column", [0.0, 0.3, 4.0])
@each("norm", ["l2", "linf"])
@each("features", [1, 2, 5])
@each("family, residual", FAMILIES)
def test_the_matrix_of_the_encoded_record_is_the_hessian(family, residual, features, norm, column):
    rng = np.random.default_rng(features)
    position = tuple(rng.normal(size=features + (column > 0)).tolist())
    question = Hessian(family, position, 1.0, norm=norm, radius=1.3, column=column, residual=residual)
    records = records_of(family, features, 50, rng)
    encoded = question.encode(records)
    for record, entries in zip(records, encoded, strict=True):
        np.testing.assert_allclose(question.matrix(entries), direct(question, record), rtol=1e-12, atol=1e-14)
    assert question.ball.dim == (features + (column > 0)) * (features + (column > 0) + 1) // 2


@each("column", [0.0, 0.3, 4.0])
@each("norm", ["l2", "linf"])
@each("dim", [1, 2, 3, 6])
@each("family, residual", FAMILIES)
def test_encoded_records_are_in_the_ball_and_reach_its_border(family, residual, dim, norm, column):
    """Rows of every length and the largest weight. A radius smaller by 5 % would be exceeded, so the bound is used."""
    rng = np.random.default_rng(dim)
    question = Hessian(
        family, (0.0,) * (dim + (column > 0)), 1.0, norm=norm, radius=1.0, column=column, residual=residual
    )
    records = records_of(family, dim, 4000, rng)
    lengths = rng.choice([0.0, 1e-3, 1.0, 5.0, 1e20], (4000, 1))
    records[:, :-1] *= lengths
    records[:, -1] = {"logistic": 1.0, "linear": 0.0, "poisson": 1.0}[family]
    if family == "logistic" and residual is not None:
        records[:, -1] = 0.5  # not a label, but within the residual: the largest weight
    encoded = question.encode(records)
    length = np.linalg.norm(encoded, axis=1) if norm == "l2" else np.abs(encoded).max(axis=1)
    bound = question.ball.radius
    assert length.max() <= bound * (1 + 1e-12)
    reaches = 0.95 if family != "poisson" else 0.3  # the weight of a count is the fitted mean, 1 of 3 at this position
    assert length.max() >= reaches * bound


@pytest.mark.parametrize("noise", ["half-space", "laplace"])
@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_the_mean_of_reports_is_the_hessian_with_the_stated_variances(norm, noise):
    """Normal limits for 200,000 reports. Variances within 3 %, of which the Hessian is at most 1 %."""
    question = Hessian("logistic", (0.5, -0.2, 0.3), 1.0, norm=norm, radius=1.0, column=0.8, noise=noise)
    rng, n = np.random.default_rng(1), 200_000
    records = np.column_stack([rng.uniform(-1, 1, (n, 2)), rng.integers(0, 2, n)])
    decoded = question.decode(question.privatize(records, rng=1))
    found, truth = question.matrix(decoded.mean(axis=0)), question.matrix(question.encode(records).mean(axis=0))
    assert (np.abs(found - truth) <= normal_margin(found.size) * np.sqrt(question.variances / n)).all()
    spread = (decoded / question._factors).var(axis=0)
    np.testing.assert_allclose(question._symmetric(spread), question.variances, rtol=0.03)


@pytest.mark.parametrize("norm", ["l2", "linf"])
def test_the_column_of_the_intercept_adds_as_much_noise_as_a_feature(norm):
    """Its value does not matter: it is scaled before."""
    one, other = (Hessian("logistic", (0.0,) * 5, 1.0, norm=norm, radius=2.0, column=column) for column in (0.1, 50.0))
    assert one.ball == other.ball
    square = 4.0 * (1 + 1 / 4) if norm == "l2" else 4.0
    largest = {"l2": 0.25 * square * math.sqrt(1 - 1 / 5), "linf": 0.25 * square}[norm]
    assert one.ball.radius == pytest.approx(largest, rel=1e-12)


def test_the_guarantee_is_that_of_a_gradient():
    for epsilon in (0.1, 1.0, 8.0):
        question = Hessian("logistic", (0.0,), epsilon)
        assert (
            question.epsilon_realized
            == Gradient("logistic", (0.0,), epsilon).epsilon_realized
            == (question.ball.epsilon_realized)
        )


def test_any_record_is_answered_in_the_ball():
    """Not a number, infinite and huge records, as a client with `clip` has them."""
    question = Hessian("poisson", (1e9, 2.0), 1.0, norm="l2", radius=1.0, column=0.5, residual=2.0)
    records = np.array([[math.nan, 1.0], [math.inf, 0.0], [1e300, 1e300], [-1e300, math.nan], [0.0, -5.0]])
    encoded = question.encode(records)
    assert np.isfinite(encoded).all()
    assert (np.linalg.norm(encoded, axis=1) <= question.ball.radius * (1 + 1e-12)).all()


def test_too_many_coefficients_are_refused():
    with pytest.raises(ValueError, match=r"^position must hold at most 512 coefficients for a Hessian, got 513$"):
        Hessian("logistic", (0.0,) * 513, 1.0)


def test_poisson_weights_are_the_derivative_of_the_mean_gradient():
    """The derivative of E clip(mean - y) with respect to the predictor, for means up to the cap."""
    from scipy.stats import poisson

    y, h = np.arange(60.0), 1e-6
    for residual, mean in ((3.0, 2.3), (1.0, 2.7), (8.0, 7.4)):
        p = poisson.pmf(y, 2.0)
        slope = [(np.clip(mean * np.exp(s * h) - y, -residual, residual) * p).sum() for s in (1, -1)]
        question = Hessian("poisson", (0.0,), 1.0, residual=residual)
        weights = question._weights(np.full(60, np.log(mean)), y)
        assert (weights * p).sum() == pytest.approx((slope[0] - slope[1]) / (2 * h), rel=1e-3)
