"""The deletion of a report by its id, while its message is not folded into counts.

An id has a digest of its report. A message with this digest is deleted: of several, whichever is found, because equal messages
change the counts in the same way and nothing tells them apart. The id stays, without the digest, so that the report does not
count if it is sent again.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum

import sqlalchemy as sa

from ._engine import file_of
from ._reports import WITHDRAWN, digests_of
from ._store import READ_BATCHES, Store
from ._tables import about, batches, occasions, surveys

REASON = "withdrawn"  # under which deleted messages are among the refused reports


class Withdrawal(Enum):
    """What became of a report that is to be deleted."""

    DELETED = "the message was deleted"
    COUNTED = "the report is a part of the counts, and stays there; nothing ties it to the id any more"
    BEFORE = "the report was withdrawn before"
    UNKNOWN = "there is no such id: it is another one, or its wave was closed for good"


def withdraw(store: Store, id_: bytes) -> Withdrawal:
    """Delete the reports with an id, in all waves or rounds of the plan of a store, in one transaction.

    Of several that came under one id, what is least deleted is told. The pages of a file of SQLite are overwritten.
    """
    keys = {occasion.key for occasion in store.plan.occasions().values()}
    with store.write() as connection:
        connection.execute(sa.select(about.c.version).with_for_update())  # nobody folds meanwhile
        numbers = connection.scalars(sa.select(occasions.c.occasion).where(occasions.c.key.in_(keys))).all()
        found = {_withdrawn(store, connection, number, id_) for number in numbers}
    order = Withdrawal.COUNTED, Withdrawal.DELETED, Withdrawal.BEFORE, Withdrawal.UNKNOWN
    return next((one for one in order if one in found), Withdrawal.UNKNOWN)


def _withdrawn(store: Store, connection: sa.Connection, number: int, id_: bytes) -> Withdrawal:
    """Delete the report with an id to one occasion."""
    digest = store.forget_digest(connection, number, id_)
    if digest is None:
        return Withdrawal.UNKNOWN
    if digest == WITHDRAWN:
        return Withdrawal.BEFORE
    if not _delete(connection, number, digest):
        return Withdrawal.COUNTED
    store.add_refusals(connection, Counter([REASON]))
    return Withdrawal.DELETED


def _delete(connection: sa.Connection, number: int, digest: bytes) -> bool:
    """Delete a message to an occasion with a digest, if there is one that is not folded."""
    own = sa.select(surveys.c.survey).where(surveys.c.occasion == number)
    # A query for all of them, because there can be a million: meanwhile nobody else writes to SQLite.
    asked = sa.select(batches).where(batches.c.survey.in_(own)).execution_options(yield_per=READ_BATCHES)
    place = None
    with connection.execute(asked) as rows:
        for row in rows:
            data = bytes(row.data)
            messages = [data[at : at + row.size] for at in range(0, len(data), row.size)]
            digests = digests_of([row.label] * len(messages), messages)
            if digest in digests:
                place = row.place
                del messages[digests.index(digest)]
                break
    if place is None:
        return False
    one = batches.c.place == place
    connection.execute(
        sa.update(batches).where(one).values(data=b"".join(messages)) if messages else sa.delete(batches).where(one)
    )
    return True


def shorten_log(store: Store) -> bool:
    """Write the log of SQLite, which holds what was deleted, to the file, and return whether it was possible.

    It is not while another process reads.
    """
    if file_of(store.engine) is None:
        return True
    connection = store.engine.raw_connection()
    try:
        cursor = connection.cursor()
        busy, _, _ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return not busy
    finally:
        connection.close()
