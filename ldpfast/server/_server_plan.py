"""What a server receives: the versions of a survey, its waves or rounds, and the groups of people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from .. import _check
from ..reports import Aggregator, recipe_of
from ..survey import Calendar, Survey, SurveyRound
from ..survey._client_table import check_optional
from ..survey._panel import Series

MAX_GROUPS = 10_000
MAX_LABEL_BYTES = 255


@dataclass(frozen=True)
class SurveyOccasion:
    """A survey that people answer once: a version of it, in a wave or round if there are any.

    Attributes
    ----------
    survey : Survey
        Of the wave or round, if there are any.
    key : bytes
        What a report counts once for: the series and the wave or round, or the fingerprint of a survey without them.
    """

    survey: Survey
    key: bytes

    @classmethod
    def of(cls, survey: Survey) -> SurveyOccasion:
        """Return the occasion of a survey."""
        series = recipe_of(survey).series
        return cls(survey, recipe_of(survey).head[1:] if series.entry is None else key_of(series, series.entry))

    @cached_property
    def fingerprint(self) -> bytes:
        """First 8 bytes of the digest of the schema, which messages carry."""
        return recipe_of(self.survey).head[1:]

    @property
    def entry(self) -> int | None:
        """Number in the database: that of the wave, or of the round from 1 on."""
        return recipe_of(self.survey).series.entry

    @property
    def unit(self) -> str:
        """What the number counts: "wave", "round", or "" without them."""
        return "" if self.entry is None else "wave" if recipe_of(self.survey).series.rounds is None else "round"

    @property
    def number(self) -> int | None:
        """Number of the wave, from 1 on, or of the round, from 0 on."""
        rounds = recipe_of(self.survey).series.rounds
        return self.entry if rounds is None else rounds.number

    @property
    def title(self) -> str:
        """Name of the wave or round; empty without them."""
        return f"{self.unit} {self.number}" if self.unit else ""

    def counted(self, groups: Iterable[Aggregator]) -> Aggregator:
        """Return the counts of all people, from the counts of their groups."""
        whole = self.survey.aggregator()
        for one in groups:
            whole.merge(one)
        return whole

    def described(self) -> dict[str, int | None]:
        """Return the numbers of the wave and of the round as types for JSON."""
        return {unit: self.number if unit == self.unit else None for unit in ("wave", "round")}


def key_of(series: Series, entry: int) -> bytes:
    """Return what a report counts once for in a wave or round of a series, by its number in the database."""
    return series.promise + entry.to_bytes(4, "little")


@dataclass(frozen=True)
class ServerPlan:
    """The surveys that a server receives.

    Attributes
    ----------
    versions : tuple of Survey
        Versions of a survey of one series, ascending: whole surveys, or the first rounds of repeated surveys.
    open : tuple of Survey
        What reports are received for: the versions, each in every open wave, or rounds. The last one of a version is the
        current one.
    groups : tuple of str
        Declared labels of groups; empty if people are not divided.
    calendar : Calendar or None
        What opens and closes the waves. Then those that open next are among the surveys, too; see `at`.
    wave : int or None
        With a calendar, the current wave, or the one that is nearest.
    """

    versions: tuple[Survey, ...]
    open: tuple[Survey, ...]
    groups: tuple[str, ...]
    calendar: Calendar | None = None
    wave: int | None = None

    @classmethod
    def of(
        cls,
        surveys: Survey | Sequence[Survey],
        waves: int | Sequence[int] | None,
        groups: Any,
        now: int | None = None,
    ) -> ServerPlan:
        """Return the plan of surveys, after a check.

        With `now`, in seconds since the epoch, surveys with a calendar have the waves of this moment, and `waves` must be left
        out.

        Raises
        ------
        TypeError, ValueError
            If they are not versions of one series, or rounds of such versions; if waves are missing or superfluous; if a
            question is not optional; if a group is declared twice.
        """
        given = [surveys] if isinstance(surveys, Survey) else list(surveys) if isinstance(surveys, Iterable) else []
        if not given or not all(isinstance(survey, Survey) for survey in given):
            raise TypeError(f"surveys must be a Survey or a list of them, got {surveys!r}")
        for survey in given:
            check_optional(recipe_of(survey).declared)
            if recipe_of(survey).series.promise != recipe_of(given[0]).series.promise:
                raise ValueError("surveys must be versions of one series, with the same epsilon and numbers of answers")
            if survey.wave is not None:
                raise ValueError(f"surveys must be whole, got that of wave {survey.wave}: use waves")
            if survey.calendar != given[0].calendar:
                raise ValueError("surveys must be versions with one calendar")
        versions = _versions_of(given)
        if now is not None and versions[0].calendar is not None:
            if waves is not None:
                raise ValueError(
                    f"waves must be left out for a survey with a calendar, which opens them, got {waves!r}"
                )
            return cls(tuple(versions), (), _checked_groups(groups), versions[0].calendar).at(now)
        listed = [] if waves is None else [waves] if isinstance(waves, int) else list(waves)
        if versions[0].waves is None and listed:
            raise ValueError(f"waves must be left out for a survey without waves, got {waves!r}")
        if versions[0].waves is not None and not listed:
            raise ValueError(f"waves must be the open waves of a survey with {versions[0].waves} waves, got none")
        panel = recipe_of(versions[0]).series.panel
        checked = tuple(panel.checked(wave) for wave in listed) if panel is not None else ()
        if len(set(checked)) < len(checked):
            raise ValueError(f"waves must be different, got {waves!r}")
        asked = [survey.in_wave(wave) for survey in versions for wave in checked] if checked else given
        return cls(tuple(versions), tuple(asked), _checked_groups(groups))

    def at(self, now: int) -> ServerPlan:
        """Return the plan at another moment, for a plan with a calendar.

        It has the waves that are received then or one wave later, and the current or nearest one. So it stays valid for the
        length of a wave, and what is received at a moment is decided with each report.
        """
        assert self.calendar is not None
        calendar = self.calendar
        wave = calendar.wave_at(now) or (1 if now < calendar.opens(1) else calendar.last)
        later = now + calendar.closes(1) - calendar.opens(1)
        waves = {wave, *calendar.received(now), *calendar.received(later)}
        known = {(survey.revision, survey.wave): survey for survey in self.open}
        asked = [
            known.get((version.revision, number)) or version.in_wave(number)
            for version in self.versions
            for number in sorted(waves)
        ]
        return replace(self, open=tuple(asked), wave=wave)

    @property
    def waves(self) -> set[int]:
        """Numbers of the waves of the plan."""
        return {survey.wave for survey in self.open if survey.wave is not None}

    @property
    def current(self) -> Survey:
        """The newest version, in the current wave or round."""
        survey = self.now(self.versions[-1])
        assert survey is not None
        return survey

    def occasions(self) -> dict[bytes, SurveyOccasion]:
        """Return what is open, by fingerprint."""
        return self._occasions

    @cached_property
    def _occasions(self) -> dict[bytes, SurveyOccasion]:
        return {occasion.fingerprint: occasion for occasion in map(SurveyOccasion.of, self.open)}

    def in_wave(self, wave: int) -> list[SurveyOccasion]:
        """Return all versions in a wave."""
        return [SurveyOccasion.of(version.in_wave(wave)) for version in self.versions]

    def titles(self) -> list[str]:
        """Return the names of the open waves or rounds; none without them."""
        return list(dict.fromkeys(one.title for one in self.occasions().values() if one.unit))

    def version(self, revision: int) -> Survey | None:
        """Return the version with a number; None if there is no such version."""
        return next((survey for survey in self.versions if survey.revision == revision), None)

    def now(self, version: Survey, wave: int | None = None) -> Survey | None:
        """Return the survey of the current wave or round of a version, or of another wave; None if this is not open."""
        own = [survey for survey in self.open if survey.revision == version.revision]
        number = self.wave if wave is None else wave
        return next((survey for survey in reversed(own) if number in (None, survey.wave)), None)


def at_entry(version: Survey, entry: int | None) -> Survey | None:
    """Return a version of a plan in the wave or round with a number in the database; None if it has no such one."""
    panel = recipe_of(version).series.panel
    if isinstance(version, SurveyRound):
        return None if entry is None else replace(version, number=entry - 1)
    if entry is None or panel is None:
        return version if entry is None and panel is None else None
    return version.in_wave(entry) if panel.open_ended or entry <= panel.waves else None


def checked_questions(argument: str, names: Any, survey: Survey) -> tuple[str, ...]:
    """Return the names of questions of a survey, none for None; `argument` is for error messages.

    Raises
    ------
    TypeError, ValueError
        If they are not questions of the survey with declared answers, or one is named twice.
    """
    if names is None:
        return ()
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise TypeError(f"{argument} must be a list of names of questions, got {type(names).__name__}")
    listed, texts = tuple(names), texts_of(survey)
    allowed = [name for name in survey.questions if name not in texts]
    for name in listed:
        if name not in allowed:
            raise ValueError(f"{argument} must be questions with declared answers, {allowed}, got {name!r}")
    if len(set(listed)) < len(listed):
        raise ValueError(f"{argument} must be different, got {list(listed)}")
    return listed


def texts_of(survey: Survey) -> set[str]:
    """Return the names of the questions that people answer with texts of their own."""
    return {name for name, column in recipe_of(survey).declared.items() if column.encoding == "string"}


def _versions_of(surveys: Sequence[Survey]) -> list[Survey]:
    """Return the versions of surveys, ascending, after a check that none is there twice."""
    found: dict[int, Survey] = {}
    for i, survey in enumerate(surveys):
        version = replace(survey, number=0) if isinstance(survey, SurveyRound) else survey
        if found.setdefault(survey.revision, version) != version or survey in surveys[:i]:
            raise ValueError(
                f"surveys must have different revisions, or be different rounds of a version, got two of revision "
                f"{survey.revision}"
            )
    return [found[revision] for revision in sorted(found)]


def _checked_groups(groups: Any) -> tuple[str, ...]:
    if groups is None:
        return ()
    if isinstance(groups, str | Mapping) or not all(isinstance(label, str) and label for label in groups):
        raise TypeError(f"groups must be a list of non-empty texts, got {groups!r}")
    labels = tuple(groups)
    _check.labels("groups", labels)
    _check.integer("number of groups", len(labels), 1, MAX_GROUPS)
    if len(set(labels)) < len(labels) or max(len(label.encode()) for label in labels) > MAX_LABEL_BYTES:
        raise ValueError(f"groups must be different texts of at most {MAX_LABEL_BYTES} bytes, got {groups!r}")
    return labels
