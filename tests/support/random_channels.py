"""Random private channels and exact Bayes risks of small problems."""

from __future__ import annotations

import itertools

import numpy as np


def random_channel(rng, epsilon, inputs):
    """Return a random channel with columns of 1 and e^epsilon.

    It is a mixture of k-ary responses on random groups of inputs and of subset selections.
    """

    def part():
        if rng.random() < 0.4:
            size = rng.integers(1, inputs)
            subsets = np.array(list(itertools.combinations(range(inputs), size)))
            member = np.zeros((inputs, len(subsets)))
            member[subsets.T, np.arange(len(subsets))] = 1
            weights = np.exp(epsilon * member)
        else:
            groups = rng.integers(0, rng.integers(2, inputs + 1), inputs)
            weights = np.exp(epsilon * (groups[:, None] == np.arange(inputs)))
        return weights / weights.sum(axis=1, keepdims=True)

    shares = rng.dirichlet(np.ones(rng.integers(1, 4)))
    return np.concatenate([share * part() for share in shares], axis=1)


def random_distribution(rng, symbols):
    """Return a random distribution, which can be sparse."""
    return rng.dirichlet(np.full(symbols, rng.choice([0.2, 1.0, 5.0])))


def divergences(p, q):
    """Return TV, KL, chi-square and squared Hellinger of distributions without zeros."""
    return np.abs(p - q).sum() / 2, (p * np.log(p / q)).sum(), ((p - q) ** 2 / q).sum(), ((p**0.5 - q**0.5) ** 2).sum()


def product_distribution(rows, n):
    """Return the distribution of n independent draws from each row."""
    product = rows
    for _ in range(n - 1):
        product = (product[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    return product


def bayes_risk(distributions, parameters):
    """Return the Bayes risk under squared error, with a uniform prior on the hypotheses."""
    weight = distributions / len(distributions)
    total = weight.sum(axis=0)
    means = weight.T @ parameters / total[:, None]
    return float((weight @ np.ones_like(total) @ (parameters**2).sum(axis=1)) - (total * (means**2).sum(axis=1)).sum())
