"""The exact distribution of the answers of one person, for optional questions and questions that are combined."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import lru_cache

import pytest

from ldpfast.mechanisms import RandomizedResponse, SetSelection, SubsetSelection
from ldpfast.survey import Choice, Cross, Histogram, Mean, Several, Survey, Together, YesNo

from ..support.cases import each
from ..support.surveys import joined, positions

SURVEYS = [
    Survey({"a": YesNo(), "b": Choice(3), "x": Cross("a", "b")}, 1.0),
    Survey({"a": YesNo(optional=True), "b": Mean(0, 4, optional=True), "x": Cross("b", "a")}, 2.0, weights={"a": 3}),
    Survey({"a": YesNo(optional=True), "b": Histogram([0, 1, 2, 4]), "x": Cross("a", "b")}, 2.0, answers=2),
    Survey({"a": Mean(0, 4), "b": Mean(0, 4, optional=True), "x": Cross("a", "b")}, 1.5, answers="all"),
    Survey({"a": Mean(0, 4), "b": YesNo(), "c": Mean(0, 4, optional=True), "x": Cross("c", "a", "b")}, 1.5),
]
SET_SURVEYS = [
    Survey({"s": Several(8, most=2), "b": Mean(0, 4), "x": Cross("b", "s")}, 1.0),
    Survey({"s": Several(6, most=2), "y": YesNo(), "t": Together("s"), "x": Cross("y", "s")}, 2.0),
    Survey({"s": Several(10, 2, optional=True), "y": YesNo(optional=True), "x": Cross("s", "y")}, 9.0, answers=2),
    Survey({"s": Several(8, 2), "r": Several(5, 1, optional=True), "x": Cross("s", "r")}, 9.0, answers="all"),
]
SETS = [None, "", "0", "2", "0;1", "1;2"]
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
    if isinstance(mechanism, SetSelection):
        design = mechanism._recipe.law.design
        return Fraction(coin.heads * (design.outputs - design.inside), ((1 << 64) - coin.heads) * design.inside)
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


# Sets of options -------------------------------------------------------------------------------------------------------


def laws_of_set_cells(survey, part, record):
    """Return the positions that a part of a table can have, each with its probability, and their number."""
    question = survey.questions[part]
    if isinstance(question, Several):
        own, k = positions(question, record[part], False)
        return [(own, Fraction(1))], k
    law = law_of_symbol(question, record[part])
    return [([symbol], p) for symbol, p in enumerate(law) if p], question.k


def law_of_set_report(survey, name, record):
    """Return the probability of each possible report to a question about sets, and the shares of its positions."""
    question, mechanism = survey.questions[name], survey.mechanisms[name]
    law = mechanism._recipe.law
    if isinstance(question, Together):
        own, k = positions(survey.questions[question.of], record[question.of], True)
        records = [(own, Fraction(1))]
    else:
        parts, records, k = question.parts if isinstance(question, Cross) else [name], [([0], Fraction(1))], 1
        for part in parts:
            cells, more = laws_of_set_cells(survey, part, record)
            records = [(joined([first], [own], more)[0], p * w) for first, p in records for own, w in cells]
            k *= more
    shares = [sum((w for own, w in records if j in own), Fraction(0)) for j in range(k)]
    design, coin = law.design, mechanism._coin
    inside = Fraction(coin.heads, (1 << 64) * design.inside)
    outside = Fraction((1 << 64) - coin.heads, (1 << 64) * (design.outputs - design.inside))
    report = {}
    for chosen in itertools.combinations(range(k), design.size):
        counts = [(len(set(own).intersection(chosen)), w) for own, w in records]
        report[chosen] = sum(w * (inside if c >= design.threshold else outside) for c, w in counts)
    return report, shares


def set_records(survey):
    """Return records with each possible cell of every column."""
    declared = survey._recipe.declared
    cells = []
    for name in declared:
        question = survey.questions[name]
        if isinstance(question, Several):
            known = [cell for cell in SETS if cell is None or cell.count(";") < question.most]
            cells.append([cell for cell in known if cell is not None or question.optional])
        elif not isinstance(question, Together):
            cells.append(CELLS[type(question)] + ([None] if question.optional else []))
        else:
            cells.append([None])
    return [dict(zip(declared, row, strict=True)) for row in itertools.product(*cells)]


@each("survey", SET_SURVEYS, ids=lambda survey: f"{len(survey.questions)} questions, {survey.answers} answers")
def test_the_loss_of_answers_about_sets_is_at_most_the_guarantee(survey):
    """Every report has one of two probabilities for all sets, whose ratio is that of the integers of the coin."""
    worst = {name: ratio_of_integers(mechanism) for name, mechanism in survey.mechanisms.items()}
    for name, mechanism in survey.mechanisms.items():
        if not isinstance(mechanism, SetSelection):
            continue
        laws = [law_of_set_report(survey, name, record) for record in set_records(survey)]
        ratios = (max(column) / min(column) for column in zip(*(report.values() for report, _ in laws), strict=True))
        assert max(ratios) == worst[name]  # a coin that is off by one unit has another
        moments = mechanism._recipe.law.moments
        for report, shares in laws:
            assert sum(report.values()) == 1
            seen = [Fraction(0)] * len(shares)
            for chosen, p in report.items():
                for j in chosen:
                    seen[j] += p
            assert [(p - moments.other) / (moments.own - moments.other) for p in seen] == shares
    total = max(math.prod(worst[name] for name in asked) for asked in itertools.combinations(worst, survey.answers))
    assert math.log(total) <= survey.guarantee.epsilon * (1 + 1e-15) <= survey.epsilon * (1 + 1e-15)
    assert math.log(total) == pytest.approx(survey.guarantee.epsilon, abs=1e-12)


def test_surveys_of_sets_have_reports_of_codes_and_of_bits():
    sizes = {
        (m.size > 1, m.threshold > 1) for s in SET_SURVEYS for m in s.mechanisms.values() if isinstance(m, SetSelection)
    }
    assert sizes == {(False, False), (True, False), (True, True)}


def test_small_surveys_have_both_mechanisms():
    mechanisms = {type(mechanism) for survey in SURVEYS for mechanism in survey.mechanisms.values()}
    assert mechanisms == {RandomizedResponse, SubsetSelection}
