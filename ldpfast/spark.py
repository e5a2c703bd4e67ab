"""Spark: private aggregates of a Spark DataFrame or of Parquet files, on one machine or a cluster.

Each task privatizes and counts one partition and returns its counts only. See docs/scale_out.md.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ._conduct import conduct, new_job
from ._extras import optional
from ._frames import require_columns
from ._job_counts import TaskCounts, merge, no_counts
from ._jobs import FAN_IN, REPORT, Job, Secret

__all__ = ["aggregate", "privatize"]

READER_SETTINGS = (  # with which Spark reads other columns or rows than a file has
    "spark.sql.parquet.fieldId.read.enabled",
    "spark.sql.files.ignoreCorruptFiles",
    "spark.sql.files.ignoreMissingFiles",
)
COUNTED = "partition int, counts binary"  # columns between the stages
TASKS = 4  # that read files, for each one that runs at a time: the start of a task takes as long as many records
# Arrow types that Spark reads from a file as they are, with their names in Spark.
SAME = {
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "float",
    "double": "double",
    "bool": "boolean",
    "string": "string",
    "large_string": "string",
}


def aggregate(
    data: Any,
    what: Any,
    *,
    column: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    person: str | None = None,
    key: Secret | None = None,
    batch: str | None = None,
    clip: bool = False,
) -> Any:
    """Privatize and count the people of a Spark DataFrame or of Parquet files in one pass.

    Parameters
    ----------
    data : pyspark.sql.DataFrame, or path or list of paths
        One row per person. Paths are Parquet files or folders of them that every worker can read, also URIs such as
        ``hdfs://`` and ``s3://``. Tasks of the active session then read row groups with pyarrow, which is much faster than a
        DataFrame, whose rows Spark converts for Python. A DataFrame that only has columns of local Parquet files is read like
        its files.
    what : Survey, Problem, Mechanism, survey.RepeatedRound, GaussianMean or NewtonStep
        What people are asked. A `GaussianMean` needs one pass to count the people, and one for each round. A `NewtonStep` has
        the answers of its steps, which other people gave, and no others. Its columns are the features, then the response.
    column : str or sequence of str, optional
        Column of the records, which can hold arrays of numbers, or columns of the coordinates. Required, except with a
        survey. It is also the name of the question in personal keys, where several names are joined by ", ".
    by : str or list of str, optional
        Public columns that divide people into groups; the groups of several are tuples. The columns are not protected.
    person : str, optional
        Column of the identifiers of persons.
    key : bytes or callable, optional
        Secret of 32 bytes for `PersonKeys`, together with `person`. A function without arguments is called in each task, and
        must return the same secret every time; the secret then is not part of the job.
    batch : str, optional
        Name that the result remembers: results with the same name cannot be merged. See `Aggregator.update`.
    clip : bool, default False
        Project records that are out of range instead of raising an error.

    Returns
    -------
    aggregator : Aggregator or GroupedAggregator
        Counts of all people, whose `estimate` gives the result. With `by` a mapping of aggregators by the values of the column.
        For a `GaussianMean`, the server after the last round; for a `NewtonStep`, a server with all answers.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above; if a record is invalid, with the message of one process and the number of the
        partition; if a worker has a version of ldpfast that asks something else.
    ImportError
        If PySpark or pyarrow is not installed.

    Warns
    -----
    ClippedWarning
        With `clip`, if records were out of range, with their share.

    Privacy
    -------
    The guarantee of `what` for each person, of the counts. The number of clipped records and the message about an invalid
    record are computed from the records, and are not protected.

    Spark repeats tasks that fail, are slow, or whose results were lost. Without `person`, a repeated task draws new coins: each
    person is counted once, but the other counts may still be in the shuffle files of an executor, so that the storage of the
    cluster must be protected like the records. With `person`, every attempt gives the same bytes.

    Notes
    -----
    A task holds one batch of rows and counts, which are merged in a tree. The workers need ldpfast and pyarrow.

    Examples
    --------
    >>> import ldpfast.spark
    >>> from ldpfast.survey import Survey, YesNo
    >>> people = spark.range(100_000).selectExpr("id", "id % 2 = 0 AS smokes")
    >>> aggregator = ldpfast.spark.aggregate(people, Survey({"smokes": YesNo()}, epsilon=1.0))
    >>> bool(abs(aggregator.estimate()["smokes"].value - 0.5) < 0.05)
    True
    """
    job = new_job(what, column=column, by=by, person=person, key=key, clip=clip)
    source = _source(data, job)
    functions = optional("pyspark.sql.functions", "spark")

    def run(job: Job) -> TaskCounts:
        counted, left = source.frame.mapInArrow(partial(_collect, job, source.opened), COUNTED), source.partitions
        while left > FAN_IN:
            left = -(-left // FAN_IN)
            # By the number of the partition: the counts of another attempt go to the same task, which takes one of them.
            routed = counted.repartition(left, functions.col("partition"))
            counted = routed.mapInArrow(_merge, COUNTED)
        return merge(pickle.loads(row.counts) for row in counted.collect())

    return conduct(job, batch, run, source.number_of_people)


def privatize(
    data: Any,
    what: Any,
    *,
    column: str | Sequence[str] | None = None,
    person: str,
    key: Secret,
    clip: bool = False,
) -> Any:
    """Return the reports of the people of a Spark DataFrame or of Parquet files, one message per person, as a lazy DataFrame.

    Parameters
    ----------
    data, what, column, person, key, clip
        As for `aggregate`, without `GaussianMean` and `NewtonStep`. The personal keys are required: an engine may compute a
        partition twice, and two reports with different coins would cost twice the privacy.

    Returns
    -------
    reports : pyspark.sql.DataFrame
        One column "report" of binary values: messages that say which survey or question they answer. The `update` of an
        aggregator takes the column as an Arrow array.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above. An invalid record raises when the partition is computed.
    ImportError
        If PySpark or pyarrow is not installed.

    Privacy
    -------
    Each message is private with the guarantee of `what`, and is the same whenever it is computed; see `PersonKeys`.

    Examples
    --------
    >>> import ldpfast.spark
    >>> from ldpfast.survey import Survey, YesNo
    >>> people = spark.range(6).selectExpr("id", "id % 2 = 0 AS smokes")
    >>> survey, secret = Survey({"smokes": YesNo()}, epsilon=1.0), bytes(32)  # use secrets.token_bytes(32)
    >>> reports = ldpfast.spark.privatize(people, survey, person="id", key=secret)
    >>> survey.aggregator().update(reports.toArrow()["report"]).n
    6
    """
    job = new_job(what, column=column, by=None, person=person, key=key, clip=clip, reports=True)
    source = _source(data, job)
    return source.frame.mapInArrow(partial(_messages, job, source.opened), f"{REPORT} binary")


Opened = Callable[[Job, Iterator[Any]], Iterator[tuple[int, Any]]]


@dataclass(frozen=True)
class _Source:
    """Where people are read from.

    Attributes
    ----------
    frame : pyspark.sql.DataFrame
        What Spark divides among tasks.
    opened : callable
        Function of a job and of the batches of a task, that yields the numbers of partitions and streams of their columns, or
        None without people.
    partitions : int
        Number of partitions.
    number_of_people : callable
    """

    frame: Any
    opened: Opened
    partitions: int
    number_of_people: Callable[[], int]


def _source(data: Any, job: Job) -> _Source:
    """Return where the people of a DataFrame or of files are read from."""
    if isinstance(data, str | os.PathLike):
        data = [data]
    if isinstance(data, list | tuple):
        session = optional("pyspark.sql", "spark").SparkSession.getActiveSession()
        return _files(_row_groups(data, job), session)
    people = _selected(data, job)
    groups = _scanned_groups(data, job)
    if groups is not None:
        return _files(groups, data.sparkSession)
    partitions = _told(people.sparkSession, lambda: people.rdd.getNumPartitions())
    return _Source(people, _of_rows, partitions, data.count)


def _files(groups: Sequence[Any], session: Any) -> _Source:
    """Return the row groups of Parquet files as a source."""
    if session is None:
        raise ValueError("a Spark session must be active to read files by their paths")
    tasks = min(max(1, len(groups)), TASKS * _told(session, lambda: session.sparkContext.defaultParallelism))
    fragments = [pickle.dumps(group) for group in groups]
    frame = session.range(0, len(groups), 1, tasks)  # numbers of row groups
    return _Source(frame, partial(_of_files, fragments), tasks, partial(_rows_of, groups))


def _rows_of(groups: Sequence[Any]) -> int:
    """Return the number of rows. `count_rows` of a row group returns that of its file."""
    return sum(part.num_rows for group in groups for part in group.row_groups)


def _row_groups(paths: Sequence[Any], job: Job) -> list[Any]:
    """Return the row groups of Parquet files, in their order."""
    pa, datasets = optional("pyarrow", "spark"), optional("pyarrow.dataset", "spark")
    if not paths or not all(isinstance(path, str | os.PathLike) for path in paths):
        raise TypeError("data must be a Spark DataFrame, or paths of Parquet files")
    if not job.columns():
        raise ValueError("column must be the name of the column of the records, got None")
    groups: list[Any] = []
    for path in map(os.fspath, paths):
        try:
            dataset = datasets.dataset(path, format="parquet")
            groups += [group for fragment in dataset.get_fragments() for group in fragment.split_by_row_group()]
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"data must be paths of Parquet files, got {path!r}: {error}") from None
        require_columns(job.columns(), dataset.schema.names)
    _require_once(groups)
    return groups


def _scanned_groups(data: Any, job: Job) -> list[Any] | None:
    """Return the row groups of a DataFrame that has columns of local Parquet files and nothing else; None for any other one.

    Columns have the names and types of the files, and no option or setting of the reader is given.
    """
    if any(str(data.sparkSession.conf.get(name, "false")).lower() != "false" for name in READER_SETTINGS):
        return None
    files = _scanned_files(data)
    if not files or len(set(files)) < len(files):  # a file that is given twice is read twice
        return None
    try:
        groups = _row_groups(files, job)
    except ValueError:  # Spark can read it, or has an error message of its own
        return None
    types = dict(data.dtypes)
    is_same = all(
        _has_columns(group.physical_schema, {name: types[name] for name in job.columns()}) for group in groups
    )
    return groups if is_same else None


def _has_columns(schema: Any, types: dict[str, str]) -> bool:
    """Return whether a file has columns of these names and types in Spark, which does not distinguish case."""
    if len({name.lower() for name in schema.names}) < len(schema.names):
        return False
    found = {name: _name_in_spark(schema.field(name).type) for name in schema.names if name in types}
    return found == types


def _scanned_files(data: Any) -> list[str]:
    """Return the paths of the files of a DataFrame; none, if it is more than local Parquet files."""
    if not hasattr(data, "_jdf"):  # Spark Connect
        return []
    plan = data._jdf.queryExecution().withCachedData()
    while _class(plan) == "Project":
        columns = plan.projectList()
        if any(_class(columns.apply(i)) != "AttributeReference" for i in range(columns.size())):
            return []
        plan = plan.child()
    if _class(plan) != "LogicalRelation" or _class(plan.relation()) != "HadoopFsRelation":
        return []
    relation = plan.relation()
    is_plain = _class(relation.fileFormat()) == "ParquetFileFormat" and relation.partitionSchema().isEmpty()
    if not is_plain or relation.options().size() > relation.options().contains("path"):
        return []
    urls = [urlsplit(url) for url in relation.location().inputFiles()]
    return [url2pathname(url.path) for url in urls] if all(url.scheme == "file" for url in urls) else []


def _class(thing: Any) -> str:
    """Return the name of the class of an object of Java."""
    return str(thing.getClass().getSimpleName())


def _name_in_spark(type_: Any) -> str | None:
    """Return the name that Spark has for an Arrow type which it reads as it is; None for another one."""
    types = optional("pyarrow.types", "spark")
    if types.is_list(type_):
        return f"array<{_name_in_spark(type_.value_type)}>"
    return SAME.get(str(type_.value_type if types.is_dictionary(type_) else type_))


def _require_once(groups: Sequence[Any]) -> None:
    """Raise an error if a row group is there twice: its people would make two reports."""
    seen = set()
    for group in groups:
        is_local = group.filesystem.type_name == "local"
        file = os.path.realpath(group.path) if is_local else group.path
        for part in group.row_groups:
            if (file, part.id) in seen:
                raise ValueError(f"data must be different files, got {file!r} twice")
            seen.add((file, part.id))


def _selected(data: Any, job: Job) -> Any:
    """Return the columns that a job needs."""
    if not all(hasattr(data, name) for name in ("mapInArrow", "select", "columns")):
        raise TypeError(
            f"data must be a Spark DataFrame, got {type(data).__module__.partition('.')[0]}.{type(data).__name__}"
        )
    if not job.columns():
        raise ValueError("column must be the name of the column of the records, got None")
    require_columns(job.columns(), list(data.columns))
    functions = optional("pyspark.sql.functions", "spark")
    # Spark does not find names with dots after `mapInArrow`: columns have numbers there, and `_stream` restores the names.
    quoted = [f"`{name.replace('`', '``')}`" for name in job.columns()]
    return data.select(*(functions.col(name).alias(f"column{i}") for i, name in enumerate(quoted)))


def _told(session: Any, number: Callable[[], Any]) -> int:
    """Return a number that Spark Connect does not tell: then the number of partitions of a shuffle."""
    try:
        return int(number())
    except optional("pyspark.errors", "spark").PySparkException:
        return int(session.conf.get("spark.sql.shuffle.partitions"))


# Tasks ----------------------------------------------------------------------------------------------------------------


def _number() -> int:
    """Return the number of the partition of the running task."""
    return int(optional("pyspark", "spark").TaskContext.get().partitionId())


def _stream(job: Job, batches: Iterator[Any]) -> Any:
    """Return batches of the columns of a job as an Arrow stream; None if there are none."""
    pa, names = optional("pyarrow", "spark"), job.columns()
    named = (pa.RecordBatch.from_arrays(batch.columns, names=names) for batch in batches)
    first = next(named, None)
    return None if first is None else pa.RecordBatchReader.from_batches(first.schema, chain([first], named))


def _of_rows(job: Job, batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the number of the partition of the running task, and its stream."""
    yield _number(), _stream(job, batches)


def _of_files(fragments: Sequence[bytes], job: Job, batches: Iterator[Any]) -> Iterator[tuple[int, Any]]:
    """Yield the numbers and the streams of row groups."""
    datasets = optional("pyarrow.dataset", "spark")
    columns = {name: datasets.field(name) for name in job.columns()}
    for number in chain.from_iterable(batch.column(0).to_pylist() for batch in batches):
        fragment = pickle.loads(fragments[number])
        yield number, fragment.scanner(columns=columns, use_threads=False).to_reader()


def _batch(number: int, counts: TaskCounts) -> Any:
    """Return counts as a batch of one row."""
    pa = optional("pyarrow", "spark")
    columns = [pa.array([number], pa.int32()), pa.array([pickle.dumps(counts)], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["partition", "counts"])


def _collect(job: Job, opened: Opened, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the counts of the partitions of a task. After an error, the rest of a partition is not read."""
    for number, stream in opened(job, batches):
        yield _batch(number, no_counts([number]) if stream is None else job.collect(stream, number))


def _merge(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the merged counts of some partitions."""
    parts = [pickle.loads(counts) for batch in batches for counts in batch.column("counts").to_pylist()]
    if parts:
        yield _batch(_number(), merge(parts))


def _messages(job: Job, opened: Opened, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the messages of the partitions of a task."""
    pa = optional("pyarrow", "spark")
    for number, stream in opened(job, batches):
        for messages in [] if stream is None else job.messages(stream, number):
            yield pa.RecordBatch.from_arrays([messages], names=[REPORT])
