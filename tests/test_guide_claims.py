"""Statements of the guides that no other test checks."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast.estimation import Frequencies, MedianSGD, VectorMean
from ldpfast.survey import Survey, YesNo

from .support.cases import each
from .support.statistics import assert_coverage


@pytest.mark.long
def test_intervals_cover_the_median_of_counts_with_jitter():
    """Each client adds a uniform number to a Poisson count. The coverage of 95 % intervals is at least 0.93.

    200 intervals. Detects a coverage of 0.76.
    """
    counts, rng, runs, n, covered = stats.poisson(2.9), np.random.default_rng(1), 200, 5000, 0
    median = 2.5 + (0.5 - counts.cdf(2)) / counts.pmf(3)
    for _ in range(runs):
        low, high = (
            MedianSGD(1.0, lower=0, upper=20, n=n)
            .run(rng.poisson(2.9, n) + rng.uniform(-0.5, 0.5, n), rng=rng)
            .interval()
        )
        covered += low <= median <= high
    assert_coverage(covered, runs, 0.93, detects=0.76)


def test_centering_divides_the_noise_variance_by_four():
    """The noise variance is B^2, with radius 1/2 instead of 1."""
    raw, centered = VectorMean(27, 0.5, norm="linf", radius=1.0), VectorMean(27, 0.5, norm="linf", lower=0, upper=1)
    noise = raw.mechanism.scale**2, (centered.mechanism.scale / 2) ** 2  # centered records are scaled to [-1, 1]
    assert noise[0] == pytest.approx(4 * noise[1])


def test_a_fair_coin_gives_every_record_the_same_report_distribution():
    """The limit epsilon = 0, which is not accepted."""
    rows = ldp.RandomizedResponse(2, 1e-9).channel().matrix
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-9)
    with pytest.raises(ValueError, match="epsilon"):
        ldp.RandomizedResponse(2, 0.0)


def test_the_table_of_the_introduction_has_the_numbers_of_the_formulas():
    """Probability of the truth, odds, and what a probability of 1 % becomes, as rounded on the page."""
    page = (Path(__file__).parent.parent / "docs/ten_minutes.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ") and line[2].isdigit()]
    table = [[float(cell.removesuffix(" %")) for cell in row] for row in rows]
    assert [row[0] for row in table] == [0.1, 0.5, 1, 2, 4, 8]
    for epsilon, truth, odds, posterior in table:
        factor = math.exp(epsilon)
        assert truth == pytest.approx(100 * factor / (1 + factor), abs=0.5 if epsilon < 8 else 0.005)
        assert odds == pytest.approx(factor, rel=0.05)
        assert posterior == pytest.approx(factor / (0.99 + 0.01 * factor), rel=0.03)


@each("epsilon", [0.5, 1.0, 3.0])
@each("k", [2, 10])
def test_the_squared_error_of_shares_follows_the_formula(epsilon, k):
    """The squared error of the symmetric code is (1 - |theta|^2 + k e^(a/2) / (e^(a/2) - 1)^2) / n with a = epsilon.

    It is at most (k/n) coth^2(a/4), and exceeds coth^2(a/4) / n by a factor of more than 2 for large k.
    """
    e, theta = math.exp(epsilon / 2), np.full(k, 1 / k)
    mechanism = Frequencies(k, epsilon, mechanism="symmetric").mechanism
    # The variance of the report given the record plus the variance of the record, for one person.
    error = mechanism.variance(np.arange(k)).sum(axis=1).mean() + 1 - theta @ theta
    assert error == pytest.approx(1 - theta @ theta + k * e / (e - 1) ** 2)
    coth = 1 / math.tanh(epsilon / 4)
    assert error <= k * coth**2
    if k == 10 and epsilon <= 1:
        assert error > 2 * coth**2


def test_the_table_of_right_guesses_is_that_of_surveys():
    """In numbers of 100 people, rounded up; where a text counts more people, of these."""
    page = (Path(__file__).parents[1] / "docs" / "explaining.md").read_text()
    head, _, even, rare = (line.strip("| ").split(" | ") for line in page.partition("\n| | ")[2].split("\n")[:4])
    assert (even[1], rare[1]) == ("50", "1")
    for epsilon, *stated in zip(head[1:], even[2:], rare[2:], strict=True):
        survey = Survey({"a": YesNo(optional=True)}, float(epsilon.removeprefix("epsilon ")))
        columns = list(survey.explain().odds.columns.items())[1:3]
        for number, (title, (found,)) in zip(stated, columns, strict=True):
            people = int(title.split()[2].replace(",", ""))
            assert int(number) == math.ceil(int(found.replace(",", "")) * 100 / people)
