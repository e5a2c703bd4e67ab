"""Jobs that engines divide among tasks, without an engine: counting, merging, errors and versions."""

from __future__ import annotations

import pickle
import secrets
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ldpfast as ldp
from ldpfast import _jobs
from ldpfast.estimation import (
    Frequencies,
    GaussianMean,
    GradientDescent,
    HeavyHitters,
    LogisticRegression,
    MedianSGD,
    NewtonStep,
    TruncatedMean,
    VectorMean,
)
from ldpfast.reports import Aggregator
from ldpfast.survey import Repeated, YesNo

from .support.cases import each
from .support.errors import raises
from .support.internals.shared import conduct, job_counts, schemas
from .support.statistics import normal_margin
from .support.surveys import REGIONS, SURVEYS, people

SECRET = bytes(range(32))
N = 3000
TABLE = {
    **people(N),
    "id": np.arange(N),
    "name": np.array([f"person {i}" for i in range(N)]),
    "height": np.random.default_rng(5).normal(170, 7, N),
}
KEYED = {"person": "id", "key": SECRET}
RECORDS = {
    "region": Frequencies(REGIONS, 2.0),
    "code": ldp.SubsetSelection(200, 1.0),
    "smoker": ldp.Warner(1.0),
    "age": ldp.Window(0, 100, 1.0),
    "income": TruncatedMean(1.0, moment=2, radius=200.0, n=N),
    "name": HeavyHitters(3.0, max_bytes=11, n=N, buckets=16),
}


def job(what, column=None, by=None, person=None, key=None, clip=False, reports=False):
    return conduct.new_job(what, column=column, by=by, person=person, key=key, clip=clip, reports=reports)


def rows(table, chosen):
    return {name: values[chosen] for name, values in table.items()}


def counted(task, parts, table=TABLE):
    """Return the merged counts of partitions, which are arrays of rows."""
    return job_counts.merge(task.collect(rows(table, chosen), number) for number, chosen in enumerate(parts))


def keys_of(column, table=TABLE):
    return ldp.PersonKeys(SECRET, table["id"], question=column)


def partitions(seed, pieces):
    """Return the rows of random partitions, in random order; some may be empty."""
    rng = np.random.default_rng(seed)
    return np.split(rng.permutation(N), np.sort(rng.integers(0, N + 1, pieces - 1)))


# One process and many tasks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SURVEYS)
@settings(max_examples=2)
@given(seed=st.integers(0, 1 << 30), pieces=st.integers(1, 40))
def test_surveys_with_personal_keys_equal_one_process(name, seed, pieces):
    task = job(SURVEYS[name], **KEYED)
    expected = SURVEYS[name].collect(TABLE, rng=ldp.PersonKeys(SECRET, "id"))
    found = task.finish(counted(task, partitions(seed, pieces)))
    assert found.to_bytes() == expected.to_bytes()


@pytest.mark.parametrize("by", [None, "site"])
def test_the_people_of_a_wave_are_those_of_one_process(by):
    table = {**TABLE, "site": np.arange(N) % 4}
    panel, people_seen = replace(SURVEYS["one"], series="weeks", waves=3), 0
    for wave in (1, 2, 3):
        survey = panel.in_wave(wave)
        expected = survey.collect(table, by=by, rng=ldp.PersonKeys(SECRET, "id"))
        task = job(survey, by=by, **KEYED)
        found = task.finish(counted(task, partitions(wave, 7), table))
        if by is None:
            assert found.to_bytes() == expected.to_bytes()
        else:
            assert {value: part.to_bytes() for value, part in found.items()} == {
                value: part.to_bytes() for value, part in expected.items()
            }
        made = job(survey, **KEYED, reports=True)
        messages = [
            m
            for chosen in partitions(wave, 7)
            for part in made.messages(rows(table, chosen), 0)
            for m in part.to_pylist()
        ]
        received = survey.aggregator().update(messages)
        people_seen += received.n
        if by is None:
            assert received.to_bytes() == expected.to_bytes()
    assert people_seen == N


def test_waves_and_rounds_without_keys_are_refused_before_a_task_starts():
    survey = SURVEYS["one"]
    weekly, question = (
        Repeated(survey, round=survey.epsilon / 2, rounds=3),
        Repeated(YesNo(), permanent=2.0, round=1.0, rounds=3),
    )
    for asked, column in (
        (replace(survey, series="weeks", waves=3).in_wave(1), None), (weekly.in_round(0), None), (question.in_round(0), "a")
    ):  # fmt: skip
        with pytest.raises((TypeError, ValueError), match="person and key must be given on an engine, for a"):
            job(asked, column)


@pytest.mark.parametrize("column", RECORDS)
@settings(max_examples=8)
@given(seed=st.integers(0, 1 << 30), pieces=st.integers(1, 40))
def test_records_with_personal_keys_equal_one_process(column, seed, pieces):
    what = RECORDS[column]
    task = job(what, column, **KEYED)
    expected = what.collect(TABLE[column], rng=keys_of(column))
    assert task.finish(counted(task, partitions(seed, pieces))).to_bytes() == expected.to_bytes()


@pytest.mark.long
@given(order=st.permutations(range(12)), fan_in=st.integers(2, 5))
def test_counts_merge_in_any_tree(order, fan_in):
    task = job(SURVEYS["one"], **KEYED)
    parts = partitions(1, 12)
    expected = task.finish(counted(task, parts)).to_bytes()
    found = [task.collect(rows(TABLE, parts[number]), number) for number in order]
    while len(found) > 1:
        found = [job_counts.merge(found[start : start + fan_in]) for start in range(0, len(found), fan_in)]
    assert found[0]["partitions"] == list(range(12))
    assert task.finish(found[0]).to_bytes() == expected


@pytest.mark.parametrize("keyed", [{}, KEYED])
def test_groups_are_counted_apart(keyed):
    for task, what, column in (
        (job(SURVEYS["single"], by="region", **keyed), SURVEYS["single"], None),
        (job(RECORDS["age"], "age", "region", **keyed), RECORDS["age"], "age"),
    ):
        found = task.finish(counted(task, partitions(2, 7)))
        assert set(found) == set(REGIONS)
        for region, aggregator in found.items():
            own = rows(TABLE, TABLE["region"] == region)
            assert aggregator.n == len(own["id"])
            if keyed and column is None:
                assert aggregator == what.collect(own, rng=ldp.PersonKeys(SECRET, "id"))
            elif keyed:
                assert aggregator == what.collect(own[column], rng=keys_of(column, own))


@pytest.mark.claim("Without personal keys, every attempt draws new coins.", "Engines")
def test_tasks_without_keys_have_fresh_coins():
    task = job(SURVEYS["one"])
    first, second = (task.collect(TABLE, 0) for _ in range(2))
    assert first["state"] != second["state"]
    assert task.finish(first).n == N


def test_several_columns_and_lists_are_rows_of_coordinates():
    what = VectorMean(2, 1.0, norm="linf", radius=200.0)
    task = job(what, ["age", "height"], **KEYED)
    x = np.column_stack([TABLE["age"], TABLE["height"]])
    expected = what.collect(x, rng=keys_of("age, height"))
    assert task.finish(counted(task, partitions(3, 5))) == expected
    lists = {"fixed": pa.FixedSizeListArray.from_arrays(x.ravel(), 2), "any": pa.array(x.tolist())}
    for column in lists.values():
        table = pa.table({"age, height": column.slice(10), "id": TABLE["id"][10:]})
        keys = ldp.PersonKeys(SECRET, TABLE["id"][10:], question="age, height")
        found = job(what, "age, height", **KEYED)
        assert found.finish(found.collect(table, 0)) == what.collect(x[10:], rng=keys)


@each("container", ["mapping", "pandas", "categorical", "arrow", "dictionary", "stream"])
def test_every_container_gives_the_same_counts(container):
    what = RECORDS["region"]
    columns = {"region": TABLE["region"], "name": TABLE["name"]}
    arrow = pa.table(columns)
    table = {
        "mapping": lambda: columns,
        "pandas": lambda: pd.DataFrame(columns),
        "categorical": lambda: pd.DataFrame(columns).astype({"region": "category"}),
        "arrow": lambda: arrow,
        "dictionary": lambda: pa.table({"region": arrow["region"].dictionary_encode(), "name": arrow["name"]}),
        "stream": lambda: pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(max_chunksize=100)),
    }[container]()
    task = job(what, "region", person="name", key=lambda: SECRET)
    keys = ldp.PersonKeys(SECRET, TABLE["name"].tolist(), question="region")
    assert task.finish(task.collect(table, 0)) == what.collect(TABLE["region"], rng=keys)


def test_arrays_are_records():
    what, x = RECORDS["age"], TABLE["age"]
    task = job(what, "age", **KEYED)
    parts = [
        task.collect(x[start : start + 700], start, TABLE["id"][start : start + 700]) for start in range(0, N, 700)
    ]
    assert task.finish(job_counts.merge(parts)) == what.collect(x, rng=keys_of("age"))


def test_no_partitions_and_no_people_give_an_empty_aggregator():
    task = job(SURVEYS["one"])
    assert task.finish(job_counts.merge([])) == SURVEYS["one"].aggregator()
    assert task.finish(counted(task, [np.arange(0)])) == SURVEYS["one"].aggregator()
    with pytest.warns(UserWarning, match="by must be a public column, which is not protected, got 'region'"):
        assert len(job(SURVEYS["one"], by="region").finish(job_counts.merge([]))) == 0


def test_jobs_travel_and_hide_the_secret():
    task = job(RECORDS["age"], "age", **KEYED)
    again = pickle.loads(pickle.dumps(task))
    assert again == task
    assert again.collect(TABLE, 0) == task.collect(TABLE, 0)
    assert repr(SECRET)[2:-1] not in repr(task)
    assert "key" not in repr(task)


def test_a_batch_is_counted_once():
    task = job(SURVEYS["single"], by="region")
    first, second = (task.finish(counted(task, [np.arange(N)]), "2026-11-22") for _ in range(2))
    for region in REGIONS:
        with raises(ValueError, "other must hold no batch that was already counted, got 1 of them"):
            first[region].merge(second[region])


def test_groups_that_cannot_be_saved_are_an_error_of_the_job():
    """A task that raised the error would be repeated, and engines log its records."""
    task = job(RECORDS["age"], "age", "when", **KEYED)
    counts = task.collect({**TABLE, "when": np.full(N, np.inf)}, 3)
    assert counts["state"] is None
    with pytest.raises(TypeError, match=r"^parameters and labels must be equal .* got inf \(partition 3\)$"):
        task.finish(counts)


# Messages -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one", "three", "large epsilon"])
def test_messages_of_surveys_are_those_of_one_process(name):
    survey = SURVEYS[name]
    task = job(survey, **KEYED, reports=True)
    expected = survey.collect(TABLE, rng=ldp.PersonKeys(SECRET, "id"))
    parts = partitions(4, 6)
    found = [message for number, part in enumerate(parts) for message in task.messages(rows(TABLE, part), number)]
    assert survey.aggregator().update(pa.chunked_array(found, pa.binary())) == expected
    again = [message for number, part in enumerate(parts) for message in task.messages(rows(TABLE, part), number)]
    assert again == found


def test_messages_of_records_are_those_of_one_process():
    what = RECORDS["code"]
    task = job(what, "code", **KEYED, reports=True)
    expected = [what.message(report) for report in what.privatize(TABLE["code"], rng=keys_of("code"))]
    found = pa.chunked_array(task.messages(TABLE, 0), pa.binary())
    assert found.to_pylist() == expected


# Rounds ---------------------------------------------------------------------------------------------------------------

GAUSSIAN = GaussianMean(2.0, sigma=7.0, mu_bound=1000.0)
MANY = 60_000
HEIGHTS = {"height": np.random.default_rng(6).normal(170, 7, MANY), "id": np.arange(MANY)}


def conducted(parts, table=HEIGHTS):
    task = job(GAUSSIAN, "height", **KEYED)
    return conduct.conduct(task, None, lambda found: counted(found, parts, table), lambda: len(table["id"]))


def test_rounds_do_not_depend_on_the_partitions():
    whole = conducted([np.arange(MANY)])
    order = np.random.default_rng(7).permutation(MANY)
    assert conducted(np.split(order, [10, 10, 30_000])).to_bytes() == whole.to_bytes()
    assert whole.n == MANY
    estimate = whole.estimate()
    assert abs(estimate.value - HEIGHTS["height"].mean()) < normal_margin() * estimate.stderr
    assert GAUSSIAN.n == 0


def test_everyone_answers_in_one_round():
    asked = []

    def run(found):
        counts = counted(found, [np.arange(MANY)], HEIGHTS)
        server = Aggregator.from_bytes(counts["state"])
        asked.append(server.n - sum(asked))
        return counts

    task = job(GAUSSIAN, "height", **KEYED)
    server = conduct.conduct(task, None, run, lambda: MANY)
    assert sum(asked) == server.n == MANY
    plan = GAUSSIAN.plan(MANY)
    for found, planned in zip(asked, map(sum, plan.rounds), strict=True):
        assert abs(found - planned) < normal_margin(2) * np.sqrt(MANY) / 2  # the largest variance, n / 4


def test_a_person_who_joins_moves_nobody_to_another_round():
    """All groups of the first round but one have the same reports."""
    joined = {"height": np.append(HEIGHTS["height"], 171.0), "id": np.append(HEIGHTS["id"], MANY)}
    sums = []
    for table in (HEIGHTS, joined):
        people = len(table["id"])
        task = replace(job(GAUSSIAN, "height", **KEYED), server=GAUSSIAN.to_bytes(), people=people)
        server = GaussianMean.from_bytes(counted(task, [np.arange(people)], table)["state"])
        sums.append([group.answers.to_bytes() for group in server._asked[0]])
    moved = [old != new for old, new in zip(*sums, strict=True)]
    assert len(moved) > 5
    assert sum(moved) <= 1


# The held position of a Newton step ---------------------------------------------------------------------------------------

FEATURES = ("first", "second", "response")


def rows_of_a_model(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-0.7, 0.7, (n, 2))
    return {**dict(zip(FEATURES, [*x.T, x @ [0.6, -0.4] + rng.uniform(-0.2, 0.2, n)], strict=True)), "id": np.arange(n)}


def held(noise="auto", n=80_000):
    """Return a server whose steps are complete."""
    server = NewtonStep("linear", 2, 2.0, n=n, residual=1.0, noise=noise, covariance="full")
    first = rows_of_a_model(server._n_steps, 1)
    server.run(np.column_stack([first["first"], first["second"]]), first["response"], rng=5)
    return server


def answers_at_held_position(server, parts, table):
    task = job(server, list(FEATURES), **KEYED)
    return conduct.conduct(task, None, lambda found: counted(found, parts, table), lambda: 0)


@pytest.mark.parametrize("noise", ["auto", "half-space"])
def test_answers_at_the_held_position_are_those_of_the_personal_keys(noise):
    """The personal key determines the question and the coins of a person; the partition has no influence."""
    n, server = 60_000, held(noise)
    table, before = rows_of_a_model(n, 2), server.to_bytes()
    whole = answers_at_held_position(server, [np.arange(n)], table)
    order = np.random.default_rng(7).permutation(n)
    parts = answers_at_held_position(server, np.split(order, [10, 10, 30_000]), table)
    assert server.to_bytes() == before
    assert (whole.n, whole._hessians) == (parts.n, parts._hessians)
    assert whole.n == server.n + n
    np.testing.assert_allclose(
        np.concatenate(list(map(np.ravel, parts._saved()))),
        np.concatenate(list(map(np.ravel, whole._saved()))),
        rtol=1e-9,
    )
    share = 0.2
    assert abs(whole._hessians - share * n) < normal_margin() * np.sqrt(n * share * (1 - share))

    records, keys = np.column_stack([table[name] for name in FEATURES]), keys_of(", ".join(FEATURES), table)
    sums = {True: np.zeros(len(whole._hessian_sum)), False: np.zeros(2)}
    words = _jobs._words(keys, schemas.digest(server.schema()), keys.persons(n))
    for is_hessian, total in sums.items():
        own = np.flatnonzero((words < share * 2.0**64) == is_hessian)
        question = server._held_question(is_hessian)
        total += question.decode(question.privatize(records[own], rng=keys.of_rows(own))).astype(float).sum(axis=0)
    np.testing.assert_allclose(whole._hessian_sum, sums[True], rtol=1e-9)
    np.testing.assert_allclose(whole._gradient_sum, sums[False], rtol=1e-9)
    estimate = whole.estimate()
    assert (np.abs(estimate.value - [0.6, -0.4]) < normal_margin(2) * estimate.stderr).all()
    again = NewtonStep.from_bytes(whole.to_bytes())
    assert again.to_bytes() == whole.to_bytes()
    assert again.query() == whole.query()


def test_people_who_leave_or_a_second_pass_change_no_question():
    """With the same secret everybody reports the same, so that nothing more is lost."""
    server, table = held(), rows_of_a_model(6000, 2)
    task, keys = job(server, list(FEATURES), **KEYED), keys_of(", ".join(FEATURES), table)
    is_hessian = _jobs._words(keys, schemas.digest(server.schema()), keys.persons(6000)) < 0.2 * 2.0**64
    for n in (6000, 3000):
        part = NewtonStep.from_bytes(counted(task, [np.arange(n)], table)["state"])
        assert part._hessians == np.count_nonzero(is_hessian[:n])


def test_bad_arguments_of_a_newton_step():
    server = held()
    message = "what must be a NewtonStep with all 20000 answers of the steps, which tasks cannot share, and no others, got one "
    with raises(ValueError, f"{message}with n = 0"):
        job(NewtonStep("linear", 2, 2.0, n=80_000, residual=1.0), list(FEATURES), **KEYED)
    whole = answers_at_held_position(server, [np.arange(100)], rows_of_a_model(100, 3))
    with raises(
        ValueError, f"{message}with n = 20100"
    ):  # a second pass, whose answers could be those of the same people
        job(whole, list(FEATURES), **KEYED)
    with pytest.raises(
        ValueError, match="person and key must be given for a NewtonStep: everyone answers one question only"
    ):
        job(server, list(FEATURES))
    with raises(ValueError, "by must be None and clip False for a NewtonStep"):
        job(server, list(FEATURES), clip=True, **KEYED)
    task, table = job(server, list(FEATURES), **KEYED), rows_of_a_model(100, 3)
    with raises(ValueError, "batch must be None for a NewtonStep, got 'x'"):
        conduct.conduct(task, "x", lambda found: counted(found, [np.arange(100)], table), lambda: 100)
    with raises(
        ValueError, "what must be a survey, a problem or a mechanism to make a table of reports, got a NewtonStep"
    ):
        list(task.messages(table, 0))
    assert (
        conduct.conduct(task, None, lambda found: counted(found, [], table), lambda: 5).to_bytes() == server.to_bytes()
    )
    table["second"][17] = np.nan
    number, kind, message = task.collect(table, 4)["error"]
    assert (number, kind) == (4, "ValueError")
    assert "index 17" in message
    with pytest.raises(ValueError, match="index 17"):
        conduct.conduct(task, None, lambda found: counted(found, [np.arange(100)], table), lambda: 0)


# Errors ---------------------------------------------------------------------------------------------------------------


def bad_table(row):
    return {**TABLE, "age": np.where(np.arange(N) == row, 101.0, TABLE["age"])}


@pytest.mark.parametrize("what, column", [(SURVEYS["one"], None), (RECORDS["age"], "age")])
def test_a_bad_record_names_its_partition(what, column):
    table, task = bad_table(1234), job(what, column, **KEYED)
    parts = np.split(np.arange(N), [1000, 2000])
    with pytest.raises(ValueError, match="partition") as local:
        task.finish(task.collect(rows(table, parts[1]), 1))
    with pytest.raises(ValueError, match=r"234 .*\(partition 1\)$") as found:
        task.finish(counted(task, parts, table))
    assert str(found.value) == str(local.value)
    alone = rows(table, parts[1])
    with pytest.raises(ValueError, match=r"age|numbers") as plain:
        what.collect(alone if column is None else alone["age"])
    assert str(found.value) == f"{plain.value} (partition 1)"


def test_the_first_partition_with_an_error_is_reported():
    table, task = {**TABLE, "age": np.full(N, -1.0)}, job(SURVEYS["one"], **KEYED)
    for order in ([1, 2, 3], [3, 2, 1]):
        parts = [task.collect(rows(table, np.arange(number, N, 3)), number) for number in order]
        good = task.collect(rows(TABLE, np.arange(3)), 0)  # is first in the tree
        with pytest.raises(ValueError, match=r"\(partition 1\)$"):
            task.finish(job_counts.merge([job_counts.merge([good, parts[0]]), job_counts.merge(parts[1:])]))


def test_a_bad_record_far_down_a_stream_is_found():
    n = 1_200_000
    arrow = pa.table({"age": np.where(np.arange(n) == n - 5, 200.0, 1.0)})
    stream = pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(max_chunksize=10_000))
    task = job(RECORDS["age"], "age")
    message = task.collect(stream, 7)["error"][2]
    index = int(message.split("index ")[1].split(" ")[0])
    start = int(message.split("counted from row ")[1].split(" ")[0])
    assert start + index == n - 5
    assert message.endswith("(partition 7)")


@pytest.mark.claim("The error of a job holds no value of a record.", "Engines")
def test_no_record_is_in_a_message():
    arrow = pa.table({"age": [12.5, 987654.25], "id": [1, 2]})
    for what, column in ((RECORDS["age"], "age"), (ldp.survey.Survey({"age": ldp.survey.Mean(0, 100)}, 1.0), None)):
        counts = job(what, column).collect(arrow, 0)
        assert "987654" not in counts["error"][2]


def test_missing_values_are_refused():
    arrow = pa.table({"age": [1.0, None], "code": [1, None], "v": [[1.0, 2.0], None], "w": [[1.0], [1.0, 2.0]]})
    for what, column in ((RECORDS["age"], "age"), (RECORDS["code"], "code"), (VectorMean(2, 1.0), "v")):
        error = job(what, column).collect(arrow, 3)["error"]
        assert error == (3, "ValueError", f"column {column!r} must have no missing value, got 1 (partition 3)")
    error = job(VectorMean(2, 1.0), "w").collect(arrow, 3)["error"]
    assert error == (3, "ValueError", "column 'w' must hold lists of one length, got several (partition 3)")


def test_wrong_types_stay_type_errors():
    task = job(RECORDS["code"], "age")
    counts = task.collect(TABLE, 2)
    with pytest.raises(TypeError, match=r"\(partition 2\)$"):
        task.finish(counts)


@pytest.mark.claim("Workers with another version of the question or the coins refuse the job.", "Engines")
@pytest.mark.parametrize("change", ["version", "coins", "class"])
def test_workers_with_another_version_refuse_the_job(change):
    task = job(RECORDS["age"], "age")
    schema = schemas.read_json(task.schema)
    if change == "version":
        schema["version"] += 1
    elif change == "coins":
        schema["coins"] = {"another": 1}
    else:
        schema["asks"]["mechanism"] = "Unknown"
    other = replace(task, schema=schemas.canonical_json(schema))
    with pytest.raises(ValueError, match=r"^every worker must have the version of ldpfast that started the job: "):
        other.finish(other.collect(TABLE, 0))


@pytest.mark.claim("A partition that arrives twice is refused.", "Engines")
def test_a_partition_that_is_counted_twice_is_refused():
    task = job(SURVEYS["one"], **KEYED)
    part = task.collect(TABLE, 0)
    with raises(ValueError, "every partition must be counted once, got one twice"):
        job_counts.merge([part, task.collect(TABLE, 1), part])


@pytest.mark.claim("Different secrets in the tasks of a job are refused.", "Engines")
def test_different_secrets_are_refused():
    task = job(RECORDS["age"], "age", person="id", key=lambda: secrets.token_bytes(32))
    with raises(ValueError, "key must return the same secret in every task, got different ones"):
        counted(task, partitions(1, 3))
    task = job(GAUSSIAN, "height", person="id", key=lambda: secrets.token_bytes(32))
    with raises(ValueError, "key must return the same secret in every round, got different ones"):
        conduct.conduct(task, None, lambda found: counted(found, [np.arange(MANY)], HEIGHTS), lambda: MANY)


@pytest.mark.parametrize("error", [KeyError("secret"), OSError("no store")])
def test_a_secret_that_cannot_be_read_is_an_error(error):
    def key():
        raise error

    counts = job(RECORDS["age"], "age", person="id", key=key).collect(TABLE, 2)
    kind = type(error).__name__
    message = f"key must be a function that returns 32 bytes, it raised {kind} (partition 2)"
    assert counts["error"] == (2, "ValueError", message)
    short = job(RECORDS["age"], "age", person="id", key=lambda: b"short").collect(TABLE, 2)
    assert short["error"] == (2, "ValueError", "secret must be 32 bytes, got 5 (partition 2)")


def test_generated_identifiers_are_refused():
    """A person would answer in two rounds, or in none."""
    rng, task = np.random.default_rng(3), job(GAUSSIAN, "height", **KEYED)

    def run(found):
        table = {**HEIGHTS, "id": rng.permutation(1 << 20)[:MANY]}
        return counted(found, [np.arange(MANY)], table)

    with pytest.raises(
        ValueError, match=r"^data must hold the same persons whenever they are read, got \d+ answers of 60000"
    ):
        conduct.conduct(task, None, run, lambda: MANY)


def test_people_of_every_partition_are_counted():
    task = job(GAUSSIAN, "height", **KEYED)
    arrow = pa.table({name: HEIGHTS[name] for name in ("height", "id")})
    stream = pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(max_chunksize=7000))
    for partition in (HEIGHTS, pd.DataFrame(HEIGHTS), arrow, stream, HEIGHTS["height"]):
        assert task.number_of_people(partition) == MANY


@pytest.mark.parametrize(
    "column", [[], np.array([], object), pa.array([], pa.list_(pa.float64())), pa.array([], pa.null())]
)
def test_empty_partitions_of_any_type_count_nobody(column):
    for what in (RECORDS["age"], RECORDS["region"], VectorMean(2, 1.0)):
        task = job(what, "x")
        assert task.finish(task.collect({"x": column}, 0)) == what.aggregator()


@each("container", [dict, pd.DataFrame, pa.table])
@each("keyed", [{}, KEYED])
@each("clip", [False, True])
def test_empty_partitions_have_no_groups(container, keyed, clip):
    for what, column in ((SURVEYS["large epsilon"], None), (SURVEYS["single"], None), (RECORDS["age"], "age")):
        task = job(what, column, "region", clip=clip, **keyed)
        empty, full = (container(rows(TABLE, slice(stop))) for stop in (0, 300))
        assert len(task.finish(task.collect(empty, 0))) == 0
        assert task.number_of_people(empty) == 0
        counts = job_counts.merge([task.collect(empty, 0), task.collect(full, 1), task.collect(empty, 2)])
        found = task.finish(counts)
        assert set(found) == set(REGIONS)
        assert sum(aggregator.n for aggregator in found.values()) == 300


def test_decimals_are_numbers_and_text_is_refused_without_its_bytes():
    decimals = pa.array([Decimal("1.5"), Decimal("99.25")], pa.decimal128(6, 2))
    task = job(RECORDS["age"], "age", **KEYED)
    found = task.finish(task.collect(pa.table({"age": decimals, "id": [1, 2]}), 0))
    assert found == RECORDS["age"].collect([1.5, 99.25], rng=ldp.PersonKeys(SECRET, [1, 2], question="age"))
    bad = pa.Array.from_buffers(
        pa.string(), 1, [None, pa.py_buffer(np.array([0, 4], np.int32)), pa.py_buffer(b"\xff\xfeAb")]
    )
    for values in (bad, pa.array(["Ada"]), pa.array([b"Ada"]), pa.array(["Ada"], pa.string_view())):
        for what in (RECORDS["age"], RECORDS["code"], RECORDS["region"]):
            _, _, message = job(what, "x").collect(pa.table({"x": values}), 1)["error"]
            assert "Ada" not in message
            assert "Ab" not in message


def test_the_number_of_groups_is_limited_over_all_partitions():
    n = 12_000
    table = {"smoker": np.zeros(n, bool), "region": np.arange(n)}
    task = job(SURVEYS["single"], by="region")
    counts = [task.collect(rows(table, slice(start, start + n // 2)), start) for start in (0, n // 2)]
    with raises(ValueError, "column 'region' must have at most 10000 different values"):
        task.finish(job_counts.merge(counts))


def test_clipped_records_are_warned_about():
    table = {**TABLE, "age": np.where(np.arange(N) < 30, 150.0, TABLE["age"])}
    for task in (job(RECORDS["age"], "age", clip=True), job(RECORDS["age"], "age", "region", clip=True, **KEYED)):
        with pytest.warns(ldp.ClippedWarning, match=r"^30 of 3000 records \(0.01 of all\) were clipped"):
            task.finish(counted(task, partitions(1, 3), table))
    optional = job(SURVEYS["optional"], clip=True, **KEYED)
    with pytest.warns(ldp.ClippedWarning, match=r"30 of 3000 \(0.01 of all\) in column 'age'"):
        optional.finish(counted(optional, partitions(1, 3), table))
    table = {**TABLE, "region": np.where(np.arange(N) < 30, "nowhere", TABLE["region"])}
    with pytest.warns(ldp.ClippedWarning, match="undeclared categories .* 30 of 3000 .* in column 'region'"):
        optional.finish(counted(optional, partitions(1, 3), table))


@each(
    "arguments, error, message",
    [
        (
            {"what": MedianSGD(1.0, lower=0.0, upper=1.0)},
            TypeError,
            "what must be .* got a MedianSGD: it asks one person after another",
        ),
        ({"what": GradientDescent("logistic", 1, 1.0)}, TypeError, "got a GradientDescent: it asks one person"),
        ({"what": LogisticRegression()}, TypeError, "got a LogisticRegression: it asks one person after another"),
        (
            {"what": 3},
            TypeError,
            "what must be a survey, a problem, a mechanism, a GaussianMean or a NewtonStep, got int",
        ),
        ({"column": "age"}, ValueError, "column must be None for a survey"),
        (
            {"what": RECORDS["age"], "column": 3},
            TypeError,
            "column must be the name of a column or a list of names, got 3",
        ),
        ({"what": RECORDS["age"], "column": []}, TypeError, r"list of names, got \[\]"),
        ({"by": 3}, TypeError, "by must be the name of a column, or a list of different names, got int"),
        ({"person": 3, "key": SECRET}, TypeError, "person must be the name of a column, got int"),
        ({"person": "id"}, ValueError, "person and key must be given together, got person alone"),
        ({"key": SECRET}, ValueError, "person and key must be given together, got key alone"),
        ({"person": "id", "key": b"short"}, ValueError, "secret must be 32 bytes, got 5"),
        ({"clip": 1}, TypeError, "clip must be"),
        ({"what": RECORDS["code"], "column": "code", "clip": True}, ValueError, "clip must be False for categories"),
        ({"reports": True}, ValueError, "person and key must be given to make reports: an engine may compute"),
        ({"what": GAUSSIAN, "column": "height"}, ValueError, "person and key must be given for a GaussianMean"),
        ({"what": GAUSSIAN, "column": "height", "by": "region", **KEYED}, ValueError, "by must be None and clip False"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        job(**{"what": SURVEYS["one"], **arguments})


def test_bad_arguments_of_rounds():
    server = GaussianMean(2.0, sigma=7.0, mu_bound=1000.0)
    query = server.query(0)
    server.update(query, query.mechanism.privatize([170.0]))
    with raises(ValueError, "what must be a GaussianMean without answers, got one with n = 1"):
        job(server, "height", **KEYED)
    task = job(GAUSSIAN, "height", **KEYED)
    with raises(ValueError, "batch must be None for a GaussianMean, got 'x'"):
        conduct.conduct(task, "x", lambda found: counted(found, [np.arange(N)]), lambda: N)
    with pytest.raises(ValueError, match="n"):
        conduct.conduct(task, None, lambda found: counted(found, [np.arange(N)]), lambda: 3)
    error = replace(task, server=GAUSSIAN.to_bytes(), people=MANY).collect(bad_height(), 4)["error"]
    assert error[1] == "ValueError"
    assert error[2].startswith("x must be finite numbers; index 17 is NaN")
    with raises(
        ValueError, "what must be a survey, a problem or a mechanism to make a table of reports, got a GaussianMean"
    ):
        list(task.messages(TABLE, 0))


def bad_height():
    return {**TABLE, "height": np.where(np.arange(N) == 17, np.nan, TABLE["height"])}


def test_tables_need_a_column_and_arrays_have_no_groups():
    assert job(RECORDS["age"]).collect(TABLE, 0)["error"] == (
        0,
        "ValueError",
        "column must be the name of the column of the records, got None (partition 0)",
    )
    error = job(RECORDS["age"], "age", "region").collect(TABLE["age"], 0)["error"]
    assert error == (0, "ValueError", "by must be None for an array of records, got 'region' (partition 0)")


@pytest.mark.parametrize("keyed", [{}, KEYED])
def test_groups_are_in_the_order_of_one_process(keyed):
    """An engine may merge partitions that are not neighbors."""
    order = ["c", "a", "b"]
    table = {**TABLE, "region": np.repeat(order, N // 3)}
    task = job(SURVEYS["single"], by="region", **keyed)
    counts = [task.collect(rows(table, slice(start, start + 500)), i) for i, start in enumerate(range(0, N, 500))]
    scattered = job_counts.merge([job_counts.merge(counts[1::2]), job_counts.merge(counts[::2])])
    assert list(task.finish(scattered)) == order
    if keyed:
        whole = SURVEYS["single"].collect(table, by="region", rng=ldp.PersonKeys(SECRET, "id"))
        assert task.finish(scattered).to_bytes() == whole.to_bytes()
