"""Calendars and moments for which Python and the clients in C and JavaScript must compute the same wave."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta

from ldpfast.survey import Calendar

CALENDARS = [
    Calendar(date(2027, 1, 4), "1 week", 8),
    Calendar(datetime(2027, 3, 28, 0, 30, tzinfo=UTC), "90 minutes", 1024),
    Calendar(date(1969, 12, 1), "1 minute"),
    Calendar(date(1, 1, 1), timedelta(seconds=61)),
    Calendar(date(9000, 1, 1), "366 days", 2),
]
FAR = [0, -1, 1 << 40, -(1 << 40), (1 << 52) - 1, -(1 << 52)]


def moments(calendar: Calendar) -> list[int]:
    """Return moments around the ends of waves, random ones, and some far from all waves."""
    rng, last = random.Random(5), min(calendar.last, 1 << 24)
    waves = [1, 2, *(rng.randrange(1, last) for _ in range(50)), last]
    ends = [moment for wave in waves for moment in (calendar.opens(wave), calendar.closes(wave))]
    edges = [moment + more for moment in ends for more in (-1, 0, 1)]
    return [*edges, *(moment + rng.randrange(10**6) for moment in edges), *FAR]


def cases() -> list[tuple[Calendar, int, int | None]]:
    """Return calendars, moments, and the waves that are open then."""
    return [(calendar, now, calendar.wave_at(now)) for calendar in CALENDARS for now in moments(calendar)]
