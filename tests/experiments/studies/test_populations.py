"""Populations of the experiments: real records, and stand-ins for records that cannot be distributed."""

from __future__ import annotations

import numpy as np
import pytest

from experiments.demo import surveys
from experiments.studies import central, djw_corollary_7, djw_figure_1, djw_figure_7, salaries

from ...support.statistics import ALPHA, hoeffding_radius

pytest.importorskip("statsmodels")


def test_the_salaries_have_the_statistics_of_the_paper():
    values = salaries.salaries().values
    assert len(values) == 252_540
    assert round(values.mean()) == 39_531
    assert round(float(np.median(values))) == 24_968
    assert np.count_nonzero(values > 1e6) == 14
    assert np.count_nonzero((values > 2e6) & (values < 3e6)) == 2
    assert values.max() < 3e6
    assert values.min() > 0
    assert (np.diff(values) >= 0).all()


def test_risk_and_moments_of_a_population_follow_the_definitions():
    people = salaries.Population("made", np.array([0.0, 1.0, 4.0, 9.0]), 1.0)
    guesses = np.array([-1.0, 0.0, 2.5, 4.0, 20.0])
    direct = np.abs(guesses[:, np.newaxis] - people.values).mean(axis=1)
    np.testing.assert_allclose(people.risk(guesses), direct, rtol=1e-12)
    assert people.gap(np.array(people.median)) == 0
    assert people.moment(3.0) == pytest.approx(np.mean(people.values**3) ** (1 / 3), rel=1e-12)


def test_real_populations_have_their_known_statistics():
    assert salaries.visits().mean == pytest.approx(2.86, abs=0.01)
    assert salaries.diseases().median == pytest.approx(10.58, abs=0.01)
    answers = np.unpackbits(djw_figure_1.real_population(), axis=1, count=27)
    assert answers.shape == (6_366, 27)
    assert (answers.sum(axis=1) == len(djw_figure_1.CHOICES)).all()  # each question has one answer
    assert np.bincount(surveys.own_health()).tolist() == [11_019, 7_309, 1_560, 302]


def test_documents_are_in_the_unit_ball_and_reproducible():
    made = djw_figure_7.documents(3_000, 20, 0.1, 4, 6)
    again = djw_figure_7.documents(3_000, 20, 0.1, 4, 6)
    np.testing.assert_array_equal(made.x, again.x)
    np.testing.assert_array_equal(made.y, again.y)
    assert set(np.unique(made.x)) == {0.0, np.float32(0.5)}
    assert np.linalg.norm(made.x, axis=1).max() <= 1
    assert 0.45 < made.y.mean() < 0.55
    patients = djw_figure_7.patients()
    assert patients.x.shape == (20_190, 10)
    assert np.linalg.norm(patients.x, axis=1).max() <= 1 + 1e-6
    assert 0.49 < patients.y.mean() < 0.51


def test_the_true_density_has_the_declared_coefficients():
    assert djw_corollary_7.density(djw_corollary_7.POINTS).min() > 0
    assert djw_corollary_7.density(djw_corollary_7.POINTS).mean() == pytest.approx(1, abs=1e-12)
    terms = np.arange(1, djw_corollary_7.TERMS + 1)
    assert np.sum(terms**4 * djw_corollary_7.coefficients() ** 2) == pytest.approx(
        djw_corollary_7.sobolev_radius() ** 2
    )
    n = 100_000
    people = djw_corollary_7.sample(n, np.random.default_rng(1))
    cosine = np.sqrt(2) * np.cos(2 * np.pi * people)
    # Hoeffding's inequality for numbers in [-sqrt 2, sqrt 2].
    assert cosine.mean() == pytest.approx(
        djw_corollary_7.coefficients()[0], abs=2 * np.sqrt(2) * hoeffding_radius(n, ALPHA)
    )


def test_means_and_medians_of_counts_agree_with_large_samples():
    made = central.Counts("made", np.array([0.0, 0.0, 1.0, 1.0, 1.0, 7.0]), -0.5, 7.5)
    assert made.median == pytest.approx(0.5 + 1 / 3)  # a third of the way from two to five records
    assert made.mean == pytest.approx(10 / 6)
    for people in (central.visits(), central.ratings()):
        sample = np.concatenate([people.sample(np.random.default_rng(seed)) for seed in range(20)])
        assert np.median(sample) == pytest.approx(people.median, abs=0.02)
        assert sample.mean() == pytest.approx(people.mean, abs=0.04)
        assert people.lower <= sample.min() <= sample.max() <= people.upper
