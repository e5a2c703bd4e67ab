"""Calendars of surveys with waves: when each wave opens and closes, in whole seconds since the epoch."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from .. import _check
from ._panel import LAST_WAVE, MAX_WAVES

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
UNITS = {"week": 604_800, "day": 86_400, "hour": 3600, "minute": 60, "second": 1}
SHORTEST, LONGEST = timedelta(minutes=1), timedelta(days=366)  # of a wave
GRACE_PARTS = 10  # by default, reports are late by at most one of so many parts of a wave


class _Numbers(NamedTuple):
    """Start in seconds since the epoch, and durations in seconds."""

    start: int
    every: int
    grace: int


@dataclass(frozen=True)
class Calendar:
    """When the waves of a survey open and close.

    Wave w is open from ``start + (w - 1) every`` up to ``start + w every``, without the end. Nothing here asks a clock: methods
    take the seconds since the epoch. The clients in C and JavaScript compute the same.

    Parameters
    ----------
    start : datetime.datetime or datetime.date
        When wave 1 opens, in whole seconds. A datetime must have a time zone; a date is its midnight in UTC.
    every : datetime.timedelta or str
        Length of a wave, in whole seconds, in [1 minute, 366 days]; or a text such as "1 week", "6 hours" or "30 minutes". A
        day has 24 hours, also where clocks are changed.
    waves : int, optional
        Number of waves, at most 1024; None for a series that goes on.
    grace : datetime.timedelta or str, optional
        How long before a wave opens and after it closes a server accepts its reports, because clocks of clients differ and
        reports are late: in [0, every]. The default is a tenth of `every`.

    Raises
    ------
    TypeError, ValueError
        If a parameter is out of range; if the last wave closes after the year 9999.

    Examples
    --------
    >>> from datetime import date, datetime, timezone
    >>> from ldpfast.survey import Calendar, Survey, YesNo
    >>> calendar = Calendar(date(2027, 1, 4), "1 week", 8)
    >>> now = datetime(2027, 1, 20, 15, tzinfo=timezone.utc).timestamp()  # time.time() in a program
    >>> calendar.wave_at(now)
    3
    >>> survey = Survey({"smokes": YesNo(optional=True)}, 2.0, series="health", waves=8, calendar=calendar)
    >>> survey.in_wave(survey.calendar.wave_at(now)).wave
    3
    """

    start: date
    every: timedelta | str
    waves: int | None = None
    grace: timedelta | str | None = None
    _numbers: _Numbers = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        start, every = _moment(self.start), duration_of("every", self.every, SHORTEST, LONGEST)
        waves = None if self.waves is None else _check.integer("waves", self.waves, 1, MAX_WAVES)
        grace = timedelta(seconds=_seconds(every) // GRACE_PARTS) if self.grace is None else self.grace
        grace = duration_of("grace", grace, timedelta(0), every)
        numbers = _Numbers(_seconds(start - EPOCH), _seconds(every), _seconds(grace))
        parts = {"start": start, "every": every, "waves": waves, "grace": grace, "_numbers": numbers}
        for name, value in parts.items():
            object.__setattr__(self, name, value)
        try:
            start + (waves or 1) * every + grace
        except OverflowError:
            raise ValueError("the last wave must close before the year 10000") from None

    @property
    def last(self) -> int:
        """Number of the last wave; 2^32 - 1 for a series that goes on, as in the clients in C and JavaScript."""
        return LAST_WAVE if self.waves is None else self.waves

    def wave_at(self, seconds: float) -> int | None:
        """Return the number of the wave that is open at a moment.

        Parameters
        ----------
        seconds : float
            Seconds since the epoch, as `time.time` gives them. A fraction of a second is left out.

        Returns
        -------
        wave : int or None
            From 1 on; None before the first wave and after the last one.

        Raises
        ------
        TypeError, ValueError
            If `seconds` is not a finite number.
        """
        wave = self._unlimited(seconds)
        return wave if 1 <= wave <= self.last else None

    def opens(self, wave: int) -> int:
        """Return when a wave opens, in seconds since the epoch.

        Parameters
        ----------
        wave : int
            Number of the wave, from 1 on.

        Returns
        -------
        seconds : int
            The first second of the wave.

        Raises
        ------
        TypeError, ValueError
            If there is no such wave.
        """
        number = _check.integer("wave", wave, 1, self.last)
        return self._numbers.start + (number - 1) * self._numbers.every

    def closes(self, wave: int) -> int:
        """Return when a wave closes, in seconds since the epoch.

        Parameters
        ----------
        wave : int
            Number of the wave, from 1 on.

        Returns
        -------
        seconds : int
            The first second after the wave, in which the next one opens.

        Raises
        ------
        TypeError, ValueError
            If there is no such wave.
        """
        return self.opens(wave) + self._numbers.every

    def received(self, seconds: float) -> range:
        """Return the waves whose reports a server accepts at a moment: those that are open within `grace` of it.

        Parameters
        ----------
        seconds : float
            Seconds since the epoch.

        Returns
        -------
        waves : range
            Numbers of at most three waves. All waves below its start are over for good.

        Raises
        ------
        TypeError, ValueError
            If `seconds` is not a finite number.
        """
        grace = self._numbers.grace
        first, end = self._unlimited(seconds, -grace), self._unlimited(seconds, grace) + 1
        return range(min(max(first, 1), self.last + 1), min(max(end, 1), self.last + 1))

    def to_dict(self) -> dict[str, Any]:
        """Return the calendar as numbers, which clients in other languages and JSON have.

        Returns
        -------
        description : dict
            "start", in seconds since the epoch, "every" and "grace", in seconds, and "waves", None for a series that goes on.
        """
        return {**self._numbers._asdict(), "waves": self.waves}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Calendar:
        """Return the calendar with the numbers of `to_dict`.

        Parameters
        ----------
        data : dict
            Result of `to_dict`.

        Returns
        -------
        calendar : Calendar

        Raises
        ------
        TypeError, ValueError
            If these are not the numbers of a calendar.
        """
        if not isinstance(data, dict) or set(data) != {"start", "every", "waves", "grace"}:
            raise ValueError(f"data must hold every, grace, start, waves for a calendar, got {data!r}")
        first, every, grace = (
            _check.integer(name, data[name], -(1 << 40), 1 << 40) for name in ("start", "every", "grace")
        )
        try:
            start = EPOCH + first * SECOND
        except OverflowError:
            raise ValueError(f"start must be in the years 1 to 9999, got {first} seconds since the epoch") from None
        return cls(start, every * SECOND, data["waves"], grace * SECOND)

    def _unlimited(self, seconds: float, more: int = 0) -> int:
        """Return the wave some seconds after a moment, as if there were waves before the first and after the last."""
        _check.real("seconds", seconds)
        return (math.floor(seconds) + more - self._numbers.start) // self._numbers.every + 1


def moment_text(seconds: int) -> str:
    """Return a moment as text for people, in UTC."""
    found = EPOCH + seconds * SECOND
    return found.strftime("%Y-%m-%d %H:%M UTC" if seconds % 60 == 0 else "%Y-%m-%d %H:%M:%S UTC")


def toml_entries(calendar: Calendar) -> dict[str, Any]:
    """Return the entries of a table of TOML, without `waves`, and without the grace of the default."""
    start, every, grace = calendar._numbers
    moment = EPOCH + start * SECOND
    entries = {"start": moment if start % UNITS["day"] else moment.date(), "every": _text_of(every)}
    return entries if grace == every // GRACE_PARTS else {**entries, "grace": _text_of(grace)}


def _seconds(duration: timedelta) -> int:
    return duration // SECOND


def _moment(start: Any) -> datetime:
    """Return a moment in UTC."""
    if isinstance(start, datetime):
        if start.utcoffset() is None:
            raise ValueError(f"start must be a date, or have a time zone such as +00:00, got {start.isoformat()}")
        if start.microsecond:
            raise ValueError(f"start must be in whole seconds, got {start.isoformat()}")
        try:
            return start.astimezone(UTC)
        except OverflowError:
            raise ValueError(f"start must be in the years 1 to 9999 in UTC, got {start.isoformat()}") from None
    if isinstance(start, date):
        return datetime(start.year, start.month, start.day, tzinfo=UTC)
    raise TypeError(f"start must be a date, or a datetime with a time zone, got {type(start).__name__}")


def duration_of(name: str, given: Any, least: timedelta, most: timedelta) -> timedelta:
    """Return a duration in whole seconds, which is given as such or as text."""
    if isinstance(given, str):
        found = re.fullmatch(rf"([0-9]{{1,8}}) ({'|'.join(UNITS)})s?", given)
        if found is None:
            raise ValueError(f"{name} must be a number of {', '.join(f'{unit}s' for unit in UNITS)}, got {given!r}")
        duration = timedelta(seconds=int(found[1]) * UNITS[found[2]])
    elif isinstance(given, timedelta):
        duration = given
    else:
        raise TypeError(f"{name} must be a timedelta, or a text such as '1 week', got {type(given).__name__}")
    if not least <= duration <= most or duration % SECOND:
        allowed = f"[{_text_of(_seconds(least))}, {_text_of(_seconds(most))}]"
        raise ValueError(f"{name} must be in {allowed}, in whole seconds, got {given!r}")
    return duration


def _text_of(seconds: int) -> str:
    """Return a duration as a text that `duration_of` reads, in the largest unit of which it is a multiple."""
    unit = next(unit for unit, size in UNITS.items() if seconds % size == 0 and (seconds or size == 1))
    number = seconds // UNITS[unit]
    return f"{number} {unit}{'s' * (number != 1)}"
