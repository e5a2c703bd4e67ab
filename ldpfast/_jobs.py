"""Jobs that an engine divides among tasks: each task privatizes and counts the people of one partition.

A task returns counts, which merge in any order. Reports do not leave it. `dask` and `spark` move partitions and counts.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from . import _schema
from ._described import from_dict
from ._frames import MAX_GROUPS, By, Groups, group_columns, package_of, pieces
from ._job_counts import TaskCounts, no_counts
from ._load import load
from ._person_keys import PersonKeys, Persons
from .domains import Reals
from .domains._domain import Domain
from .estimation import GaussianMean, NewtonStep
from .mechanisms import RecordPiece, Records
from .mechanisms._records import name_of
from .reports import Counts, GroupedAggregator, aggregator_of, recipe_of

FAN_IN = 16  # counts that one task merges
REPORT = "report"  # column of messages in a privatized table

Secret = bytes | Callable[[], bytes]


# Jobs -----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Job:
    """What every task does with its partition: privatize and count the people, or make their messages.

    Attributes
    ----------
    schema : bytes
        JSON of the schema of what is asked. A worker whose version of the package asks something else refuses the job.
    column : str, tuple of str or None
        Columns of the records; None for surveys, whose questions name their columns.
    by : str, tuple of str or None
        Public columns that divide people into groups.
    person : str or None
        Column of the identifiers of persons.
    key : bytes, callable or None
        Secret of the personal keys, or a function that returns it on the worker.
    clip : bool
        Whether records are projected on the domain.
    """

    schema: bytes
    column: Any
    by: By | None
    person: str | None
    key: Secret | None = field(repr=False)
    clip: bool

    def what(self) -> Any:
        """Return what is asked.

        Raises
        ------
        ValueError
            If it is another question in this version of the package.
        """
        return _opened(self.schema)

    def columns(self) -> list[str]:
        """Return the names of the columns that a partition must have."""
        names = [self.column] if isinstance(self.column, str) else list(self.column or ())
        if self.takes_tables:
            names = recipe_of(self.what()).sources
        return list(dict.fromkeys([*names, *group_columns(self.by), *([] if self.person is None else [self.person])]))

    @property
    def takes_tables(self) -> bool:
        """Whether the question names its columns, as a survey does."""
        return hasattr(self.what(), "column_questions")

    def _records(self, partition: Any) -> Any:
        """Return a partition in the form that the question reads."""
        if self.takes_tables:
            return partition
        if isinstance(partition, np.ndarray):
            if self.by is not None:
                raise ValueError(f"by must be None for an array of records, got {self.by!r}")
            return partition
        if self.column is None:
            raise ValueError("column must be the name of the column of the records, got None")
        return Records(partition, self.column)

    def _keys(self, records: Any, persons: Any) -> PersonKeys | None:
        """Return personal keys for records; None if the job has none."""
        if self.key is None:
            return None
        assert not callable(self.key)
        if self.takes_tables:
            return PersonKeys(self.key, self.person)
        name = name_of(self.column)
        if isinstance(records, Records):
            return PersonKeys(self.key, self.person, question=name)
        if persons is None:
            raise ValueError(
                "person must be an array with the same chunks for an array of records, got the name of a column"
            )
        return PersonKeys(self.key, persons, question=name)

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

    def _collect_state(self, partition: Any, persons: Any) -> tuple[Any, dict[str, int]]:
        """Return the state of the people of a partition, and how many of their records were clipped."""
        records = self._records(partition)
        counts = recipe_of(self.what()).collect(
            partial(Counts, self.what()), records, self.by, self._keys(records, persons), self.clip
        )
        return aggregator_of(counts), counts.clipped

    def collect(self, partition: Any, number: int, persons: Any = None) -> TaskCounts:
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
                state, counts["clipped"] = task._collect_state(partition, persons)
                counts["state"] = state.to_bytes()  # not every value of a group can be saved
                if isinstance(state, GroupedAggregator):
                    counts["groups"] = {value: (number, place) for place, value in enumerate(state)}
        except (TypeError, ValueError) as error:
            counts["error"] = (number, type(error).__name__, str(error))
            return counts
        if task.key is not None:
            assert not callable(task.key)
            counts["secret"] = hmac.digest(task.key, b"ldpfast: secret of a job", "sha256").hex()
        return counts

    def number_of_people(self, partition: Any) -> int:
        """Return the number of people in one partition."""
        if isinstance(partition, np.ndarray):
            return len(partition)
        return sum(piece.n for piece in pieces(partition, self.columns()))

    def finish(self, counts: TaskCounts, batch: str | None = None) -> Any:
        """Return the aggregator of all people, with `by` the aggregators of the groups.

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
        if counts["state"] is None:
            groups = None if self.by is None else Groups(self.by)
            result: Any = aggregator_of(Counts(self.what(), groups))
        else:
            result = load(counts["state"])
            if isinstance(result, GroupedAggregator):  # in the order of one process, however tasks were merged
                result = result.ordered(sorted(result, key=counts["groups"].__getitem__))
        if self.by is not None and len(result) > MAX_GROUPS:
            raise ValueError(f"column {self.by!r} must have at most {MAX_GROUPS} different values")
        if batch is not None:
            result.name_batch(batch)
        if counts["clipped"]:
            recipe_of(self.what()).warn_clipped(result.n, counts["clipped"])
        return result

    def messages(self, partition: Any, number: int, persons: Any = None) -> Iterator[Any]:
        """Yield the messages of the people of one partition, as Arrow arrays of binary values, in constant memory.

        Raises
        ------
        TypeError, ValueError
            If a record is not valid. The message has the number of the partition.
        """
        with _place(f" (partition {number})"):
            task = self._with_secret()
            records = task._records(partition)
            yield from recipe_of(task.what()).messages(records, task._keys(records, persons), task.clip)


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
class ServerJob(Job):
    """The answers of people to a server, in one pass in which its questions stay the same.

    What a person is asked follows from the personal key, so that everyone answers once, however often and in whatever order
    the partitions are read, and so that people who join or leave do not move the others.

    Attributes
    ----------
    server : bytes
        State of the server at the start of the pass.
    """

    server: bytes = b""

    def _people(self, domain: Domain, partition: Any, persons: Any) -> Iterator[tuple[NDArray[Any], PersonKeys, Any]]:
        """Yield valid records, their personal keys, and a random word for each person."""
        digest = _schema.digest(self.what().schema())  # raises in another version
        records = self._records(partition)
        keys = self._keys(records, persons)
        assert keys is not None
        read = (
            records.pieces(False, None, keys) if isinstance(records, Records) else [RecordPiece(records, None, keys, 0)]
        )
        for piece in read:
            x, _ = domain.records(piece.x)
            with piece.place():
                if domain.first_invalid(domain.convert(x)) >= 0:  # whatever is asked
                    raise domain.invalid_error(x)
            own_keys = piece.rng
            assert isinstance(own_keys, PersonKeys)
            yield x, own_keys, _words(own_keys, digest, own_keys.persons(len(x)))

    def messages(self, partition: Any, number: int, persons: Any = None) -> Iterator[Any]:
        raise ValueError(
            f"what must be a survey, a problem or a mechanism to make a table of reports, got a {type(self.what()).__name__}"
        )


@dataclass(frozen=True)
class RoundJob(ServerJob):
    """One round of a `GaussianMean`: the people of the open round answer the queries of their groups.

    Attributes
    ----------
    people : int
        Number of people in all rounds.
    """

    people: int = 0

    def _collect_state(self, partition: Any, persons: Any) -> tuple[Any, dict[str, int]]:
        server = GaussianMean.from_bytes(self.server)
        plan = server.plan(self.people)
        for x, keys, words in self._people(Reals(), partition, persons):
            rounds, groups = plan.place(plan.numbers_of(words))
            for group in np.unique(groups[rounds == server.round]).tolist():
                rows = np.flatnonzero((rounds == server.round) & (groups == group))
                query = server.query(group)
                server.update(query, query.mechanism.privatize(x[rows], rng=keys.of_rows(rows)))
        return server, {}


@dataclass(frozen=True)
class HeldJob(ServerJob):
    """The answers about the held position of a `NewtonStep`: some people report their Hessian, the others their gradient."""

    def _collect_state(self, partition: Any, persons: Any) -> tuple[Any, dict[str, int]]:
        server = NewtonStep.from_bytes(self.server)._held_part()
        questions = {is_hessian: server._held_question(is_hessian) for is_hessian in (True, False)}
        for x, keys, words in self._people(questions[True].domain, partition, persons):
            chosen = words < server._hessian_share * 2.0**64
            for is_hessian, question in questions.items():
                rows = np.flatnonzero(chosen == is_hessian)
                server._tally_held(is_hessian, question.privatize(x[rows], rng=keys.of_rows(rows)))
        return server, {}


def _words(keys: PersonKeys, digest: bytes, persons: Persons) -> NDArray[np.uint64]:
    """Return a random word for each person, which depends on the secret and the identifier alone."""
    derived = keys.assignment(digest, persons).derive(0, np.zeros((len(persons), 0), np.uint8))
    return np.ascontiguousarray(derived[:, :8]).view("<u8")[:, 0].astype(np.uint64)
