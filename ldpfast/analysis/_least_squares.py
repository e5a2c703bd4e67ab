"""Least squares on an answer that people have randomized, by unbiased estimates of its moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from .._typing import Floats
from ..designs import Sample
from ._likelihood import Likelihood
from ._model import robust_covariance
from ._sandwich import squared_scores


def least_squares(
    answers: Likelihood, decoding: Floats, y: Floats, kind: str, sample: Sample
) -> tuple[Floats, Floats, Floats] | None:
    """Return the coefficients of the covariates and of every category but the first, and their covariance.

    The third matrix is the covariance for people who are drawn one by one, for weights with mean 1.

    The decoded report d of a person has the indicators z of the true answer as its mean, whatever the covariates and the
    outcome are. So the sums of x x', x d', diag(d), x y and d y are unbiased for those of x x', x z', z z', x y and z y, of
    which least squares for a known answer consists.

    Parameters
    ----------
    answers : Likelihood
        Covariates, codes and weights.
    decoding : ndarray, shape (codes, k)
        Decoded reports.
    y : ndarray, shape (n,)
    kind : str
        Kind of the covariance matrix, as `read_cov_type` returns it.
    sample : Sample

    Returns
    -------
    found : three ndarray, or None
        None if there are too few people for the sums to be those of a regression.
    """
    classes, columns = answers.shape
    size, n = classes + columns, sample.n

    def solved(answers: Likelihood) -> tuple[Floats, Floats] | None:
        gram, right = np.zeros((size, size)), np.zeros(size)
        for part, x, w, d in _blocks(answers, decoding):
            inside = np.column_stack([x, d]) * w[:, np.newaxis]
            gram[:columns] += x.T @ inside
            gram[columns:, columns:] += np.diag(inside[:, columns:].sum(axis=0))
            right += inside.T @ y[part]
        gram[columns:, :columns] = gram[:columns, columns:].T
        if n <= size or np.linalg.eigvalsh(gram)[0] <= 0:
            return None
        return np.asarray(np.linalg.solve(gram, right), np.float64), np.asarray(np.linalg.inv(gram), np.float64)

    found = solved(answers)
    if found is None:
        return None
    params, bread = found

    def scores() -> Iterator[tuple[slice, Floats]]:
        for part, x, w, d in _blocks(answers, decoding):
            error = y[part] - x @ params[:columns] - d @ params[columns:]
            own = d * (y[part] - x @ params[:columns])[:, np.newaxis] - d * params[columns:]
            yield part, np.column_stack([x * error[:, np.newaxis], own]) * w[:, np.newaxis]

    def refit(weights: Floats) -> Floats:
        again = solved(replace(answers, weights=weights))
        if again is None:
            raise ValueError("replicate_weights must leave enough people, got a replicate with too few for the moments")
        return again[0]

    cov = robust_covariance(kind, bread, scores(), sample, size, refit, params)[0]
    plain = bread @ squared_scores(scores(), size, answers.weights) @ bread
    return params, cov * ((n - 1) / (n - size) if kind == "cluster" else 1.0), plain


def _blocks(answers: Likelihood, decoding: Floats) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
    """Yield the places, covariates, weights and decoded reports of people, without those of the first category."""
    for part in answers.rows.parts():
        yield part, answers.rows.block(part), answers.weights_of(part), decoding[answers.codes[part], 1:]
