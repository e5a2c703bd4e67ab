"""Messages that are kept for a stated time, after which they are folded into counts, and deleted.

A batch of messages has no time. What is stored is only the place of the newest batch now and then, with the time. An
acknowledged message is never deleted without being counted: one that cannot be, because nobody has its survey, stays.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from datetime import timedelta

import sqlalchemy as sa

from ..survey._calendar import duration_of
from ._store import FOLDED, Store
from ._tables import about, batches, marks, surveys

LOG = logging.getLogger("uvicorn.error")
LEAST, MOST = timedelta(minutes=1), timedelta(days=3660)
MARKS = 30  # in the stated time
# Messages are folded so many marks before the time is over, because it is not known when between two marks they were stored.
EARLY = 2


def kept_seconds(fold_after: str | timedelta | None) -> int | None:
    """Return the seconds for which messages are kept; None if nothing is stated.

    Raises
    ------
    TypeError, ValueError
        If it is no duration from 1 minute to 10 years.
    """
    if fold_after is None:
        return None
    return duration_of("fold_after", fold_after, LEAST, MOST) // timedelta(seconds=1)


class MessageAges:
    """Folds the messages of a store that have been kept for a stated time.

    No message is kept longer while the server runs, and most are kept for 0.9 times that. They are folded earlier if the clock
    jumps ahead, or if SQLite uses the places of messages again that were folded beside older ones.

    Parameters
    ----------
    store : Store
    seconds : int
    clock : callable
        Returns the seconds since the epoch.
    """

    def __init__(self, store: Store, seconds: int, clock: Callable[[], float]) -> None:
        self._store, self._clock = store, clock
        self._seconds, self._interval = seconds, seconds / MARKS
        self._last = -math.inf  # time of the last mark
        self._failure = ""
        self._stuck: list[int] = []

    def advance(self) -> None:
        """Fold what has been kept long enough, or a part of that, with which the next call goes on.

        If it fails, it is logged, and tried again by the next call.
        """
        now = math.floor(self._clock())
        if self._last <= now < self._last + self._interval:
            return
        try:
            last = self._due(now)
            while last and (count := self._store.fold(last=last)):
                if count >= FOLDED:  # reports that wait are stored first, and the next call goes on
                    return
            self._warn_about_stuck(last)
            self._last, self._failure = now, ""
        except Exception as error:  # reports are stored all the same
            text = type(error).__name__
            if text != self._failure:
                LOG.error("old messages cannot be folded into counts: %s", text)
            self._failure = text

    def _due(self, now: int) -> int:
        """Mark the newest batch, and return the last place of those that have been kept long enough."""
        with self._store.write() as connection:
            connection.execute(sa.select(about.c.version).with_for_update())  # one process at a time
            newest = connection.scalar(sa.select(sa.func.max(batches.c.place))) or 0
            # After everything was folded, places begin again.
            connection.execute(sa.delete(marks).where(marks.c.place > newest))
            connection.execute(sa.update(marks).where(marks.c.time > now).values(time=now))  # the clock was ahead
            rows = [
                tuple(row) for row in connection.execute(sa.select(marks.c.place, marks.c.time).order_by(marks.c.place))
            ]
            if not rows:  # nobody knows when messages came that were there before: their time begins now
                connection.execute(marks.insert(), {"place": 0, "time": now})
                rows = [(0, now)]
            if rows[-1][0] < newest:
                connection.execute(marks.insert(), {"place": newest, "time": now})
                rows.append((newest, now))
            else:  # no batch came
                connection.execute(sa.update(marks).where(marks.c.place == newest).values(time=now))
                rows[-1] = (newest, now)
            limit = now - self._seconds + EARLY * self._interval
            past = [i for i, (_, time) in enumerate(rows) if time <= limit]
            if not past:
                return 0
            connection.execute(sa.delete(marks).where(marks.c.place < rows[past[-1]][0]))
            return int(rows[past[-1] + 1][0])  # there is a next one, of now

    def _warn_about_stuck(self, last: int) -> None:
        """Log which versions have old messages that cannot be counted."""
        asked = sa.select(surveys.c.revision).join(batches, batches.c.survey == surveys.c.survey)
        with self._store.read() as connection:
            found = sorted(connection.scalars(asked.where(batches.c.place <= last).distinct()))
        if found and found != self._stuck:
            text = "messages to version %s are kept, although they are old: they cannot be counted without its file"
            LOG.warning(text, ", ".join(map(str, found)))
        self._stuck = found
