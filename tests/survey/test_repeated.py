"""Repeated questions: the composed channel, the loss of many rounds, keys and the ledger."""

from __future__ import annotations

import copy
import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest

import ldpfast as ldp
from ldpfast.survey import Choice, Cross, Histogram, Mean, Repeated, RepeatedRound, YesNo

from ..support import person_keys as twin
from ..support.cases import each
from ..support.internals.shared import person_keys

SECRET = bytes(range(32))
QUESTIONS = [
    Repeated(YesNo(), permanent=2.0, round=0.5, rounds=10),
    Repeated(YesNo(optional=True), permanent=3.0, round=1.0, rounds=3),
    Repeated(Choice(["a", "b", "c", "d"]), permanent=1.5, round=1.4, rounds=100),
    Repeated(Histogram(list(range(20)), optional=True), permanent=6.0, round=0.1, rounds=5),
    Repeated(Mean(-1, 3, optional=True), permanent=4.0, round=3.0, rounds=2),
]


def matrices(repeated):
    """Return the exact channels of the permanent answer, of the response, and of both, in fractions."""
    first, second = (
        [[Fraction(x) / sum(map(Fraction, row)) for x in row] for row in m._recipe.law.rows()]
        for m in (repeated.first, repeated.second)
    )
    k = len(first)
    product = [[sum(first[i][m] * second[m][j] for m in range(k)) for j in range(k)] for i in range(k)]
    return first, second, product


@each("repeated", QUESTIONS, ids=str)
def test_one_round_has_the_exact_channel_of_both_responses(repeated):
    product = matrices(repeated)[2]
    largest = max(a / b for rows in itertools.permutations(product, 2) for a, b in zip(*rows, strict=True))
    assert largest <= Fraction(math.exp(repeated.epsilon_realized) * (1 + 1e-14))
    assert math.log(largest) == pytest.approx(repeated.epsilon_realized, abs=1e-14)
    assert repeated.epsilon_realized <= repeated.round
    assert repeated.epsilon_realized > repeated.round - 1e-4
    assert repeated.channel().epsilon() == pytest.approx(repeated.epsilon_realized, abs=1e-13)
    assert np.allclose(np.array(product, float), repeated.channel().matrix, atol=1e-14)
    mean = np.array(product, float) @ repeated.in_round(0).report.decode(
        np.arange(len(product)), repeated.in_round(0)._recipe.debiasing
    )
    assert np.allclose(mean, np.eye(len(product)), atol=1e-11)


def test_the_response_is_the_largest_that_fits():
    repeated = QUESTIONS[0]
    larger = ldp.RandomizedResponse(2, repeated.second.epsilon + 1e-6)
    first = matrices(repeated)[0]
    second = [[Fraction(x) / sum(map(Fraction, row)) for x in row] for row in larger._recipe.law.rows()]
    keep = sum(first[0][j] * second[j][0] for j in range(2))
    assert math.log(keep / (1 - keep)) > repeated.round


# The counterexample: P binary with p = 3/4, R with odds e.
P = Repeated(YesNo(), permanent=math.log(3), round=0.4706, rounds=40)


def loss_of_sequences(first, second, rounds):
    """Return the largest loss of "the same value every round" against "as many different values", per round.

    The values of the second sequence have permanent answers of their own. The report of every round is the symbol that the
    first sequence makes more likely.
    """
    p, q = first[0][0], second[0][0]
    same = p * q**rounds + (1 - p) * (1 - q) ** rounds
    other = ((1 - p) * q + p * (1 - q)) ** rounds  # each permanent answer is the other symbol, independently
    return math.log(same / other)


def test_many_rounds_lose_more_than_their_number_times_one_round():
    # One round has epsilon 0.4706, but the loss of T rounds is above 0.4706 T: reports of a permanent answer support each
    # other. It reaches 0.6426 per round.
    first, second, product = matrices(P)
    assert P.second.epsilon == pytest.approx(1.0, abs=2e-3)
    assert math.log(product[0][0] / product[0][1]) == pytest.approx(0.4706, abs=1e-4)
    losses = [loss_of_sequences(first, second, rounds) / rounds for rounds in (1, 2, 5, 20, 300)]
    assert losses[0] == pytest.approx(0.4706, abs=1e-3)
    assert losses == sorted(losses)
    assert losses[-1] == pytest.approx(0.6426, abs=2e-3)
    assert 300 * losses[-1] > 300 * P.epsilon_realized + 50
    assert P.loss(40).epsilon <= 40 * P.second.epsilon
    for rounds in (2, 10, 40):
        assert loss_of_sequences(first, second, rounds) <= P._responses.loss(rounds, rounds, rounded=True)


@pytest.mark.parametrize("rounds", [1, 2, 3, 4])
def test_the_bound_for_one_value_holds_exactly(rounds):
    first, second, _ = matrices(P)
    worst = Fraction(0)
    for reports in itertools.product(range(2), repeat=rounds):
        law = [sum(first[v][w] * math.prod(second[w][r] for r in reports) for w in range(2)) for v in range(2)]
        worst = max(worst, law[0] / law[1], law[1] / law[0])
    assert math.log(worst) <= P.loss(rounds).epsilon
    assert P.loss(rounds).epsilon <= P.first.epsilon_realized


def test_one_round_loses_what_its_channel_says():
    for repeated in QUESTIONS:
        assert repeated.loss(1).epsilon == repeated.loss(1, changes=5).epsilon == repeated.epsilon_realized


# Reports --------------------------------------------------------------------------------------------------------------


def test_reports_are_those_of_the_derived_keys():
    repeated, n = QUESTIONS[2], 50
    letters = np.array(list("abcd"))[np.arange(n) % 4]
    digest, round_digest = repeated._permanent_digest, repeated._round_digest

    def response(mechanism, key, code):
        out = np.zeros(1, np.uint8)
        mechanism._recipe.kernel.privatize(key, 0, np.array([code], np.uint8), out)
        return int(out[0])

    for number in (0, 7):
        reports = repeated.in_round(number).privatize(letters, rng=ldp.PersonKeys(SECRET, np.arange(n), question="q"))
        for i in range(n):
            permanent = response(
                repeated.first, twin.record_key(SECRET, person_keys.NO_SERIES, "q", digest, i, i % 4), i % 4
            )
            fresh = twin.round_key(SECRET, person_keys.NO_SERIES, "q", round_digest, number, i, permanent)
            assert reports[i] == response(repeated.second, fresh, permanent)


def test_other_rounds_keep_the_permanent_answers():
    """A study that goes on with another number of rounds, or another epsilon of a round, must not draw them again."""
    n, values = 4000, np.arange(4000) % 2 == 0
    keys = ldp.PersonKeys(SECRET, np.arange(n), question="q")
    first = Repeated(YesNo(), permanent=0.2, round=0.199, rounds=8)
    longer = Repeated(YesNo(), permanent=0.2, round=0.199, rounds=50)
    other = Repeated(YesNo(column="smokes"), permanent=0.2, round=0.198, rounds=8)
    reports = [repeated.in_round(3).privatize(values, rng=keys) for repeated in (first, longer, other)]
    assert np.array_equal(reports[0], reports[1])
    # The second responses tell the permanent answer with a probability of 0.995 and more. New answers would agree in half.
    assert np.mean(reports[0] != reports[2]) < 0.05
    assert first._permanent_digest == other._permanent_digest
    assert first._round_digest != other._round_digest
    different = [
        Repeated(YesNo(), permanent=0.25, round=0.199, rounds=8),
        Repeated(YesNo(optional=True), permanent=0.2, round=0.199, rounds=8),
        Repeated(Choice(["no", "yes"]), permanent=0.2, round=0.199, rounds=8),
    ]
    assert len({repeated._permanent_digest for repeated in (first, *different)}) == 4


@pytest.mark.long
@pytest.mark.parametrize("repeated", QUESTIONS, ids=str)
def test_estimates_are_near_the_truth_in_every_round(repeated):
    n, rng = 60_000, np.random.default_rng(1)
    question = repeated.question
    if isinstance(question, YesNo):
        x, truth = rng.random(n) < 0.3, 0.3
    elif isinstance(question, Choice):
        x, truth = np.array(question.labels)[rng.choice(4, n, p=[0.1, 0.2, 0.3, 0.4])], np.array([0.1, 0.2, 0.3, 0.4])
    elif isinstance(question, Mean):
        x, truth = rng.uniform(-1, 3, n), 1.0
    else:
        x, truth = rng.uniform(0, 19, n), np.full(19, 1 / 19)
    keys = ldp.PersonKeys(SECRET, np.arange(n), question="q")
    for number in (0, 1):
        asked = repeated.in_round(number)
        reports = asked.privatize(x, rng=keys)
        answer = asked.estimate(reports)
        assert (np.abs(answer.value - truth) <= 5 * np.asarray(answer.stderr)).all()
        assert np.array_equal(reports, asked.privatize(x, rng=keys))
    assert not np.array_equal(reports, repeated.in_round(0).privatize(x, rng=keys))
    aggregator = asked.aggregator().update(reports)
    assert ldp.Aggregator.from_bytes(aggregator.to_bytes()) == aggregator
    assert asked.estimate(aggregator).value == pytest.approx(answer.value)
    assert RepeatedRound.from_dict(asked.to_dict()) == asked
    with pytest.raises(ValueError, match="same question: number is 0, got 1"):
        repeated.in_round(0).aggregator().merge(aggregator)
    with pytest.raises(ValueError, match="with the fingerprint"):
        repeated.in_round(0).aggregator().update([asked.message(reports[:1])])
    assert Repeated.from_dict(repeated.to_dict()) == repeated


def test_clients_send_the_reports_of_the_bulk_call():
    repeated, n = QUESTIONS[1], 40
    values = [True, False, None, True] * 10
    asked = repeated.in_round(2)
    reports = asked.privatize(values, rng=ldp.PersonKeys(SECRET, np.arange(n), question="q"))
    messages = [repeated.client(SECRET, i, question="q").answer(values[i], 2) for i in range(n)]
    assert asked.aggregator().update(messages) == asked.aggregator().update(reports)


def test_the_ledger_refuses_whatever_the_value_is():
    repeated = QUESTIONS[1]
    client = repeated.client(SECRET, "Ada", question="q")
    for number in (5, 0):
        client.answer(True, number)
    for value in (True, False, None, "other"):
        with pytest.raises(ValueError, match="round must be one that was not answered before, got 5"):
            client.answer(value, 5)
    again = repeated.client(SECRET, "Ada", question="q", answered=client.answered)
    again.answer(False, 1)
    for value in (True, None):
        with pytest.raises(ValueError, match="at most 3 rounds"):
            again.answer(value, 2)
    assert again.answered == {0, 1, 5}


@each(
    "make, error, message",
    [
        (lambda: Repeated(Cross("a", "b"), permanent=2.0, round=1.0, rounds=3), TypeError, "question must be a YesNo"),
        (
            lambda: Repeated(YesNo(), permanent=1.0, round=1.0, rounds=3),
            ValueError,
            "round must be below permanent = 1.0",
        ),
        (lambda: Repeated(YesNo(), permanent=2.0, round=1.0, rounds=0), ValueError, "rounds must be"),
        (lambda: Repeated(YesNo(), permanent=2.0, round=0.0, rounds=1), ValueError, "round must be"),
        (
            lambda: QUESTIONS[0].in_round(0).privatize([True], rng=3),
            TypeError,
            "rng must be PersonKeys, .* for a round",
        ),
        (
            lambda: QUESTIONS[0].in_round(-1),
            ValueError,
            "number must be",
        ),
        (
            lambda: QUESTIONS[0].in_round(0).privatize([True], rng=ldp.PersonKeys(SECRET, [1])),
            ValueError,
            "question must be the name",
        ),
        (
            lambda: QUESTIONS[0].in_round(0).privatize([1, 7], rng=ldp.PersonKeys(SECRET, [1, 2], question="q")),
            ValueError,
            "row 1 holds another value",
        ),
        (lambda: QUESTIONS[0].client(SECRET, 1, question="q"), ValueError, "question must be optional for a client"),
    ],
)
def test_bad_input_is_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_round_and_its_aggregator_can_be_copied_and_pickled():
    asked = Repeated(YesNo(), permanent=3.0, round=1.0, rounds=4).in_round(2)
    for twin_of in (copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))):
        assert twin_of(asked) == asked
        assert twin_of(asked).fingerprint == asked.fingerprint
        assert twin_of(asked.aggregator()) == asked.aggregator()
