"""Mean of normal records with known deviation near a known center: variance per person of the sign, of the best channel on
twelve bins, and its lower bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import linprog

import ldpfast as ldp
from ldpfast import bounds
from ldpfast.reports import recipe_of

from ..support.cases import each

TABLE = [  # epsilon, sign with randomized response, best channel on 12 bins, lower bound
    (0.5, "26.19", "26.19", "24.62"),
    (1.0, "7.356", "7.356", "5.785"),
    (2.0, "2.708", "2.708", "1.724"),
    (3.0, "1.917", "1.688", "1.221"),
    (4.0, "1.690", "1.333", "1.076"),
]


def best_information(epsilon: float, bins: int) -> float:
    """Return the largest Fisher information of an epsilon-LDP channel on bins of equal probability.

    The information is linear in the weights of the columns, and columns with entries 1 and e^epsilon are enough.
    """
    cuts = stats.norm.ppf(np.arange(bins + 1) / bins)
    probability, score = np.diff(stats.norm.cdf(cuts)), -np.diff(stats.norm.pdf(cuts))
    columns = 1 + math.expm1(epsilon) * (np.arange(1, 2**bins - 1)[:, np.newaxis] >> np.arange(bins) & 1)
    information = (columns @ score) ** 2 / (columns @ probability)
    found = linprog(-information, A_eq=columns.T, b_eq=np.ones(bins), method="highs")
    return float(-found.fun)


def bit_variance(epsilon: float) -> float:
    """Return the variance per person from one threshold bit at the mean, from the integers of its coin."""
    p = float(recipe_of(ldp.Bins((0.0,), epsilon)).coin.p)
    slope = (2 * p - 1) * stats.norm.pdf(0)
    return 0.25 / slope**2


@each("epsilon, sign, best, lower", TABLE)
def test_the_table_of_the_normal_mean(epsilon, sign, best, lower):
    contraction, excess = float(bounds.methods.tv_contraction(epsilon, tv=1)), 4 * math.sinh(epsilon / 2) ** 2
    bit = bit_variance(epsilon)
    channel = 1 / best_information(epsilon, 12)
    bound = 1 / min(contraction**2, excess / (2 * math.pi))  # E s^2 = 1 and (E|s| / 2)^2 = 1 / (2 pi)
    assert [f"{x:.4g}" for x in (bit, channel, bound)] == [f"{float(x):.4g}" for x in (sign, best, lower)]
    assert bound <= channel <= bit * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_the_sign_bit_of_the_library_has_the_variance_of_the_table(epsilon):
    assert bit_variance(epsilon) == pytest.approx(math.pi / 2 / math.tanh(epsilon / 2) ** 2, rel=1e-5)
