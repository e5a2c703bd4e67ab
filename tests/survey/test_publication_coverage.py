"""Limits and standard errors of published tables, in many simulated surveys."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.survey import Choice, Survey, calibrate

from ..support.cases import each
from ..support.publications import LINKED, column, people_of, truth_of, tutorial
from ..support.statistics import assert_coverage

# Coverage -------------------------------------------------------------------------------------------------------------

RUNS = 250


def covered(make, truth):
    """Return how many of `RUNS` publications cover each true share, by table."""
    hits = {name: np.zeros(len(shares), int) for name, shares in truth.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ldp.results.DoubtfulWarning)
        for seed in range(RUNS):
            publication = make(seed)
            for name, shares in truth.items():
                low, high = column(publication, name, "low"), column(publication, name, "high")
                hits[name] += (low <= shares) & (shares <= high)
    return hits


def assert_nominal(hits):
    """Check the coverage of all numbers together, and that of each."""
    together = np.concatenate(list(hits.values()))
    assert 0.93 <= together.mean() / RUNS <= 0.98
    assert_coverage(together, RUNS, 0.93, detects=0.76)


@pytest.mark.long
@each("epsilon, answers", [(2.0, 1), (6.0, "all")])
def test_limits_of_linked_tables_cover(epsilon, answers):
    survey = Survey(LINKED, epsilon, answers=answers)
    hits = covered(lambda seed: survey.run(people_of(5000, seed), rng=seed).publish(suppress=None), truth_of())
    assert_nominal(hits)


@pytest.mark.long
def test_limits_of_groups_and_of_their_total_cover():
    survey = Survey(LINKED, 3.0)
    truth = {name: np.tile(shares, 4) for name, shares in truth_of().items()}
    assert_nominal(
        covered(lambda seed: survey.run(people_of(5000, seed), by="region", rng=seed).publish(suppress=None), truth)
    )


@pytest.mark.long
def test_limits_cover_where_most_labels_are_empty():
    """The projection makes the large share too small, by more than its standard error; the limits do not follow it."""
    labels, truth = list(range(30)), np.zeros(30)
    truth[:2] = 0.8, 0.2
    survey = Survey({"x": Choice(labels)}, 1.0)

    def make(seed):
        return survey.run({"x": np.random.default_rng(seed).choice(30, 4000, p=truth)}, rng=seed).publish(suppress=None)

    hits = covered(make, {"x": truth})
    assert_nominal(hits)
    shares = np.mean([column(make(seed), "x", "share") for seed in range(50)], axis=0)
    assert shares[0] < 0.8 - 0.02
    assert shares[2:].min() > 0


@pytest.mark.long
def test_standard_errors_are_those_of_the_published_numbers():
    survey = Survey(LINKED, 2.0)
    errors, stated = [], []
    for seed in range(RUNS):
        publication = survey.run(people_of(5000, seed), rng=seed).publish(suppress=None)
        errors.append(np.concatenate([column(publication, name, "share") - x for name, x in truth_of().items()]))
        stated.append(np.concatenate([column(publication, name, "stderr") for name in truth_of()]))
    ratio = np.sqrt(np.mean(np.square(errors), axis=0) / np.mean(np.square(stated), axis=0))
    assert (np.abs(ratio - 1) < 0.2).all()


@pytest.mark.long
@pytest.mark.claim(
    "Tables that are published add up exactly, and their 95 % limits cover 93 to 98 %, for calibrated results, too.",
    "Estimates",
)
def test_calibrated_tables_of_the_tutorial_add_up_and_cover():
    """Samples in which some take part more often, calibrated to age by sex and region; the truth is that of the population."""
    (plan, people, years, *_), _ = tutorial()
    variables: dict[str, object] = {}
    exec(compile(plan.partition("questions = ")[0], "imports", "exec", dont_inherit=True), variables)
    exec(compile(people, "people", "exec", dont_inherit=True), variables)
    exec(compile(years.partition("results = {}")[0], "margins", "exec"), variables)
    exec(compile(plan.partition("survey = ")[0], "questions", "exec"), variables)
    survey = Survey(variables["questions"], epsilon=2.0)
    old = 0.13 + 0.11  # margins of the tutorial
    smokes = 0.3 - 0.1 * old
    poor = np.array([0.03, 0.13])
    by_smoking = np.array([[0.7 * (1 - p), 0.3 * (1 - p), p] for p in poor])
    cross = np.array([[1 - smokes], [smokes]]) * by_smoking
    out = 0.9 * (old + 0.3 * (1 - old))
    truth = {
        "health": cross.sum(axis=0),
        "smokes": np.array([1 - smokes, smokes]),
        "work": np.array([0.9 - out, out, 0.1]),
        "health of smokers": cross.ravel(),
    }

    def make(seed):
        people = variables["people_of"](2025 + seed, 6000)
        results = survey.run(people, by=["age", "sex", "region"], rng=seed)
        publication = calibrate(results, variables["margins"]).publish(suppress=None)
        table = publication.tables["health of smokers"]
        assert sum(table["people"]) == 6000
        assert min(table["people"]) >= 0
        return publication

    assert_nominal(covered(make, truth))
