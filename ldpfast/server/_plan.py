"""What a server receives: the versions of a survey, its waves, and the groups of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .. import _check
from ..reports import recipe_of
from ..survey import Survey
from ..survey._client_table import check_optional

MAX_GROUPS = 10_000
MAX_LABEL_BYTES = 255


@dataclass(frozen=True)
class Occasion:
    """A survey that people answer once: a version of it, in a wave or round if there are any.

    Attributes
    ----------
    survey : Survey
        Of the wave, if there are waves.
    key : bytes
        What a report counts once for: the series and the wave, or the fingerprint of a survey without waves.
    """

    survey: Survey
    key: bytes

    @classmethod
    def of(cls, survey: Survey) -> Occasion:
        """Return the occasion of a survey."""
        entry = recipe_of(survey).series.entry
        label = (
            recipe_of(survey).head[1:]
            if entry is None
            else recipe_of(survey).series.promise + entry.to_bytes(4, "little")
        )
        return cls(survey, label)

    @cached_property
    def fingerprint(self) -> bytes:
        """First 8 bytes of the digest of the schema, which messages carry."""
        return recipe_of(self.survey).head[1:]

    @property
    def number(self) -> int | None:
        """Number of the wave."""
        return recipe_of(self.survey).series.entry


@dataclass(frozen=True)
class ServerPlan:
    """The surveys that a server receives.

    Attributes
    ----------
    versions : tuple of Survey
        Versions of a survey of one series, ascending.
    waves : tuple of int
        Waves that are open, of which the last is the current one; empty without waves.
    groups : tuple of str
        Declared labels of groups; empty if people are not divided.
    """

    versions: tuple[Survey, ...]
    waves: tuple[int, ...]
    groups: tuple[str, ...]

    @classmethod
    def of(cls, surveys: Survey | Sequence[Survey], waves: int | Sequence[int] | None, groups: Any) -> ServerPlan:
        """Return the plan of surveys, after a check.

        Raises
        ------
        TypeError, ValueError
            If they are not versions of one series; if waves are missing or superfluous; if a question is not optional; if a
            group is declared twice.
        """
        versions = [surveys] if isinstance(surveys, Survey) else list(surveys)
        if not versions or not all(isinstance(survey, Survey) for survey in versions):
            raise TypeError(f"surveys must be a Survey or a list of them, got {surveys!r}")
        for survey in versions:
            check_optional(recipe_of(survey).declared)
            if recipe_of(survey).series.promise != recipe_of(versions[0]).series.promise:
                raise ValueError("surveys must be versions of one series, with the same epsilon and numbers of answers")
            if survey.wave is not None:
                raise ValueError(f"surveys must be whole, got that of wave {survey.wave}: use waves")
        numbers = [survey.revision for survey in versions]
        if len(set(numbers)) < len(numbers):
            raise ValueError(f"surveys must have different revisions, got {numbers}")
        versions.sort(key=lambda survey: survey.revision)
        listed = [] if waves is None else [waves] if isinstance(waves, int) else list(waves)
        if versions[0].waves is None and listed:
            raise ValueError(f"waves must be left out for a survey without waves, got {waves!r}")
        if versions[0].waves is not None and not listed:
            raise ValueError(f"waves must be the open waves of a survey with {versions[0].waves} waves, got none")
        panel = recipe_of(versions[0]).series.panel
        checked = tuple(panel.checked(wave) for wave in listed) if panel is not None else ()
        if len(set(checked)) < len(checked):
            raise ValueError(f"waves must be different, got {waves!r}")
        return cls(tuple(versions), checked, _checked_groups(groups))

    @property
    def current(self) -> Survey:
        """The newest version, in the current wave."""
        return self.in_current_wave(self.versions[-1])

    def occasions(self) -> dict[bytes, Occasion]:
        """Return what is open, by fingerprint."""
        surveys = (
            [survey.in_wave(wave) for survey in self.versions for wave in self.waves] if self.waves else self.versions
        )
        return {occasion.fingerprint: occasion for occasion in map(Occasion.of, surveys)}

    def version(self, revision: int) -> Survey | None:
        """Return the whole survey of the version with a number; None if there is no such version."""
        return next((survey for survey in self.versions if survey.revision == revision), None)

    def in_current_wave(self, survey: Survey) -> Survey:
        """Return the survey of the current wave of a version."""
        return survey.in_wave(self.waves[-1]) if self.waves else survey


def _checked_groups(groups: Any) -> tuple[str, ...]:
    if groups is None:
        return ()
    if isinstance(groups, str | Mapping) or not all(isinstance(label, str) and label for label in groups):
        raise TypeError(f"groups must be a list of non-empty texts, got {groups!r}")
    labels = tuple(groups)
    _check.integer("number of groups", len(labels), 1, MAX_GROUPS)
    if len(set(labels)) < len(labels) or max(len(label.encode()) for label in labels) > MAX_LABEL_BYTES:
        raise ValueError(f"groups must be different texts of at most {MAX_LABEL_BYTES} bytes, got {groups!r}")
    return labels
