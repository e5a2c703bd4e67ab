"""Waves, versions and ledgers: the same people are asked again, with one promise."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import ldpfast as ldp
from ldpfast import survey as surveys
from ldpfast.reports import Counted
from ldpfast.survey import Choice, Cross, Ledger, Mean, Survey, YesNo, compare, pool

from ..support.cases import each
from ..support.internals.shared import person_keys
from ..support.process import run_python

SECRET = bytes(range(32))
TWO = {"a": YesNo(optional=True), "b": Choice(["x", "y", "z"], optional=True)}
PANEL = Survey(TWO, 2.0, series="weeks", waves=4)
PERSONS = np.arange(6000)
PEOPLE = {"a": PERSONS % 3 == 0, "b": np.array(["x", "y", "z"])[PERSONS % 3], "site": np.array(["N", "S"])[PERSONS % 2]}
KEYS = ldp.PersonKeys(SECRET, PERSONS)


def turns_of(survey, persons):
    """Return in which waves of a period persons answer."""
    return survey._recipe.series.turns(ldp.PersonKeys(SECRET, "id"), person_keys.Persons(persons, unique=True))


# Turns ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("waves, turns", [(2, 1), (8, 1), (5, 2), (4, 4)])
def test_turns_are_uniform_sets_of_waves(waves, turns):
    found = turns_of(Survey(TWO, 2.0, waves=waves, turns=turns), np.arange(20_000))
    assert (found.sum(axis=1) == turns).all()
    counts = Counter(map(tuple, found.tolist()))
    assert len(counts) == math.comb(waves, turns)
    if turns < waves:
        assert stats.chisquare(list(counts.values())).pvalue > 1e-5


@pytest.mark.claim("Whose turn it is comes from the secret and the person alone.", "Surveys and ledgers")
def test_turns_do_not_change_with_questions_and_versions():
    expected = turns_of(PANEL, PERSONS)
    later = PANEL.revise(add={"c": Mean(0, 1, optional=True)}, remove=["a"])
    assert np.array_equal(turns_of(later, PERSONS), expected)
    for other in (
        Survey(TWO, 2.0, series="months", waves=4),
        Survey(TWO, 1.0, series="weeks", waves=4),
        Survey(TWO, 2.0, series="weeks", waves=4, open_ended=True),
    ):
        assert not np.array_equal(turns_of(other, PERSONS), expected)


def test_open_ended_turns_come_back_after_a_period():
    endless = Survey(TWO, 2.0, waves=3, open_ended=True)
    client = endless.client(SECRET, 7)
    mine = [wave for wave in range(1, 13) if client.is_turn(wave)]
    assert len(mine) == 4
    assert set(np.diff(mine)) == {3}
    assert endless.loss(waves=12).worst == pytest.approx(4 * endless.guarantee.epsilon)
    assert endless.loss(waves=13).worst == pytest.approx(5 * endless.guarantee.epsilon)


# One result by every way ----------------------------------------------------------------------------------------------


def test_clients_tables_and_tasks_of_a_wave_send_the_same():
    wave = PANEL.in_wave(2)
    table = wave.privatize(PEOPLE, rng=KEYS)
    mine = np.flatnonzero(turns_of(PANEL, PERSONS)[:, 1])
    assert table.num_rows == len(mine)
    messages = [wave.message(table.slice(row, 1)) for row in range(200)]
    for row, person in enumerate(mine[:200]):
        record = {"a": bool(PEOPLE["a"][person]), "b": PEOPLE["b"][person]}
        client = PANEL.client(SECRET, int(person))
        assert client.answer(record, wave=2) == messages[row] == wave.client(SECRET, int(person)).answer(record)
    collected = wave.collect(PEOPLE, rng=KEYS)
    assert collected.to_bytes() == wave.aggregator().update(table).to_bytes()
    grouped = wave.collect(PEOPLE, by="site", rng=KEYS)
    assert sum(part.n for part in grouped.values()) == len(mine)
    merged = wave.aggregator()
    for site in "NS":
        merged.merge(grouped[site])
    assert merged.to_bytes() == collected.to_bytes()
    half = (
        {name: column[:3000] for name, column in PEOPLE.items()},
        {name: column[3000:] for name, column in PEOPLE.items()},
    )
    parts = [
        wave.collect(rows, rng=ldp.PersonKeys(SECRET, persons))
        for rows, persons in zip(half, (PERSONS[:3000], PERSONS[3000:]), strict=True)
    ]
    assert parts[0].merge(parts[1]).to_bytes() == collected.to_bytes()
    assert ldp.load(collected.to_bytes()).question == wave


def test_a_wave_is_part_of_labels_and_is_saved():
    first, second = PANEL.in_wave(1), PANEL.in_wave(2)
    assert len({first.fingerprint, second.fingerprint, PANEL.fingerprint}) == 3
    assert Survey.from_dict(second.to_dict()) == second == Survey.from_toml(second.to_toml())
    assert Survey.from_toml(PANEL.to_toml()) == PANEL
    assert "waves" not in Survey(TWO, 2.0).to_dict()  # so that labels of surveys without waves stay what they were
    table = first.privatize(PEOPLE, rng=KEYS)
    with pytest.raises(ValueError, match="survey"):
        second.aggregator().update(table)


def test_clipped_cells_of_others_are_not_counted():
    survey = Survey({"age": Mean(0, 10)}, 2.0, waves=2)
    age = np.where(turns_of(survey, PERSONS)[:, 0], 5.0, 11.0)  # only people of wave 2 are out of range
    assert survey.in_wave(1).collect({"age": age}, rng=KEYS, clip=True).n == (age < 10).sum()
    with pytest.warns(ldp.ClippedWarning, match=rf"{(age > 10).sum()} of {(age > 10).sum()} "):
        survey.in_wave(2).collect({"age": age}, rng=KEYS, clip=True)


# Privacy --------------------------------------------------------------------------------------------------------------


def reports_of(survey, question, values):
    """Return the exact probabilities of the reports to a question, by their bytes, for one canonical value."""
    mechanism = survey.mechanisms[question]
    matrix = mechanism.channel().matrix[values]
    packed = mechanism.report.pack(np.arange(len(matrix)).astype(mechanism.report.dtype(np.dtype(np.float64))))
    return {bytes(row): p for row, p in zip(packed, matrix, strict=True)}


def law(versions, turns, values):
    """Return the exact probabilities of everything that one person sends in two waves, with the versions of both.

    `turns` are the sets of waves that are equally likely; `values` the canonical values by wave and question.
    """
    found = Counter()
    for waves in turns:
        sent = []
        for wave, survey in enumerate(versions):
            if wave not in waves:
                sent.append([(None, 1.0)])
                continue
            names = list(survey.mechanisms)
            sent.append(
                [
                    ((q, report), p / len(names))
                    for q, name in enumerate(names)
                    for report, p in reports_of(survey, name, values[wave][name]).items()
                ]
            )
        for combination in itertools.product(*sent):
            key = tuple(part for part, _ in combination)
            found[key] += math.prod(p for _, p in combination) / len(turns)
    return found


@pytest.mark.claim(
    "All that a person sends in a series of waves and versions loses at most what `loss` states.", "Surveys and ledgers"
)
@pytest.mark.parametrize("kind", ["one turn", "two turns", "open-ended"])
def test_all_that_a_person_sends_has_the_stated_loss(kind):
    """Two waves with a revision between them, all values of two answers: the law of what is sent, exact and as it is made."""
    options = {"one turn": {}, "two turns": {"turns": 2}, "open-ended": {"open_ended": True}}[kind]
    first = Survey({"a": YesNo(optional=True), "b": YesNo(optional=True)}, 2.0, series=kind, waves=2, **options)
    second = first.revise(change={"b": Choice(["no", "yes", "?"], optional=True)})
    turns = [{0, 1}] if kind == "two turns" else [{0}, {1}]
    numbers = (1, 2)
    versions = [first.in_wave(numbers[0]), second.in_wave(numbers[1])]
    names = [(0, "a"), (0, "b"), (1, "a"), (1, "b")]
    laws = []
    for chosen in itertools.product((0, 1), repeat=4):
        values = [{}, {}]
        for (wave, name), value in zip(names, chosen, strict=True):
            values[wave][name] = value
        laws.append(law(versions, turns, values))
    promise = first.loss([second], waves=2 if kind == "open-ended" else None).worst
    loss = max(math.log(one[key] / other[key]) for one in laws for other in laws for key in one)
    assert loss <= promise
    assert loss > promise - 1e-6  # tight
    # what is made, for one person per row with the values a = yes and b = no
    n = 60_000
    keys, sent = ldp.PersonKeys(SECRET, np.arange(n)), np.empty((n, 2), object)
    expected = law(versions, turns, [{"a": 1, "b": 0}, {"a": 1, "b": 0}])
    for wave, survey in enumerate(versions):
        rows = np.flatnonzero(turns_of(first, np.arange(n))[:, wave])
        label = [False] * n if wave == 0 else ["no"] * n
        table = survey.privatize({"a": [True] * n, "b": label}, rng=keys)
        assert table.num_rows == len(rows)
        for q, name in enumerate(survey.mechanisms):
            for row, report in zip(rows, table[name].to_pylist(), strict=True):
                if report is not None:
                    sent[row, wave] = (q, report)
    counts = Counter(map(tuple, sent.tolist()))
    assert set(counts) <= set(expected)
    observed = [counts[key] for key in expected]
    assert stats.chisquare(observed, [n * p for p in expected.values()]).pvalue > 1e-5


def test_only_those_who_draw_an_added_question_change_without_waves():
    first = Survey(TWO, 2.0, series="permanent")
    second = first.revise(add={"c": YesNo(optional=True)})
    people = {**PEOPLE, "c": [True] * 6000}
    before, after = first.privatize(people, rng=KEYS), second.privatize(people, rng=KEYS)
    same = [all(before[name][row] == after[name][row] for name in "ab") for row in range(3000)]
    assert abs(np.mean(same) - 2 / 3) < 4.5 * math.sqrt(2 / 9 / 3000)
    changed = first.revise(change={"b": Choice(["x", "y", "z", "w"], optional=True)}).privatize(people, rng=KEYS)
    assert changed["a"].equals(before["a"])


# Loss over versions ---------------------------------------------------------------------------------------------------


def losses(versions):
    """Return the shares of losses by enumeration of all orders of the tickets."""
    weights = {
        name: w for survey in versions for name, w in zip(survey._recipe.names, survey._recipe.weights, strict=True)
    }
    tickets = [name for name, weight in weights.items() for _ in range(weight)]
    found = Counter()
    for order in itertools.permutations(range(len(tickets))):
        ranking = list(dict.fromkeys(tickets[i] for i in order))
        pairs = set()
        for survey in versions:
            layout = survey._recipe
            asked = [name for name in ranking if name in layout.names][: survey.answers]
            pairs |= {
                (name, layout.descriptions[layout.names.index(name)], survey.mechanisms[name].epsilon_realized)
                for name in asked
            }
        found[round(math.fsum(e for *_, e in pairs), 6)] += Fraction(1, math.factorial(len(tickets)))
    return {loss: float(share) for loss, share in found.items()}


@pytest.mark.parametrize(
    "first, changes",
    [
        (Survey(TWO, 1.0), [{"add": {"c": YesNo()}}]),
        (Survey(TWO, 1.0), [{"add": {"c": YesNo()}}, {"change": {"a": Mean(0, 1)}}, {"remove": ["b"]}]),
        (Survey(TWO, 1.0, weights={"a": 2, "b": 1}), [{"add": {"c": YesNo()}, "weights": {"c": 3}}]),
        (Survey({**TWO, "c": YesNo()}, 1.0, answers=2), [{"remove": ["a"]}, {"add": {"d": YesNo(), "e": YesNo()}}]),
    ],
)
def test_losses_are_those_of_all_orders(first, changes):
    versions = [first]
    for change in changes:
        versions.append(versions[-1].revise(**change))
    found, expected = first.loss(versions[1:]), losses(versions)
    assert {round(loss, 6): pytest.approx(share) for loss, share in found.shares.items()} == expected
    assert found.worst == max(found.shares)
    assert sum(found.shares.values()) == pytest.approx(1)


@pytest.mark.claim(
    "A rotating panel loses one epsilon, however the survey changes from week to week.", "Surveys and ledgers"
)
def test_a_panel_loses_epsilon_over_all_versions():
    second = PANEL.revise(add={"c": YesNo()})
    assert PANEL.loss([second]).worst == max(PANEL.guarantee.epsilon, second.guarantee.epsilon) <= 2.0
    twice = Survey(TWO, 2.0, waves=4, turns=2)
    assert twice.guarantee.epsilon <= 2.0
    assert twice.in_wave(1).guarantee.epsilon == pytest.approx(1.0, abs=1e-6)
    assert twice.guarantee.epsilon == pytest.approx(2 * twice.in_wave(1).guarantee.epsilon)


# Estimates ------------------------------------------------------------------------------------------------------------


def test_pooled_waves_are_estimated_as_one():
    waves = [PANEL.in_wave(w).collect(PEOPLE, rng=KEYS) for w in (1, 2, 3, 4)]
    pooled = pool(waves)
    assert pooled.n == 6000
    whole = Survey(TWO, 2.0).collect(PEOPLE, rng=1)  # another survey with the same mechanisms
    states = [sum(one._counts.group().states[i] for one in waves) for i in range(len(whole._counts.group().states))]
    expected = Survey(TWO, 2.0)._conclude(Counted(states, 6000))
    for name in TWO:
        np.testing.assert_array_equal(pooled[name].value, expected[name].value)
        np.testing.assert_array_equal(pooled[name].interval(), expected[name].interval())
    with pytest.raises(ValueError, match="people in common"):
        pooled["a"] - waves[0].estimate()["a"]


def test_versions_are_pooled_where_a_question_is_unchanged():
    second = PANEL.revise(change={"b": Choice(["x", "y", "z", "w"], optional=True)}, add={"c": YesNo(optional=True)})
    people = {**PEOPLE, "c": [True] * 6000}
    counted = [PANEL.in_wave(1).collect(people, rng=KEYS), second.in_wave(2).collect(people, rng=KEYS)]
    found = pool(counted)
    alone = counted[1].estimate()
    assert found["a"].n == counted[0].estimate()["a"].n + alone["a"].n
    for name in "bc":
        np.testing.assert_array_equal(found[name].value, alone[name].value)


@pytest.mark.long
def test_waves_of_different_people_are_compared():
    results = {f"week {w}": PANEL.in_wave(w).run(PEOPLE, rng=KEYS) for w in (1, 2, 3)}
    assert compare(results).table["group"][:2] == ["week 2", "week 3"]
    assert (results["week 1"]["a"] - results["week 2"]["a"]).test().pvalue > 1e-6
    again = [Survey(TWO, 2.0, waves=4, turns=2).in_wave(w).collect(PEOPLE, rng=KEYS) for w in (1, 2)]
    with pytest.raises(ValueError, match="got a series with 2 turns"):
        pool(again)
    with pytest.raises(ValueError, match="same people"):
        again[0].estimate()["a"] - again[1].estimate()["a"]
    endless = Survey(TWO, 2.0, waves=2, open_ended=True)
    with pytest.raises(ValueError, match="of different people"):
        pool([endless.in_wave(w).collect(PEOPLE, rng=KEYS) for w in (1, 3)])


def test_plans_have_the_people_of_a_wave():
    plan, one = PANEL.plan(20_000), Survey(TWO, 2.0).plan(5000)
    np.testing.assert_allclose(plan.expected, one.expected)
    np.testing.assert_allclose(plan.waves.difference, one.expected * math.sqrt(2))
    np.testing.assert_allclose(plan.waves.pooled, Survey(TWO, 2.0).plan(20_000).expected)
    np.testing.assert_allclose(plan.waves.split, Survey(TWO, 0.5).plan(20_000).expected)
    assert "of one wave, with 5,000 of 20,000 people" in repr(plan)
    twice = Survey(TWO, 2.0, waves=4, turns=2).plan(10_000)
    np.testing.assert_allclose(twice.expected, Survey(TWO, 1.0).plan(5000).expected)
    assert twice.waves.pooled is None
    needed = PANEL.plan(compare={"a": 0.1})
    assert needed.waves.people == 4 * needed.n == 4 * needed.comparison.needed["a"]
    assert needed.table["people needed in one wave"] == [needed.n, None]
    numbers = {key: plan.to_dict()[key] for key in ("n", "n_of", "people")}
    assert numbers == {"n": 5000, "n_of": "one wave", "people": 20_000}
    whole = Survey(TWO, 2.0).plan(5000).to_dict()
    assert (whole["n"], whole["n_of"], whole["people"]) == (5000, "all people", 5000)
    assert plan.plot().axes[0].get_title(loc="left") == "n = 5,000 of 20,000 people, in one wave"


# Ledgers --------------------------------------------------------------------------------------------------------------


def wave_of(client, waves=4):
    return next(wave for wave in range(1, waves + 1) if client.is_turn(wave))


@pytest.mark.claim(
    "A ledger sends the same bytes again, and refuses another version within a wave.", "Surveys and ledgers"
)
@pytest.mark.parametrize("kind", ["file", "mapping"])
def test_a_ledger_sends_the_same_bytes_again(kind, tmp_path):
    store = tmp_path / "ledger.json" if kind == "file" else {}
    client = PANEL.client(ledger=Ledger(store))
    wave = wave_of(client)
    message = client.answer({"a": True, "b": "x"}, wave=wave)
    assert PANEL.in_wave(wave).aggregator().update([message]).n == 1
    again = PANEL.client(ledger=Ledger(store))  # after a restart
    assert [w for w in range(1, 5) if again.is_turn(w)] == [wave]
    assert again.answer({"a": False, "b": "z"}, wave=wave) == message
    assert 0 < Ledger(store).loss <= 2.0
    with pytest.raises(ValueError, match="wave must be a turn of the person"):
        again.answer({"a": True}, wave=wave % 4 + 1)
    other = PANEL.revise(add={"c": YesNo(optional=True)}).client(ledger=Ledger(store))
    with pytest.raises(ValueError, match="the version that was answered in wave"):
        other.answer({"a": True}, wave=wave)
    with pytest.raises(ValueError, match="got one of another series"):
        Survey(TWO, 2.0, series="months", waves=4).client(ledger=Ledger(store))
    if kind == "file":
        assert (tmp_path / "ledger.json").stat().st_mode & 0o777 == 0o600
        assert [path.name for path in tmp_path.iterdir()] == ["ledger.json"]


@pytest.mark.long
def test_turns_of_ledgers_are_uniform():
    waves = Counter(wave_of(PANEL.client(ledger=Ledger({}))) for _ in range(2000))
    assert stats.chisquare([waves[w] for w in range(1, 5)]).pvalue > 1e-6


@pytest.mark.claim("A ledger refuses whatever would exceed epsilon.", "Surveys and ledgers")
def test_a_ledger_keeps_unchanged_answers_and_refuses_more_than_the_promise():
    """Without waves, a new version asks the same question of most people, and another one of some."""
    first = Survey({"a": YesNo(optional=True)}, 1.0, series="permanent")
    second = first.revise(add={"b": YesNo(optional=True)})
    refused = 0
    for _ in range(200):
        ledger = Ledger({})
        report = first.client(ledger=ledger).answer({"a": True})[9:]
        before = ledger.loss
        later = second.client(ledger=ledger)
        asked = second.client(ledger.secret(second._recipe), b"").answer({"a": False, "b": True})[9:11]
        if asked == report[:2]:
            assert later.answer({"a": False, "b": True})[9:] == report  # the stored one, whatever the value is now
        else:
            refused += 1
            with pytest.raises(
                ValueError, match="must send at most 1 reports to the series, for which its loss is stated, got 2"
            ):
                later.answer({"a": False, "b": True})
        assert ledger.loss == before
    assert stats.binomtest(refused, 200, 0.5).pvalue > 1e-5


@pytest.mark.claim("A ledger stores an answer before it is sent.", "Surveys and ledgers")
def test_nothing_is_sent_before_it_is_stored(tmp_path, monkeypatch):
    client = PANEL.client(ledger=Ledger(tmp_path / "ledger.json"))
    wave, before = wave_of(client), (tmp_path / "ledger.json").read_text()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        client.answer({"a": True}, wave=wave)
    assert (tmp_path / "ledger.json").read_text() == before
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.undo()
    assert client.answer({"a": True}, wave=wave)


ANSWERS_OF_PROCESSES = """
import os
from ldpfast.survey import Ledger, Survey, YesNo
survey = Survey({"a": YesNo(optional=True)}, 1.0, series="together")
start, go = os.pipe()
for number in range(12):
    if os.fork() == 0:
        os.close(go)
        os.read(start, 1)  # until the parent closes the other end
        client = survey.client(ledger=Ledger("ledger.json"))
        os.write(1, client.answer({"a": number % 2 == 0}).hex().encode() + b"\\n")
        os._exit(0)
os.close(go)
while True:
    try:
        os.wait()
    except ChildProcessError:
        break
"""


@pytest.mark.claim("Processes that use one ledger at the same moment send one report.", "Surveys and ledgers")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs processes that start at once")
def test_processes_that_answer_at_the_same_moment_send_one_report(tmp_path):
    """Without a lock, each draws a secret and makes a report of its own, and the last one is kept."""
    done = run_python(f"import os; os.chdir({str(tmp_path)!r})" + ANSWERS_OF_PROCESSES)
    messages = done.stdout.split()
    assert (len(messages), len(set(messages)), done.stderr) == (12, 1, "")
    assert [path.name for path in tmp_path.iterdir()] == ["ledger.json"]


def test_an_answer_within_an_answer_is_refused(tmp_path):
    """As by a signal handler."""
    survey = Survey({"a": YesNo(optional=True)}, 1.0)
    for store in ({}, tmp_path / "ledger.json"):
        ledger = Ledger(store)
        client = survey.client(ledger=ledger)
        with ledger._alone(), pytest.raises(RuntimeError, match="signal handler"):
            client.answer({"a": True})
        assert client.answer({"a": True}) == client.answer({"a": False})


def test_a_client_notices_that_its_ledger_was_replaced():
    store = {}
    client = PANEL.client(ledger=Ledger(store))
    wave = wave_of(client)
    store.clear()
    with pytest.raises(ValueError, match="the ledger that the client was made with, got none"):
        client.answer({"a": True}, wave=wave)
    PANEL.client(ledger=Ledger(store))
    with pytest.raises(ValueError, match="the ledger that the client was made with, got another one"):
        client.answer({"a": True}, wave=wave)


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"ldpfast_ledger": 2}', json.dumps({"ldpfast_ledger": 1, "secret": "00"})]
)
def test_a_damaged_ledger_is_refused(text):
    with pytest.raises(ValueError, match="store must hold a ledger of this version"):
        PANEL.client(ledger=Ledger({"ldpfast": text}))


# Mistakes -------------------------------------------------------------------------------------------------------------


@each(
    "call, message",
    [
        (lambda: Survey(TWO, 1.0, waves=1), "waves must be"),
        (lambda: Survey(TWO, 1.0, waves=4, turns=5), "turns must be"),
        (lambda: Survey(TWO, 1.0, turns=2), "turns and open_ended must be left out without waves"),
        (lambda: Survey(TWO, 1.0, waves=4, turns=2, open_ended=True), "turns must be"),
        (lambda: Survey(TWO, 1.0, wave=1), "wave must be left out without waves"),
        (lambda: Survey(TWO, 1.0).in_wave(1), "wave must be left out for a survey without waves"),
        (lambda: PANEL.in_wave(5), "wave must be"),
        (lambda: PANEL.in_wave(0), "wave must be"),
        (lambda: PANEL.in_wave(1).in_wave(2), "must not be that of a wave already"),
        (lambda: PANEL.aggregator(), r"use survey.in_wave\(1\)"),
        (lambda: PANEL.run(PEOPLE, rng=KEYS), r"use survey.in_wave\(1\)"),
        (lambda: PANEL.privatize(PEOPLE, rng=KEYS), r"use survey.in_wave\(1\)"),
        (
            lambda: PANEL.in_wave(1).run(PEOPLE),
            "rng must be PersonKeys, .* for a wave",
        ),
        (
            lambda: PANEL.in_wave(1).privatize(PEOPLE, rng=1),
            "rng must be PersonKeys, .* for a wave",
        ),
        (lambda: PANEL.client(), "secret and person, or a ledger, must be given"),
        (lambda: PANEL.client(SECRET, 1, ledger=Ledger({})), "secret and person must be left out with a ledger"),
        (lambda: PANEL.client(SECRET, 1).answer({"a": True}), "wave must be given for a survey with 4 waves"),
        (lambda: PANEL.in_wave(1).client(SECRET, 1).answer({"a": True}, wave=2), "wave must be 1, that of the survey"),
        (lambda: Survey(TWO, 1.0).client().answer({"a": True}, wave=2), "wave must be left out"),
        (lambda: PANEL.client_table(), r"use survey.in_wave\(1\)"),
        (lambda: PANEL.revise(), "add, remove or change must be given"),
        (lambda: PANEL.revise(change={"a": YesNo(optional=True)}), "got the same for 'a'"),
        (lambda: Survey(TWO, 1.0, waves=2, open_ended=True).loss(waves=1 << 62), "waves must be"),
        (lambda: PANEL.revise(add={"a": YesNo()}), "add must have new names, got 'a'"),
        (lambda: PANEL.revise(remove=["z"]), "remove must have questions of the survey, got 'z'"),
        (lambda: PANEL.revise(change={"z": YesNo()}), "change must have questions of the survey, got 'z'"),
        (lambda: PANEL.revise(change={"a": YesNo()}, remove=["a"]), "change must not have questions that are removed"),
        (lambda: PANEL.revise(add={"c": YesNo()}, weights={"a": 2}), "weights must be of the added questions"),
        (lambda: PANEL.revise(remove=["a", "b"]), "questions must be between 1"),
        (lambda: PANEL.in_wave(1).revise(remove=["a"]), "got that of wave 1"),
        (lambda: PANEL.loss([PANEL.in_wave(1)]), "got that of wave 1"),
        (lambda: PANEL.loss([Survey(TWO, 1.0)]), "versions must be of one series"),
        (lambda: PANEL.loss(waves=3), "waves must be left out unless the series is open-ended"),
        (lambda: pool([]), "aggregators must be at least one"),
        (lambda: pool([PANEL.in_wave(1).aggregator(), PANEL.in_wave(1).aggregator()]), "merge counts of one wave"),
        (lambda: PANEL.plan(3), "n must be at least 4, one person per wave, got 3"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@each(
    "call, message",
    [
        (lambda: PANEL.revise(add=[1]), "add must be a mapping"),
        (lambda: PANEL.revise(remove="a"), "remove must be a list of names"),
        (lambda: PANEL.revise(remove=3), "remove must be a list of names"),
        (lambda: PANEL.loss(PANEL), "versions must be a list of surveys"),
        (lambda: pool(PANEL.in_wave(1).aggregator()), "aggregators must be a list of them"),
        (lambda: Survey(TWO, 1.0, turns=1.0, waves=2), "turns must be"),
        (lambda: pool([Survey(TWO, 1.0).aggregator()]), "aggregators must be those of waves"),
        (lambda: surveys.Ledger(3), "store must be the name of a file or a mutable mapping"),
        (lambda: PANEL.client(ledger={}), "ledger must be a Ledger, got dict"),
    ],
)
def test_wrong_types(call, message):
    with pytest.raises(TypeError, match=message):
        call()


# The study of docs/panels.md ------------------------------------------------------------------------------------------


@pytest.mark.claim("Trends over the waves of a panel have intervals that cover.", "Surveys and ledgers")
@pytest.mark.parametrize("runs", [pytest.param(60, marks=pytest.mark.long), 3])
@pytest.mark.long
def test_trends_of_the_study_of_the_documentation_cover(runs):
    """Twelve questions, eight weeks, a revision in week 5, two groups; a fifth of the people send their message twice."""
    questions = {f"symptom {i}": YesNo(optional=True) for i in range(10)}
    questions |= {"sleep": Mean(0, 12, optional=True), "work": Choice(["office", "home"], optional=True)}
    first = Survey(questions, 2.0, series="well-being", waves=8)
    second = first.revise(change={"work": Choice(["office", "home", "none"], optional=True)})
    n, hits, total, people_seen = 25_000, 0, 0, 0
    group = np.where(np.arange(n) % 2, "new", "old")
    for seed in range(runs):
        rng, secret = np.random.default_rng(seed), bytes([seed]) * 32
        results = {}
        for week in (1, 4, 5, 8):
            survey = (first if week < 5 else second).in_wave(week)
            people = {name: rng.random(n) < 0.2 + 0.02 * week * (group == "new") for name in questions}
            people |= {
                "sleep": rng.uniform(5, 9, n) - 0.1 * week,
                "work": ["office", "home"] * (n // 2),
                "group": group,
            }
            counted = survey.collect(people, by="group", rng=ldp.PersonKeys(secret, np.arange(n)))
            twice = np.flatnonzero(rng.random(n) < 0.2)
            again = {name: np.asarray(column)[twice] for name, column in people.items()}
            table = survey.privatize(again, rng=ldp.PersonKeys(secret, twice))
            if seed == 0:  # a message that comes twice is the same, so that it can be recognized
                every = survey.privatize(people, rng=ldp.PersonKeys(secret, np.arange(n)))
                sent = set(zip(*(every[name].to_pylist() for name in questions), strict=True))
                assert set(zip(*(table[name].to_pylist() for name in questions), strict=True)) <= sent
            results[week] = counted["new"].estimate()
            people_seen += sum(part.n for part in counted.values())
        for name in (*list(questions)[:10], "sleep"):
            for week in (4, 5, 8):
                low, high = (results[week][name] - results[1][name]).interval()
                truth = -0.1 * (week - 1) if name == "sleep" else 0.02 * (week - 1)
                hits, total = hits + bool(low < truth < high), total + 1
    assert abs(people_seen - runs * n / 2) < 5 * math.sqrt(runs * n / 4)
    assert first.loss([second]).worst <= 2.0
    assert 0.93 <= hits / total <= 0.985 if runs > 10 else hits / total > 0.8


# What an attack found -------------------------------------------------------------------------------------------------


def test_a_cross_of_other_questions_is_another_question():
    questions = {**{name: YesNo(optional=True) for name in "abc"}, "x": Cross("a", "b")}
    first = Survey(questions, 1.0, series="p", weights=dict.fromkeys("abc", 0))
    second = first.revise(change={"x": Cross("b", "c")})
    assert first.loss([second]).worst > 1.9
    ledger, record = Ledger({}), {"a": True, "b": False, "c": True}
    first.client(ledger=ledger).answer(record)
    with pytest.raises(ValueError, match="must send at most 1 reports to the series"):
        second.client(ledger=ledger).answer(record)
    panel = Survey(questions, 4.0, series="q", waves=2, weights=dict.fromkeys("abc", 0))
    later = panel.revise(change={"x": Cross("b", "a")})
    people = {"a": np.ones(6000, bool), "b": np.zeros(6000, bool), "c": np.ones(6000, bool)}
    counted = [panel.in_wave(1).collect(people, rng=KEYS), later.in_wave(2).collect(people, rng=KEYS)]
    np.testing.assert_array_equal(pool(counted)["x"].value, counted[1].estimate()["x"].value)


@pytest.mark.claim("A difference of waves whose people may be the same is refused.", "Surveys and ledgers")
def test_people_who_can_be_the_same_have_no_difference():
    one = {"a": YesNo(optional=True)}
    series = Survey(one, 2.0, series="s", waves=4)
    waves = [series.in_wave(w).collect(PEOPLE, rng=KEYS) for w in (1, 2, 3)]
    again = [ldp.load(wave.to_bytes()) for wave in waves]
    others = [
        Survey(one, 2.0, series="s"),
        Survey(one, 2.0, series="s", waves=5).in_wave(2),
        Survey(one, 1.0, series="s", waves=4).in_wave(2),
        Survey(one, 2.0, series="s", waves=4, turns=2).in_wave(2),
        Survey(one, 2.0, series="s", waves=4, open_ended=True).in_wave(2),
    ]
    pairs = [
        (pool(waves), pool(again)),
        (pool(waves), again[0].estimate()),
        (pool(waves[:2]), pool([again[0], again[2]])),
        (waves[0].estimate(), again[0].estimate()),
        *((waves[0].estimate(), other.run(PEOPLE, rng=KEYS)) for other in others),
    ]
    for a, b in pairs:
        with pytest.raises(ValueError, match="people in common"):
            a["a"] - b["a"]
    assert (pool(waves[:2])["a"] - again[2].estimate()["a"]).n == sum(wave.n for wave in waves)
    assert (waves[0].estimate()["a"] - Survey(one, 2.0, series="t").run(PEOPLE, rng=KEYS)["a"]).n > 0


@pytest.mark.claim(
    "Pooled results of different waves are compared as results of different people.", "Surveys and ledgers"
)
def test_pooled_results_of_different_waves_are_compared():
    """The variances add up, also with a version in between; a wave that is in both is refused."""
    first = Survey({"a": YesNo(), "b": YesNo()}, 2.0, series="s", waves=6)
    second = first.revise(add={"c": YesNo()})
    people = {name: np.arange(9000) % 10 < size for name, size in (("a", 3), ("b", 5), ("c", 7))}
    waves = [version.in_wave(w).collect(people, rng=ldp.PersonKeys(SECRET, np.arange(9000)))
             for w, version in enumerate([first, first, first, second, second, second], 1)]  # fmt: skip
    halves = {"before": pool(waves[:3]), "after": pool(waves[3:])}
    found = compare(halves).differences["a", "after", "before"]
    each = [wave.estimate()["a"] for wave in waves]
    assert found.stderr == pytest.approx(np.hypot(*(half["a"].stderr for half in halves.values())))
    assert found.stderr == pytest.approx(np.sqrt(sum(one.stderr**2 for one in each)) / 3, rel=0.05)
    assert (found.value, found.n) == (
        halves["after"]["a"].value - halves["before"]["a"].value,
        sum(one.n for one in each),
    )
    assert [*dict.fromkeys(compare(halves).table["question"])] == ["a", "b"]
    for other in (pool(waves[2:]), waves[1].estimate()):
        with pytest.raises(
            ValueError, match=r"results 'after' and 'before', question 'a': .* computed from the same reports"
        ):
            compare({"before": halves["before"], "after": other})


def test_threads_of_a_client_send_one_message(tmp_path):
    for trial in range(5):
        client = PANEL.client(ledger=Ledger(tmp_path / f"{trial}.json"))
        wave = wave_of(client)
        with ThreadPoolExecutor(4) as threads:
            records = [{"a": bool(i % 2), "b": "xyz"[i % 3]} for i in range(8)]
            sent = set(threads.map(lambda record, c=client, w=wave: c.answer(record, wave=w), records))
        assert len(sent) == 1


@pytest.mark.claim("A ledger that was emptied, exchanged or damaged is refused.", "Surveys and ledgers")
def test_a_ledger_that_was_emptied_or_exchanged_is_refused(tmp_path):
    path = tmp_path / "ledger.json"
    client = PANEL.client(ledger=Ledger(path))
    wave = wave_of(client)
    whole = path.read_text()
    other = Ledger({})
    Survey(TWO, 2.0, series="months", waves=4).client(ledger=other)
    path.write_text(other._store["ldpfast"])
    with pytest.raises(ValueError, match="got one of another series"):
        client.answer({"a": True}, wave=wave)
    path.write_text("")
    with pytest.raises(ValueError, match="got something else, or one that is damaged"):
        PANEL.client(ledger=Ledger(path))
    path.unlink()
    with pytest.raises(ValueError, match="that the client was made with, got none"):
        client.answer({"a": True}, wave=wave)
    path.write_text(whole)
    assert client.answer({"a": True}, wave=wave)
    whole = json.loads(path.read_text())
    report = whole["answers"][0]["reports"][0]
    for place, value in ((1, "zz"), (1, ""), (4, -5), (0, "x"), (3, "00")):
        damaged = json.loads(json.dumps(whole))
        damaged["answers"][0]["reports"][0] = [*report[:place], value, *report[place + 1 :]]
        path.write_text(json.dumps(damaged))
        with pytest.raises(ValueError, match="got something else, or one that is damaged"):
            assert Ledger(path).loss


@pytest.mark.parametrize("waves, turns, n", [(49, 1, 49), (10, 7, 90), (3, 1, 10)])
def test_plans_count_people_exactly(waves, turns, n):
    plan = Survey({"a": YesNo()}, 2.0, waves=waves, turns=turns).plan(n)
    assert plan.n == n * turns // waves


def test_a_link_to_a_ledger_is_the_same_ledger(tmp_path):
    survey = Survey({"a": YesNo(optional=True)}, 1.0)
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    survey.client(ledger=Ledger(real))
    link.symlink_to(real)
    first = survey.client(ledger=Ledger(link)).answer({"a": True})
    assert link.is_symlink()
    assert survey.client(ledger=Ledger(real)).answer({"a": False}) == first


def test_a_client_tells_its_turns_without_the_surveys_of_waves(monkeypatch):
    survey = Survey({"a": YesNo(optional=True)}, 2.0, series="turns", waves=6, turns=2)
    client = survey.client(bytes(32), 7)
    expected = [survey.in_wave(wave).client(bytes(32), 7).is_turn() for wave in range(1, 7)]
    built = []
    monkeypatch.setattr(Survey, "in_wave", lambda self, wave: built.append(wave))
    assert [client.is_turn(wave) for wave in range(1, 7)] == expected
    assert sum(expected) == 2
    assert built == []
    for wrong, error in ((0, ValueError), (7, ValueError), ("1", TypeError)):
        with pytest.raises(error, match="wave must be"):
            client.is_turn(wrong)
