"""Waves that open and close by a calendar, at a clock that is given.

A wave is received while it is open, and `grace` before and after. What is received at a moment follows from the calendar and
the clock alone. The database only prepares waves, at least the length of one ahead, and closes those that are over, in order,
each of them for good: if the clock goes back, what is closed stays closed.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable

from ..survey import Calendar
from ._server_plan import ServerPlan
from ._store import Store

LOG = logging.getLogger("uvicorn.error")


class WaveSchedule:
    """The waves of a store whose plan has a calendar.

    Parameters
    ----------
    store : Store
    calendar : Calendar
    clock : callable
        Returns the seconds since the epoch.
    closed : callable, optional
        Is told the waves that have just been closed, and the last one that is over.
    """

    def __init__(
        self,
        store: Store,
        calendar: Calendar,
        clock: Callable[[], float],
        closed: Callable[[list[int], int], object] | None = None,
    ) -> None:
        self._store, self._calendar = store, calendar
        self._clock, self._tell = clock, closed
        self._lock = threading.Lock()
        self._closed = 0  # the last wave that was closed, with all before it
        # The last wave that was refused as closed: it and all before it are closed, whatever the clock does.
        self._refused = 0
        self._failure = ""
        self._series = store.plan.versions[0].series  # one process can have several

    def now(self) -> int:
        """Return the seconds since the epoch."""
        return math.floor(self._clock())

    def is_ready(self, plan: ServerPlan, now: int) -> bool:
        """Return whether a plan has all waves that are received at a moment. That of the store has, unless the clock jumped."""
        return plan.waves.issuperset(self._calendar.received(now))

    def refusal(self, wave: int | None, now: int) -> str | None:
        """Return why a report to a wave is refused at a moment; None if it is received.

        What is refused as closed once, always is.
        """
        if wave is None or wave <= self._refused:
            return "closed"
        received = self._calendar.received(now)
        if wave >= received.start:
            return None if wave in received else "early"
        self._refused = wave
        return "closed"

    def advance(self) -> None:
        """Open and close what it is time for. If that fails, it is logged and tried again by the next call.

        It can be interrupted anywhere: each step is one transaction, and the next call begins with what is missing.
        """
        with self._lock:
            try:
                self._open()
                self._close()
                self._failure = ""
            except Exception as error:  # reports are stored all the same
                text = str(error) if isinstance(error, ValueError) else type(error).__name__
                if text != self._failure:
                    LOG.error("waves of %s cannot be opened or closed: %s", self._series, text)
                self._failure = text

    def _open(self) -> None:
        before = self._store.plan
        plan = before.at(self.now())
        if (plan.wave, plan.waves) != (before.wave, before.waves):
            self._store.open(plan)

    def _close(self) -> None:
        over = max(self._calendar.received(self.now()).start - 1, self._refused)
        if over <= self._closed:
            return
        waves = self._store.waves_to_close(over)
        for wave in waves:
            folded, forgotten = self._store.close_waves([wave])
            text = "closed wave %d of %s: %d messages were folded, %d ids were forgotten"
            LOG.info(text, wave, self._series, folded, forgotten)
        self._store.open(self._store.plan)  # which now has what was closed
        self._closed = over
        if self._tell is not None:
            self._tell([wave for wave, was_closed in waves.items() if not was_closed], over)
