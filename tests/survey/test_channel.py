"""The exact distribution of the answers of one person, for optional questions and questions that are combined."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import lru_cache

import pytest

from ldpfast.mechanisms import RandomizedResponse, SubsetSelection
from ldpfast.survey import Choice, Cross, Histogram, Mean, Survey, YesNo

from ..support.cases import each

SURVEYS = [
    Survey({"a": YesNo(), "b": Choice(3), "x": Cross("a", "b")}, 1.0),
    Survey({"a": YesNo(optional=True), "b": Mean(0, 4, optional=True), "x": Cross("b", "a")}, 2.0, weights={"a": 3}),
    Survey({"a": YesNo(optional=True), "b": Histogram([0, 1, 2, 4]), "x": Cross("a", "b")}, 2.0, answers=2),
    Survey({"a": Mean(0, 4), "b": Mean(0, 4, optional=True), "x": Cross("a", "b")}, 1.5, answers="all"),
    Survey({"a": Mean(0, 4), "b": YesNo(), "c": Mean(0, 4, optional=True), "x": Cross("c", "a", "b")}, 1.5),
]
CELLS = {
    YesNo: [False, True],
    Choice: [0, 1, 2],
    Mean: [Fraction(0), Fraction(1), Fraction(4)],
    Histogram: [Fraction(1, 2), Fraction(1), Fraction(4)],
}


def law_of_symbol(question, cell):
    """Return the probability of each symbol of a cell."""
    law = [Fraction(0)] * question.k
    if cell is None:
        law[-1] = Fraction(1)
    elif isinstance(question, Mean):
        law[1] = Fraction(cell) / 4
        law[0] = 1 - law[1]
    elif isinstance(question, Histogram):
        law[sum(cell >= edge for edge in question.edges[1:-1])] = Fraction(1)
    else:
        law[int(cell)] = Fraction(1)
    return law


def law_of_report(survey, name, record):
    """Return the probability of each possible report to one question."""
    question, mechanism = survey.questions[name], survey.mechanisms[name]
    parts = question.parts if isinstance(question, Cross) else [name]
    laws = [law_of_symbol(survey.questions[part], record[part]) for part in parts]
    weights = [math.prod(each) for each in itertools.product(*laws)]
    return {code: sum(w * p for w, p in zip(weights, column, strict=True)) for code, column in columns_of(mechanism)}


@lru_cache
def columns_of(mechanism):
    """Return the possible reports with their probabilities for each symbol."""
    rows = mechanism._recipe.law.rows()
    totals = [sum(map(Fraction, row)) for row in rows]
    columns = enumerate(zip(*rows, strict=True))
    return [(code, [x / total for x, total in zip(xs, totals, strict=True)]) for code, xs in columns if any(xs)]


def largest_ratio(x, y):
    """Return the largest ratio of the probabilities of a report."""
    return max(x[code] / y[code] for code in x)


def ratio_of_integers(mechanism):
    """Return the ratio of the probabilities of a report for two symbols, from the integers of the coin."""
    coin = mechanism._coin
    if isinstance(mechanism, RandomizedResponse):
        return Fraction(coin.keep, coin.words_per_symbol)
    size, k = mechanism.size, mechanism.k
    return Fraction(coin.heads * (k - size), ((1 << 64) - coin.heads) * size)


def symbols(mechanism, code):
    """Return the symbols that a report supports."""
    return [code] if isinstance(mechanism, RandomizedResponse) else [j for j in range(mechanism.k) if code >> j & 1]


def records(survey):
    cells = [CELLS[type(q)] + ([None] if q.optional else []) for q in survey.column_questions.values()]
    return [dict(zip(survey._recipe.declared, row, strict=True)) for row in itertools.product(*cells)]


@pytest.mark.claim("`Survey` has one epsilon for all answers of a person.", "Surveys and ledgers")
@each("survey", SURVEYS, ids=lambda survey: f"{len(survey.questions)} questions, {survey.answers} answers")
def test_the_loss_of_all_answers_is_at_most_the_guarantee(survey):
    """Given the questions, the reports are independent; which questions are asked does not depend on the record."""
    names = list(survey.mechanisms)
    laws = [{name: law_of_report(survey, name, record) for name in names} for record in records(survey)]
    worst = {name: max(largest_ratio(x[name], y[name]) for x, y in itertools.permutations(laws, 2)) for name in names}
    for name in names:
        assert worst[name] == ratio_of_integers(survey.mechanisms[name])  # a coin that is off by one unit has another
    total = max(math.prod(worst[name] for name in asked) for asked in itertools.combinations(names, survey.answers))
    assert math.log(total) <= survey.guarantee.epsilon * (1 + 1e-15) <= survey.epsilon * (1 + 1e-15)
    # The bound is attained: one record can be the worst against another one for all answers.
    attained = max(
        math.prod(largest_ratio(x[name], y[name]) for name in asked)
        for x, y in itertools.permutations(laws, 2)
        for asked in itertools.combinations(names, survey.answers)
    )
    assert math.log(attained) == pytest.approx(survey.guarantee.epsilon, abs=1e-12)


@each("survey", SURVEYS, ids=lambda survey: f"{len(survey.questions)} questions, {survey.answers} answers")
def test_decoded_reports_are_unbiased_for_every_record(survey):
    for record in records(survey):
        for name, mechanism in survey.mechanisms.items():
            question = survey.questions[name]
            parts = question.parts if isinstance(question, Cross) else [name]
            laws = [law_of_symbol(survey.questions[part], record[part]) for part in parts]
            truth = [float(math.prod(weights)) for weights in itertools.product(*laws)]
            report = law_of_report(survey, name, record)
            zero, one = mechanism.debiasing.zero, mechanism.debiasing.one
            supported = [
                sum(p for code, p in report.items() if j in symbols(mechanism, code)) for j in range(mechanism.k)
            ]
            assert [zero + (one - zero) * float(p) for p in supported] == pytest.approx(truth, abs=1e-9)


def test_small_surveys_have_both_mechanisms():
    mechanisms = {type(mechanism) for survey in SURVEYS for mechanism in survey.mechanisms.values()}
    assert mechanisms == {RandomizedResponse, SubsetSelection}
