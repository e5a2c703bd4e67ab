"""Published rules: search, thresholds and questions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast.reports import aggregator_with, recipe_of

from ...support.gaussian import difficult_means, level_counts
from ...support.internals.gaussian import Paper, gaussian_group, variant

SEED = 20261123


def groups_of(levels, counts):
    """The groups of the search with these counts."""
    return tuple(
        gaussian_group.Group(question, aggregator_with(question, [row], int(row.sum())))
        for question, row in zip(levels.questions, counts.reshape(len(levels), 4), strict=True)
    )


@given(st.floats(-4096, 4096), st.sampled_from([1.0, 1.3, 1.99]))
def test_search_of_exact_counts_is_within_two_standard_deviations(mu, sigma):
    """There are so many answers that the slack is negligible."""
    paper = Paper(variant.Model(1.0, sigma, None, 4096.0, 0.05), 2)
    located = paper.locate(groups_of(paper.levels, level_counts(paper.levels, 10**13, mu, sigma)))
    assert abs(located.mu - mu) <= 2 * sigma
    assert located.doubts == ()


@given(st.floats(-1000, 1000), st.floats(0.5, 16.0))
def test_scale_of_exact_counts_is_within_a_factor_of_8(mu, sigma):
    paper = Paper(variant.Model(1.0, None, (0.5, 16.0), 1000.0, 0.05), 2)
    located = paper.locate(groups_of(paper.levels, level_counts(paper.levels, 10**13, mu, sigma)))
    assert sigma <= located.sigma < 8 * sigma
    assert located.sigma in paper.levels.widths


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_search_finds_the_mean_with_enough_answers(epsilon):
    paper, rng = Paper(variant.Model(epsilon, 1.0, None, 4096.0, 0.05), 2), np.random.default_rng(SEED)
    people = math.ceil(200 / paper.levels.gain**2)
    for mu in difficult_means(paper.levels, rng, 1.0):
        counts = level_counts(paper.levels, people, mu, 1.0, rng)
        assert abs(paper.locate(groups_of(paper.levels, counts)).mu - mu) <= 2


def test_thresholds_are_as_published():
    paper, k, levels, beta = Paper(variant.Model(0.5, 1.0, None, 100.0, 0.01), 2), 12_345, 8, 0.01
    assert len(paper.levels) == levels
    psi = 4.5 / (0.5 * math.sqrt(2)) * math.sqrt(k * math.log(8 * levels / beta))
    tau = math.sqrt(2 * k * math.log(2 * levels / beta)) + 9 * math.sqrt(2 * k * math.log(8 * levels / beta))
    assert paper._slack(k) == pytest.approx(psi, rel=1e-14)
    assert paper._pair_slack(k) == pytest.approx(tau, rel=1e-14)


def test_impossible_cell_gives_a_doubt():
    """All answers of the level below the top are in the one residue of four that no candidate has."""
    paper = Paper(variant.Model(1.0, 1.0, None, 100.0, 0.05), 2)
    levels, people = paper.levels, 10**13
    p, q = float(recipe_of(levels.questions[0]).coin.p), float(recipe_of(levels.questions[0]).coin.q)

    def all_in(residue):
        return [round(people * (p if cell == residue else q)) for cell in range(4)]

    rows = [all_in(0)] * len(levels)
    rows[-2] = all_in(3)  # the cell 0 of the top has the candidates 0, 1, 2
    located = paper.locate(groups_of(levels, np.array(rows)))
    assert located.doubts == ("the published search reached an impossible cell",)
    low, high = 0.0, levels.widths[-1]
    assert low <= located.mu <= high


def test_second_questions_are_as_published():
    """Groups, periods and nodes of both protocols of one round, and the window of the protocol of two rounds."""
    n, known = 200_000, Paper(variant.Model(1.0, 2.0, None, 100.0, 0.05), 1)
    rho = math.ceil(2 * math.sqrt(math.log(4 * n)))
    expected = [ldp.Residue(rho * 2.0 / 2, 0.2 * 2.0 * i, 2, 1.0) for i in range(1, 5 * rho + 1)]
    assert list(known.nonadaptive_questions(n)) == expected
    unknown = Paper(variant.Model(1.0, None, (0.6, 5.0), 100.0, 0.05), 1)
    rho = math.ceil(math.sqrt(math.log(4 * n)) + 6)
    expected = [(rho * s, i * s) for s in (0.5, 1.0, 2.0, 4.0, 8.0) for i in range(1, rho + 1)]
    assert [(question.width, question.offset) for question in unknown.nonadaptive_questions(n)] == expected
    two = Paper(variant.Model(1.0, None, (0.6, 5.0), 100.0, 0.05), 2)
    (window,) = two.adaptive_questions(variant.Located(3.0, 2.0), n)
    half = 2.0 * (2 + math.sqrt(math.log(4 * n)))
    assert (window.lower, window.upper) == (3.0 - half, 3.0 + half)
    with pytest.raises(ValueError, match=r"^n must be given for rounds=1 and method=\"paper\""):
        known.nonadaptive_questions(None)
