"""Formulas that several bounds use, against brute force."""

from __future__ import annotations

import itertools
import math
from functools import partial

import numpy as np
import pytest
from scipy import optimize

from ldpfast import bounds
from ldpfast._formulas import half_space_constants
from ldpfast.mechanisms._half_space import half_space_constant

from ..support.cases import each
from ..support.internals.bounds import forward_factor, tools
from ..support.random_channels import random_channel


def test_half_space_constants_of_arrays():
    dims = np.array([1, 2, 3, 4, 10, 199, 200, 399, 400, 401, 402, 403, 1000, 1001, 10**7, 10**7 + 1])
    np.testing.assert_allclose(
        half_space_constants(dims.astype(float)), [half_space_constant(int(d)) for d in dims], rtol=1e-12
    )
    odd = [half_space_constant(int(d) + (d % 2 == 0)) for d in dims]
    np.testing.assert_allclose(tools.half_space(dims.astype(float)), odd, rtol=1e-12)


@each("moment", [1.05, 1.5, 2.0, 3.5, 60.0])
@each("noise, spread", [(1e-6, 0.0), (1e-2, 1e-3), (3.0, 0.1), (1e-9, 1e-5)])
def test_best_clipping_is_the_minimum_over_thresholds(moment, noise, spread):
    spread = spread if moment < 2 else 0.0
    constant = float(tools.clipping(np.array(moment)))

    def error(log_threshold):
        threshold = math.exp(log_threshold)
        return noise * threshold**2 + spread * threshold ** (2 - moment) + constant**2 * threshold ** (2 - 2 * moment)

    found = optimize.minimize_scalar(error, bounds=(-6, 300), method="bounded", options={"xatol": 1e-10}).fun
    grid = min(error(t) for t in np.linspace(-6, 60, 20_001))
    best = float(tools.best_clipping(np.array(noise), np.array(spread), np.array(moment)))
    assert best <= min(found, grid) * (1 + 1e-9)
    assert best >= grid * (1 - 1e-3)


@pytest.mark.parametrize("epsilon", [0.05, 0.7, 2.0, 6.0])
def test_capacity_bounds_the_divergences_of_random_channels(epsilon):
    """The sum of divergences over orthogonal scores, and the information of Fano's family of single coordinates."""
    rng, a = np.random.default_rng(9), np.array(epsilon)
    corners = np.array(list(itertools.product([-1, 1], repeat=3)))  # records
    for _ in range(400):
        d = rng.uniform(0.05, 0.95)
        p = np.prod(1 + d * corners, axis=1) / 8
        across = [np.prod(1 + d * corners * np.where(np.arange(3) == j, -1, 1), axis=1) / 8 for j in range(3)]
        channel = random_channel(rng, epsilon, 8)
        m = p @ channel
        total = sum((m * np.log(m / (other @ channel))).sum() for other in across)
        variance = 4 * d**2 / (1 - d**2)
        assert total <= float(tools.capacity(a)) * variance * (1 + 1e-9)
        flat = channel.mean(axis=0)
        single = [((1 + d * sign * corners[:, j]) / 8) @ channel for j in range(3) for sign in (1, -1)]
        information = np.mean([(s * np.log(s / flat)).sum() for s in single])
        factor = min(float(forward_factor(a)) * math.sinh(epsilon / 2) ** 2, math.expm1(epsilon) ** 2 / 4)
        assert information <= factor * d**2 / 3 * (1 + 1e-9)


@each("method", ["sharp", "paper"])
@each("n", [1, 1000, 10**9])
def test_the_largest_epsilons_overflow_nowhere(n, method):
    """The square of e^epsilon is beyond the largest double from 355 on. Warnings are errors."""
    calls = [
        partial(bounds.mean_l2, n, 10),
        partial(bounds.sparse_mean, n, 10),
        partial(bounds.multinomial, n, 10),
        partial(bounds.density, n, smoothness=1.0),
        partial(bounds.density, n, smoothness=1.0, family="lipschitz"),
        partial(bounds.logistic, n, 3),
    ]
    if method == "sharp":  # the published forms of these are for small epsilon only
        calls += [partial(bounds.mean_1d, n, moment=2.0), partial(bounds.median, n, radius=1.0)]
    for epsilon in (340.0, 350.0, 354.0, 355.0, 400.0, 700.0):
        for call in calls:
            bound = call(epsilon=epsilon, method=method)
            assert 0 <= bound.lower <= bound.upper
