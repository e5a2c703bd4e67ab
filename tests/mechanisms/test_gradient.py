"""Private gradients: the gradient against the reference, and the one sign that depends on the record."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ldpfast.mechanisms import Gradient, Query

from ..support import reference
from ..support.cases import each
from ..support.internals.shared import coin_integers
from ..support.regression import random_examples

# The gradient ---------------------------------------------------------------------------------------------------------


@each("dtype", [np.float32, np.float64])
@each("norm", ["l2", "linf"])
@each("features, column", [(1, 0.0), (3, 0.7), (31, 1.0), (32, 1.0), (33, 0.0), (100, 0.5)])
@each("family", ["logistic", "linear", "poisson"])
def test_gradients_equal_the_reference(isa, family, features, column, norm, dtype):
    """Sums of up to 101 products of doubles; each number of a gradient is rounded to single precision twice."""
    x, y = random_examples(family, 20, features, dtype)
    position = np.random.default_rng(features).normal(size=features + (column > 0))
    question = Gradient(
        family,
        tuple(position.tolist()),
        1.0,
        norm=norm,
        radius=0.9,
        column=column,
        residual=None if family == "logistic" else 1.5,
    )
    records = np.column_stack([x, y]).astype(dtype)
    expected = [reference.glm_gradient(question, position, *row) for row in zip(x, y, strict=True)]
    got = question.encode(records)
    assert got.dtype == dtype
    np.testing.assert_allclose(got, expected, rtol=2.0**-22, atol=1e-12)
    bound = question.ball.radius * (1 + 2.0**-20)
    assert np.linalg.norm(got.astype(float), np.inf if norm == "linf" else 2, axis=1).max() <= bound


# Privacy --------------------------------------------------------------------------------------------------------------

EXTREMES = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.0, 0.3, -0.7]


@pytest.mark.filterwarnings("ignore:.* had NaN:ldpfast.ClippedWarning")
@each("dtype", [np.float32, np.float64])
@each("norm", ["l2", "linf"])
@each("family", ["logistic", "linear", "poisson"])
def test_reports_of_two_records_are_equal_or_opposite(family, norm, dtype):
    """Under one key the reports of any two people are equal or opposite, for all rows and responses.

    So the probability of a report is between 1 - p and p times that of its direction, where p is the coin of the ball.
    """
    residual = None if family == "logistic" else 1.0
    query = Query(0, Gradient(family, (0.5, -2.0, 1e9), 1.0, norm=norm, radius=1.0, column=0.5, residual=residual))
    assert (
        query.mechanism.epsilon_realized
        == query.mechanism.ball.epsilon_realized
        == coin_integers.binary(1.0).epsilon_realized
    )
    assert query.mechanism.ball._recipe.coin.heads == coin_integers.binary(1.0).heads
    signs = set()
    with np.errstate(over="ignore"):
        records = np.array(list(itertools.product(EXTREMES, EXTREMES, EXTREMES))).astype(dtype)
    first = query.mechanism.decode(query.privatize(records[0], rng=5))
    for record in records:
        report = query.mechanism.decode(query.privatize(record, rng=5))
        sign = np.sign(report[0] * first[0])
        np.testing.assert_array_equal(report, sign * first)
        signs.add(sign)
    assert signs == {1.0, -1.0}
