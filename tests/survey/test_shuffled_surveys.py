"""Shuffled reports of surveys and designs: enumeration of all datasets, products and mixtures, and figures."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast import designs
from ldpfast.privacy import Channel, ReportLaw, TwoLevel, compose_rounds, laws_of_answers, shuffled, shuffled_delta
from ldpfast.survey import Choice, Mean, Repeated, Several, Survey, YesNo

from ..support.cases import each
from ..support.internals.privacy import blanket
from ..support.shuffled_reports import worst_divergence


def rows_of(survey):
    """Return the probabilities of all reports of all records: which questions are answered, and what."""
    channels = [mechanism.channel().matrix for mechanism in survey.mechanisms.values()]
    questions, weights = range(len(channels)), survey.weights or {}
    shares = np.array([weights.get(name, 1) for name in survey.mechanisms], float)
    chosen = list(itertools.combinations(questions, survey.answers))
    rows = []
    for record in itertools.product(*(range(len(channel)) for channel in channels)):
        row = []
        for asked in chosen:
            share = shares[asked[0]] / shares.sum() if survey.answers == 1 else 1 / len(chosen)
            parts = np.array([share])
            for q in asked:
                parts = np.multiply.outer(parts, channels[q][record[q]]).ravel()
            row.extend(parts)
        rows.append(row)
    return np.array(rows)


SURVEYS = {
    "one answer": Survey({"a": YesNo(), "b": Choice(3)}, 2.0),
    "weights": Survey({"a": YesNo(), "b": Choice(3)}, 1.0, weights={"a": 3, "b": 1}),
    "two answers": Survey({"a": YesNo(), "b": Choice(3)}, 2.0, answers=2),
    "two of three": Survey({"a": YesNo(), "b": YesNo(), "c": YesNo()}, 3.0, answers=2),
}


@each("name", SURVEYS)
def test_no_dataset_of_a_survey_is_above_the_bound(name):
    survey = SURVEYS[name]
    rows, epsilon = rows_of(survey), survey.guarantee.epsilon
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)
    for n in (1, 2, 3) if len(rows[0]) > 6 else (1, 2, 3, 4):
        at = epsilon * np.array([0.0, 0.2, 0.5, 0.9])
        truth = worst_divergence(rows, n, np.exp(at))
        assert (truth <= shuffled_delta(survey, n, at) * (1 + 1e-9) + 1e-15).all()
        assert (shuffled_delta(survey, n, at) <= shuffled_delta(survey.guarantee, n, at) * (1 + 2e-3)).all()


@each("name", SURVEYS)
def test_a_survey_has_the_bound_of_its_channel(name):
    """The worst pair of records differs in all questions, so that one law is that of all pairs of rows."""
    survey = SURVEYS[name]
    for n, epsilon in ((20, 0.6), (2000, 0.1)):
        expected = shuffled_delta(Channel(rows_of(survey)), n, epsilon)
        assert shuffled_delta(survey, n, epsilon) == pytest.approx(expected, rel=5e-3)


def test_answers_to_several_questions_have_a_smaller_epsilon_than_any_channel():
    survey = Survey({"a": YesNo(), "b": YesNo()}, 4.0, answers=2)
    assert shuffled(survey, 1000, 1e-6).epsilon == pytest.approx(1.401, abs=1e-3)
    assert shuffled(survey.guarantee, 1000, 1e-6).epsilon == pytest.approx(1.853, abs=1e-3)
    asked = {"a": YesNo(), "b": Mean(0, 100), "c": Several(["x", "y", "z"], most=2), "d": Choice(200)}
    for answers in (1, 2, 4):
        survey = Survey(asked, 4.0, answers=answers)
        assert shuffled(survey, 10_000, 1e-6).epsilon < shuffled(survey.guarantee, 10_000, 1e-6).epsilon * 0.98
    many = Survey({str(i): YesNo() for i in range(20)}, 8.0, answers="all")
    assert shuffled(many, 10_000, 1e-6).epsilon < 0.7
    assert compose_rounds(many, 4, n=10_000, delta=1e-6).epsilon < 1.5


def test_a_survey_of_one_question_is_its_mechanism():
    survey = Survey({"a": YesNo()}, 2.0)
    assert shuffled(survey, 500, 1e-6) == shuffled(survey.mechanisms["a"], 500, 1e-6)


def test_the_probabilities_of_questions_are_those_that_are_drawn():
    """Three questions: 2^32 words are not a multiple of three, and every mass covers the larger part."""
    survey = Survey({name: YesNo() for name in "abc"}, 1.0)
    (law,) = survey.report_laws
    assert math.fsum(law.masses) + law.rest >= 1
    one = ReportLaw.of_outcomes(*survey.mechanisms["a"].report_laws[0].outcomes.__dict__.values())
    assert math.fsum(law.masses) > math.fsum(one.masses) * (1 + 1e-11)
    assert math.fsum(law.masses) < math.fsum(one.masses) * (1 + 1e-8)


def test_waves_and_rounds():
    asked = {"a": YesNo(), "b": Choice(3)}
    panel = Survey(asked, 2.0, waves=4, turns=2)
    with pytest.raises(ValueError, match="must be asked in one of them"):
        shuffled(panel, 1000, 1e-6)
    wave = panel.in_wave(2)
    assert shuffled(wave, 1000, 1e-6) == shuffled(Survey(asked, 1.0), 1000, 1e-6)
    assert compose_rounds(wave, 2, n=1000, delta=1e-6).epsilon < 0.5
    weekly = Repeated(Survey({"a": YesNo(), "b": Choice(3)}, 4.0), round=2.0, rounds=8)
    with pytest.raises(ValueError, match="permanent answers"):
        shuffled(weekly.in_round(0), 1000, 1e-6)


# Laws of several answers ----------------------------------------------------------------------------------------------


def potentials(law, order, points):
    """Return the means of (X - t)^+ and of (t - X)^+."""
    masses, values = np.append(law.masses, law.rest), np.append(law.first - order * law.second, 0.0)
    apart = values[:, np.newaxis] - points
    return np.array([masses @ np.maximum(apart, 0), masses @ np.maximum(-apart, 0)])


@each("epsilon", [0.5, 4.0])
def test_split_ratios_are_above_in_the_convex_order(epsilon):
    """A law of 302 atoms is split to fewer in two answers: the means are the same, and the spread a little larger."""
    law = ReportLaw.of_laplace(epsilon, 150)
    exact = law.product(law)
    (found,) = laws_of_answers([(Fraction(1, 2), [law], epsilon)] * 2, 2)
    assert len(found.masses) < len(exact.masses) / 10
    for kind in ("first", "second"):
        assert found.masses @ getattr(found, kind) == pytest.approx(exact.masses @ getattr(exact, kind), rel=1e-11)
    for order in (0.3, 1.0, 2.5):
        points = np.linspace(-math.exp(epsilon), math.exp(epsilon), 40)
        assert (potentials(exact, order, points) <= potentials(found, order, points) * (1 + 1e-9) + 1e-12).all()
    assert blanket.blanket_delta(found, 500, 0.2 * epsilon) <= blanket.blanket_delta(exact, 500, 0.2 * epsilon) * 1.05


def test_the_law_of_several_answers_is_the_mixture_of_all_products():
    odds = [2, 3, Fraction(7, 2), 5]
    laws = [ReportLaw.of_two_level(TwoLevel.of_sets(e, 1, k, 1)) for e, k in zip(odds, (2, 4, 3, 6), strict=True)]
    questions = [(Fraction(1, 4), [law], math.log(e)) for law, e in zip(laws, odds, strict=True)]
    for answers in (1, 2, 3, 4):
        chosen = list(itertools.combinations(laws, answers))
        products = []
        for some in chosen:
            law = some[0]
            for other in some[1:]:
                law = law.product(other)
            products.append((Fraction(1, len(chosen)), law))
        expected = ReportLaw.mixture(products)
        (found,) = laws_of_answers(questions, answers)
        assert len(found.masses) <= len(expected.masses)
        for n, epsilon in ((3, 0.4), (300, 0.3)):
            exact = blanket.blanket_delta(expected, n, epsilon)
            assert exact * (1 - 1e-6) <= blanket.blanket_delta(found, n, epsilon) <= exact * (1 + 1e-6)


def test_answers_without_a_law_count_as_any_channel():
    known = ReportLaw.of_two_level(TwoLevel.binary(3))
    rows = ldp.FiniteChannel([[30, 6, 5], [3, 33, 5], [10, 10, 21]]).report_laws
    unknown = ReportLaw.of_two_level(TwoLevel.arbitrary(1.0))
    for laws in (None, rows, ldp.FiniteChannel([[30, 6], [3, 33]]).report_laws):
        (found,) = laws_of_answers([(Fraction(1, 2), [known], 1.1), (Fraction(1, 2), laws, 1.0)], 2)
        (expected,) = laws_of_answers([(Fraction(1, 2), [known], 1.1), (Fraction(1, 2), [unknown], 1.0)], 2)
        assert blanket.blanket_delta(found, 100, 0.3) == blanket.blanket_delta(expected, 100, 0.3)
    assert laws_of_answers([(Fraction(1, 100), [known], 1.1)] * 100, 50) is None


# Designs --------------------------------------------------------------------------------------------------------------


@each("design", [designs.crosswise(0.25), designs.forced_response("1/6", "1/3"), designs.kuk(0.8, 0.3)], ids=repr)
def test_designs_are_exact(design):
    rows = np.array([[float(Fraction(w, sum(row))) for w in row] for row in design.channel.rows])
    for n in (1, 2, 4):
        at = design.epsilon * np.array([0.0, 0.3, 0.8])
        truth = worst_divergence(rows, n, np.exp(at))
        np.testing.assert_allclose(shuffled_delta(design, n, at), truth, rtol=1e-9, atol=1e-14)


def test_a_design_is_its_channel_and_must_protect_everyone():
    assert shuffled(designs.warner(0.75), 1000, 1e-6) == shuffled(ldp.FiniteChannel([[3, 1], [1, 3]]), 1000, 1e-6)
    assert (
        shuffled(designs.warner(0.75), 1000, 1e-6).epsilon
        < shuffled(designs.warner(0.75).guarantee, 1000, 1e-6).epsilon
    )
    with pytest.raises(ValueError, match="epsilon must be a finite number"):
        shuffled(designs.mangat(0.7), 1000, 1e-6)
