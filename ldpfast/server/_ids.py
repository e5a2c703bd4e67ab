"""The ids of the reports of a database, by which a report that is sent again is found.

An index of random ids has a page of its own for nearly every new one. PostgreSQL writes all of these pages. In SQLite, where
one writer waits for the disk, a transaction appends its ids to a log, in one value, and to a table in memory, from which they
move to the index in the order of the index: then many ids share the pages that are written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import sqlalchemy as sa

from .._person_keys import ID_BYTES
from ._reports import DIGEST_BYTES
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

    def add(self, connection: sa.Connection, occasion: int, digests: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Store the ids that are new, with their digests, and return the digests of the others, by their ids."""

    def forget(self, connection: sa.Connection, occasions: Iterable[int]) -> int:
        """Forget the ids of occasions, and return their number."""


class _Table:
    """A table of ids with an index: of the database, or in memory."""

    def __init__(self, name: str) -> None:
        self._insert = sa.text(  # a driver counts the rows of a statement that begins with INSERT
            f"INSERT INTO {name} (occasion, id, digest) {GIVEN} SELECT :occasion, id, digest FROM given WHERE true "
            "ON CONFLICT DO NOTHING"
        )
        self._known = sa.text(
            f"{GIVEN} SELECT own.id, own.digest FROM given CROSS JOIN {name} AS own "
            "WHERE own.occasion = :occasion AND own.id = given.id"
        )

    def insert(self, connection: sa.Connection, occasion: int, rows: list[bytes]) -> int:
        """Insert the rows that are new, and return their number."""
        return connection.execute(self._insert, _given(occasion, rows)).rowcount

    def known(self, connection: sa.Connection, occasion: int, rows: list[bytes]) -> dict[bytes, bytes]:
        """Return the digests of the ids that are there, by the ids."""
        found = connection.execute(self._known, _given(occasion, rows))
        return {bytes(row.id): bytes(row.digest) for row in found}

    def add(self, connection: sa.Connection, occasion: int, rows: list[bytes]) -> dict[bytes, bytes]:
        """Insert the rows that are new, and return the digests of the others, by their ids."""
        known: dict[bytes, bytes] = {}
        while rows:
            savepoint = connection.begin_nested()
            if self.insert(connection, occasion, rows) == len(rows):
                savepoint.commit()
                break
            savepoint.rollback()  # some are there already, and the database does not say which
            known |= self.known(connection, occasion, rows)
            rows = _without(rows, known)
        return known


class SharedIds(Ids):
    """The ids of a database with several writers: an index."""

    TABLE = _Table("ids")

    def prepare(self, connection: sa.Connection) -> None:
        """Make the tables that are missing."""

    def add(self, connection: sa.Connection, occasion: int, digests: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Store the ids that are new, with their digests, and return the digests of the others, by their ids."""
        return self.TABLE.add(connection, occasion, _rows(digests))

    def forget(self, connection: sa.Connection, occasions: Iterable[int]) -> int:
        """Forget the ids of occasions, and return their number."""
        return connection.execute(sa.delete(ids).where(ids.c.occasion.in_(list(occasions)))).rowcount


class LoggedIds(Ids):
    """The ids of a database of SQLite: an index, a log, and a table in memory with the ids that are not in the index.

    The table in memory belongs to a connection. A new one, and one beside which another process has written, reads the log.
    All three change in one transaction, so a failure leaves them as they were. The position in the index moves on with the
    number of reports; when it has been everywhere, the rows of the log from before that are deleted.
    """

    AROUND = 1_000_000  # reports, while the position moves around the whole index
    END = 1 << 32  # of positions, which are the first four bytes of ids
    SETUP = (
        "ATTACH ':memory:' AS memory",
        "CREATE TABLE memory.ids (id BLOB, occasion INTEGER, digest BLOB, PRIMARY KEY (id, occasion)) WITHOUT ROWID",
        # The last row of the log that was read, the last one when the position was 0, and the position.
        "CREATE TABLE memory.progress (seen INTEGER, last INTEGER, position INTEGER)",
        "INSERT INTO memory.progress VALUES (0, 0, 0)",
    )
    LOG = sa.Table(
        "recent_ids",
        sa.MetaData(),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("occasion", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sqlite_autoincrement=True,  # no place is used again
    )
    PROGRESS = sa.table("progress", *map(sa.column, ("seen", "last", "position")), schema="memory")
    INDEX, MEMORY = _Table("main.ids"), _Table("memory.ids")
    MOVE = sa.text("""
        INSERT OR IGNORE INTO main.ids (occasion, id, digest) SELECT occasion, id, digest FROM memory.ids
        WHERE id >= :first AND id < :end AND occasion NOT IN (SELECT occasion FROM occasions WHERE closed)
    """)
    REMOVE = sa.text("DELETE FROM memory.ids WHERE id >= :first AND id < :end")
    OUTSIDE = sa.text("""
        SELECT count(*) FROM memory.ids AS own WHERE own.occasion = :occasion AND NOT EXISTS
        (SELECT 1 FROM main.ids AS other WHERE other.occasion = own.occasion AND other.id = own.id)
    """)
    FORGET = sa.text("DELETE FROM memory.ids WHERE occasion = :occasion")

    def prepare(self, connection: sa.Connection) -> None:
        """Make the tables that are missing."""
        self.LOG.create(connection, checkfirst=True)

    def add(self, connection: sa.Connection, occasion: int, digests: dict[bytes, bytes]) -> dict[bytes, bytes]:
        """Store the ids that are new, with their digests, and return the digests of the others, by their ids."""
        self._read_log(connection)
        rows = _rows(digests)
        known = self.INDEX.known(connection, occasion, rows)
        known |= self.MEMORY.add(connection, occasion, _without(rows, known))
        new = _without(rows, known)
        if new:
            row = connection.execute(sa.insert(self.LOG), {"occasion": occasion, "data": b"".join(new)})
            self._move(connection, row.lastrowid, -(-self.END * len(new) // self.AROUND))
        return known

    def forget(self, connection: sa.Connection, occasions: Iterable[int]) -> int:
        """Forget the ids of occasions, and return their number."""
        self._read_log(connection)
        count = 0
        for occasion in occasions:
            count += connection.scalar(self.OUTSIDE, {"occasion": occasion}) or 0
            connection.execute(self.FORGET, {"occasion": occasion})
            connection.execute(sa.delete(self.LOG).where(self.LOG.c.occasion == occasion))
            count += connection.execute(sa.delete(ids).where(ids.c.occasion == occasion)).rowcount
        return count

    def _read_log(self, connection: sa.Connection) -> None:
        """Add the ids of the log that are not in memory, after a start or because another process has written them."""
        seen = connection.scalar(sa.select(self.PROGRESS.c.seen))
        rows = sa.select(self.LOG).where(self.LOG.c.place > seen).order_by(self.LOG.c.place)
        for place, occasion, data in connection.execute(rows).all():
            self.MEMORY.insert(connection, occasion, [data[at : at + ROW] for at in range(0, len(data), ROW)])
            connection.execute(sa.update(self.PROGRESS).values(seen=place))

    def _move(self, connection: sa.Connection, seen: int, step: int) -> None:
        """Move the ids of the next part of the index into it, after the last row of the log was read."""
        last, first = connection.execute(sa.select(self.PROGRESS.c.last, self.PROGRESS.c.position)).one()
        if first == 0:
            last = seen
        end = min(first + step, self.END)
        part = {"first": _start_of(first), "end": _start_of(end)}
        connection.execute(self.MOVE, part)
        connection.execute(self.REMOVE, part)
        if end == self.END:
            connection.execute(sa.delete(self.LOG).where(self.LOG.c.place <= last))
            end = 0
        connection.execute(sa.update(self.PROGRESS).values(seen=seen, last=last, position=end))


def _rows(digests: dict[bytes, bytes]) -> list[bytes]:
    """Return ids with their digests, in the order of the index."""
    return sorted(id_ + digest for id_, digest in digests.items())


def _without(rows: list[bytes], known: dict[bytes, bytes]) -> list[bytes]:
    """Return the rows whose ids are not known."""
    return [row for row in rows if row[:ID_BYTES] not in known] if known else rows


def _given(occasion: int, rows: list[bytes]) -> dict[str, object]:
    """Return the parameters of statements with ids and digests."""
    return {"occasion": occasion, "count": len(rows), "data": b"".join(rows)}


def _start_of(position: int) -> bytes:
    """Return what no id after a position is less than."""
    return position.to_bytes(4, "big") if position < LoggedIds.END else b"\xff" * (ID_BYTES + 1)
