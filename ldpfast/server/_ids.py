"""The ids of the reports of a database, by which a report that is sent again is found.

An index of random ids has a page of its own for nearly every new one. PostgreSQL writes all of these pages. In SQLite, where
one writer waits for the disk, a transaction appends its ids to a log, in one value, and to a table in memory, from which they
move to the index in the order of the index: then many ids share the pages that are written.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import sqlalchemy as sa

from .._person_keys import ID_BYTES
from ._reports import DIGEST_BYTES, WITHDRAWN
from ._tables import ids

ROW = ID_BYTES + DIGEST_BYTES
# Ids and digests that are given one after the other in one value: a statement for all is faster than one for each.
GIVEN = f"""
WITH RECURSIVE
    places (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM places WHERE i + 1 < :count),
    rows (pair) AS (SELECT substr(:data, {ROW} * i + 1, {ROW}) FROM places),
    given (id, digest) AS (SELECT substr(pair, 1, {ID_BYTES}), substr(pair, {ID_BYTES} + 1, {DIGEST_BYTES}) FROM rows)
"""


class Ids(Protocol):
    """The ids of a database, each with the digest of its report. They are found until their occasion is forgotten."""

    def prepare(self, connection: sa.Connection) -> None:
        """Make the tables that are missing."""

    def load(self, connection: sa.Connection) -> None:
        """Read what `add` needs, which can take seconds."""

    def add(self, connection: sa.Connection, occasion: int, digests: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Store the ids that are new, with their digests, and return the digests of the others, by their ids."""

    def digests(self, connection: sa.Connection, occasion: int) -> Iterator[bytes]:
        """Yield the digests of all reports to an occasion, in pieces, one after the other, by a connection that reads."""

    def withdraw(self, connection: sa.Connection, occasion: int, id_: bytes) -> bytes | None:
        """Put `WITHDRAWN` in the place of the digest of an id, and return the digest; None if there is no such id.

        Whoever sends the report again is told of a conflict.
        """

    def forget(self, connection: sa.Connection, occasions: Iterable[int]) -> int:
        """Forget the ids of occasions, and return their number."""


class SharedIds(Ids):
    """The ids of a database with several writers: an index."""

    INSERT = sa.text(  # a driver counts the rows of a statement that begins with INSERT
        f"INSERT INTO ids (occasion, id, digest) {GIVEN} SELECT :occasion, id, digest FROM given ON CONFLICT DO NOTHING"
    )
    KNOWN = sa.text(f"{GIVEN} SELECT id, digest FROM ids WHERE occasion = :occasion AND id IN (SELECT id FROM given)")

    def prepare(self, connection: sa.Connection) -> None:
        """Make the tables that are missing."""

    def load(self, connection: sa.Connection) -> None:
        """Read nothing."""

    def add(self, connection: sa.Connection, occasion: int, digests: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Store the ids that are new, with their digests, and return the digests of the others, by their ids."""
        known: dict[bytes, bytes] = {}
        new = _rows(digests)
        while new:
            given = _given(occasion, new)
            savepoint = connection.begin_nested()
            if connection.execute(self.INSERT, given).rowcount == len(new):
                savepoint.commit()
                break
            savepoint.rollback()  # some are there already, and the database does not say which
            known |= {bytes(row.id): bytes(row.digest) for row in connection.execute(self.KNOWN, given)}
            new = _without(new, known)
        return known

    def digests(self, connection: sa.Connection, occasion: int) -> Iterator[bytes]:
        """Yield the digests of all reports to an occasion, in pieces, one after the other."""
        yield from _digests_in_index(connection, occasion)

    def withdraw(self, connection: sa.Connection, occasion: int, id_: bytes) -> bytes | None:
        """Put `WITHDRAWN` in the place of the digest of an id, and return the digest; None if there is no such id."""
        one = (ids.c.occasion == occasion) & (ids.c.id == id_)
        digest = connection.scalar(sa.select(ids.c.digest).where(one).with_for_update())
        connection.execute(sa.update(ids).where(one).values(digest=WITHDRAWN))
        return None if digest is None else bytes(digest)

    def forget(self, connection: sa.Connection, occasions: Iterable[int]) -> int:
        """Forget the ids of occasions, and return their number."""
        return connection.execute(sa.delete(ids).where(ids.c.occasion.in_(list(occasions)))).rowcount


@dataclass(frozen=True)
class _State:
    """Progress of the ids of a database of SQLite.

    Attributes
    ----------
    last_read : int
        Latest row of the log whose ids are in the table in memory.
    call : int
        Number of the latest call that added ids there.
    place : int
        Last row of the log.
    round_start : int
        Latest row of the log when the round began.
    position : int
        Up to where ids were moved in this round.
    unmoved : int
        Reports since ids were moved.
    """

    last_read: int
    call: int
    place: int
    round_start: int
    position: int
    unmoved: int


class LoggedIds(Ids):
    """The ids of a database of SQLite: an index, a log, and a table in memory with at least the ids that are not in the index.

    The table in memory belongs to a connection: a new one, and one beside which another process has written, reads the log.
    After some reports the ids of the next part of the index are moved there from memory. Each row of the log has the position
    after it, so that a new connection goes on there. At the end of a round the rows of the log from before it are deleted:
    all their ids were moved. Everything changes in one transaction, so a failure leaves it as it was.
    """

    ROUND_REPORTS = 1_000_000  # reports of a round
    MOVE_REPORTS = 1_000  # reports between two moves
    PIECE_IDS = 100_000  # ids of the log that are added together
    END = 1 << 32  # of positions, which are the first four bytes of ids
    SETUP = (
        "ATTACH ':memory:' AS memory",
        "CREATE TABLE memory.ids (id BLOB, occasion INTEGER, digest BLOB, call INTEGER, PRIMARY KEY (id, occasion)) "
        "WITHOUT ROWID",
        "CREATE TABLE memory.progress (last_read INTEGER, call INTEGER)",
        "INSERT INTO memory.progress VALUES (0, 0)",
    )
    LOG = """
        CREATE TABLE IF NOT EXISTS recent_ids (
            place INTEGER PRIMARY KEY AUTOINCREMENT,  -- none is used again
            occasion INTEGER NOT NULL, data BLOB NOT NULL,
            round_start INTEGER NOT NULL, position INTEGER NOT NULL, unmoved INTEGER NOT NULL
        )
    """
    STATE = """
        SELECT last_read, call, coalesce(place, 0), coalesce(round_start, 0), coalesce(position, 0), coalesce(unmoved, 0)
        FROM memory.progress LEFT JOIN (SELECT * FROM recent_ids ORDER BY place DESC LIMIT 1) ON true
    """
    PROGRESS = "UPDATE memory.progress SET last_read = :last_read, call = :call"
    UNREAD = "SELECT occasion, data FROM recent_ids WHERE place > :last_read ORDER BY place"
    OF_OCCASION = "SELECT occasion, data FROM recent_ids WHERE occasion = :occasion"
    IN_INDEX = f"""{GIVEN}
        SELECT known.id, known.digest FROM given CROSS JOIN main.ids AS known
        WHERE known.id = given.id AND known.occasion = :occasion
    """
    IN_MEMORY = f"""{GIVEN}
        SELECT known.id, known.digest FROM given CROSS JOIN memory.ids AS known
        WHERE known.id = given.id AND known.occasion = :occasion AND known.call < :call
    """
    ADD = f"""
        INSERT OR IGNORE INTO memory.ids (id, occasion, digest, call)
        {GIVEN} SELECT id, :occasion, digest, :call FROM given
    """
    APPEND = """
        INSERT INTO recent_ids (occasion, data, round_start, position, unmoved)
        VALUES (:occasion, :data, :round_start, :position, :unmoved)
    """
    MOVE = """
        INSERT OR IGNORE INTO main.ids (occasion, id, digest) SELECT occasion, id, digest FROM memory.ids
        WHERE id >= :first AND id < :end AND occasion NOT IN (SELECT occasion FROM occasions WHERE closed)
    """
    REMOVE = "DELETE FROM memory.ids WHERE id >= :first AND id < :end"
    INDEXED = "SELECT digest FROM main.ids WHERE occasion = :occasion AND id = :id"
    LOGGED = "SELECT place, data FROM recent_ids WHERE occasion = :occasion AND instr(data, :id) > 0"
    REWRITE = "UPDATE recent_ids SET data = :data WHERE place = :place"
    REPLACE = "INSERT OR REPLACE INTO main.ids (occasion, id, digest) VALUES (:occasion, :id, :digest)"
    SHORTEN = "DELETE FROM recent_ids WHERE place <= :round_start"

    def prepare(self, connection: sa.Connection) -> None:
        """Make the tables that are missing."""
        connection.exec_driver_sql(self.LOG)

    def load(self, connection: sa.Connection) -> None:
        """Add the ids of the log to those in memory."""
        self._current(connection)

    def add(self, connection: sa.Connection, occasion: int, digests: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Store the ids that are new, with their digests, and return the digests of the others, by their ids."""
        state = self._current(connection)
        rows = _rows(digests)
        known = self._known(connection, self.IN_INDEX, _given(occasion, rows))
        new = _without(rows, known)
        if not new:
            return known
        given = {**_given(occasion, new), "call": state.call + 1}
        if connection.exec_driver_sql(self.ADD, given).rowcount < len(new):
            known |= self._known(connection, self.IN_MEMORY, given)
            new = _without(new, known)
        if new:
            after = self._moved(connection, replace(state, unmoved=state.unmoved + len(new)))
            row = {"occasion": occasion, "data": b"".join(new)}
            row |= {"round_start": after.round_start, "position": after.position, "unmoved": after.unmoved}
            place = connection.exec_driver_sql(self.APPEND, row).lastrowid
            connection.exec_driver_sql(self.PROGRESS, {"last_read": place, "call": state.call + 1})
        return known

    def digests(self, connection: sa.Connection, occasion: int) -> Iterator[bytes]:
        """Yield the digests of all reports to an occasion, in pieces, one after the other."""
        yield from _digests_in_index(connection, occasion)
        with connection.exec_driver_sql(self.OF_OCCASION, {"occasion": occasion}) as log:
            for _, rows in _pieces(log, self.PIECE_IDS):
                new = _without(rows, self._known(connection, self.IN_INDEX, _given(occasion, rows)))
                yield b"".join(row[ID_BYTES:] for row in new)

    def withdraw(self, connection: sa.Connection, occasion: int, id_: bytes) -> bytes | None:
        """Put `WITHDRAWN` in the place of the digest of an id, and return the digest; None if there is no such id.

        Afterwards the id is in the index, which comes before the tables in memory, also in other processes.
        """
        given = {"occasion": occasion, "id": id_}
        digest = connection.exec_driver_sql(self.INDEXED, given).scalar()
        for place, data in connection.exec_driver_sql(self.LOGGED, given).all():
            rows = [data[at : at + ROW] for at in range(0, len(data), ROW)]
            own = [row for row in rows if row[:ID_BYTES] == id_]  # other bytes of the log can be equal by chance
            if own:
                digest = digest or own[0][ID_BYTES:]
                kept = b"".join(id_ + WITHDRAWN if row in own else row for row in rows)
                connection.exec_driver_sql(self.REWRITE, {"place": place, "data": kept})
        if digest is not None:
            connection.exec_driver_sql(self.REPLACE, {**given, "digest": WITHDRAWN})
        return None if digest is None else bytes(digest)

    def forget(self, connection: sa.Connection, occasions: Iterable[int]) -> int:
        """Forget the ids of occasions, and return their number."""
        count = 0
        for occasion in occasions:
            parameters = {"occasion": occasion}
            with connection.exec_driver_sql(self.OF_OCCASION, parameters) as log:
                for _, rows in _pieces(log, self.PIECE_IDS):
                    count += len(rows) - len(self._known(connection, self.IN_INDEX, _given(occasion, rows)))
            count += connection.exec_driver_sql("DELETE FROM main.ids WHERE occasion = :occasion", parameters).rowcount
            connection.exec_driver_sql("DELETE FROM recent_ids WHERE occasion = :occasion", parameters)
        return count

    def _current(self, connection: sa.Connection) -> _State:
        """Return the state, after the rows of the log that were not read are in memory."""
        state = _State(*connection.exec_driver_sql(self.STATE).one())
        if state.place > state.last_read:
            # After an error, a query that is still open would block the next transaction.
            with connection.exec_driver_sql(self.UNREAD, {"last_read": state.last_read}) as log:
                for occasion, rows in _pieces(log, self.PIECE_IDS):
                    connection.exec_driver_sql(self.ADD, {**_given(occasion, rows), "call": state.call})
            connection.exec_driver_sql(self.PROGRESS, {"last_read": state.place, "call": state.call})
        return state

    @staticmethod
    def _known(connection: sa.Connection, statement: str, given: dict[str, object]) -> dict[bytes, bytes]:
        """Return the digests of the given ids that a table has, by their ids."""
        return {row.id: row.digest for row in connection.exec_driver_sql(statement, given)}

    def _moved(self, connection: sa.Connection, state: _State) -> _State:
        """Move the ids of the next part of the index into it, if enough reports came, and return the state afterwards."""
        if state.unmoved < self.MOVE_REPORTS:
            return state
        round_start = state.round_start if state.position else state.place
        end = min(self.END, state.position - (-self.END * state.unmoved // self.ROUND_REPORTS))
        part = {"first": _least(state.position), "end": _least(end)}
        connection.exec_driver_sql(self.MOVE, part)
        connection.exec_driver_sql(self.REMOVE, part)
        if end == self.END:
            connection.exec_driver_sql(self.SHORTEN, {"round_start": round_start})
            end = 0
        return replace(state, round_start=round_start, position=end, unmoved=0)


def _digests_in_index(connection: sa.Connection, occasion: int) -> Iterator[bytes]:
    """Yield the digests of an occasion that are in the index, in pieces, one after the other."""
    asked = (
        sa.select(ids.c.digest).where(ids.c.occasion == occasion).execution_options(yield_per=LoggedIds.MOVE_REPORTS)
    )
    for part in connection.scalars(asked).partitions():
        yield b"".join(map(bytes, part))


def _rows(digests: dict[bytes, bytes]) -> list[bytes]:
    """Return ids with their digests, in the order of the index."""
    return sorted(id_ + digest for id_, digest in digests.items())


def _without(rows: list[bytes], known: dict[bytes, bytes]) -> list[bytes]:
    """Return the rows whose ids are not known."""
    return [row for row in rows if row[:ID_BYTES] not in known] if known else rows


def _given(occasion: int, rows: list[bytes]) -> dict[str, object]:
    """Return the parameters of statements with ids and digests."""
    return {"occasion": occasion, "count": len(rows), "data": b"".join(rows)}


def _pieces(log: Iterable[Any], most: int) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the ids and digests of rows of the log by occasion, in the order of the index, about `most` together."""
    held: defaultdict[int, list[bytes]] = defaultdict(list)
    for occasion, data in log:
        rows = held[occasion]
        rows += [data[at : at + ROW] for at in range(0, len(data), ROW)]
        if len(rows) >= most:
            yield occasion, sorted(held.pop(occasion))
    for occasion, rows in held.items():
        yield occasion, sorted(rows)


def _least(position: int) -> bytes:
    """Return a lower limit for the ids from a position on. At the end it exceeds all ids."""
    return position.to_bytes(4, "big") if position < LoggedIds.END else b"\xff" * (ID_BYTES + 1)
