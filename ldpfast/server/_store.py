"""The database of a server: ids of reports, messages that are not folded yet, and the counts of all others.

Ids are kept until their wave is closed for good, so that a report that is sent again is found, whatever became of its message.
Messages are folded into counts, and deleted, in one transaction.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple

import sqlalchemy as sa

from .._load import load
from ..reports import Aggregator
from ._engine import WRITES, Insert, engine_of, file_of, upsert, wait_for_turn
from ._plan import Occasion, ServerPlan
from ._tables import MIGRATIONS, VERSION, about, ids, messages, metadata, occasions, refusals, states, surveys

DIGEST_BYTES = 8
CHUNK = 1000  # ids in one query
FOLDED = 50_000  # messages that are folded together


class Status(IntEnum):
    """What became of a report."""

    ACCEPTED = 0
    DUPLICATE = 1
    CONFLICT = 2
    CLOSED = 3


class Report(NamedTuple):
    """A valid report.

    Attributes
    ----------
    occasion : Occasion
    id, message : bytes
    label : str
        Group of the person.
    """

    occasion: Occasion
    id: bytes
    label: str
    message: bytes

    @property
    def digest(self) -> bytes:
        """Digest of what must be the same if the report is sent again."""
        return hashlib.blake2b(self.label.encode() + b"\0" + self.message, digest_size=DIGEST_BYTES).digest()


class Store:
    """The database of a server, for the surveys of a plan.

    Parameters
    ----------
    plan : ServerPlan
    url : str
        Of SQLAlchemy: "sqlite:///reports.db", or one that begins with "postgresql+psycopg://".
    is_new : bool, default True
        Whether the database, and what of the plan it does not have, is made. Without this they must be there.

    Raises
    ------
    ValueError
        If the database belongs to another version of this package; if it does not have a survey of the plan, and `is_new` is
        False.
    """

    def __init__(self, plan: ServerPlan, url: str, *, is_new: bool = True) -> None:
        self.plan = plan
        self.engine = engine_of(url)
        try:
            if not is_new:
                self._check_known()
            with self.write() as connection:
                wait_for_turn(connection)
                metadata.create_all(connection)
                self._migrate(connection)
                self._numbers = {
                    occasion.fingerprint: self._open(connection, occasion) for occasion in plan.occasions().values()
                }
                self._surveys = self._known_surveys(connection)
        except BaseException:
            self.close()
            raise
        self._insert_ids = Insert(self.engine, upsert(self.engine, ids).on_conflict_do_nothing(), list(ids.columns))
        columns = [messages.c.survey, messages.c.label, messages.c.message]
        self._insert_messages = Insert(self.engine, sa.insert(messages), columns)

    @contextmanager
    def write(self) -> Iterator[sa.Connection]:
        """Yield a connection in a transaction that is committed, on the disk, at the end."""
        with self.engine.connect() as plain:
            connection = plain.execution_options(**{WRITES: True})
            with connection.begin():
                yield connection

    @contextmanager
    def read(self) -> Iterator[sa.Connection]:
        """Yield a connection that sees one state of the database."""
        with self.engine.connect() as connection:
            if self.engine.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _check_known(self) -> None:
        """Raise an error if the database is not there, or no server ever received a survey of the plan in it."""
        path = file_of(self.engine)
        if path is not None and not path.exists():
            raise ValueError(f"the database must be that of a server, got a file that does not exist: {str(path)!r}")
        with self.read() as connection:
            if not sa.inspect(connection).has_table(surveys.name):
                raise ValueError("the database must be that of a server, got one without its tables")
            known = {bytes(row.fingerprint) for row in connection.execute(sa.select(surveys.c.fingerprint))}
        for occasion in self.plan.occasions().values():
            if occasion.fingerprint not in known:
                wave = f" in wave {occasion.number}" if occasion.number is not None else ""
                raise ValueError(
                    f"the survey (version {occasion.survey.revision}){wave} must be one that a server has received in this "
                    f"database, got fingerprint {occasion.fingerprint.hex()}, which it does not have"
                )

    def _migrate(self, connection: sa.Connection) -> None:
        """Bring an older database to this version, in one transaction."""
        found = connection.scalar(sa.select(about.c.version).with_for_update())
        if found is None:
            connection.execute(about.insert(), {"version": VERSION})
            return
        if not 1 <= found <= VERSION:
            raise ValueError(f"the database must be of version {VERSION} of the server or older, got version {found}")
        columns = {column["name"] for column in sa.inspect(connection).get_columns("occasions")}
        for version in range(found, VERSION):
            if "closed" not in columns:  # an older server that runs can have put its version back
                connection.execute(sa.text(MIGRATIONS[version]))
        connection.execute(sa.update(about).values(version=VERSION))

    def _open(self, connection: sa.Connection, occasion: Occasion) -> tuple[int, int]:
        """Return the numbers of an occasion and of its survey, which are new or known."""
        number = _number_of(connection, occasions, {"key": occasion.key}, {"wave": occasion.number})
        survey = _number_of(
            connection,
            surveys,
            {"fingerprint": occasion.fingerprint},
            {"occasion": number, "revision": occasion.survey.revision},
        )
        return number, survey

    # Reports ----------------------------------------------------------------------------------------------------------

    def add(self, connection: sa.Connection, reports: Sequence[Report]) -> list[Status]:
        """Store reports that are new, and return what became of each.

        The first report with an id wins.
        """
        first: dict[tuple[int, bytes], tuple[int, bytes]] = {}
        statuses, rows, closed = [Status.ACCEPTED] * len(reports), [], self._closed(connection)
        for place, report in enumerate(reports):
            key, digest = (self._numbers[report.occasion.fingerprint][0], report.id), report.digest
            earlier = first.setdefault(key, (place, digest))
            if key[0] in closed:
                statuses[place] = Status.CLOSED
            elif earlier[0] != place:
                statuses[place] = Status.DUPLICATE if earlier[1] == digest else Status.CONFLICT
            else:
                rows.append((*key, digest))
        known: dict[tuple[int, bytes], bytes] = {}
        new = sorted(rows)  # neighbors in the index are written together
        while new:
            savepoint = connection.begin_nested()
            if self._insert_ids(connection, new) == len(new):
                savepoint.commit()
                break
            savepoint.rollback()  # some are there already, and the database does not say which
            known |= self._known(connection, new)
            new = [row for row in new if row[:2] not in known]
        for key, (place, digest) in first.items():
            if key in known:
                statuses[place] = Status.DUPLICATE if known[key] == digest else Status.CONFLICT
        accepted = [
            (self._numbers[report.occasion.fingerprint][1], report.label, report.message)
            for report, status in zip(reports, statuses, strict=True)
            if status is Status.ACCEPTED
        ]
        if accepted:
            self._insert_messages(connection, accepted)
        return statuses

    def _known(
        self, connection: sa.Connection, rows: Sequence[tuple[int, bytes, bytes]]
    ) -> dict[tuple[int, bytes], bytes]:
        """Return the digests of those reports that are stored, by occasion and id."""
        found = {}
        for start in range(0, len(rows), CHUNK):
            part = rows[start : start + CHUNK]
            for occasion in {row[0] for row in part}:
                asked = [row[1] for row in part if row[0] == occasion]
                where = (ids.c.occasion == occasion) & ids.c.id.in_(asked)
                for row in connection.execute(sa.select(ids.c.id, ids.c.digest).where(where)):
                    found[occasion, bytes(row.id)] = bytes(row.digest)
        return found

    def refuse(self, connection: sa.Connection, reasons: Counter[str]) -> None:
        """Count refused reports by reason."""
        for reason, count in reasons.items():
            statement: Any = upsert(self.engine, refusals).values(reason=reason, count=count)
            added = {"count": refusals.c.count + statement.excluded["count"]}
            connection.execute(statement.on_conflict_do_update(index_elements=[refusals.c.reason], set_=added))

    # Counts -----------------------------------------------------------------------------------------------------------

    def fold(self, most: int = FOLDED, numbers: set[int] | None = None) -> int:
        """Fold the oldest messages into counts, in one transaction, and return their number.

        With numbers of occasions, only messages to these.
        """
        chosen = sa.select(surveys.c.survey).where(surveys.c.survey.in_(list(self._surveys)))
        if numbers is not None:
            chosen = chosen.where(surveys.c.occasion.in_(numbers))
        with self.write() as connection:
            connection.execute(sa.select(about.c.version).with_for_update())  # one process at a time
            oldest = (
                sa.select(messages.c.place).where(messages.c.survey.in_(chosen)).order_by(messages.c.place).limit(most)
            )
            taken = sa.delete(messages).where(messages.c.place.in_(oldest.scalar_subquery()))
            rows = connection.execute(taken.returning(messages.c.survey, messages.c.label, messages.c.message)).all()
            for (survey, label), part in _grouped(rows).items():
                aggregator = self._state(connection, survey, label).update(part)
                self._save(connection, survey, label, aggregator)
        return len(rows)

    def _state(self, connection: sa.Connection, survey: int, label: str) -> Aggregator:
        where = (states.c.survey == survey) & (states.c.label == label)
        state = connection.scalar(sa.select(states.c.state).where(where))
        if state is None:
            return self._surveys[survey].survey.aggregator()
        found = load(bytes(state))
        assert isinstance(found, Aggregator)
        return found

    def _save(self, connection: sa.Connection, survey: int, label: str, aggregator: Aggregator) -> None:
        values = {"n": aggregator.n, "state": aggregator.to_bytes()}
        statement: Any = upsert(self.engine, states).values(survey=survey, label=label, **values)
        connection.execute(
            statement.on_conflict_do_update(index_elements=[states.c.survey, states.c.label], set_=values)
        )

    def counts(self, fingerprint: bytes) -> dict[str, Aggregator]:
        """Return the counted reports to a survey, by the labels of groups: folded ones and all others."""
        with self.read() as connection:
            survey = connection.scalar(sa.select(surveys.c.survey).where(surveys.c.fingerprint == fingerprint))
            if survey not in self._surveys:
                return {}
            rows = connection.execute(sa.select(states.c.label, states.c.state).where(states.c.survey == survey)).all()
            found: dict[str, Any] = {row.label: load(bytes(row.state)) for row in rows}
            pending = sa.select(messages.c.survey, messages.c.label, messages.c.message)
            pending = pending.where(messages.c.survey == survey).execution_options(yield_per=FOLDED)
            for piece in connection.execute(pending).partitions():
                for (_, label), part in _grouped(piece).items():
                    aggregator = found.get(label) or self._surveys[survey].survey.aggregator()
                    found[label] = aggregator.update(part)
        return dict(sorted(found.items()))

    def summary(self) -> Summary:
        """Return the numbers of reports, of refused ones, and of messages that are not folded."""
        with self.read() as connection:
            folded = connection.execute(
                sa.select(states.c.survey, sa.func.sum(states.c.n)).group_by(states.c.survey)
            ).all()
            pending = connection.execute(
                sa.select(messages.c.survey, sa.func.count()).group_by(messages.c.survey)
            ).all()
            refused = connection.execute(
                sa.select(refusals.c.reason, refusals.c.count).order_by(refusals.c.reason)
            ).all()
        n: Counter[int] = Counter()
        for survey, count in [*folded, *pending]:
            n[survey] += int(count)
        counted = {self._surveys[survey].fingerprint: count for survey, count in n.items() if survey in self._surveys}
        return Summary(
            counted,
            sum(n.values()) - sum(counted.values()),
            sum(int(count) for _, count in pending),
            {reason: int(count) for reason, count in refused},
        )

    def touch(self) -> None:
        """Write something, and wait until it is on the disk.

        Raises
        ------
        sqlalchemy.exc.SQLAlchemyError
            If the database cannot be written.
        """
        with self.write() as connection:
            connection.execute(sa.update(about).values(version=about.c.version))

    def pending(self, connection: sa.Connection) -> Iterator[tuple[Occasion, str, list[bytes]]]:
        """Yield the messages that are not folded, by survey and label, in pieces."""
        chosen = sa.select(messages.c.survey, messages.c.label, messages.c.message).order_by(messages.c.place)
        for rows in connection.execute(chosen.execution_options(yield_per=FOLDED)).partitions():
            for (survey, label), part in _grouped(rows).items():
                if survey in self._surveys:
                    yield self._surveys[survey], label, part

    def versions_to_fold(self) -> list[int]:
        """Return the versions that have messages to fold, and that the plan does not have."""
        with self.read() as connection:
            return self._other_versions(connection, sa.true())

    def _other_versions(self, connection: sa.Connection, chosen: Any) -> list[int]:
        """Return the versions that have messages to fold among chosen surveys, and that the plan does not have."""
        asked = sa.select(surveys.c.revision).join(messages, messages.c.survey == surveys.c.survey)
        missing = asked.where(chosen & surveys.c.survey.not_in(list(self._surveys))).distinct()
        return sorted(connection.scalars(missing))

    # Waves ------------------------------------------------------------------------------------------------------------

    def _closed(self, connection: sa.Connection) -> set[int]:
        """Return which occasions of the plan are closed for good. None can be closed before the transaction ends."""
        numbers = {number for number, _ in self._numbers.values()}
        chosen = sa.select(occasions.c.occasion, occasions.c.closed).where(occasions.c.occasion.in_(numbers))
        return {number for number, closed in connection.execute(chosen.with_for_update(read=True)) if closed}

    def closed_waves(self) -> list[int | None]:
        """Return the waves of the plan that are closed for good; [None] for a survey without waves that is closed."""
        with self.write() as connection:
            closed = self._closed(connection)
        of_plan = self.plan.occasions().values()
        return sorted(
            {one.number for one in of_plan if self._numbers[one.fingerprint][0] in closed}, key=lambda n: n or 0
        )

    def close_waves(self) -> tuple[int, int]:
        """Close the waves of the plan for good: count their messages, and forget their ids.

        Reports to them are refused from then on, also by servers that run. What was interrupted is completed by another call.

        Returns
        -------
        folded, forgotten : int
            Number of messages that were folded, and of ids.

        Raises
        ------
        ValueError
            If there are messages to a version that the plan does not have, which could not be folded. Nothing is closed then.
        """
        numbers = {number for number, _ in self._numbers.values()}
        with self.write() as connection:
            other = self._other_versions(connection, surveys.c.occasion.in_(numbers))
            if other:
                raise ValueError(
                    f"surveys must have all versions that reports were received for, got none with version {other[0]}"
                )
            connection.execute(sa.update(occasions).where(occasions.c.occasion.in_(numbers)).values(closed=True))
        folded = 0
        while count := self.fold(numbers=numbers):
            folded += count
        with self.write() as connection:
            forgotten = connection.execute(sa.delete(ids).where(ids.c.occasion.in_(numbers))).rowcount
        return folded, forgotten

    def _known_surveys(self, connection: sa.Connection) -> dict[int, Occasion]:
        """Return the surveys of the database by their numbers, also those of closed waves, if the plan has their version."""
        found = {}
        joined = sa.select(surveys.c.survey, surveys.c.fingerprint, surveys.c.revision, occasions.c.wave).join(
            occasions, surveys.c.occasion == occasions.c.occasion
        )
        for number, fingerprint, revision, wave in connection.execute(joined):
            version = self.plan.version(revision)
            if version is not None and (wave is None) == (version.waves is None):
                occasion = Occasion.of(version if wave is None else version.in_wave(wave))
                if occasion.fingerprint == bytes(fingerprint):
                    found[number] = occasion
        return found

    def occasions(self) -> list[Occasion]:
        """Return all surveys that reports were received for, ascending by wave and version."""
        found = [occasion for _, occasion in sorted(self._surveys.items())]
        return sorted(found, key=lambda occasion: (occasion.number or 0, occasion.survey.revision))


@dataclass(frozen=True)
class Summary:
    """Numbers of reports.

    Attributes
    ----------
    n : dict
        Number of reports by the fingerprint of the survey.
    unknown : int
        Number of reports to versions that the server was not started with.
    pending : int
        Number of messages that are not folded.
    refused : dict
        Number of refused reports by reason.
    """

    n: dict[bytes, int]
    unknown: int
    pending: int
    refused: dict[str, int]


def _grouped(rows: Sequence[Any]) -> dict[tuple[int, str], list[bytes]]:
    found: dict[tuple[int, str], list[bytes]] = {}
    for survey, label, message in rows:
        found.setdefault((survey, label), []).append(bytes(message))
    return found


def _number_of(connection: sa.Connection, table: sa.Table, key: dict[str, Any], values: dict[str, Any]) -> int:
    """Return the number of a row, which is inserted if it is not there."""
    (column,), (name,) = table.primary_key.columns, key
    statement: Any = upsert(connection.engine, table).values(**key, **values)
    connection.execute(statement.on_conflict_do_nothing(index_elements=[table.c[name]]))
    found = connection.scalar(sa.select(column).where(table.c[name] == key[name]))
    assert isinstance(found, int)
    return found
