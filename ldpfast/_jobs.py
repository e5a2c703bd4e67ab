"""Jobs that an engine divides among tasks: each task privatizes and counts the people of one partition.

A task returns counts, which merge in any order. Reports do not leave it. `dask` and `spark` move partitions and counts; what
is done with them is here.
"""

from __future__ import annotations

import hmac
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Self, TypedDict

import numpy as np
from numpy.typing import NDArray

from . import _check, _schema
from ._described import from_dict
from ._extras import optional
from ._frames import MAX_GROUPS, Groups, Piece, package_of, pieces
from ._person_keys import PersonKeys, Persons
from .domains import Reals
from .estimation import GaussianMean
from .estimation.protocols import Sequential
from .mechanisms._pipeline import Clipped, warn_clipped
from .mechanisms._record_question import RecordQuestion
from .reports import Aggregator, hash_of_batch
from .reports._labels import messages_of
from .survey import Survey
from .survey._messages import messages_of as messages_of_survey

FAN_IN = 16  # counts that one task merges
REPORT = "report"  # column of messages in a privatized table

Secret = bytes | Callable[[], bytes]


class Counts(TypedDict):
    """What a task returns: built-in types only, so that every version of the package can read it.

    An error is a result, too. A task that raised it would be repeated, and engines write the input of failed tasks, which
    are records, to their logs.
    """

    partitions: list[int]
    states: dict[Any, bytes]  # results of `to_bytes`, by the values of the column that divides people
    clipped: dict[str, int]
    secret: str  # hash of the secret of the personal keys, which must be the same in all tasks; "" without them
    error: tuple[int, str, str] | None  # partition, "TypeError" or "ValueError", and the message


# Jobs -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job(ABC):
    """What every task does with its partition.

    Attributes
    ----------
    schema : bytes
        JSON of the schema of what is asked. A worker whose version of the package asks something else refuses the job.
    column : str, sequence of str or None
        Columns of the records; None for surveys, whose questions name their columns.
    by : str or None
        Public column that divides people into groups.
    person : str or None
        Column of the identifiers of persons.
    key : bytes, callable or None
        Secret of the personal keys, or a function that returns it on the worker.
    clip : bool
        Whether records are projected on the domain.
    """

    schema: bytes
    column: Any
    by: str | None
    person: str | None
    key: Secret | None = field(repr=False)
    clip: bool

    @abstractmethod
    def columns(self) -> list[str]:
        """Return the names of the columns that a partition must have."""

    @abstractmethod
    def _collect(self, partition: Any, persons: Any) -> tuple[dict[Any, Any], dict[str, int]]:
        """Return the aggregators of the groups of people, and how many records were clipped."""

    @abstractmethod
    def _warn_clipped(self, n: int, clipped: dict[str, int]) -> None:
        """Warn if some of n records were clipped."""

    def what(self) -> Any:
        """Return what is asked.

        Raises
        ------
        ValueError
            If it is another question in this version of the package.
        """
        return _opened(self.schema)

    def _with_secret(self) -> Self:
        """Return the job with the secret in place of the function that returns it, which one task calls once."""
        if not callable(self.key):
            return self
        try:
            secret = self.key()
        except Exception as error:
            raise ValueError(
                f"key must be a function that returns 32 bytes, it raised {type(error).__name__}"
            ) from None
        PersonKeys(secret, "person")  # checks the length
        return replace(self, key=secret)

    def _keys(self, persons: Any, question: str | None = None) -> PersonKeys | None:
        """Return personal keys; None if the job has none."""
        if self.key is None:
            return None
        assert not callable(self.key)
        return PersonKeys(self.key, persons, question=question)

    def count(self, partition: Any, number: int, persons: Any = None) -> Counts:
        """Privatize and count the people of one partition.

        Parameters
        ----------
        partition : table or ndarray
            Any table that a survey can read, or an array of records.
        number : int
            Number of the partition.
        persons : array_like, optional
            Identifiers of the persons, for an array of records.

        Returns
        -------
        counts : Counts
        """
        counts = no_counts([number])
        try:
            with _place(f" (partition {number})"):
                task = self._with_secret()
                found, counts["clipped"] = task._collect(partition, persons)
        except (TypeError, ValueError) as error:
            counts["error"] = (number, type(error).__name__, str(error))
            return counts
        if task.key is not None:
            assert not callable(task.key)
            counts["secret"] = hmac.digest(task.key, b"ldpfast: secret of a job", "sha256").hex()
        counts["states"] = {value: aggregator.to_bytes() for value, aggregator in found.items()}
        return counts

    def number_of_people(self, partition: Any) -> int:
        """Return the number of people in one partition."""
        if isinstance(partition, np.ndarray):
            return len(partition)
        return sum(piece.n for piece in pieces(partition, self.columns()))

    def finish(self, counts: Counts, batch: str | None = None) -> Any:
        """Return the aggregator of all people, or with `by` a dict of aggregators by group.

        Raises
        ------
        TypeError, ValueError
            If a task found an error; the one of the first partition.

        Warns
        -----
        ClippedWarning
            If records were clipped.
        """
        if counts["error"] is not None:
            _, kind, message = counts["error"]
            raise (TypeError if kind == "TypeError" else ValueError)(message)
        if len(counts["states"]) > MAX_GROUPS:
            raise ValueError(f"column {self.by!r} must have at most {MAX_GROUPS} different values")
        found = {value: Aggregator.from_bytes(state) for value, state in counts["states"].items()}
        if self.by is None and not found:
            found = {None: self.what().aggregator()}
        if batch is not None:
            for aggregator in found.values():
                aggregator.update([], batch=batch)
        self._warn_clipped(sum(aggregator.n for aggregator in found.values()), counts["clipped"])
        return found[None] if self.by is None else found

    def messages(self, partition: Any, number: int, persons: Any = None) -> Iterator[Any]:
        """Yield the messages of the people of one partition, as Arrow arrays of binary values, in constant memory.

        Raises
        ------
        TypeError, ValueError
            If a record is not valid. The message has the number of the partition.
        """
        with _place(f" (partition {number})"):
            yield from self._with_secret()._messages(partition, persons)

    @abstractmethod
    def _messages(self, partition: Any, persons: Any) -> Iterator[Any]:
        """Yield the messages of the people of one partition."""


@contextmanager
def _place(text: str) -> Iterator[None]:
    """Add the place of a bad record to the message of an error. The messages of pyarrow, which hold values, are replaced."""
    try:
        yield
    except Exception as error:
        if package_of(error) == "pyarrow":
            reason = f"a column must hold valid values of a type that can be read, got {type(error).__name__}"
            raise ValueError(f"{reason}{text}") from None
        if not isinstance(error, TypeError | ValueError):
            raise
        raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{error}{text}") from None


def _first_row(piece: Piece | None) -> AbstractContextManager[None]:
    """Add the number of the first row of a piece to messages, which count from there."""
    return _place(f", counted from row {piece.start}") if piece is not None and piece.start else nullcontext()


@cache
def _opened(schema: bytes) -> Any:
    """Return what a schema describes, or raise ValueError if this version of the package asks something else."""
    theirs = _schema.read_json(schema)
    try:
        what = from_dict(theirs["asks"])
        difference = _schema.first_difference(theirs, what.schema())
    except (LookupError, TypeError, ValueError) as error:
        difference = str(error)
    if difference:
        raise ValueError(f"every worker must have the version of ldpfast that started the job: {difference}")
    return what


@dataclass(frozen=True)
class SurveyJob(Job):
    """A job for a survey."""

    def columns(self) -> list[str]:
        asked = self.what().column_questions
        names = [question.column or name for name, question in asked.items()]
        return list(dict.fromkeys([*names, *(name for name in (self.by, self.person) if name is not None)]))

    def _collect(self, partition: Any, persons: Any) -> tuple[dict[Any, Any], dict[str, int]]:
        found: tuple[dict[Any, Any], dict[str, int]]
        found = self.what()._collect(partition, self.by, self._keys(self.person), self.clip)
        return found

    def _warn_clipped(self, n: int, clipped: dict[str, int]) -> None:
        self.what()._warn_clipped(n, clipped)

    def _messages(self, partition: Any, persons: Any) -> Iterator[Any]:
        survey = self.what()
        for table in survey.privatize_pieces(partition, rng=self._keys(self.person), clip=self.clip):
            yield messages_of_survey(survey, table)


@dataclass(frozen=True)
class RecordJob(Job):
    """A job for a mechanism or a problem. In a table, a record is one cell, or the cells of several columns."""

    @property
    def question(self) -> str:
        """Name of the question in personal keys: the column of the records."""
        return self.column if isinstance(self.column, str) else ", ".join(self.column)

    def columns(self) -> list[str]:
        records = [self.column] if isinstance(self.column, str) else list(self.column or ())
        return list(dict.fromkeys([*records, *(name for name in (self.by, self.person) if name is not None)]))

    def _pieces(self, partition: Any, persons: Any) -> Iterator[tuple[Any, Any, Piece | None]]:
        """Yield records, identifiers of persons, and the piece of the table that they come from."""
        if isinstance(partition, np.ndarray):
            if self.key is not None and persons is None:
                raise ValueError(
                    "person must be an array with the same chunks for an array of records, got the name of a column"
                )
            yield partition, persons, None
            return
        if self.column is None:
            raise ValueError("column must be the name of the column of the records, got None")
        for piece in pieces(partition, self.columns()):
            if not piece.n:  # the columns of an empty table may have no type
                continue
            if isinstance(self.column, str):
                x = records_of(self.column, piece.columns[self.column], self._takes_labels())
            else:
                x = np.column_stack([records_of(name, piece.columns[name], False) for name in self.column])
            yield x, None if self.person is None else piece.columns[self.person], piece

    def _takes_labels(self) -> bool:
        """Return whether the records are declared labels, in any container."""
        return hasattr(self.what().domain, "labels")

    def _collect(self, partition: Any, persons: Any) -> tuple[dict[Any, Any], dict[str, int]]:
        what, clipped = self.what(), Clipped(0, 0)
        groups = None if self.by is None else Groups(self.by)
        found: list[Aggregator] = [] if groups else [what.aggregator()]
        for x, identifiers, piece in self._pieces(partition, persons):
            keys = self._keys(identifiers, self.question) if self.key is not None else None
            if groups is None:
                with _first_row(piece):
                    part, some = what._collect(x, keys, self.clip)
                found[0].merge(part)
                clipped = clipped.plus(some)
                continue
            if piece is None:
                raise ValueError(f"by must be None for an array of records, got {self.by!r}")
            members = groups.numbers(piece.columns[groups.name])
            with _first_row(piece):
                reports = what.privatize(x, rng=keys, clip=self.clip)
            found += [what.aggregator() for _ in range(len(groups.values) - len(found))]
            order = np.argsort(members, kind="stable")
            cuts = np.searchsorted(members[order], np.arange(len(found) + 1))
            for aggregator, start, stop in zip(found, cuts, cuts[1:], strict=False):
                if stop > start:
                    aggregator.update(reports[order[start:stop]])
            if self.clip:
                clipped = clipped.plus(what._pipeline.clipped(what.domain.records(x)[0]))
        by_value = {None: found[0]} if groups is None else dict(zip(groups.values, found, strict=True))
        return by_value, clipped._asdict()

    def _warn_clipped(self, n: int, clipped: dict[str, int]) -> None:
        warn_clipped(n, Clipped(clipped.get("missing", 0), clipped.get("outside", 0)))

    def _messages(self, partition: Any, persons: Any) -> Iterator[Any]:
        what = self.what()
        for x, identifiers, piece in self._pieces(partition, persons):
            with _first_row(piece):
                reports = what.privatize(x, rng=self._keys(identifiers, self.question), clip=self.clip)
            yield messages_of(what, reports)


@dataclass(frozen=True)
class RoundJob(RecordJob):
    """One round of a `GaussianMean`: the people of the open round answer the queries of their groups.

    Round and group of a person follow from the personal key, so that everyone answers once, however often and in whatever
    order the partitions are read.

    Attributes
    ----------
    server : bytes
        State of the server at the start of the round.
    people : int
        Number of people in all rounds.
    """

    server: bytes = b""
    people: int = 0

    def _takes_labels(self) -> bool:
        return False

    def _collect(self, partition: Any, persons: Any) -> tuple[dict[Any, Any], dict[str, int]]:
        self.what()  # raises in another version
        server, domain = GaussianMean.from_bytes(self.server), Reals()
        digest, plan = _schema.digest(server.schema()), server.plan(self.people)
        for x, identifiers, piece in self._pieces(partition, persons):
            records, _ = domain.records(x)
            with _first_row(piece):
                if domain.first_invalid(domain.convert(records)) >= 0:  # whoever is asked
                    raise domain.invalid_error(records)
            listed = identifiers.to_pylist() if hasattr(identifiers, "to_pylist") else np.asarray(identifiers)
            keys = self._keys(listed, self.question)
            assert keys is not None
            rounds, groups = plan.place(_numbers(keys, digest, Persons(listed, unique=True), self.people))
            for group in np.unique(groups[rounds == server.round]).tolist():
                rows = np.flatnonzero((rounds == server.round) & (groups == group))
                query = server.query(group)
                own = [listed[row] for row in rows] if isinstance(listed, list) else listed[rows]
                server.update(query, query.mechanism.privatize(records[rows], rng=self._keys(own, self.question)))
        return {None: server}, {}

    def _messages(self, partition: Any, persons: Any) -> Iterator[Any]:
        raise ValueError(
            "what must be a survey, a problem or a mechanism to make a table of reports, got a GaussianMean"
        )


def _numbers(keys: PersonKeys, digest: bytes, persons: Persons, n: int) -> NDArray[np.int64]:
    """Return a number in [0, n) for each person, which depends on the secret and the identifier alone."""
    derived = keys.assignment(digest, persons).derive(0, np.zeros((len(persons), 0), np.uint8))
    words = np.ascontiguousarray(derived[:, :8]).view("<u8")[:, 0]
    return np.asarray(words % np.uint64(n), np.int64)


def records_of(name: str, values: Any, takes_labels: bool) -> Any:
    """Return a column of a table as records of a mechanism or a problem.

    Parameters
    ----------
    name : str
        Name of the column, for error messages.
    values : ndarray, categorical or Arrow array
        A column of a `Piece`. An Arrow array of lists of one length gives one row per list.
    takes_labels : bool
        Whether the domain reads Arrow arrays and categoricals itself.

    Raises
    ------
    TypeError, ValueError
        If a value is missing, or lists have different lengths.
    """
    if isinstance(values, np.ndarray) or takes_labels:
        return values
    if package_of(values) == "pandas":
        return np.asarray(values)
    pa = optional("pyarrow", "files")
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind, is_ = values.type, pa.types
    if values.null_count:
        raise ValueError(f"column {name!r} must have no missing value, got {values.null_count}")
    if is_.is_list(kind) or is_.is_large_list(kind) or is_.is_fixed_size_list(kind):
        flat = values.flatten()
        lengths = np.diff(np.asarray(values.offsets)) if hasattr(values, "offsets") else [kind.list_size]
        if len(values) and len(np.unique(lengths)) > 1:
            raise ValueError(f"column {name!r} must hold lists of one length, got several")
        return records_of(name, flat, False).reshape(len(values), lengths[0] if len(values) else 0)
    if is_.is_decimal(kind):
        values = values.cast(pa.float64(), safe=False)
    elif not (is_.is_integer(kind) or is_.is_floating(kind) or is_.is_boolean(kind)):
        raise TypeError(f"column {name!r} must hold numbers, got type {kind}")
    return values.to_numpy(zero_copy_only=False)


# Running a job --------------------------------------------------------------------------------------------------------


def no_counts(partitions: list[int]) -> Counts:
    """Return the counts of some partitions without people."""
    return {"partitions": partitions, "states": {}, "clipped": {}, "secret": "", "error": None}


def merge(parts: Iterable[Counts]) -> Counts:
    """Return the sum of the counts of different partitions.

    Raises
    ------
    ValueError
        If a partition was counted twice, or tasks had different secrets.
    """
    ordered = sorted(parts, key=lambda part: part["partitions"][:1])
    partitions = sorted(number for part in ordered for number in part["partitions"])
    if len(set(partitions)) != len(partitions):
        raise ValueError("every partition must be counted once, got one twice")
    merged = no_counts(partitions)
    errors = [part["error"] for part in ordered if part["error"] is not None]
    if errors:
        return {**merged, "error": min(errors)}
    secrets = {part["secret"] for part in ordered if part["secret"]}
    if len(secrets) > 1:
        raise ValueError("key must return the same secret in every task, got different ones")
    merged["secret"] = max(secrets, default="")
    states: dict[Any, list[bytes]] = {}
    for part in ordered:
        for value, state in part["states"].items():
            states.setdefault(value, []).append(state)
        for name, count in part["clipped"].items():
            merged["clipped"][name] = merged["clipped"].get(name, 0) + count
    merged["states"] = {value: _sum(found) for value, found in states.items()}
    return merged


def _sum(states: Sequence[bytes]) -> bytes:
    """Return the state of the merged aggregators."""
    if len(states) == 1:
        return states[0]
    total = Aggregator.from_bytes(states[0])
    for state in states[1:]:
        total.merge(Aggregator.from_bytes(state))
    merged: bytes = total.to_bytes()
    return merged


def new_job(what: Any, *, column: Any, by: Any, person: Any, key: Any, clip: Any, reports: bool = False) -> Job:
    """Return the job for a survey, a problem, a mechanism or a `GaussianMean`.

    Raises
    ------
    TypeError, ValueError
        If an argument is not as documented in `dask.aggregate`.
    """
    if isinstance(what, Sequential) or hasattr(what, "partial_fit"):  # a regression asks like GradientDescent
        raise TypeError(
            f"what must be a survey, a problem, a mechanism or a GaussianMean, got a {type(what).__name__}: it asks one person "
            "after another, and each answer determines the next question, so that tasks cannot share the work"
        )
    if not isinstance(what, Survey | RecordQuestion | GaussianMean):
        raise TypeError(f"what must be a survey, a problem, a mechanism or a GaussianMean, got {type(what).__name__}")
    for name, value in (("by", by), ("person", person)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be the name of a column, got {type(value).__name__}")
    if (person is None) != (key is None):
        raise ValueError(f"person and key must be given together, got {'key' if person is None else 'person'} alone")
    if reports and key is None:
        raise ValueError(
            "person and key must be given to make reports: an engine may compute a partition again, and two reports with "
            "different coins cost twice the privacy"
        )
    if key is not None and not callable(key):
        PersonKeys(key, "person")  # checks the length
    _check.flag("clip", clip)
    asked = _schema.canonical_json(what.schema())
    if isinstance(what, Survey):
        if column is not None:
            raise ValueError(f"column must be None for a survey, whose questions name their columns, got {column!r}")
        what._warn_public(by)
        return SurveyJob(asked, None, by, person, key, clip)
    chosen = _names(column)
    if isinstance(what, RecordQuestion):
        what.domain.check_clip(clip)
        return RecordJob(asked, chosen, by, person, key, clip)
    if by is not None or clip:
        raise ValueError("by must be None and clip False for a GaussianMean")
    if key is None:
        raise ValueError(
            "person and key must be given for a GaussianMean: everyone answers in one round only, and an engine that reads "
            "its partitions again must assign the same round"
        )
    if what.n:
        raise ValueError(f"what must be a GaussianMean without answers, got one with n = {what.n}")
    return RoundJob(asked, chosen, by, person, key, clip)


def _names(column: Any) -> Any:
    if column is None or isinstance(column, str):
        return column
    names = tuple(column) if isinstance(column, list | tuple) else ()
    if not names or not all(isinstance(name, str) for name in names):
        raise TypeError(f"column must be the name of a column or a list of names, got {column!r}")
    return names


def conduct(job: Job, batch: str | None, run: Callable[[Job], Counts], count_people: Callable[[], int]) -> Any:
    """Run a job on an engine and return its result.

    Parameters
    ----------
    job : Job
        Result of `new_job`.
    batch : str or None
        Name of the batch.
    run : callable
        Runs the tasks of a job and returns their merged counts.
    count_people : callable
        Returns the number of people, for protocols that divide them.

    Returns
    -------
    result : Aggregator, SurveyAggregator, GaussianMean, or dict of aggregators
    """
    if batch is not None:
        hash_of_batch(batch)
    if not isinstance(job, RoundJob):
        return job.finish(run(job), batch)
    if batch is not None:
        raise ValueError(f"batch must be None for a GaussianMean, got {batch!r}")
    server, people, secrets = copy(job.what()), count_people(), set()
    server.plan(people)  # raises if there are too few
    while True:
        counts = run(replace(job, server=server.to_bytes(), people=people))
        server = job.finish(counts)
        secrets.add(counts["secret"])
        if server.round + 1 == server.rounds:
            break
        server.close_round()
    if len(secrets) > 1:
        raise ValueError("key must return the same secret in every round, got different ones")
    if server.n != people:
        raise ValueError(
            f"data must hold the same persons whenever they are read, got {server.n} answers of {people} people: identifiers "
            "must be stored, not generated"
        )
    return server
