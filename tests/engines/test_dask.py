"""Dask: the same results as one process, with real workers that are killed, and on two hosts."""

from __future__ import annotations

import doctest

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dask.distributed import Client, LocalCluster

import ldpfast as ldp
import ldpfast.dask
from ldpfast.estimation import Frequencies, GaussianMean, NewtonStep
from ldpfast.survey import Mean, Several, Survey

from ..support.errors import raises
from ..support.examples import assert_same_estimate
from ..support.internals.shared import conduct
from ..support.one_shot import PROBLEMS
from ..support.statistics import normal_margin
from ..support.surveys import REGIONS, SURVEYS
from .conftest import SECRET, WIDE_SURVEY, N, messages_of_persons
from .faults import Faults, a_fifth, loaded, stored

pytestmark = [
    pytest.mark.filterwarnings("default"),  # of the engine
    pytest.mark.filterwarnings("error::ldpfast.ClippedWarning"),
]
SURVEY = SURVEYS["three"]
PARTITIONS = 20
ONE_AFTER_ANOTHER = {"scheduler": "synchronous"}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """Two workers, each a process."""
    with (
        dask.config.set(
            {
                "distributed.scheduler.allowed-failures": 50,
                "distributed.comm.timeouts.connect": "120s",
                "distributed.deploy.lost-worker-timeout": "1h",  # else a worker that is killed twice is given up
            }
        ),
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            local_directory=str(tmp_path_factory.mktemp("dask")),
        ) as cluster,
        Client(cluster) as found,
    ):
        yield found


@pytest.fixture
def expected(table, personal):
    return SURVEY.collect(table, rng=personal).to_bytes()


def test_options_in_columns_of_their_own(table, personal):
    boxes = Survey({"habits": Several(["smokes", "is old"], column=["smoker", "old"]), "age": Mean(0, 100)}, 2.0)
    table = table.assign(old=table["age"] > 50)
    with dask.config.set(**ONE_AFTER_ANOTHER):
        found = ldpfast.dask.aggregate(dd.from_pandas(table, npartitions=3), boxes, person="id", key=SECRET)
    assert found == boxes.collect(table, rng=personal)


def delayed_parts(faults, table):
    parts = np.array_split(np.arange(N), PARTITIONS)
    load = dask.delayed(loaded, pure=False)
    return [load(faults, table.iloc[rows], number) for number, rows in enumerate(parts)]


@pytest.mark.claim("With personal keys, Dask gives the bytes of one process for every partitioning.", "Engines")
def test_workers_give_the_bytes_of_one_process(client, table, expected, personal):
    for partitions in (1, 3, 40):
        data = dd.from_pandas(table, npartitions=partitions)
        found = ldpfast.dask.aggregate(data, SURVEY, person="id", key=SECRET)
        assert found.to_bytes() == expected
    shuffled = dd.from_pandas(table.sample(frac=1, random_state=1).reset_index(drop=True), npartitions=7)
    assert ldpfast.dask.aggregate(shuffled, SURVEY, person="id", key=lambda: SECRET).to_bytes() == expected
    for survey in (SURVEYS["texts"], SURVEYS["sets"], SURVEYS["pairs"]):
        assert ldpfast.dask.aggregate(data, survey, person="id", key=SECRET) == survey.collect(table, rng=personal)
    by_region = ldpfast.dask.aggregate(data, SURVEYS["single"], by="region")
    assert {region: found.n for region, found in by_region.items()} == table["region"].value_counts().to_dict()


@pytest.mark.parametrize("kind", ["frame", "array", "delayed", "list of delayed"])
def test_every_collection(kind, table):
    what = ldp.Window(0, 100, 1.0)
    ages, ids = table["age"].to_numpy(), table["id"].to_numpy()
    keys = {"column": "age", "person": "id", "key": SECRET}
    with dask.config.set(**ONE_AFTER_ANOTHER):
        if kind == "array":
            rows = da.from_array(ages, chunks=3000)
            keys["person"] = da.from_array(ids, chunks=3000)
            found = ldpfast.dask.aggregate(rows, what, **keys)
            with pytest.raises(
                ValueError, match=r"person must have one dimension and the chunks of the rows of data, "
            ):
                ldpfast.dask.aggregate(rows.rechunk(5000), what, **keys)
            with raises(TypeError, "person must be a dask.array.Array for an array of records, got str"):
                ldpfast.dask.aggregate(rows, what, column="age", person="id", key=SECRET)
        else:
            data = {
                "frame": dd.from_pandas(table, npartitions=4),
                "delayed": dask.delayed(table),
                "list of delayed": [dask.delayed(table.iloc[:500]), dask.delayed(table.iloc[500:])],
            }[kind]
            found = ldpfast.dask.aggregate(data, what, **keys)
    assert found == what.collect(ages, rng=ldp.PersonKeys(SECRET, ids, question="age"))


def test_docstring_examples():
    with dask.config.set(**ONE_AFTER_ANOTHER):
        found = doctest.testmod(ldpfast.dask)
    assert found.attempted > 0
    assert found.failed == 0


def test_rows_of_an_array_are_not_divided(table):
    x = np.column_stack([table["age"] / 100, table["height"] / 300])
    what = ldp.LinfBall(2, 1.0)
    with dask.config.set(**ONE_AFTER_ANOTHER):
        found = ldpfast.dask.aggregate(da.from_array(x, chunks=(6000, 1)), what)
    assert found.n == N


def test_rounds_of_a_gaussian_mean(table):
    what = GaussianMean(2.0, sigma=7.0, mu_bound=1000.0)
    found = []
    with dask.config.set(**ONE_AFTER_ANOTHER):
        for partitions in (2, 5):
            data = dd.from_pandas(table.sample(frac=1, random_state=partitions), npartitions=partitions, sort=False)
            found.append(ldpfast.dask.aggregate(data, what, column="height", person="id", key=SECRET))
    assert found[0].to_bytes() == found[1].to_bytes()
    estimate = found[0].estimate()
    assert abs(estimate.value - table["height"].mean()) < normal_margin() * estimate.stderr


def test_the_held_position_of_a_newton_step(table):
    """Dask gives the result of one process, except for rounding of the sums."""
    server = NewtonStep("linear", 2, 4.0, n=4 * N // 3, radius=1.5, residual=1.0)
    first = np.random.default_rng(8).uniform(-1, 1, (server._n_steps, 2))
    server.run(first, first @ [0.5, -0.3], rng=1)
    numbers = {"a": table["age"] / 50 - 1, "b": table["height"] / 170 - 1}
    people = pd.DataFrame({"id": table["id"], **numbers, "y": 0.5 * numbers["a"] - 0.3 * numbers["b"]})
    found = []
    with dask.config.set(**ONE_AFTER_ANOTHER):
        for partitions in (1, 5):
            data = dd.from_pandas(people.sample(frac=1, random_state=partitions), npartitions=partitions, sort=False)
            found.append(ldpfast.dask.aggregate(data, server, column=["a", "b", "y"], person="id", key=SECRET))
    assert found[0].n == found[1].n == server.n + N
    np.testing.assert_allclose(found[0].estimate().value, found[1].estimate().value, rtol=1e-9)
    task = conduct.new_job(server, column=["a", "b", "y"], by=None, person="id", key=SECRET, clip=False)
    one = conduct.conduct(task, None, lambda job: job.collect(people, 0), lambda: N)
    np.testing.assert_allclose(found[0].estimate().value, one.estimate().value, rtol=1e-9)


def test_reports_are_a_lazy_collection(table, personal, tmp_path):
    data = dd.from_pandas(table, npartitions=4)
    reports = ldpfast.dask.privatize(data, SURVEY, person="id", key=SECRET)
    assert isinstance(reports, dd.DataFrame)
    with dask.config.set(**ONE_AFTER_ANOTHER):
        reports.to_parquet(tmp_path / "reports")
        again = reports.compute()
    stored_reports = pq.read_table(tmp_path / "reports")["report"]
    assert stored_reports.to_pylist() == again["report"].tolist()
    expected = SURVEY.collect(table, rng=personal)
    assert SURVEY.aggregator().update(stored_reports.cast(pa.binary())) == expected


@pytest.mark.claim("A record that is not valid stops the job, and no earlier aggregator changes.", "Engines")
def test_a_bad_record_names_its_partition_and_gives_nothing(table):
    bad = table.assign(age=table["age"].where(table["id"] != 17_000, 200.0))
    what = ldp.Window(0, 100, 1.0)
    total = ldpfast.dask.aggregate(dask.delayed(table), what, column="age")
    before = total.to_bytes()
    with pytest.raises(ValueError, match=r"^x must be numbers in .* index 2000 is outside .*\(partition 3\)$"):
        total.merge(ldpfast.dask.aggregate(dd.from_pandas(bad, npartitions=4), what, column="age"))
    assert total.to_bytes() == before
    reports = ldpfast.dask.privatize(dd.from_pandas(bad, npartitions=4), what, column="age", person="id", key=SECRET)
    with (
        dask.config.set(**ONE_AFTER_ANOTHER),
        pytest.raises(ValueError, match=r"index 2000 .*\(partition 3\)$"),
    ):
        reports.compute()


@pytest.mark.filterwarnings("ignore::ldpfast.SmallSampleWarning")
@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_conclude_as_in_one_process(name):
    problem, draw = PROBLEMS[name]
    x, persons = draw(np.random.default_rng(5), 1001), np.arange(1001)
    expected = problem.run(x, rng=ldp.PersonKeys(SECRET, persons, question="x"))
    for step in (400, 1001):
        chunks = (step, *x.shape[1:])
        data = da.from_array(x, chunks=chunks), da.from_array(persons, chunks=step)
        found = ldpfast.dask.aggregate(data[0], problem, column="x", person=data[1], key=SECRET)
        assert_same_estimate(found.estimate(), expected)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        (
            {"data": "table"},
            TypeError,
            "data must be a dask DataFrame or Array, a Delayed, or a list of Delayed, got pandas",
        ),
        ({"data": []}, TypeError, "data must be a dask DataFrame"),
        (
            {"what": Frequencies(REGIONS, 1.0)},
            ValueError,
            "column must be the name of the column of the records, got None",
        ),
        ({"by": "nothing"}, ValueError, "frame must have one column 'nothing': it lacks it; its columns are"),
        (
            {"person": da.zeros(3), "key": SECRET},
            TypeError,
            "person must be the name of a column for a table, got a dask",
        ),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message, table):
    given = {"data": dd.from_pandas(table, npartitions=2), "what": SURVEY, **arguments}
    if isinstance(given["data"], str):
        given["data"] = table
    with pytest.raises(error, match=message):
        ldpfast.dask.aggregate(**given)


# Failures -------------------------------------------------------------------------------------------------------------


@pytest.mark.claim("Workers of Dask that are killed do not change the result.", "Engines")
@pytest.mark.slow
@pytest.mark.parametrize("keyed", [True, False])
def test_killed_workers_do_not_change_the_result(client, table, expected, tmp_path, keyed):
    """Each kill loses the results of a worker, which are computed again."""
    faults = Faults(tmp_path, killed=a_fifth(PARTITIONS, seed=keyed))
    keys = {"person": "id", "key": SECRET} if keyed else {}
    found = ldpfast.dask.aggregate(delayed_parts(faults, table), SURVEY, **keys)
    assert faults.total() >= PARTITIONS + PARTITIONS // 5
    assert all(faults.attempts(number) >= 2 for number in faults.killed)
    assert found.n == N
    if keyed:
        assert found.to_bytes() == expected


@pytest.mark.claim("With personal keys, every attempt of a task gives the same message of a person.", "Engines")
@pytest.mark.slow
def test_every_message_ever_written_is_the_only_one_of_its_person(client, table, tmp_path):
    """The job runs twice, with other partitions, and a fifth of the tasks kills its worker after it has written."""
    once = messages_of_persons(table)
    for run, partitions in enumerate((PARTITIONS, PARTITIONS - 3)):
        folder = tmp_path / f"faults {run}"
        folder.mkdir()
        faults = Faults(folder, a_fifth(partitions, seed=run))
        data = dd.from_pandas(table.sample(frac=1, random_state=run).reset_index(drop=True), npartitions=partitions)
        reports = ldpfast.dask.privatize(data, WIDE_SURVEY, person="id", key=SECRET)
        write = dask.delayed(stored, pure=False)
        parts = [write(faults, part, number) for number, part in enumerate(reports.to_delayed())]
        assert sum(dask.compute(*parts)) == N
        assert all(faults.attempts(number) >= 2 for number in faults.killed)
        assert len(faults.written()) > N
        assert set(faults.written()) == once


@pytest.mark.slow
def test_a_job_that_runs_twice_counts_once(client, table, expected):
    data = dd.from_pandas(table, npartitions=5)
    first, second = (ldpfast.dask.aggregate(data, SURVEY, person="id", key=SECRET, batch="monday") for _ in range(2))
    assert first.to_bytes() == second.to_bytes()
    with raises(ValueError, "other must hold no batch that was already counted, got 1 of them"):
        first.merge(second)
