"""Values of groups: the same types in memory and in saved states, and equal bytes whatever order people come in."""

from __future__ import annotations

import itertools
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import ldpfast as ldp
from ldpfast.reports import GroupedAggregator
from ldpfast.survey import Survey, YesNo

from ..support.cases import each
from ..support.errors import raises
from ..support.internals.shared import conduct, envelope, job_counts, schemas

MAGIC = b"LDPGRUP\x01"  # the first bytes of a saved GroupedAggregator
MECHANISM = ldp.Warner(1.0)
X = [True, False, True, False]
NOON = datetime(2024, 5, 17, 12, 30)
BERLIN = timezone(timedelta(hours=2))


def collect(by: Any) -> GroupedAggregator:
    return MECHANISM.collect(X, by=by, rng=1)


def typed(values: Any) -> list[tuple[type, Any]]:
    return [(type(value), value) for value in values]


@each(
    "by, expected",
    [
        (np.array([1.0, 2.0, 1.0, 2.5]), [1.0, 2.0, 2.5]),
        (pd.Series([1.0, None, 2.0, 1.0]), [1.0, None, 2.0]),
        (pd.Categorical([1.0, 2.0, 1.0, 2.0]), [1.0, 2.0]),
        (np.array([-0.0, 0.0, 1e300, 2.0**60]), [0.0, 1e300, 2.0**60]),
        (np.array([1, 2, 1, 2]), [1, 2]),
        (np.array([True, False, True, True]), [True, False]),
        (pa.array([Decimal("1.50"), Decimal("2.00")] * 2), [Decimal("1.50"), Decimal("2.00")]),
        (pd.Series(pd.to_datetime([NOON] * 4)), [NOON]),
        (np.array([NOON] * 4, "M8[ns]"), [NOON]),
        (pd.Categorical(pd.to_datetime([NOON] * 4)), [NOON]),
        (np.array(["2024-05-17"] * 4, "M8[D]"), [date(2024, 5, 17)]),
        (
            pd.Series(pd.to_datetime([NOON] * 4)).dt.tz_localize("Europe/Berlin"),
            [datetime(2024, 5, 17, 10, 30, tzinfo=UTC)],
        ),
        (["N", None, "S", "N"], ["N", None, "S"]),
    ],
)
def test_values_have_the_same_types_in_memory_and_in_a_saved_state(by, expected):
    grouped = collect(by)
    loaded = ldp.load(grouped.to_bytes())
    assert typed(grouped) == typed(expected)
    assert sorted(typed(loaded), key=repr) == sorted(typed(expected), key=repr)
    assert loaded == grouped
    assert loaded.to_bytes() == grouped.to_bytes()
    assert {value: loaded[value].n for value in loaded} == {value: grouped[value].n for value in grouped}
    assert typed(loaded.estimate()) == typed(grouped.estimate())  # also in the same order


def test_tuples_of_several_columns_keep_the_types_of_their_parts():
    people = {"x": X, "age": [1.0, 2.0, 1.0, 2.0], "day": [NOON, None, NOON, None], "id": [1, 2, 3, 1]}
    grouped = Survey({"x": YesNo()}, 1.0).collect(people, by=["age", "day", "id"], rng=1)
    loaded = ldp.load(grouped.to_bytes())
    assert set(loaded) == {(1.0, NOON, 1), (2.0, None, 2), (1.0, NOON, 3), (2.0, None, 1)}
    assert {tuple(map(type, value)) for value in loaded} == {tuple(map(type, value)) for value in grouped}
    assert loaded.to_bytes() == grouped.to_bytes()


def test_groups_are_found_by_equal_values():
    grouped = collect(pd.Series(pd.to_datetime([NOON] * 4)))
    assert grouped[pd.Timestamp(NOON)] == grouped[NOON]
    aware = collect(pd.Series(pd.to_datetime([NOON] * 4)).dt.tz_localize("Europe/Berlin"))
    assert aware[NOON.replace(tzinfo=BERLIN)].n == 4


def test_given_groups_have_the_types_of_python():
    counted = {value: MECHANISM.collect(X, rng=seed) for seed, value in enumerate((np.float64(1.0), np.str_("N")))}
    grouped = GroupedAggregator.of({**counted, pd.Timestamp(NOON): MECHANISM.collect(X, rng=5)})
    assert typed(grouped) == typed([1.0, "N", NOON])
    assert set(typed(ldp.load(grouped.to_bytes()))) == set(typed([1.0, "N", NOON]))
    with raises(ValueError, "aggregators must be by different values, got more than one for missing values"):
        GroupedAggregator.of({None: MECHANISM.aggregator(), np.nan: MECHANISM.aggregator()})


def test_a_time_in_nanoseconds_is_not_saved():
    grouped = collect(np.array([1, 2, 1, 2], "M8[ns]"))
    with pytest.raises(TypeError, match="must be equal to what is read back to be saved"):
        grouped.to_bytes()


# Bytes ----------------------------------------------------------------------------------------------------------------

GROUPS = ["W", None, "N", "S"]


def test_equal_groups_have_equal_bytes_in_every_order():
    """Merged in all orders, seen in all orders, and saved between."""
    parts = [MECHANISM.collect(X[:2], by=[group] * 2, rng=seed) for seed, group in enumerate(GROUPS)]
    found = set()
    for order in itertools.permutations(range(4)):
        merged = ldp.load(parts[order[0]].to_bytes())
        for place in order[1:]:
            merged.merge(parts[place])
        found.add(merged.to_bytes())
    assert len(found) == 1
    assert list(ldp.load(found.pop())) == ["N", "S", "W", None]


def test_equal_values_of_several_types_have_one_of_them_in_every_order():
    """A column of integers is one of floats in the partitions that lack a value."""
    parts = [MECHANISM.collect(X[:2], by=np.array([1, 2], kind), rng=1) for kind in (np.int64, np.float64)]
    parts += [MECHANISM.collect(X[:2], by=pa.array([Decimal("1.00"), Decimal("2.0")]), rng=1)]
    merged = []
    for order in itertools.permutations(parts):
        merged.append(ldp.load(order[0].to_bytes()).merge(order[1]).merge(order[2]))
        assert typed(merged[-1]) == typed([1, 2])
    assert len({grouped.to_bytes() for grouped in merged}) == 1


def partition_in(form: str, table: pd.DataFrame) -> Any:
    """Return a partition as Dask gives it, or as Spark does."""
    return (
        table
        if form == "dask"
        else pa.RecordBatchReader.from_batches(
            pa.Schema.from_pandas(table), pa.Table.from_pandas(table).to_batches(max_chunksize=7)
        )
    )


@pytest.mark.parametrize("form", ["dask", "spark"])
def test_jobs_of_engines_have_the_bytes_of_one_process(form):
    """Partitions in every order, which are merged in a tree, give the state of one process."""
    n = 60
    when = pd.to_datetime([NOON, datetime(2024, 1, 1), None] * (n // 3))
    table = pd.DataFrame(
        {
            "id": range(n),
            "x": np.arange(n) % 3 == 0,
            "zone": when.tz_localize("UTC"),
            "age": np.arange(n)[::-1] % 4 + 1.0,
        }
    )
    survey, secret = Survey({"x": YesNo()}, 1.0), bytes(32)
    by = ("age", "zone")
    task = conduct.new_job(survey, column=None, by=by, person="id", key=secret, clip=False, reports=False)
    expected = survey.collect(table, by=by, rng=ldp.PersonKeys(secret, "id"))
    for seed in range(4):
        rows = np.random.default_rng(seed).permutation(n)
        parts = [
            task.collect(partition_in(form, table.iloc[part]), i) for i, part in enumerate(np.array_split(rows, 5))
        ]
        merged = job_counts.merge([job_counts.merge(parts[3:]), job_counts.merge(parts[:3])])
        found = task.finish(merged)
        assert found.to_bytes() == expected.to_bytes()
        assert set(found) == set(expected)


def test_bytes_of_earlier_states_are_read():
    """Floats without a fraction are integers there, and groups are in the order in which they were seen."""
    grouped = collect(np.array([2.0, 1.0, 2.5, 1.0]))
    header, payload = envelope.unseal(MAGIC, "the aggregators of groups", grouped.to_bytes())
    assert header["groups"] == [{"float": 1}, {"float": 2}, 2.5]
    old = envelope.seal(MAGIC, {**header, "groups": [1, 2, 2.5]}, payload)
    loaded = ldp.load(old)
    assert loaded == grouped
    assert typed(loaded) == typed([1, 2, 2.5])
    zones = collect(["a", "b", "a", "b"])
    header, payload = envelope.unseal(MAGIC, "the aggregators of groups", zones.to_bytes())
    given = [{"datetime": "2024-05-17T14:30:00+02:00"}, {"datetime": "2024-05-17T12:30:00"}]
    assert list(ldp.load(envelope.seal(MAGIC, {**header, "groups": given}, payload))) == [
        datetime(2024, 5, 17, 12, 30, tzinfo=UTC),
        NOON,
    ]


def test_damaged_values_are_refused():
    grouped = collect([1.0, 2.0] * 2)
    header, payload = envelope.unseal(MAGIC, "the aggregators of groups", grouped.to_bytes())
    for bad in ({"float": "nan"}, {"float": True}, {"float": None}, {"double": 1}):
        with pytest.raises(ValueError, match="data must be the bytes of the aggregators of groups: a label"):
            ldp.load(envelope.seal(MAGIC, {**header, "groups": [bad, 2]}, payload))
    assert schemas.unpack(schemas.pack_group(((1.0,), 2))) == ((1.0,), 2)
