"""The sums of a likelihood over people, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from ..support.cases import each
from ..support.internals.kernels import logit


def reference(x, codes, table, weights, params, observed):
    """Return the log-likelihood, its gradient, and the information."""
    odds = np.column_stack([np.zeros(len(x)), x @ params.T])
    shares = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    seen = (shares * table[:, codes].T).sum(axis=1)
    after = shares * table[:, codes].T / seen[:, np.newaxis]
    score = np.einsum("i,iy,ij->yj", weights, (after - shares)[:, 1:], x)
    if observed:
        factor = np.einsum("iy,iz->iyz", after, after) - np.einsum("iy,iz->iyz", shares, shares)
        factor += np.einsum("iy,yz->iyz", shares - after, np.eye(len(table)))
    else:
        inverse = 1 / (shares @ table)
        factor = np.einsum("iy,iz,iyz->iyz", shares, shares, np.einsum("yc,zc,ic->iyz", table, table, inverse) - 1)
    information = np.einsum("i,iyz,ij,il->yjzl", weights, factor[:, 1:, 1:], x, x)
    return weights @ np.log(seen), score.ravel(), information.reshape(params.size, params.size)


@pytest.mark.parametrize("categories", [2, 4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_are_those_of_numpy(categories, dtype):
    rng = np.random.default_rng(1)
    table = rng.dirichlet(np.ones(5), categories)
    wide = rng.normal(size=(2, 60, 6)).astype(dtype)
    shift, scale = rng.normal(size=3), rng.uniform(0.5, 2, 3)
    for intercept in (True, False):
        columns, rows = 3 + intercept, wide[1, ::2, ::2]  # strided, as columns of a larger array are
        params, codes, weights = rng.normal(size=(categories - 1, columns)), rng.integers(0, 5, 30), rng.random(30)
        x = (rows.astype(float) - shift) / scale
        x = np.column_stack([np.ones(30), x]) if intercept else x
        for given in (None, weights):
            for observed in (True, False):
                size = params.size
                score, found = np.zeros(size), np.zeros((size, size))
                arguments = (rows, shift, scale, intercept, codes, table, given, params, observed, score, found)
                value = logit.sums(*arguments)
                w = np.ones(30) if given is None else given
                expected = reference(x, codes, table, w, params, observed)
                assert value == pytest.approx(expected[0], rel=1e-12)
                np.testing.assert_allclose(score, expected[1], rtol=1e-9, atol=1e-12)
                blocks = np.tril(np.ones((columns, columns)))
                written = np.kron(np.tril(np.ones((categories - 1, categories - 1))), blocks) > 0
                np.testing.assert_allclose(found[written], expected[2][written], rtol=1e-9, atol=1e-12)
                assert not found[~written].any()
                logit.sums(*arguments)  # it adds
                np.testing.assert_allclose(score, 2 * expected[1], rtol=1e-9, atol=1e-12)


def test_codes_without_a_probability_and_large_odds_are_finite():
    table, params = np.array([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]), np.array([[800.0]])
    for observed in (True, False):
        score, information = np.zeros(1), np.zeros((1, 1))
        rows = np.array([[1.0], [-1.0]])
        value = logit.sums(
            rows, np.zeros(1), np.ones(1), False, np.array([0, 1]), table, None, params, observed, score, information
        )
        assert np.isfinite([value, score[0], information[0, 0]]).all()


@each(
    "place, wrong, message",
    [
        (1, np.zeros(2), "a shift and a scale for each column"),
        (4, np.array([0, 1]), "a code and a weight for each row"),
        (4, np.array([0, 2, 0]), "a code is outside of the table"),
        (4, np.array([0, -1, 0]), "a code is outside of the table"),
        (6, np.ones(2), "a code and a weight for each row"),
        (7, np.zeros((2, 1)), "coefficients of each category and column"),
        (7, np.zeros((1, 2)), "coefficients of each category and column"),
        (9, np.zeros(2), "score and information must have the coefficients"),
        (10, np.zeros((1, 2)), "score and information must have the coefficients"),
    ],
)
def test_wrong_shapes_are_refused(place, wrong, message):
    arguments = [
        np.zeros((3, 1)),
        np.zeros(1),
        np.ones(1),
        False,
        np.zeros(3, int),
        np.full((2, 2), 0.5),
        None,
        np.zeros((1, 1)),
        True,
        np.zeros(1),
        np.zeros((1, 1)),
    ]
    logit.sums(*arguments)
    arguments[place] = wrong
    with pytest.raises(ValueError, match=message):
        logit.sums(*arguments)
