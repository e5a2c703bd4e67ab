"""Distributions of numbers where some of the people send forged reports."""

from __future__ import annotations

import numpy as np
import pytest

from ldpfast.estimation import Distribution, DistributionEstimate
from ldpfast.mechanisms import DistributionResponse, TreeResponse

from ..support.cases import each
from ..support.modules import module_of
from ..support.statistics import assert_coverage

CellLikelihood = module_of(Distribution).CellLikelihood
LinearEstimate = module_of(DistributionEstimate).LinearEstimate
EPSILONS = [0.5, 1.0, 2.0, 4.0, 8.0]
HAAR = [TreeResponse(50, e, method="haar", branching=2) for e in (1.0, 5.0)]
QUICK = {(16, 2.0), (16, 4.0), (50, 8.0)}
CASES = [
    (k, e) if (k, e) in QUICK else pytest.param(k, e, marks=pytest.mark.long)
    for k in (16, 50, 64)
    for e in EPSILONS[k == 64 :]
]


def shares_of(k: int) -> np.ndarray:
    """Shares with a spike, and no people in the last cell."""
    shares = np.exp(-((np.arange(k) / k - 0.4) ** 2) * 20)
    shares[k // 3] += shares.sum() / 4
    shares[-1] = 0
    return shares / shares.sum()


def likelihood_of(mechanism: DistributionResponse, counts: np.ndarray):
    return CellLikelihood.of(mechanism.k, mechanism.levels, np.split(counts, mechanism.first_codes[1:]))


class Terms:
    """What a report with each code adds to linear functions of the shares, by brute force."""

    def __init__(self, mechanism: DistributionResponse, counts: np.ndarray, shares: np.ndarray) -> None:
        self.linear = LinearEstimate(likelihood_of(mechanism, counts), shares)
        self.channel = mechanism.channel().matrix
        p = self.linear.p

        def gradient(of: np.ndarray) -> np.ndarray:
            likelihood = likelihood_of(mechanism, of)
            likelihood.weigh(p)
            return likelihood.gradient(p)

        own, one = gradient(counts), np.eye(len(counts), dtype=np.int64)
        self.gradients = np.array([gradient(counts + row) - own for row in one])
        self.levels = np.repeat(np.arange(len(mechanism.levels)), [level.codes for level in mechanism.levels])

    def centered(self, row: np.ndarray, population: np.ndarray) -> np.ndarray:
        """Return the terms less the mean of honest ones at the same level, for people with some shares."""
        terms, probabilities = self.gradients @ self.linear.covariance @ row, population @ self.channel
        for level in range(self.levels[-1] + 1):
            own = self.levels == level
            terms[own] -= probabilities[own] @ terms[own] / probabilities[own].sum()
        return terms


def terms_of(k: int, epsilon: float) -> Terms:
    mechanism = DistributionResponse(k, epsilon)
    counts = np.rint(30_000 * shares_of(k) @ mechanism.channel().matrix).astype(np.int64)
    return Terms(mechanism, counts, shares_of(k))


RESPONSES = {e: DistributionResponse(64, e) for e in EPSILONS}


@pytest.mark.parametrize(
    "mechanism",
    [*HAAR, RESPONSES[2.0], *(pytest.param(RESPONSES[e], marks=pytest.mark.long) for e in EPSILONS if e != 2.0)],
)
def test_the_range_of_decoded_sums_is_that_of_all_codes(mechanism):
    rng = np.random.default_rng(1)
    checked = 0
    for level in mechanism.levels:
        if not hasattr(level, "decoded_range"):
            continue
        decoded = np.array([level.decode(row) for row in np.eye(level.codes, dtype=np.int64)])
        weights = rng.normal(size=(level.nodes, 5)) ** 3
        low, high = level.decoded_range(weights)
        np.testing.assert_allclose(low, (decoded @ weights).min(axis=0), rtol=1e-9)
        np.testing.assert_allclose(high, (decoded @ weights).max(axis=0), rtol=1e-9)
        checked += 1
    assert checked >= 2


@pytest.mark.claim("Forged reports move a distribution function by its largest shift at most.", "Estimates")
@pytest.mark.parametrize("k, epsilon", CASES)
def test_the_largest_change_is_that_of_all_codes_and_all_populations(k, epsilon):
    """All pairs of codes, also of different levels, for the population that makes it largest: the bound is reached."""
    found = terms_of(k, epsilon)
    linear, ends = found.linear, np.tri(k)[:-1]
    rows = [ends[k // 4], ends[k // 2], ends[-1], np.arange(k) + 0.5]
    for row, change in zip(rows, linear.of(np.array(rows)).change, strict=True):
        ranges = [np.ptp(found.centered(row, cell)) for cell in np.eye(k)]
        assert change == pytest.approx(max(ranges), rel=1e-6)
        here = np.ptp(found.centered(row, shares_of(k)))
        assert here <= change * (1 + 1e-9)
        assert change <= (2 if epsilon == 8 else 1.5) * here  # nothing is assumed about the population
    np.testing.assert_allclose(linear.of_all_ends.change[k // 2], linear.of(ends[[k // 2]]).change[0], rtol=1e-6)


class Liars:
    """People who see all reports, and replace those that lower the distribution function at a cell most, or raise it most."""

    def __init__(self, problem: Distribution, cell: int, side: int) -> None:
        k = problem.cells
        mechanism = DistributionResponse(k, problem.epsilon)
        counts = np.rint(30_000 * shares_of(k) @ mechanism.channel().matrix).astype(np.int64)
        found = Terms(mechanism, counts, shares_of(k))
        self.terms = side * found.centered(np.tri(k)[cell], shares_of(k))

    def replace(self, reports: np.ndarray, forged: int) -> np.ndarray:
        lied = reports.copy()
        lied[np.argsort(self.terms[reports], kind="stable")[:forged]] = np.argmax(self.terms)
        return lied


def records_of(k: int, n: int) -> np.ndarray:
    return (np.random.default_rng(7).choice(k, n, p=shares_of(k)) + 0.5) / k


@pytest.mark.filterwarnings("ignore:entry .* by more than noise explains")
@each("epsilon", [2.0, 4.0])
@each("side", [-1, 1])
def test_forged_reports_reach_the_largest_shift_and_not_more(epsilon, side):
    """100 of 20,000 reports. The weights are those of each data set, which moves the number by a few percent."""
    k, n = 16, 20_000
    problem = Distribution(0, 1, epsilon, cells=k)
    reports = problem.privatize(records_of(k, n), rng=1)
    lied = Liars(problem, 7, side).replace(reports, 100)
    before, after = (problem.estimate(own).cdf(0.5) for own in (reports, lied))
    moved = side * (after.raw - before.raw)
    assert 0.75 * before.largest_shift(0.005) <= moved <= 1.05 * before.largest_shift(0.005)


PARTS = {
    "point": lambda estimate: estimate.cdf(0.5),
    "share": lambda estimate: estimate.probability(0.0, 0.5),
    "median": lambda estimate: estimate.quantile(0.5),
    "mean": lambda estimate: estimate.mean,
    "cells": lambda estimate: estimate,
}


@each("name", PARTS)
def test_limits_widen_with_the_liars(name):
    estimate = Distribution(0, 1, 2.0, cells=16).run(records_of(16, 20_000), rng=1)
    part = PARTS[name](estimate)
    np.testing.assert_array_equal(part.largest_shift(0), np.zeros(np.shape(part.value)))
    np.testing.assert_array_equal(part.interval(liars=0), part.interval())
    before, shift = part.interval(), 0.0
    for liars in (0.001, 0.01, 0.2):
        low, high = part.interval(liars=liars)
        assert np.all(low <= before[0])
        assert np.all(high >= before[1])
        assert np.all(part.largest_shift(liars) >= shift)
        before, shift = (low, high), part.largest_shift(liars)
    if name != "median":
        assert part.largest_shift(0.01) == pytest.approx(10 * part.largest_shift(0.001))
        low, high = part.interval(liars=0.01)
        assert np.all(high - low > 2 * part.largest_shift(0.01))


def test_bands_and_differences_allow_for_liars():
    a, b = (Distribution(0, 1, 2.0, cells=16).run(records_of(16, 20_000), rng=seed) for seed in (1, 2))
    (_, low, high), (_, lower, higher) = a.band(), a.band(liars=0.002)
    shift = a.cdf(a.ends[8]).largest_shift(0.002)
    assert lower[8] == pytest.approx(low[8] - shift, abs=0.2 * shift)
    assert higher[8] == pytest.approx(high[8] + shift, abs=0.2 * shift)
    assert (np.diff(lower) >= 0).all()
    assert (np.diff(higher) >= 0).all()
    for name, part in PARTS.items():
        difference = part(a) - part(b)
        shifts = part(a).largest_shift(0.002) + part(b).largest_shift(0.002)
        np.testing.assert_allclose(difference.largest_shift(0.002), shifts, rtol=1e-12)
        (low, high), (lower, higher) = difference.interval(), difference.interval(liars=0.002)
        if name in {"point", "mean"}:
            assert low - shifts - lower == pytest.approx(0, abs=0.1 * shifts)
            assert lower < low - shifts < high + shifts < higher
    with pytest.raises(ValueError, match="liars must be in"):
        a.band(liars=1)


@pytest.mark.claim("Intervals of distributions with liars cover the worst forged reports.", "Estimates")
@pytest.mark.long
@pytest.mark.filterwarnings("ignore:entry .* by more than noise explains")
@each("epsilon, side", [(1.0, -1), (4.0, 1)])
def test_limits_of_distributions_hold_for_people_who_know_everything(epsilon, side):
    """60 of 3000 people, in 200 surveys. The number is the distribution function in the middle, or follows from it."""
    k, n, runs, forged = 16, 3000, 200, 60
    problem = Distribution(0, 1, epsilon, cells=k)
    liars, records = Liars(problem, 7, side), records_of(k, n)
    function = np.append(0.0, np.cumsum(np.bincount((records * k).astype(int), minlength=k)) / n)
    truth = {"point": function[8], "share": function[8], "median": np.median(records), "mean": records.mean()}
    held = {(name, share): 0 for name in (*truth, "band") for share in (0.0, forged / n)}
    for seed in range(runs):
        estimate = problem.estimate(liars.replace(problem.privatize(records, rng=seed), forged))
        for name, share in held:
            if name == "band":
                _, low, high = estimate.band(liars=share)
                held[name, share] += bool(((low <= function + 1e-9) & (function <= high + 1e-9)).all())
            else:
                low, high = PARTS[name](estimate).interval(liars=share)
                held[name, share] += bool(low <= truth[name] <= high)
    for name in (*truth, "band"):
        assert_coverage(held[name, forged / n], runs, 0.95, detects=0.75)
    assert held["point", 0.0] < 0.5 * runs
    assert held["band", 0.0] < 0.5 * runs
