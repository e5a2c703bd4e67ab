"""People with covariates and an answer that they randomize."""

from __future__ import annotations

import numpy as np

from ldpfast import designs

FORCED = designs.forced_response("1/6", "1/6")
PLAIN = designs.forced_response("1/1000000000", "1/1000000000")  # nearly direct answers
THREE = [[6, 1, 1], [1, 6, 1], [1, 1, 6]]
PLAIN_THREE = [[10**9, 1, 1], [1, 10**9, 1], [1, 1, 10**9]]


def logistic(z):
    """Return the probability with log-odds z."""
    return 1 / (1 + np.exp(-z))


def binary(n, slopes, design, seed=1, const=-0.3):
    """Return covariates and randomized answers of a logit model."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, len(slopes)))
    truth = rng.random(n) < logistic(const + x @ slopes)
    return x, design.channel.privatize(truth.astype(int), rng=seed).astype(int)
