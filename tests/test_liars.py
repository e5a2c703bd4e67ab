"""Estimates where some of the people send forged reports."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.central import mean
from ldpfast.estimation import frequencies

from .support.cases import each
from .support.statistics import assert_coverage

SIGNS = ldp.SampledCube(2, 1.0, sampled=1, radius=1.0)
FINITE = {
    "flags": (ldp.Warner(1.0), [0, 1]),
    "numbers of two codes": (ldp.SignBit(-2, 5, 1.0), [-2.0, 5.0]),
    "numbers of many codes": (ldp.Window(0, 1, 2.0), [0.0, 0.5, 1.0]),
    "categories": (ldp.RandomizedResponse(3, 1.0), [0, 1, 2]),
    "bits": (ldp.UnaryEncoding(2, 1.0), [0, 1]),
    "sets": (ldp.SubsetSelection(4, 1.0), [0, 1, 2, 3]),
    "codes of sets": (ldp.HadamardResponse(3, 1.0), [0, 1, 2]),
    "sampled signs": (SIGNS, [[1.0, 1.0], [-1.0, -1.0]]),
}


def all_reports(mechanism, records) -> np.ndarray:
    """Return all different reports, of which each of the few is seen among so many for certain."""
    return np.unique(mechanism.privatize(np.resize(np.array(records), (4000, *np.shape(records)[1:])), rng=1), axis=0)


@pytest.mark.claim("Forged reports move an estimate by `largest_shift` at most.", "Estimates")
@each("name", FINITE)
def test_the_largest_shift_is_that_of_all_pairs_of_reports(name):
    """Every data set of two people, and every one that differs in one report; three liars move it three times as far."""
    mechanism, records = FINITE[name]
    reports = all_reports(mechanism, records)
    assert len(reports) in {2, 3, 4, 6, 16}
    values = {
        pair: np.asarray(mechanism.estimate(reports[list(pair)]).value)
        for pair in itertools.product(range(len(reports)), repeat=2)
    }
    moved = [np.abs(values[i, k] - values[j, k]) for i, j, k in itertools.product(range(len(reports)), repeat=3)]
    estimate = mechanism.estimate(np.resize(reports, (100, *reports.shape[1:])))
    np.testing.assert_allclose(np.max(moved, axis=0) * 3 / 50, estimate.largest_shift(0.03), rtol=1e-12)


@each(
    "mechanism, records",
    [
        (ldp.L2Ball(3, 1.0, radius=2.0), np.zeros((50, 3))),
        (ldp.PrivUnit(3, 4.0, radius=2.0), np.full((50, 3), 2 / 3**0.5)),
    ],
)
def test_no_report_of_a_vector_moves_a_coordinate_farther(mechanism, records):
    reports = mechanism.privatize(records, rng=1)
    decoded = mechanism.decode(reports)
    shift = mechanism.estimate(reports).largest_shift(0.02)
    assert (np.ptp(decoded, axis=0) <= 50 * shift * (1 + 1e-6)).all()
    norms = np.linalg.norm(decoded, axis=1).max()
    assert (50 * shift <= 2 * norms * 1.5).all()  # the largest number is not far from the length of reports


def test_the_length_of_vectors_can_be_as_large_as_is_accepted():
    mechanism = ldp.L2Ball(3, 1.0, radius=2.0)
    bound = mechanism.report.bound * (1 + 2e-6)
    reports = np.array([[bound, 0, 0], [-bound, 0, 0]], np.float32)
    ends = [mechanism.estimate(report).value[0] for report in reports]
    assert mechanism.estimate(reports).largest_shift(0.5)[0] >= (ends[0] - ends[1]) / 2


def rows_of(mechanism: ldp.RotatedSigns, seeds: np.ndarray) -> list[np.ndarray]:
    """Return the first and the second row of reports with two signs, each with the factor of decoded numbers."""
    both, one = (
        mechanism.decode(np.stack([seeds, np.full(len(seeds), signs, np.uint64)], axis=1)) for signs in (0b11, 0b01)
    )
    return [(both + one) / 2, (both - one) / 2]


@pytest.mark.parametrize("count", [500, pytest.param(20_000, marks=pytest.mark.long)])
def test_the_largest_shift_of_rotated_signs_is_that_of_the_largest_rows(count):
    """The rows of 20,000 seeds are all rows of both strata, with a probability of 1 - 2048 e^-10 for each."""
    mechanism = ldp.RotatedSigns(5, 4.0, rotation=7, signs=2)
    seeds = np.random.default_rng(1).integers(0, 2**64, count, dtype=np.uint64)
    largest = sum(np.abs(row).max(axis=0) for row in rows_of(mechanism, seeds))
    expected = 50 * mechanism.run(np.zeros((100, 5)), rng=1).largest_shift(0.01)
    if count == 500:
        assert (largest <= expected * (1 + 1e-12)).all()
        assert (largest >= 0.7 * expected).all()
    else:
        np.testing.assert_allclose(largest, expected, rtol=1e-9)


def exact_coverage(estimates, n: int, forged: int, liars: float, side: int, truth: float) -> float:
    """Return the coverage of 95 % limits for people with a share of ones, where liars send the worst reports.

    They see the reports of all, and replace those that are no hits (side 1) or are hits (-1).
    """
    p, q = estimates[0].rule.debiasing.probabilities
    hits = np.arange(n + 1)
    seen = np.clip(hits + side * forged, 0, n)
    limits = np.array([estimates[h].interval(liars=liars) for h in range(n + 1)])[seen]
    covers = (limits[:, 0] <= truth) & (truth <= limits[:, 1])
    return float(stats.binom.pmf(hits, n, q + (p - q) * truth) @ covers)


@pytest.mark.claim("Intervals with liars cover for every n and for the worst forged reports.", "Estimates")
@each("n, forged", [(10, 1), (60, 3), (60, 30)])
@each("side", [-1, 1])
def test_intervals_of_shares_hold_for_the_worst_lies(n, forged, side):
    """The coverage is a sum over all counts with their exact probabilities."""
    estimates = [ldp.Warner(2.0).estimate((np.arange(n) < hits).astype(np.uint8)) for hits in range(n + 1)]
    coverage = [exact_coverage(estimates, n, forged, forged / n, side, truth) for truth in np.linspace(0, 1, 21)]
    assert min(coverage) >= 0.95 - 1e-9
    if n == 60:
        assert min(exact_coverage(estimates, n, forged, 0.0, side, truth) for truth in (0.3, 0.5, 0.7)) < 0.9
        assert min(exact_coverage(estimates, n, forged + 9, forged / n, side, truth) for truth in (0.3, 0.5, 0.7)) < 0.9


def worst(reports: np.ndarray, decoded: np.ndarray, forged: int, best: np.ndarray) -> np.ndarray:
    """Return the reports where liars replace those with the smallest numbers by the best one."""
    lied = reports.copy()
    lied[np.argsort(decoded, kind="stable")[:forged]] = best
    return lied


LINEAR = {
    "numbers of codes": (ldp.Window(0, 1, 1.0), np.linspace(0, 0.6, 400)),
    "sampled signs": (ldp.SampledCube(4, 1.0, sampled=1, radius=1.0), np.tile([0.2, 0.5, -0.1, 0.0], (400, 1))),
    "vectors": (ldp.L2Ball(3, 1.0, radius=1.0), np.tile([0.5, 0.1, 0.0], (400, 1))),
    "directions": (ldp.PrivUnit(3, 2.0, radius=1.0), np.tile([0.6, 0.8, 0.0], (400, 1))),
    "sets": (ldp.SubsetSelection(6, 1.0), np.arange(400) % 6),
    "bits": (ldp.UnaryEncoding(5, 1.0), np.arange(400) % 5),
}
ROTATED = ldp.RotatedSigns(2, 12.0, rotation=3, signs=256)


@pytest.mark.long
def test_intervals_of_rotated_signs_hold_for_people_who_know_everything():
    """The number along the records is lowered, by the report that has the lowest one of 4000."""
    records = np.tile([1.0, 0.0], (400, 1))
    pool = ROTATED.privatize(np.repeat(records, 10, axis=0), rng=1)
    held, runs = {0.0: 0, 0.1: 0}, 100
    best = pool[int(np.argmin(ROTATED.decode(pool)[:, 0]))]
    for seed in range(runs):
        reports = ROTATED.privatize(records, rng=seed + 3)
        decoded = ROTATED.decode(reports)[:, 0]
        reports[np.argsort(-decoded)[:40]] = best
        estimate = ROTATED.estimate(reports)
        for liars in held:
            low, high = estimate.interval(liars=liars)
            held[liars] += bool(low[0] <= 1.0 <= high[0])
    assert_coverage(held[0.1], runs, 0.95, detects=0.7)
    assert held[0.0] < 0.5 * runs


@each("name", LINEAR)
def test_intervals_hold_for_people_who_know_everything(name):
    """300 surveys of 400 people, 40 of whom replace the lowest reports of the first number by the highest one ever seen."""
    mechanism, records = LINEAR[name]
    rng, runs = np.random.default_rng(5), 300
    truth = float(np.mean(records == 0) if name in {"sets", "bits"} else np.ravel(records.mean(axis=0))[0])

    def first(reports: np.ndarray) -> np.ndarray:
        decoded = mechanism.decode(reports)
        return decoded.reshape(len(decoded), -1)[:, 0]

    pool = mechanism.privatize(np.repeat(records, 20, axis=0), rng=rng)
    best = pool[int(np.argmax(first(pool)))]
    held = {0.0: 0, 0.1: 0}
    for _ in range(runs):
        reports = mechanism.privatize(records, rng=rng)
        estimate = mechanism.estimate(worst(reports, first(reports), 40, best))
        for liars in held:
            low, high = (np.ravel(limit)[0] for limit in estimate.interval(liars=liars))
            held[liars] += bool(low <= truth <= high)
    assert_coverage(held[0.1], runs, 0.95, detects=0.8)
    assert held[0.0] < 0.5 * runs


def test_differences_and_ratios_allow_for_liars_in_both():
    a, b = (ldp.Warner(2.0).run(np.arange(20_000) % m == 0, rng=m) for m in (2, 4))
    difference, ratio = a - b, a / b
    assert difference.largest_shift(0.01) == pytest.approx(a.largest_shift(0.01) + b.largest_shift(0.01))
    low, high = difference.interval()
    wider = difference.interval(liars=0.01)
    shift = difference.largest_shift(0.01)
    assert wider[0] == pytest.approx(low - shift, abs=2e-4)
    assert wider[1] == pytest.approx(high + shift, abs=2e-4)
    top, bottom = a.largest_shift(0.01), b.largest_shift(0.01)
    farthest = (a.value + top) / (b.value - bottom) - ratio.value
    assert ratio.largest_shift(0.01) == pytest.approx(farthest, rel=1e-6)
    assert ratio.interval(liars=0.01)[1] > ratio.value + farthest
    assert ratio.largest_shift(0.3) == math.inf
    assert ratio.interval(liars=0.3) == (-math.inf, math.inf)


@each("mechanism", [ldp.L2Ball(3, 1.0, radius=1.0), ldp.RotatedSigns(3, 0.1, rotation=1, signs=8)])
def test_means_of_vectors_have_differences(mechanism):
    """With few signs, a record has a larger variance along it, which forged reports can hide by a shift of the mean."""
    a, b = (mechanism.run(np.tile([0.6, 0.8, 0.0], (1000 * seed, 1)), rng=seed) for seed in (1, 2))
    shift = a.largest_shift(0.01) + b.largest_shift(0.01)
    np.testing.assert_allclose((a - b).largest_shift(0.01), shift, rtol=1e-12)
    (low, high), (lower, higher) = (a - b).interval(), (a - b).interval(liars=0.01)
    hides = isinstance(mechanism, ldp.RotatedSigns)
    for more in (low - shift - lower, higher - high - shift):
        assert (more > 1e-6).all() if hides else np.abs(more).max() < 1e-9


def test_noise_without_bounds_has_no_limits_with_liars():
    estimate = ldp.Laplace(0, 1, 1.0).run(np.full(1000, 0.5), rng=1)
    assert estimate.largest_shift(0.001) == math.inf
    assert estimate.interval(liars=0.001) == (-math.inf, math.inf)
    assert estimate.largest_shift(0) == 0


def test_no_liars_is_the_default_and_more_liars_widen_the_limits():
    estimate = frequencies(["car", "foot", "car"] * 1000, ["foot", "car", "train"], 1.0, rng=1)
    np.testing.assert_array_equal(estimate.interval(liars=0), estimate.interval())
    before = estimate.interval()
    for liars in (1e-6, 0.01, 0.1, 0.999):
        low, high = estimate.interval(liars=liars)
        assert (low < before[0]).all()
        assert (high > before[1]).all()
        before = low, high


def test_the_number_of_forged_reports_is_rounded_up_but_not_by_the_error_of_a_product():
    """In double precision, .07 times 100 is 7.000000000000001."""
    estimate = ldp.Warner(1.0).estimate(np.arange(100, dtype=np.uint8) % 2)
    one = estimate.largest_shift(0.01)
    assert estimate.largest_shift(0.07) == pytest.approx(7 * one)
    assert estimate.largest_shift(0.0701) == pytest.approx(8 * one)
    assert estimate.largest_shift(1e-9) == pytest.approx(one)


@each("liars, error", [(1, ValueError), (-0.1, ValueError), (math.nan, ValueError), ("few", TypeError)])
def test_shares_of_liars_are_checked(liars, error):
    estimate = ldp.Warner(1.0).estimate(np.arange(100, dtype=np.uint8) % 2)
    for call in (estimate.largest_shift, lambda share: estimate.interval(liars=share)):
        with pytest.raises(error, match="liars must"):
            call(liars)


def test_estimates_without_a_bound_say_which_ones_have_limits():
    found = mean(np.ones(100), epsilon=1.0, lower=0, upper=1, rng=1)  # a curator has no reports that could be forged
    for call in (found.largest_shift, lambda share: found.interval(liars=share)):
        with pytest.raises(ValueError, match=r"limits with liars exist for shares and means.*got limits by \w+"):
            call(0.01)
