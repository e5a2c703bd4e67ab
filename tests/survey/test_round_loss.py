"""The loss of several rounds: every pair of sequences of values and every sequence of reports, for few rounds."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from ldpfast.survey import Choice, Mean, Repeated, YesNo
from ldpfast.survey._round_loss import loss_of_rounds

from ..support.cases import each

# Cells of a question, as the symbols that they have.
PLAIN, ROUNDED = [(0, 1), (0, 1, 2)], [(0, 0, 1, 1), (0, 0, 1, 2)]


def sequences(cells, rounds, changes):
    for values in itertools.product(range(len(cells)), repeat=rounds):
        if sum(a != b for a, b in itertools.pairwise(values)) <= changes:
            yield values


def exact_loss(k, cells, keep, ratio, rounds, changes):
    """Return the largest ratio of the probabilities of the same reports for two persons."""
    other = (1 - keep) / (k - 1)

    def probability(values, reports):
        found = Fraction(1)
        for value in set(values):
            counts = [0] * k
            for mine, report in zip(values, reports, strict=True):
                counts[report] += mine == value
            found *= sum((keep if b == cells[value] else other) * ratio ** counts[b] for b in range(k))
        return found

    worst = Fraction(1)
    people = list(sequences(cells, rounds, changes))
    for reports in itertools.product(range(k), repeat=rounds):
        found = [probability(values, reports) for values in people]
        worst = max(worst, max(found) / min(found))
    return math.log(worst)


@pytest.mark.claim(
    "The loss of a repeated survey is exact for at most one change of a value, and a bound for more.",
    "Surveys and ledgers",
)
@each("changes", [0, 1, 2])
@each("cells", [*PLAIN, *ROUNDED], ids=str)
def test_the_loss_is_the_exact_maximum_and_a_bound_beyond_one_change(cells, changes):
    k, is_rounded = max(cells) + 1, len(set(cells)) < len(cells)
    for rounds in range(1, 6 if len(cells) == 2 else 5 if k == 2 or not is_rounded else 4):
        for keep, ratio in ((Fraction(3, 4), Fraction(5, 2)), (Fraction(3, 5), Fraction(12))):
            exact = exact_loss(k, cells, keep, ratio, rounds, changes)
            stated = loss_of_rounds(k, keep, math.log(ratio), rounds, changes, rounded=is_rounded)
            assert stated >= exact
            if changes < 2 or rounds <= 2:
                assert stated == pytest.approx(exact, abs=1e-7)


def test_one_change_costs_half_of_the_rounds():
    """The example of the documentation: two symbols, with 3/4 for the true one, and odds e in a round."""
    losses = [loss_of_rounds(2, Fraction(3, 4), 1.0, 8, changes, rounded=False) for changes in (0, 1)]
    assert losses == pytest.approx([1.0977, 3.7221], abs=1e-4)
    many = [loss_of_rounds(2, Fraction(3, 4), 1.0, rounds, 1, rounded=False) for rounds in (64, 128)]
    assert many[1] - many[0] == pytest.approx(32, abs=0.1)


@pytest.mark.long
def test_losses_grow_with_rounds_and_changes_and_never_exceed_the_second_responses():
    for question in (YesNo(), Choice(5), Mean(0, 1)):
        repeated = Repeated(question, permanent=3.0, round=1.0, rounds=300)
        for rounds in (1, 2, 3, 10, 100, 129, 300):
            losses = [repeated.loss(rounds, changes).epsilon for changes in (0, 1, 2, 5, 299, 1000)]
            assert losses == sorted(losses)
            assert losses[0] <= repeated.first.epsilon_realized + 1e-8
            assert losses[-1] <= rounds * repeated.second.epsilon_realized * (1 + 1e-8)
        by_rounds = [repeated.loss(rounds, 1).epsilon for rounds in (*range(1, 30), 127, 128, 129, 130)]
        assert by_rounds == sorted(by_rounds)


def test_numbers_that_are_rounded_at_random_have_more_values_than_symbols():
    """Two numbers can have the same symbol and two permanent answers."""
    losses = [loss_of_rounds(2, Fraction(999, 1000), 1.0, 8, 1, rounded=rounded) for rounded in (False, True)]
    assert losses[1] > losses[0] + 5e-4


@pytest.mark.parametrize(
    "arguments, text", [((0,), "rounds"), ((9,), "rounds"), ((2, -1), "changes"), ((2, 0.5), "changes")]
)
def test_wrong_numbers_are_refused(arguments, text):
    repeated = Repeated(YesNo(), permanent=3.0, round=1.0, rounds=8)
    with pytest.raises((TypeError, ValueError), match=f"^{text} must"):
        repeated.loss(*arguments)


def test_responses_as_large_as_coins_can_be_are_found():
    repeated = Repeated(YesNo(), permanent=30.0, round=29.9, rounds=2**32 - 2)
    assert 29.8 < repeated.epsilon_realized <= 29.9
    assert repeated.loss(2, 1).epsilon <= 2 * repeated.second.epsilon_realized * (1 + 1e-8)


@pytest.mark.claim("If no value changes, rounds cost one epsilon, however many there are.", "Surveys and ledgers")
def test_without_a_change_the_loss_is_at_most_that_of_the_permanent_answer():
    for question, permanent in ((YesNo(), 30.0), (Choice(70_000), 14.0), (Mean(0, 1), 8.0)):
        repeated = Repeated(question, permanent=permanent, round=permanent - 0.1, rounds=1000)
        for rounds in (2, 10, 1000):
            assert repeated.loss(rounds).epsilon <= repeated.first.epsilon_realized <= permanent
