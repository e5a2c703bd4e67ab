"""Surveys that are answered in several rounds: permanent answers, keys, losses, and changes between rounds."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.survey import (
    Choice,
    Cross,
    Histogram,
    Ledger,
    Mean,
    Repeated,
    RepeatedSurvey,
    Survey,
    SurveyRound,
    YesNo,
)

from ..support import person_keys as twin
from ..support.cases import each
from ..support.public import names_with_results

SECRET = bytes(range(32))
QUESTIONS = {
    "smokes": YesNo(optional=True),
    "region": Choice(["N", "S", "W"], optional=True),
    "sleep": Mean(0, 12, optional=True),
    "both": Cross("smokes", "region"),
}
SURVEY = Survey(QUESTIONS, 4.0, series="weeks")
WEEKLY = Repeated(SURVEY, round=2.0, rounds=8)
SEVERAL = Repeated(Survey(QUESTIONS, 9.0, answers=3), round=6.0, rounds=4)


def people(n, week=0):
    return {
        "smokes": (np.arange(n) + week) % 4 == 0,
        "region": np.array(["N", "S", "W"])[np.arange(n) % 3],
        "sleep": np.arange(n) % 13 * 12 / 12.0,
    }


def keys(n, secret=SECRET):
    return ldp.PersonKeys(secret, np.arange(n))


# Reports --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weekly", [WEEKLY, SEVERAL], ids=["one answer", "three answers"])
def test_reports_are_those_of_the_derived_keys(weekly):
    """Written again from the definition: the permanent answer of each question, and its response in the round."""
    n, asked = 60, weekly.in_round(3)
    layout, frame = asked._recipe, people(60)
    table = asked.privatize(frame, rng=keys(n)).to_pydict()
    plain = weekly.survey.privatize(frame, rng=keys(n)).to_pydict()

    def response(mechanism, key, code):
        out = np.zeros(1, np.uint8)
        mechanism._recipe.kernel.privatize(key, 0, np.array([code], np.uint8), out)
        return int(out[0])

    compared = 0
    for q, name in enumerate(("smokes", "region")):
        responses = asked.mechanisms[name]
        codes = frame["smokes"].astype(int) if name == "smokes" else np.arange(n) % 3
        for i in range(n):
            assert (table[name][i] is None) == (plain[name][i] is None)  # the same questions as without rounds
            if table[name][i] is None:
                continue
            permanent = asked._recipe.coins[q].description
            own = twin.record_key(SECRET, layout.series.coins, name, permanent, i, int(codes[i]))
            answer = response(responses.first, own, int(codes[i]))
            fresh = twin.round_key(SECRET, layout.series.coins, name, layout.descriptions[q], 3, i, answer)
            assert table[name][i] == bytes([response(responses.second, fresh, answer)])
            compared += 1
    assert compared > 20


def test_permanent_answers_stay_with_other_rounds_and_are_not_the_reports_to_the_plain_survey():
    """With a round almost as large as the survey, the reports are nearly always the permanent answers.

    A report to the plain survey with the same coins would show the permanent answer, and the losses of both would not add up.
    """
    survey = Survey({"smokes": YesNo(), "region": Choice(["N", "S"])}, 0.4, series="weeks")
    frame = {"smokes": np.arange(4000) % 2 == 0, "region": np.repeat(["N", "S"], 2000)}
    plain = survey.privatize(frame, rng=keys(4000))
    first = Repeated(survey, round=0.399, rounds=8).in_round(0).privatize(frame, rng=keys(4000))
    for rounds, number in ((8, 1), (50, 4)):
        found = Repeated(survey, round=0.399, rounds=rounds).in_round(number).privatize(frame, rng=keys(4000))
        for name in survey.questions:
            a, b = first[name].to_pylist(), found[name].to_pylist()
            assert [x is None for x in a] == [x is None for x in plain[name].to_pylist()]
            reported = [x == y for x, y in zip(plain[name].to_pylist(), b, strict=True) if x is not None]
            assert np.mean(reported) < 0.65
            same = [x == y for x, y in zip(a, b, strict=True) if x is not None]
            assert [x is None for x in a] == [y is None for y in b]
            assert np.mean(same) > 0.9
    other = Repeated(survey, round=0.399, rounds=8).in_round(1).privatize(frame, rng=keys(4000, bytes(32)))
    both = [(x, y) for x, y in zip(first["smokes"].to_pylist(), other["smokes"].to_pylist(), strict=True) if x and y]
    assert np.mean([x == y for x, y in both]) < 0.65


def test_every_path_gives_the_same_reports_and_counts(tmp_path):
    n, asked = 3000, WEEKLY.in_round(2)
    frame = people(n)
    counted = asked.collect(frame, rng=keys(n))
    table = asked.privatize(frame, rng=keys(n))
    assert asked.aggregator().update(table) == counted
    messages = [asked.client(SECRET, i).answer({name: frame[name][i] for name in frame}) for i in range(200)]
    assert messages == [asked.message(table.slice(i, 1)) for i in range(200)]
    first = asked.collect(
        {name: column[:999] for name, column in frame.items()}, rng=ldp.PersonKeys(SECRET, np.arange(999))
    )
    rest = asked.collect(
        {name: column[999:] for name, column in frame.items()}, rng=ldp.PersonKeys(SECRET, np.arange(999, n))
    )
    assert first.merge(rest) == counted
    assert ldp.load(counted.to_bytes()) == counted
    groups = asked.collect({**frame, "g": np.arange(n) % 2}, by="g", rng=keys(n))
    assert groups[0].merge(groups[1]) == counted
    assert asked.run(frame, rng=keys(n)).to_dict() == counted.estimate().to_dict()
    assert WEEKLY.in_round(3).privatize(frame, rng=keys(n)) != table
    with pytest.raises(ValueError, match="reports must answer the survey"):
        WEEKLY.in_round(3).aggregator().update(messages)
    with pytest.raises(ValueError, match="number is 3, got 2"):
        WEEKLY.in_round(3).aggregator().merge(counted)


@pytest.mark.parametrize("weekly", [WEEKLY, SEVERAL], ids=["one answer", "three answers"])
def test_estimates_are_those_of_the_people(weekly):
    n = 60_000
    frame = people(n)
    result = weekly.in_round(0).run(frame, rng=keys(n))
    truth = {"smokes": 0.25, "sleep": frame["sleep"].mean(), "region": np.full(3, 1 / 3)}
    for name, value in truth.items():
        low, high = result[name].interval(confidence=1 - 1e-6)
        assert np.all(low < value)
        assert np.all(value < high)
        assert np.all(high - low < (6 if name == "sleep" else 0.3))
    assert result.guarantee == weekly.guarantee
    assert weekly.guarantee.epsilon <= weekly.round


# Losses ---------------------------------------------------------------------------------------------------------------


def test_the_loss_is_the_sum_of_the_worst_questions():
    for weekly in (WEEKLY, SEVERAL):
        answers, asked = weekly.survey.answers, weekly.in_round(0)
        for rounds, changes in ((1, 0), (4, 0), (4, 1), (3, 2)):
            alone = sorted(
                asked.mechanisms[name].loss(rounds, changes * (1 + (name == "both")), rounded=name == "sleep")
                for name in asked.mechanisms
            )
            expected = sum(alone[-answers:])
            assert weekly.loss(rounds, changes).epsilon == pytest.approx(expected, rel=1e-12)
        assert weekly.loss(1).epsilon == weekly.guarantee.epsilon <= weekly.round
        assert weekly.loss().epsilon <= weekly.survey.epsilon * (1 + 1e-8)


def test_a_question_alone_loses_what_repeated_says():
    question = Choice(["a", "b", "c"])
    alone = Repeated(question, permanent=3.0, round=1.0, rounds=9)
    weekly = Repeated(Survey({"q": question}, 3.0), round=1.0, rounds=9)
    for changes in (0, 1, 2):
        assert weekly.loss(changes=changes) == alone.loss(changes=changes)


# Changes --------------------------------------------------------------------------------------------------------------


def one_pair_of_rounds(weekly, before, after, seed, n):
    secret = np.random.default_rng(seed).bytes(32)
    counted = [weekly.in_round(i).collect(frame, rng=keys(n, secret)) for i, frame in enumerate((before, after))]
    return weekly, counted


@pytest.mark.claim("The difference of two rounds has the standard error that `change` states.", "Surveys and ledgers")
@pytest.mark.long
@pytest.mark.parametrize("moved", [0.0, 0.1, 1.0])
def test_the_standard_error_of_a_change_is_that_of_many_secrets(moved):
    """The people and their values are fixed; what varies are the coins."""
    n, runs = 1500, 120
    weekly = Repeated(Survey({"smokes": YesNo(), "sleep": Mean(0, 12)}, 3.0, answers=2), round=2.4, rounds=8)
    place = np.arange(n)
    changed = place % 10 < 10 * moved
    before = {"smokes": place % 4 == 0, "sleep": np.where(place % 2, 11.0, 1.0)}
    after = {"smokes": (place + changed) % 4 == 0, "sleep": np.where(changed, 6.0, before["sleep"])}
    declared = {0.0: 0.0, 0.1: 0.15, 1.0: 1.0}[moved]
    truth = {name: np.mean(after[name]) - np.mean(before[name]) for name in before}
    values, errors = {name: [] for name in before}, {name: [] for name in before}
    for seed in range(runs):
        _, counted = one_pair_of_rounds(weekly, before, after, seed, n)
        found = weekly.change(*counted, changed=declared).differences
        for name in before:
            estimate = found[name, "round 1", "round 0"]
            values[name].append(float(np.ravel(estimate.value)[0]))
            errors[name].append(float(np.ravel(estimate.stderr)[0]))
    for name in before:
        spread, stated = np.std(values[name]), np.mean(errors[name])
        assert abs(np.mean(values[name]) - truth[name]) < 4.5 * stated / np.sqrt(runs)
        # 120 runs: the spread is within 25 % of the standard deviation with probability 1 - 1e-3; for means, and where more
        # people are declared than change, the stated error is an upper bound.
        assert spread < 1.25 * stated
        if moved != 0.1:
            assert spread > (0.6 if name == "sleep" else 0.78) * stated


def test_a_change_is_known_better_than_two_independent_rounds_tell():
    n = 6000
    weekly = Repeated(Survey({"smokes": YesNo()}, 1.0), round=0.99, rounds=8)
    counted = [weekly.in_round(i).collect({"smokes": np.arange(n) % 3 == 0}, rng=keys(n)) for i in (0, 1)]
    few = weekly.change(*counted, changed=0.05).table["stderr"][0]
    all_of_them = weekly.change(*counted).table["stderr"][0]
    assert few < 0.5 * all_of_them
    apart = [one.estimate()["smokes"].stderr ** 2 - 2 / 9 / n for one in counted]  # without sampling
    assert all_of_them == pytest.approx(np.sqrt(sum(apart)), rel=0.01)


@each(
    "call, text",
    [
        (lambda a, b: WEEKLY.change(a, a), "before and after must be of different rounds"),
        (lambda a, b: WEEKLY.change(a, b, changed=1.5), "changed must be in"),
        (lambda a, b: WEEKLY.change(a, b, changed=0.5, confidence=2), "confidence must be in"),
        (lambda a, b: WEEKLY.change(a.estimate(), b), "before must be the aggregator of a round"),
        (lambda a, b: WEEKLY.change(a, SEVERAL.in_round(1).aggregator()), "after must be the aggregator of a round"),
        (
            lambda a, b: WEEKLY.change(a, Repeated(SURVEY, round=1.0, rounds=8).in_round(1).aggregator()),
            "after must be",
        ),
        (
            lambda a, b: WEEKLY.change(a, b.merge(ldp.load(b.to_bytes())), changed=0.5),
            "changed must be 1 unless all people answer in both",
        ),
        (lambda a, b: a.estimate()["smokes"] - b.estimate()["smokes"], "same people"),
    ],
)
def test_changes_that_are_not_known_are_refused(call, text):
    counted = [WEEKLY.in_round(i).collect(people(900), rng=keys(900)) for i in (0, 1)]
    with pytest.raises((TypeError, ValueError), match=text):
        call(*counted)


# What is refused ------------------------------------------------------------------------------------------------------


@each(
    "make, text",
    [
        (lambda: Repeated(SURVEY, round=4.0, rounds=8), "round must be below the epsilon of the survey"),
        (lambda: Repeated(SURVEY, round=-1.0, rounds=8), "round must be"),
        (lambda: Repeated(SURVEY, round=1.0, rounds=0), "rounds must be"),
        (lambda: Repeated(SURVEY, permanent=4.0, round=1.0, rounds=2), "permanent must be left out"),
        (lambda: Repeated(Survey(QUESTIONS, 2.0, waves=3), round=1.0, rounds=2), "survey must have no waves"),
        (lambda: Repeated(WEEKLY.in_round(0), round=1.0, rounds=2), "survey must be a whole survey"),
        (lambda: RepeatedSurvey(YesNo(), round=1.0, rounds=2), "survey must be a Survey"),
        (lambda: WEEKLY.in_round(-1), "number must be"),
        (lambda: WEEKLY.in_round(2**32 - 1), "number must be"),
        (lambda: WEEKLY.loss(9), "rounds must be"),
        (lambda: WEEKLY.loss(2, -1), "changes must be"),
        (
            lambda: WEEKLY.in_round(0).run(people(5)),
            "rng must be PersonKeys, .* for a round",
        ),
        (
            lambda: WEEKLY.in_round(0).privatize(people(5), rng=3),
            "rng must be PersonKeys, .* for a round",
        ),
        (lambda: WEEKLY.in_round(0).client(), "secret and person, or a ledger, must be given for a round"),
        (lambda: WEEKLY.in_round(0).revise(remove=["both"]), "a round cannot be revised"),
        (lambda: WEEKLY.in_round(0).loss(), "a round has one loss"),
        (lambda: WEEKLY.in_round(0).to_toml(), "a round has no form in TOML"),
        (lambda: WEEKLY.in_round(0).in_wave(1), "wave must be left out"),
        (lambda: SurveyRound(QUESTIONS, 4.0, waves=3, round=1.0, rounds=2, number=0), "waves must be None"),
    ],
)
def test_what_cannot_be_is_refused(make, text):
    with pytest.raises((TypeError, ValueError), match=text):
        make()


def test_a_ledger_keeps_rounds_and_their_number():
    ledger = Ledger({})
    messages = [WEEKLY.in_round(i).client(ledger=ledger).answer({"smokes": True}) for i in range(8)]
    assert WEEKLY.in_round(3).client(ledger=ledger).answer({"smokes": False}) == messages[3]
    assert len({message[9:11] for message in messages}) == 1  # the same question
    losses = [mechanism.second.epsilon_realized for mechanism in WEEKLY.in_round(0).mechanisms.values()]
    assert min(losses) * 8 <= ledger.loss <= max(losses) * 8 * (1 + 1e-12)
    with pytest.raises(ValueError, match="at most 8 reports"):
        WEEKLY.in_round(8).client(ledger=ledger).answer({"smokes": True})
    changed = Repeated(SURVEY.revise(remove=["sleep"]), round=2.0, rounds=8)
    with pytest.raises(ValueError, match="the version that was answered in round 3"):
        changed.in_round(3).client(ledger=ledger).answer({"smokes": True})
    for other in (
        Repeated(SURVEY, round=1.0, rounds=8).in_round(9),
        Repeated(SURVEY, round=2.0, rounds=9).in_round(9),
        SURVEY,
    ):
        with pytest.raises(ValueError, match="another series"):
            other.client(ledger=ledger)


@pytest.mark.claim("A ledger refuses a question that was revised between rounds.", "Surveys and ledgers")
def test_a_ledger_refuses_a_question_that_was_revised_between_rounds():
    """Its permanent answer would be drawn again, which `loss` does not count for a value that stays."""
    first = Survey({"a": YesNo(optional=True), "b": Choice(["x", "y"], optional=True)}, 3.0, series="h")
    later = first.revise(change={"b": Choice(["x", "y", "z"], optional=True)})
    seen = set()
    for _ in range(20):
        ledger = Ledger({})
        message = Repeated(first, round=2.0, rounds=8).in_round(0).client(ledger=ledger).answer({"a": True, "b": "x"})
        client, asked = Repeated(later, round=2.0, rounds=8).in_round(1).client(ledger=ledger), message[9]
        seen.add(asked)
        if asked == 0:
            assert client.answer({"a": True, "b": "x"})[9] == 0
        else:
            with pytest.raises(ValueError, match="permanent answer would be a new loss"):
                client.answer({"a": True, "b": "x"})
    assert seen == {0, 1}


# Objects --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weekly", [WEEKLY, SEVERAL], ids=["one answer", "three answers"])
def test_descriptions_survive(weekly):
    asked = weekly.in_round(5)
    assert isinstance(weekly, RepeatedSurvey)
    for made in (asked, weekly):
        assert pickle.loads(pickle.dumps(made)) == made == copy.deepcopy(made)
        assert type(made).from_dict(made.to_dict()) == made
    assert Survey.from_dict(asked.to_dict()) == asked
    assert asked != weekly.in_round(6)
    assert asked.fingerprint != weekly.in_round(6).fingerprint != weekly.survey.fingerprint
    assert eval(repr(weekly), {name: getattr(ldp.survey, name) for name in names_with_results(ldp.survey)}) == weekly
    assert asked.plan(1000).names == tuple(QUESTIONS)
    assert np.all(asked.plan(1000).expected > weekly.survey.plan(1000).expected)


def test_the_mechanism_of_a_question_draws_both_responses():
    mechanism, n = WEEKLY.in_round(0).mechanisms["region"], 200_000
    counts = np.bincount(mechanism.privatize(np.zeros(n, np.int64), rng=5), minlength=mechanism.k)
    expected = mechanism.channel().matrix[0]
    assert ((counts - n * expected) ** 2 / (n * expected)).sum() < 25  # chi-square with 3 degrees: level 1e-5
    estimate = mechanism.run(np.arange(n) % mechanism.k, rng=3)
    assert np.allclose(estimate.value, 0.25, atol=0.03)


def test_a_histogram_and_a_mean_with_steps_are_answered_in_rounds():
    survey = Survey({"age": Histogram(range(0, 101, 20)), "temperature": Mean(35, 42, resolution=0.5)}, 6.0)
    n = 40_000
    frame = {"age": np.arange(n) % 100 * 1.0, "temperature": np.full(n, 36.5)}
    result = Repeated(survey, round=4.0, rounds=3).in_round(1).run(frame, rng=keys(n))
    assert np.allclose(result["age"].value, 0.2, atol=0.03)
    assert result["temperature"].value == pytest.approx(36.5, abs=0.4)
