"""Least squares on an answer that people have randomized, by unbiased estimates of its moments."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .._typing import AnyArray, Floats
from ._likelihood import Likelihood
from ._sandwich import squared_scores


def least_squares(
    answers: Likelihood, decoding: Floats, y: Floats, clusters: AnyArray | None, people: int
) -> tuple[Floats, Floats] | None:
    """Return the coefficients of the covariates and of every category but the first, and their covariance.

    The decoded report d of a person has the indicators z of the true answer as its mean, whatever the covariates and the
    outcome are. So the sums of x x', x d', diag(d), x y and d y are unbiased for those of x x', x z', z z', x y and z y, of
    which least squares for a known answer consists. The covariance is HC1, or that of clusters.

    Parameters
    ----------
    answers : Likelihood
        Covariates, codes and weights.
    decoding : ndarray, shape (codes, k)
        Decoded reports.
    y : ndarray, shape (n,)
    clusters : ndarray of int, shape (n,), or None
    people : int
        Number of people with positive weights.

    Returns
    -------
    found : pair of ndarray, or None
        None if there are too few people for the sums to be those of a regression.
    """
    classes, columns = answers.shape
    size, n = classes + columns, people
    gram, right = np.zeros((size, size)), np.zeros(size)
    for part, x, w, d in _blocks(answers, decoding):
        inside = np.column_stack([x, d]) * w[:, np.newaxis]
        gram[:columns] += x.T @ inside
        gram[columns:, columns:] += np.diag(inside[:, columns:].sum(axis=0))
        right += inside.T @ y[part]
    gram[columns:, :columns] = gram[:columns, columns:].T
    if n <= size or np.linalg.eigvalsh(gram)[0] <= 0:
        return None
    params, bread = (np.asarray(x, np.float64) for x in (np.linalg.solve(gram, right), np.linalg.inv(gram)))

    def scores() -> Iterator[tuple[slice, Floats]]:
        for part, x, w, d in _blocks(answers, decoding):
            error = y[part] - x @ params[:columns] - d @ params[columns:]
            own = d * (y[part] - x @ params[:columns])[:, np.newaxis] - d * params[columns:]
            yield part, np.column_stack([x * error[:, np.newaxis], own]) * w[:, np.newaxis]

    factor = (n if clusters is None else n - 1) / (n - size)
    return params, bread @ squared_scores(scores(), size, clusters) @ bread * factor


def _blocks(answers: Likelihood, decoding: Floats) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
    """Yield the places, covariates, weights and decoded reports of people, without those of the first category."""
    for part in answers.rows.parts():
        yield part, answers.rows.block(part), answers.weights_of(part), decoding[answers.codes[part], 1:]
