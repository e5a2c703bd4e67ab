"""Dask: private aggregates of a Dask DataFrame, Array or list of Delayed objects, on one machine or a cluster.

Each task privatizes and counts one partition and returns its counts only. See docs/scale_out.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ._conduct import conduct, new_job
from ._extras import optional
from ._frames import require_columns
from ._job_counts import TaskCounts, merge
from ._jobs import FAN_IN, REPORT, Job, Secret

__all__ = ["aggregate", "privatize"]


def aggregate(
    data: Any,
    what: Any,
    *,
    column: str | Sequence[str] | None = None,
    by: str | Sequence[str] | None = None,
    person: Any = None,
    key: Secret | None = None,
    batch: str | None = None,
    clip: bool = False,
) -> Any:
    """Privatize and count the people of a Dask collection in one pass.

    Parameters
    ----------
    data : dask.dataframe.DataFrame, dask.array.Array, Delayed, or sequence of Delayed
        One row per person. A Delayed object must give a table or an array.
    what : Survey, Problem, Mechanism, survey.RepeatedRound, GaussianMean or NewtonStep
        What people are asked. A `GaussianMean` needs one pass to count the people, and one for each round. A `NewtonStep` has
        the answers of its steps, which other people gave, and no others. Its columns are the features, then the response.
    column : str or sequence of str, optional
        Column of the records in a table, or columns of the coordinates. Required for tables, except with a survey. It is also
        the name of the question in personal keys, where several names are joined by ", ".
    by : str or list of str, optional
        Public columns that divide people into groups; the groups of several are tuples. The columns are not protected.
    person : str or dask.array.Array, optional
        Column of the identifiers of persons; for an array of records, an array with the same chunks.
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
        If Dask is not installed.

    Warns
    -----
    ClippedWarning
        With `clip`, if records were out of range, with their share.

    Privacy
    -------
    The guarantee of `what` for each person, of the counts. The number of clipped records and the message about an invalid
    record are computed from the records, and are not protected.

    Dask repeats tasks whose results were lost. Without `person`, a repeated task draws new coins: each person is counted once,
    but the lost counts may still be in the storage of a worker, so that the storage of the cluster must be protected like the
    records. With `person`, every attempt gives the same bytes.

    Notes
    -----
    A task holds one partition and counts, which are merged in a tree.

    Examples
    --------
    >>> import pandas as pd, dask.dataframe as dd, ldpfast as ldp, ldpfast.dask
    >>> from ldpfast.survey import Survey, YesNo
    >>> people = dd.from_pandas(pd.DataFrame({"smokes": [True, False] * 50_000}), npartitions=4)
    >>> aggregator = ldpfast.dask.aggregate(people, Survey({"smokes": YesNo()}, epsilon=1.0))
    >>> bool(abs(aggregator.estimate()["smokes"].value - 0.5) < 0.05)
    True
    """
    job = new_job(what, column=column, by=by, person=_name_of(person), key=key, clip=clip)
    partitions = _partitions(data, job, person)

    dask = optional("dask", "dask")

    def run(job: Job) -> TaskCounts:
        collect, add = dask.delayed(job.collect, pure=False), dask.delayed(merge, pure=False)
        counted = [collect(part, number, persons) for number, (part, persons) in enumerate(partitions)]
        while len(counted) > FAN_IN:
            counted = [add(counted[start : start + FAN_IN]) for start in range(0, len(counted), FAN_IN)]
        return merge(dask.compute(*counted))

    def count_people() -> int:
        count = dask.delayed(job.number_of_people, pure=False)
        return sum(dask.compute(*(count(part) for part, _ in partitions)))

    return conduct(job, batch, run, count_people)


def privatize(
    data: Any,
    what: Any,
    *,
    column: str | Sequence[str] | None = None,
    person: Any,
    key: Secret,
    clip: bool = False,
) -> Any:
    """Return the reports of the people of a Dask collection, one message per person, as a lazy Dask DataFrame.

    Parameters
    ----------
    data, what, column, person, key, clip
        As for `aggregate`, without `GaussianMean` and `NewtonStep`. The personal keys are required: an engine may compute a
        partition twice, and two reports with different coins would cost twice the privacy.

    Returns
    -------
    reports : dask.dataframe.DataFrame
        One column "report" of binary values: messages that say which survey or question they answer. The `update` of an
        aggregator takes the column as an Arrow array.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as above. An invalid record raises when the partition is computed.
    ImportError
        If Dask or pyarrow is not installed.

    Warnings
    --------
    If a record is invalid, Dask writes a part of the partition to the log of the worker. Check the records before, for
    instance by `aggregate`.

    Privacy
    -------
    Each message is private with the guarantee of `what`, and is the same whenever it is computed; see `PersonKeys`.

    Examples
    --------
    >>> import pandas as pd, dask.dataframe as dd, ldpfast.dask
    >>> from ldpfast.survey import Survey, YesNo
    >>> people = dd.from_pandas(pd.DataFrame({"id": range(6), "smokes": [True, False] * 3}), npartitions=2)
    >>> survey, secret = Survey({"smokes": YesNo()}, epsilon=1.0), bytes(32)  # use secrets.token_bytes(32)
    >>> reports = ldpfast.dask.privatize(people, survey, person="id", key=secret).compute()
    >>> survey.aggregator().update(reports["report"].tolist()).n
    6
    """
    dask, frames = optional("dask", "dask"), optional("dask.dataframe", "dask")
    pd, pa = optional("pandas", "dask"), optional("pyarrow", "dask")
    job = new_job(what, column=column, by=None, person=_name_of(person), key=key, clip=clip, reports=True)
    make = dask.delayed(partial(_frame, job), pure=False)
    parts = [make(part, number, persons) for number, (part, persons) in enumerate(_partitions(data, job, person))]
    meta = pd.DataFrame({REPORT: pd.Series([], dtype=pd.ArrowDtype(pa.binary()))})
    return frames.from_delayed(parts, meta=meta, verify_meta=False)


def _frame(job: Job, partition: Any, number: int, persons: Any) -> Any:
    """Return the messages of one partition as a data frame."""
    pd, pa = optional("pandas", "dask"), optional("pyarrow", "dask")
    messages = pa.chunked_array(job.messages(partition, number, persons), pa.binary())
    return pd.DataFrame({REPORT: pd.Series(pd.arrays.ArrowExtensionArray(messages))})


def _name_of(person: Any) -> Any:
    """Return a name for identifiers that are given as an array."""
    return "person" if hasattr(person, "chunks") else person


def _partitions(data: Any, job: Job, person: Any) -> list[tuple[Any, Any]]:
    """Return the partitions of a collection as Delayed objects, each with the identifiers of its persons or None."""
    delayed, arrays = optional("dask.delayed", "dask"), optional("dask.array", "dask")
    if isinstance(data, arrays.Array):
        return _blocks(data, job, person, arrays)
    if isinstance(person, arrays.Array):
        raise TypeError("person must be the name of a column for a table, got a dask.array.Array")
    if isinstance(data, delayed.Delayed):
        return [(data, None)]
    if isinstance(data, list | tuple) and data and all(isinstance(part, delayed.Delayed) for part in data):
        if len({part.key for part in data}) < len(data):
            raise ValueError("data must be a list of different Delayed, got one of them twice")
        return [(part, None) for part in data]
    if hasattr(data, "to_delayed") and hasattr(data, "columns") and hasattr(data, "partitions"):
        if not job.columns():
            raise ValueError("column must be the name of the column of the records, got None")
        require_columns(job.columns(), list(data.columns))
        return [(part, None) for part in data[job.columns()].to_delayed()]
    raise TypeError(
        "data must be a dask DataFrame or Array, a Delayed, or a list of Delayed, got "
        f"{type(data).__module__.partition('.')[0]}.{type(data).__name__}"
    )


def _blocks(data: Any, job: Job, person: Any, arrays: Any) -> list[tuple[Any, Any]]:
    """Return the blocks of rows of an array, each with the identifiers of its persons or None."""
    if job.takes_tables:
        raise TypeError("data must be a table for a survey, got a dask.array.Array")
    whole = data.rechunk(dict.fromkeys(range(1, data.ndim), -1))
    blocks = whole.to_delayed().ravel().tolist()
    if job.person is None:
        return [(block, None) for block in blocks]
    if not isinstance(person, arrays.Array):
        raise TypeError(f"person must be a dask.array.Array for an array of records, got {type(person).__name__}")
    if job.column is None:
        raise ValueError("column must be the name of the question in personal keys, got None")
    if person.ndim != 1 or person.chunks[0] != whole.chunks[0]:
        raise ValueError(
            f"person must have one dimension and the chunks of the rows of data, {whole.chunks[0]}, got {person.chunks}"
        )
    return list(zip(blocks, person.to_delayed().tolist(), strict=True))
