"""Spark: the same results as one process, with executors that are killed, slow tasks and second attempts."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from pyspark.sql import SparkSession

import ldpfast as ldp
import ldpfast.spark
from ldpfast.estimation import (
    Frequencies,
    GaussianMean,
    HeavyHitters,
    NewtonStep,
    RangeQueries,
    TruncatedMean,
    VectorMean,
)
from ldpfast.spark import _scanned_groups

from ..support.errors import raises
from ..support.examples import assert_same_estimate
from ..support.internals.shared import conduct
from ..support.statistics import normal_margin
from ..support.surveys import REGIONS, SURVEYS
from .conftest import SECRET, WIDE_SURVEY, N, messages_of_persons
from .faults import Faults, a_fifth, passed_on, recorded

pytestmark = [
    pytest.mark.filterwarnings("default"),  # of the engine
    pytest.mark.filterwarnings("error::ldpfast.ClippedWarning"),
]
SURVEY = SURVEYS["three"]
PARTITIONS = 20


def session(master: str, **options: str) -> SparkSession:
    """Start Spark, whose Python workers have the interpreter and the path of this process."""
    assert shutil.which("java"), "Spark needs Java 17 or 21, for instance Debian's package openjdk-17-jre-headless"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_HOME"] = str(Path(pyspark.__file__).parent)
    builder = SparkSession.builder.master(master)
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
        "spark.executorEnv.PYTHONPATH": os.environ["PYTHONPATH"],
        **options,
    }.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


@pytest.fixture(scope="module")
def spark():
    """Spark on two threads; a task may fail three times."""
    found = session("local[2,4]")
    yield found
    found.stop()


@pytest.fixture(scope="module")
def people(spark, table, tmp_path_factory):
    path = tmp_path_factory.mktemp("spark") / "people.parquet"
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
    return spark.read.parquet(str(path))


@pytest.fixture(scope="module")
def expected(table):
    return SURVEY.collect(table, rng=ldp.PersonKeys(SECRET, "id")).to_bytes()


def test_tasks_read_row_groups_of_files(spark, table, expected, tmp_path):
    """Also in folders, with several files and tasks that read several row groups; a message for each person."""
    whole = pa.Table.from_pandas(table, preserve_index=False)
    half = len(whole) // 2
    for name, part in (("a", whole[:half]), ("b", whole[half:])):
        pq.write_table(part, tmp_path / f"{name}.parquet", row_group_size=half // 30)
    for paths in (str(tmp_path), [tmp_path / "a.parquet", tmp_path / "b.parquet"]):
        found = ldpfast.spark.aggregate(paths, SURVEY, person="id", key=SECRET)
        assert found.to_bytes() == expected
    assert ldpfast.spark.aggregate(str(tmp_path), SURVEY).n == len(whole)
    reports = ldpfast.spark.privatize(str(tmp_path), SURVEY, person="id", key=SECRET)
    assert SURVEY.aggregator().update(reports.toArrow()["report"]).to_bytes() == expected
    with pytest.raises(ValueError, match="must be paths of Parquet files"):
        ldpfast.spark.aggregate(str(tmp_path / "c.parquet"), SURVEY)
    with pytest.raises(ValueError, match=r"data must be different files, got .* twice"):
        ldpfast.spark.aggregate([tmp_path, tmp_path / "a.parquet"], SURVEY)
    with pytest.raises(TypeError, match="data must be a Spark DataFrame, or paths of Parquet files"):
        ldpfast.spark.aggregate([1, 2], SURVEY)
    with pytest.raises(ValueError, match="frame must have one column 'other'"):
        ldpfast.spark.aggregate(str(tmp_path), ldp.Warner(1.0), column="other")
    bad = whole.set_column(whole.column_names.index("smoker"), "smoker", pa.array(["?"] * len(whole)))
    pq.write_table(bad, tmp_path / "bad.parquet")
    with pytest.raises(Exception, match=r"column .smoker. must hold"):
        ldpfast.spark.aggregate(str(tmp_path / "bad.parquet"), SURVEY)


def test_a_data_frame_of_files_is_read_like_its_files(spark, people, table, expected, tmp_path):
    """Every other DataFrame is read by Spark, with the same result."""
    job = conduct.new_job(SURVEY, column=None, by=None, person="id", key=SECRET, clip=False)
    folder = tmp_path / "one folder, 50%"
    folder.mkdir()
    whole = pa.Table.from_pandas(table, preserve_index=False)
    pq.write_table(whole[:1000], folder / "a.parquet", row_group_size=100)
    pq.write_table(whole[1000:], folder / "b.parquet", row_group_size=700)
    scanned = spark.read.parquet(str(folder))
    for frame in (
        scanned,
        scanned.select(*reversed(scanned.columns)).drop("rate"),
        spark.read.parquet(f"file://{folder}/*"),
    ):
        assert len(_scanned_groups(frame, job)) == 10 + -(-(len(whole) - 1000) // 700)
        assert ldpfast.spark.aggregate(frame, SURVEY, person="id", key=SECRET).to_bytes() == expected
    scanned.createOrReplaceTempView("view")
    narrow = whole.set_column(whole.column_names.index("id"), "id", whole["id"].cast(pa.uint32()))
    pq.write_table(narrow, tmp_path / "narrow.parquet")
    cached = spark.read.parquet(str(tmp_path / "narrow.parquet")).cache()
    others = {
        "filter": scanned.filter("id >= 0"),
        "alias": scanned.withColumnRenamed("region", "other").withColumnRenamed("other", "region"),
        "computed": scanned.withColumn("id", scanned["id"] + 0),
        "union": scanned.limit(500).union(scanned.subtract(scanned.limit(500))),
        "view": spark.table("view"),
        "shuffled": scanned.repartition(3),
        "option": spark.read.option("mergeSchema", "true").parquet(str(folder)),
        "another type": spark.read.parquet(str(tmp_path / "narrow.parquet")),
        "declared type": spark.read.schema(scanned.schema.simpleString()[7:-1].replace(":", " ")).parquet(
            str(tmp_path / "narrow.parquet")
        ),
        "cached": cached,
    }
    for name, frame in others.items():
        assert _scanned_groups(frame, job) is None, name
    for name in ("filter", "alias", "computed", "view", "shuffled", "option", "another type"):
        found = ldpfast.spark.aggregate(others[name], SURVEY, person="id", key=SECRET)
        assert found.to_bytes() == expected, name
    assert _scanned_groups(cached.select(*job.columns()), job) is None  # Spark reads a part of the cached rows
    cached.unpersist()
    spark.conf.set("spark.sql.files.ignoreCorruptFiles", "true")
    assert _scanned_groups(scanned, job) is None
    spark.conf.unset("spark.sql.files.ignoreCorruptFiles")
    assert _scanned_groups(scanned, job) is not None
    twice = spark.read.parquet(str(folder), str(folder))
    assert _scanned_groups(twice, job) is None
    assert ldpfast.spark.aggregate(twice, SURVEY).n == 2 * len(whole)
    partitioned = tmp_path / "partitioned"
    scanned.write.partitionBy("region").parquet(str(partitioned))
    assert _scanned_groups(spark.read.parquet(str(partitioned)), job) is None


@pytest.mark.claim("With personal keys, Spark gives the bytes of one process for every partitioning.", "Engines")
def test_tasks_give_the_bytes_of_one_process(people, table, expected, personal):
    for partitions in (1, 3, 40):
        found = ldpfast.spark.aggregate(people.repartition(partitions), SURVEY, person="id", key=SECRET)
        assert found.to_bytes() == expected
    shuffled = people.orderBy("income", "height")
    assert ldpfast.spark.aggregate(shuffled, SURVEY, person="id", key=lambda: SECRET).to_bytes() == expected
    for survey in (SURVEYS["texts"], SURVEYS["sets"], SURVEYS["pairs"]):
        assert ldpfast.spark.aggregate(people, survey, person="id", key=SECRET) == survey.collect(table, rng=personal)
    by_region = ldpfast.spark.aggregate(people, SURVEYS["single"], by="region")
    assert {region: found.n for region, found in by_region.items()} == table["region"].value_counts().to_dict()
    assert ldpfast.spark.aggregate(people.filter("id < 0"), SURVEY) == SURVEY.aggregator()


def test_records_of_columns_and_lists(people, table):
    ids = table["id"].to_numpy()
    regions = Frequencies(REGIONS, 1.0)
    found = ldpfast.spark.aggregate(people, regions, column="region", person="id", key=SECRET)
    assert found == regions.collect(table["region"], rng=ldp.PersonKeys(SECRET, ids, question="region"))
    both, x = VectorMean(2, 1.0, norm="linf", radius=300.0), table[["age", "height"]].to_numpy()
    keys = ldp.PersonKeys(SECRET, ids, question="age, height")
    found = ldpfast.spark.aggregate(people, both, column=["age", "height"], person="id", key=SECRET)
    assert found == both.collect(x, rng=keys)
    lists = people.selectExpr("id", "array(age, height) AS `age, height`")
    found = ldpfast.spark.aggregate(lists, both, column="age, height", person="id", key=SECRET)
    assert found == both.collect(x, rng=keys)


def test_problems_conclude_as_in_one_process(people, table):
    ids, age = table["id"].to_numpy(), table["age"].to_numpy()
    box = VectorMean(2, 1.0, norm="linf", lower=0, upper=[120, 300])
    for problem, column, x in (
        (TruncatedMean(1.0, moment=2, radius=60.0, n=len(ids)), "age", age),
        (RangeQueries(N, 1.0), "id", ids),
        (HeavyHitters(2.0, max_bytes=12, n=N, buckets=16), "region", table["region"].tolist()),
        (box, ["age", "height"], table[["age", "height"]].to_numpy()),
    ):
        name = column if isinstance(column, str) else ", ".join(column)
        expected = problem.run(x, rng=ldp.PersonKeys(SECRET, ids, question=name))
        found = ldpfast.spark.aggregate(people.repartition(3), problem, column=column, person="id", key=SECRET)
        assert_same_estimate(found.estimate(), expected)


def test_people_of_files_with_several_row_groups_are_counted(spark, table, tmp_path):
    """For the rounds of a mean; by paths and as a DataFrame."""
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), tmp_path / "a.parquet", row_group_size=N // 5)
    what = GaussianMean(2.0, sigma=7.0, mu_bound=1000.0)
    for data in (tmp_path, spark.read.parquet(str(tmp_path))):
        found = ldpfast.spark.aggregate(data, what, column="height", person="id", key=SECRET)
        assert found.n == N


def test_rounds_of_a_gaussian_mean(people, table):
    what = GaussianMean(2.0, sigma=7.0, mu_bound=1000.0)
    found = [
        ldpfast.spark.aggregate(people.repartition(k), what, column="height", person="id", key=SECRET) for k in (1, 3)
    ]
    assert found[0].to_bytes() == found[1].to_bytes()
    estimate = found[0].estimate()
    assert abs(estimate.value - table["height"].mean()) < normal_margin() * estimate.stderr


def test_the_held_position_of_a_newton_step(people):
    """The result does not depend on the partitions, except for rounding of the sums."""
    server = NewtonStep("linear", 2, 4.0, n=4 * N // 3, radius=1.5, residual=1.0)
    first = np.random.default_rng(8).uniform(-1, 1, (server._n_steps, 2))
    server.run(first, first @ [0.5, -0.3], rng=1)
    columns = [
        "id",
        "age / 50 - 1 AS a",
        "height / 170 - 1 AS b",
        "0.5 * (age / 50 - 1) - 0.3 * (height / 170 - 1) AS y",
    ]
    rows = people.selectExpr(*columns)
    found = [
        ldpfast.spark.aggregate(rows.repartition(k), server, column=["a", "b", "y"], person="id", key=SECRET)
        for k in (1, 3)
    ]
    assert found[0].n == found[1].n == server.n + N
    np.testing.assert_allclose(found[0].estimate().value, found[1].estimate().value, rtol=1e-9)


def test_reports_are_a_lazy_data_frame(people, table, tmp_path, personal):
    reports = ldpfast.spark.privatize(people.repartition(3), SURVEY, person="id", key=SECRET)
    reports.write.parquet(str(tmp_path / "reports"))
    messages = pq.read_table(tmp_path / "reports")["report"]
    assert SURVEY.aggregator().update(messages) == SURVEY.collect(table, rng=personal)
    assert sorted(messages.to_pylist()) == sorted(reports.toArrow()["report"].to_pylist())


def test_a_bad_record_names_its_partition_and_gives_nothing(people):
    what = ldp.Window(0, 100, 1.0)
    bad = people.selectExpr("IF(id = 17000, 200.0D, age) AS age", "id").coalesce(1)
    total = ldpfast.spark.aggregate(people, what, column="age")
    before = total.to_bytes()
    with pytest.raises(ValueError, match=r"^x must be numbers in .* index 17000 is outside .*\(partition 0\)$"):
        total.merge(ldpfast.spark.aggregate(bad, what, column="age"))
    assert total.to_bytes() == before
    reports = ldpfast.spark.privatize(bad, what, column="age", person="id", key=SECRET)
    with pytest.raises(pyspark.errors.PythonException, match=r"index 17000 .*\(partition 0\)"):
        reports.count()


def test_bad_arguments_are_refused(people, table):
    with raises(TypeError, "data must be a Spark DataFrame, got pandas.DataFrame"):
        ldpfast.spark.aggregate(table, SURVEY)
    with raises(ValueError, "column must be the name of the column of the records, got None"):
        ldpfast.spark.aggregate(people, ldp.Window(0, 100, 1.0))
    with pytest.raises(ValueError, match=r"frame must have one column 'nothing': it lacks it; its columns are "):
        ldpfast.spark.aggregate(people, SURVEY, by="nothing")
    with pytest.raises(ValueError, match=r"person and key must be given to make reports: "):
        ldpfast.spark.privatize(people, SURVEY, person=None, key=None)


CONNECT = """
import numpy as np
import ldpfast as ldp
import ldpfast.spark
from ldpfast.survey import Survey, YesNo
from pyspark.sql import SparkSession

spark = SparkSession.builder.remote("local[2]").getOrCreate()
people = spark.range(10_000).selectExpr("id", "id % 2 = 0 AS smokes")
survey, secret = Survey({"smokes": YesNo()}, epsilon=1.0), bytes(32)
found = ldpfast.spark.aggregate(people, survey, person="id", key=secret)
ids = np.arange(10_000)
expected = survey.collect({"id": ids, "smokes": ids % 2 == 0}, rng=ldp.PersonKeys(secret, "id"))
print(found.to_bytes() == expected.to_bytes())
"""


def test_spark_connect():
    """A server in another process, which does not tell the number of partitions."""
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run([sys.executable, "-c", CONNECT], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split()[-1] == "True"


def test_docstring_examples(spark):
    import doctest

    found = doctest.testmod(ldpfast.spark, extraglobs={"spark": spark})
    assert found.attempted > 0
    assert found.failed == 0


def test_killed_python_workers_do_not_change_the_result(people, expected, tmp_path):
    faults = Faults(tmp_path, killed=a_fifth(PARTITIONS, seed=1))
    data = people.repartition(PARTITIONS, "id").mapInArrow(partial(passed_on, faults), people.schema)
    found = ldpfast.spark.aggregate(data, SURVEY, person="id", key=SECRET)
    assert found.to_bytes() == expected
    assert all(faults.attempts(number) >= 2 for number in faults.killed)


# Failures of executors ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    """A cluster of two executors, each a process, which are replaced when they die and repeat slow tasks."""
    SparkSession.getActiveSession() and SparkSession.getActiveSession().stop()
    found = session(
        "local-cluster[2,1,1024]",
        **{
            "spark.task.maxFailures": "20",
            "spark.stage.maxConsecutiveAttempts": "20",
            "spark.deploy.maxExecutorRetries": "-1",
            "spark.speculation": "true",
            "spark.speculation.interval": "100ms",
            "spark.speculation.quantile": "0.3",
            "spark.speculation.multiplier": "1.5",
            "spark.speculation.minTaskRuntime": "2s",
        },
    )
    yield found
    found.stop()


def clustered(cluster, table, folder):
    path = folder / "people.parquet"
    pq.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
    return cluster.read.parquet(str(path)).repartition(PARTITIONS, "id")


@pytest.mark.claim(
    "Executors of Spark that are killed and second attempts of tasks do not change the result.", "Engines"
)
@pytest.mark.slow
@pytest.mark.parametrize("keyed", [True, False])
def test_killed_executors_and_second_attempts_do_not_change_the_result(cluster, table, expected, tmp_path, keyed):
    people, folder = clustered(cluster, table, tmp_path), tmp_path / "faults"
    folder.mkdir()
    killed = a_fifth(PARTITIONS, seed=keyed)
    slow = frozenset(range(PARTITIONS)) - killed
    faults = Faults(folder, killed, frozenset(sorted(slow)[:2]), executor=True)
    data = people.mapInArrow(partial(passed_on, faults), people.schema)
    keys = {"person": "id", "key": SECRET} if keyed else {}
    found = ldpfast.spark.aggregate(data, SURVEY, **keys)
    assert found.n == N
    assert all(faults.attempts(number) >= 2 for number in faults.killed | faults.slow)
    if keyed:
        assert found.to_bytes() == expected


@pytest.mark.slow
def test_every_message_ever_written_is_the_only_one_of_its_person(cluster, table, tmp_path):
    """The job runs twice, with other partitions, and a fifth of the executors is killed after it has written."""
    people, once = clustered(cluster, table, tmp_path), messages_of_persons(table)
    for run, partitions in enumerate((PARTITIONS, PARTITIONS - 3)):
        folder = tmp_path / f"faults {run}"
        folder.mkdir()
        faults = Faults(folder, a_fifth(partitions, seed=run), frozenset({partitions - 1}), executor=True)
        shuffled = people.repartition(partitions, "age", "income")
        reports = ldpfast.spark.privatize(shuffled, WIDE_SURVEY, person="id", key=SECRET)
        kept = reports.mapInArrow(partial(recorded, faults), reports.schema)
        kept.write.parquet(str(tmp_path / f"reports {run}"))
        assert faults.total() >= partitions + len(faults.killed)
        assert len(faults.written()) > N
        assert set(faults.written()) == once
        files = list((tmp_path / f"reports {run}").rglob("*.parquet"))  # those of attempts that failed, too
        assert {message for file in files for message in pq.read_table(file)["report"].to_pylist()} == once
        messages = pq.read_table(tmp_path / f"reports {run}")["report"]
        assert len(messages) == N
        assert set(messages.to_pylist()) == once
