"""Cases of estimation: from records to estimates."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ... import estimation as problems
from ...results import Estimate, SmallSampleWarning
from .._case import EPSILON, Case, CaseAnswer
from .._checks import check_frequencies, check_gaussian, check_linf_mean, check_logistic, check_median
from .._data import ball, categories, direction, people
from .mechanisms import DIGIT_BYTES

CHAIN = "sequential steps, which the limit does not include"
FEW_NORMAL = 1_000_000  # people of the Gaussian mean in other libraries, for whom its check has tolerances


def _descend(protocol: Callable[[], Estimate[Any]]) -> CaseAnswer:
    """Run a protocol; return the estimate and the number of people. Warnings about small samples are ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallSampleWarning)
        estimate = protocol()
    return estimate.value, estimate.n


def median(any_time: bool, scale: float = 1.0) -> Case:
    """Return the case of the median by descent, for float64 records of density 2x on [0, 1]."""
    n = people(1_000_000, scale)
    x = np.sqrt(np.random.default_rng(8).random(n))
    horizon = None if any_time else n
    model = problems.MedianSGD(EPSILON, lower=0, upper=1, n=horizon)

    def ours() -> Estimate[Any]:
        return (
            problems.MedianSGD(EPSILON, lower=0, upper=1).run(x)
            if any_time
            else problems.median(x, EPSILON, lower=0, upper=1)
        )

    return Case(
        f"median, float64, {'any-time' if any_time else 'known horizon'}", "person", n, 8, 8, 0,
        partial(_descend, ours),
        partial(check_median, model, math.sqrt(0.5), math.sqrt(2)), model, x, 3.5,
        threads=False, note=CHAIN,
    )  # fmt: skip


def logistic(dtype: DTypeLike, scale: float = 1.0) -> Case:
    """Return the case of logistic regression, for rows near one axis in both directions and coefficients along it."""
    dim = 50
    n = people(1 << 18, scale, 4096)
    truth = 2.0
    axis = direction(dim) / math.sqrt(dim)
    generator = np.random.default_rng(9)
    x = ball(n, dim).astype(dtype, copy=False)
    x *= generator.choice(np.array([-1, 1], np.int8), (n, 1))
    y = (generator.random(n) < 1 / (1 + np.exp(-truth * np.einsum("ij,j->i", x, axis)))).astype(np.float64)
    model = problems.GradientDescent("logistic", dim, EPSILON)
    return Case(
        f"logistic regression, {np.dtype(dtype)}, dim {dim}", "person", n, 3 * dim + 16, x[0].nbytes + 8, 0,
        partial(_descend, lambda: problems.GradientDescent("logistic", dim, EPSILON).run(x, y)),
        partial(check_logistic, model, axis, 0.9, truth), model, x, 130.0,
        threads=False, y=y, note=CHAIN,
    )  # fmt: skip


def frequencies(scale: float = 1.0) -> Case:
    """Return the case of the shares of 1024 categories, for uint16 records."""
    k = 1024
    problem, x = problems.Frequencies(k, EPSILON, mechanism="optimized"), categories(people(1_000_000, scale), k)
    mechanism: Any = problem.mechanism
    return Case(
        f"frequencies, k = {k}", "person", len(x), k * DIGIT_BYTES, 2, 0,
        lambda: problems.frequencies(x, k, EPSILON, mechanism="optimized").value,
        partial(check_frequencies, mechanism, x), mechanism, x, target_two=100.0,
    )  # fmt: skip


def series(scale: float = 1.0) -> Case:
    """Return the case of the coefficients of a density, for float64 records."""
    n_terms = 32
    problem = problems.SeriesDensity(EPSILON, n_terms=n_terms)
    x = np.random.default_rng(10).beta(20, 50, people(1_000_000, scale))
    truth, turn = np.zeros(n_terms), np.exp(2j * math.pi * x)
    wave = np.full_like(turn, math.sqrt(2))
    for j in range(0, n_terms, 2):
        wave *= turn
        truth[j : j + 2] = wave.real.mean(), wave.imag.mean()
    return Case(
        f"density, series of {n_terms} terms, float64", "person", len(x), n_terms / 8 + 12, 8, 0,
        lambda: problems.series_density(x, EPSILON, n_terms=n_terms).value,
        partial(check_linf_mean, problem.mechanism, len(x), truth, np.sign(truth)), problem, x, 10.0, threads=False,
    )  # fmt: skip


def gaussian(simulated: bool, scale: float = 1.0) -> Case:
    """Return the case of a normal mean, for float64 records.

    If `simulated`, the library simulates 10^9 people from the distribution of the counts.
    """
    mu, sigma = 3.7, 1.0
    x = np.random.default_rng(11).normal(mu, sigma, people(10_000_000, scale, 50_000))
    model, n = problems.GaussianMean(EPSILON, sigma=sigma, mu_bound=4096.0), 10**9 if simulated else len(x)
    few = min(len(x), FEW_NORMAL)
    return Case(
        f"Gaussian mean, {'simulated, n = 10^9' if simulated else 'two rounds, float64'}", "person", n,
        0 if simulated else 4, 0 if simulated else 8, 0,
        (lambda: model.simulate(n, mu, sigma).value) if simulated else (lambda: model.run(x).value),
        partial(check_gaussian, model, few, mu), model, x, 1.0 if simulated else 2.0,
        threads=not simulated,
    )  # fmt: skip


CASES: dict[str, Callable[[float], Case]] = {
    "median": partial(median, False),
    "median-any-time": partial(median, True),
    "logistic-float32": partial(logistic, np.float32),
    "logistic-float64": partial(logistic, np.float64),
    "frequencies-1024": frequencies,
    "series-32": series,
    "gaussian": partial(gaussian, False),
    "gaussian-simulated": partial(gaussian, True),
}
