"""Coverage of the intervals of surveys, for people who are drawn from a population."""

from __future__ import annotations

import numpy as np
import pytest

from ldpfast.survey import Choice, Cross, Histogram, Mean, Survey, YesNo

from ..support.statistics import assert_coverage

REGION = np.array([0.5, 0.3, 0.2])
SMOKER = np.array([0.1, 0.3, 0.6])  # share of smokers by region
MANY = np.arange(1, 41) / np.arange(1, 41).sum()  # forty categories: subset selection
BINS = np.linspace(0, 1, 9)
MISSING = 0.2
QUESTIONS = {
    "region": Choice(3),
    "smoker": YesNo(),
    "age": Mean(0, 10),
    "many": Choice(40),
    "x": Histogram(BINS.tolist()),
    "smoker by region": Cross("region", "smoker"),
    "age by region": Cross("age", "region"),
    "maybe": YesNo(optional=True),
    "maybe age": Mean(0, 10, optional=True),
    "maybe by region": Cross("region", "maybe"),
}


def people(rng: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    region = rng.choice(3, n, p=REGION)
    maybe = (rng.random(n) < 0.4).astype(float)
    age = rng.beta(1 + region, 3, n) * 10  # the mean is 10 (1 + region) / (4 + region)
    return {
        "region": region,
        "smoker": rng.random(n) < SMOKER[region],
        "age": age,
        "many": rng.choice(40, n, p=MANY),
        "x": rng.random(n) ** 2,
        "maybe": np.where(rng.random(n) < MISSING, np.nan, maybe),
        "maybe age": np.where(rng.random(n) < MISSING, np.nan, age),
    }


MEANS = 10 * (1 + np.arange(3)) / (4 + np.arange(3))
SHARE = float(REGION @ SMOKER)
JOINT = REGION[:, None] * np.column_stack([1 - SMOKER, SMOKER])


def high_low(region: int) -> float:
    """Return the mean of region given that an age is rounded to the given end."""
    high = REGION * MEANS / 10
    return float((high / high.sum())[region])


def truths(result) -> dict[str, tuple]:
    """Return the interval and the true value of everything that is covered."""
    cross, ages, maybe = result["smoker by region"], result["age by region"], result["maybe by region"]
    answers = {
        "Choice, k-ary": (result["region"], REGION),
        "Choice, sets": (result["many"], MANY),
        "YesNo": (result["smoker"], SHARE),
        "Mean": (result["age"], REGION @ MEANS),
        "Histogram": (result["x"], np.diff(np.sqrt(BINS))),
        "distribution function": (result["x"].cdf(), np.sqrt(BINS[1:-1])),
        "table": (cross, JOINT),
        "margin": (cross.margin("region"), REGION),
        "margin, YesNo": (cross.margin("smoker"), SHARE),
        "conditional share": (cross.given("region"), SMOKER),
        "conditional shares": (cross.given("smoker"), (JOINT / JOINT.sum(axis=0)).T),
        "conditional mean": (ages.given("region"), MEANS),
        "margin, Mean": (ages.margin("age"), REGION @ MEANS),
        "optional": (result["maybe"], 0.4),
        "no answer": (result["maybe"].missing, MISSING),
        "optional mean": (result["maybe age"], REGION @ MEANS),
        "conditional optional share": (maybe.given("region"), np.full(3, 0.4)),
        "optional margin": (maybe.margin("maybe"), 0.4),
        "median": (result["x"].quantile(0.5), 0.25),
    }
    return {name: (answer.interval(), truth) for name, (answer, truth) in answers.items()}


EXACT = {
    "Choice, k-ary",
    "Choice, sets",
    "YesNo",
    "Mean",
    "Histogram",
    "table",
    "no answer",
    "median",
}  # no upper bound


def coverage(n: int, epsilon: float, runs: int, answers: int = 1, pooled: bool = False) -> dict[str, np.ndarray]:
    """Return the share of intervals that hold the true value, for every number."""
    survey, rng = Survey(QUESTIONS, epsilon, answers=answers), np.random.default_rng(n)
    found: dict[str, np.ndarray] = {}
    for _ in range(runs):
        result = survey.collect(people(rng, n), rng=rng).estimate(pooled=pooled)
        for name, ((low, high), truth) in truths(result).items():
            found[name] = found.get(name, 0) + ((low <= np.asarray(truth)) & (np.asarray(truth) <= high))
    return {name: np.asarray(held) / runs for name, held in found.items()}


@pytest.mark.long
def test_intervals_cover():
    """150 surveys, and a union bound over 100 intervals. Detects a coverage of 0.69."""
    runs = 150
    found = coverage(20_000, 2.0, runs).values()
    assert_coverage(np.rint(np.concatenate([np.ravel(held) for held in found]) * runs), runs, 0.93, detects=0.69)


@pytest.mark.claim("95 % intervals of surveys cover.", "Estimates")
@pytest.mark.slow
@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("n, epsilon, answers", [(3000, 2.0, 1), (30_000, 1.0, 1), (30_000, 4.0, 1), (10_000, 6.0, 3)])
def test_coverage_is_near_95_percent(n, epsilon, answers, pooled):
    """1000 surveys: the standard deviation of a coverage is 0.7 percentage points, of a mean over numbers less."""
    found = coverage(n, epsilon, 1000, answers, pooled)
    for name, held in found.items():
        assert held.min() >= 0.93 - 0.015, f"{name}: {held.min()}"
        assert held.mean() >= 0.93, f"{name}: {held.mean()}"
        if name not in EXACT and n > 3000:
            assert held.mean() <= 0.975, f"{name}: {held.mean()}"


@pytest.mark.slow
def test_simultaneous_limits_hold_together():
    """600 surveys; all numbers at once in at least 95 % of them, which is conservative."""
    survey, rng, held = Survey(QUESTIONS, 2.0), np.random.default_rng(1), 0
    for _ in range(600):
        result = survey.run(people(rng, 20_000), rng=rng)
        together = True
        for answer, truth in ((result["region"], REGION), (result["smoker by region"], JOINT), (result["many"], MANY)):
            low, high = answer.interval(0.95, simultaneous=True)
            together &= bool(((low <= truth) & (truth <= high)).all())
        held += together
    assert held >= 0.95 * 600


if __name__ == "__main__":
    for n, epsilon, answers, pooled in ((3000, 2.0, 1, False), (30_000, 1.0, 1, False), (10_000, 6.0, 3, True)):
        print(f"n = {n}, epsilon = {epsilon}, answers = {answers}, pooled = {pooled}")
        for name, held in coverage(n, epsilon, 1000, answers, pooled).items():
            print(f"    {name}: {held.min():.3f} to {held.max():.3f}, mean {held.mean():.3f}")
