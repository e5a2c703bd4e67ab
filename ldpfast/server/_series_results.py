"""The estimates of all waves or rounds of a survey together, and their comparison."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from threading import Event
from typing import Any

from ..reports import recipe_of
from ..survey._compare import answers_alike
from ._results import AbandonedError, Primary, ResultCache, Results, compared
from ._server_plan import SurveyOccasion, texts_of

Occasions = Sequence[SurveyOccasion]  # what is estimated together


class SeriesResults:
    """The answers of all people in all waves or rounds, also of several versions.

    Parameters
    ----------
    cache : ResultCache
    occasions : sequence of SurveyOccasion
        Ascending. For tables, those that have reports, with waves or rounds.
    """

    def __init__(self, cache: ResultCache, occasions: Sequence[SurveyOccasion]) -> None:
        self._cache, self._occasions = cache, occasions

    @property
    def texts(self) -> set[str]:
        """Names of the questions that people answer with texts of their own, in any version."""
        return set().union(*(texts_of(occasion.survey) for occasion in self._occasions))

    def waves(self, gone: Event, grouped: bool = False) -> list[Results]:
        """Return the results of each wave, of all versions together, or of the newest version of each round.

        A person answers one version of a wave. In rounds, and without waves, the same people can answer several ones.
        """
        return self._computed(self._by_wave(), gone, grouped)

    def to_dict(self, gone: Event, grouped: bool = False, together: bool = False) -> list[dict[str, Any]]:
        """Return everything as types for JSON, one entry for each version of each wave or round, or for each wave."""
        parts = self._by_wave() if together else self._one_by_one()
        return [results.to_dict(grouped, gone) for results in self._computed(parts, gone, grouped)]

    def columns(self, gone: Event, grouped: bool = False, together: bool = False) -> dict[str, list[Any]]:
        """Return a table of all answers, with columns of waves or rounds, and of versions; see `to_dict`."""
        parts = self._by_wave() if together else self._one_by_one()
        pieces = []
        for results in self._computed(parts, gone, grouped):
            version = _versions(results) if together else results.occasion.survey.revision
            pieces.append(self._piece(results.columns(grouped, gone), results.occasion.number, version))
        return _joined(pieces)

    def everything(self, gone: Event) -> dict[str, list[Any]]:
        """Return a table of the answers to all versions in all waves or rounds, of all people and of each group.

        Without a group, a row is about all people; without a version, about all versions of a wave that has several; and
        without a wave, about all waves, if these have different people.
        """
        every = [(part, part[0].number, part[0].survey.revision) for part in self._one_by_one()]
        rows: list[tuple[Occasions, int | None, int | None]] = list(every)
        rows += [(part, part[0].number, None) for part in self._by_wave() if len(part) > 1]
        if len(self._occasions) > 1 and self.are_different_people:
            rows.append((self._occasions, None, None))
        rows.sort(key=lambda row: (row[1] is None, row[1] or 0, row[2] is None))
        pieces = []
        for part, number, version in rows:
            for grouped in (False, True):
                (results,) = self._computed([part], gone, grouped)
                columns = results.columns(grouped, gone)
                groups = columns.pop("group", [None] * len(next(iter(columns.values()), ())))
                if not grouped or set(results.n_by_label) != {""}:
                    pieces.append(self._piece({"group": groups, **columns}, number, version))
        found = _joined(pieces)
        return found if set(found.get("group", ())) != {None} else {k: v for k, v in found.items() if k != "group"}

    @property
    def are_different_people(self) -> bool:
        """Whether nobody is asked in two of the waves."""
        people = [recipe_of(part[0].survey).occasion for part in self._by_wave()]
        series = {recipe_of(one.survey).series.digest for one in self._occasions}
        return self._unit == "wave" and len(series) == 1 and len(set(people)) == len(people)

    def pooled(self) -> Results:
        """Return the results of all waves and versions together.

        Raises
        ------
        ValueError
            If the same people can answer in several of them.
        """
        if not self.are_different_people:
            raise ValueError("the same people answer in several of them, so that they are not pooled")
        return self._cache.of(*self._occasions)

    @property
    def _unit(self) -> str:
        return self._occasions[-1].unit

    def _one_by_one(self) -> list[Occasions]:
        return [(occasion,) for occasion in self._occasions]

    def _by_wave(self) -> list[Occasions]:
        found: dict[Any, list[SurveyOccasion]] = {}
        for one in self._occasions:
            found.setdefault(one.key if one.unit == "wave" else one.entry, []).append(one)
        return [part if part[0].unit == "wave" else part[-1:] for part in found.values()]

    def _computed(self, parts: Iterable[Occasions], gone: Event, grouped: bool) -> list[Results]:
        """Return the results of parts, which are computed one after the other.

        Raises
        ------
        AbandonedError
            If `gone` is set before all are computed.
        """
        found = []
        for part in parts:
            if gone.is_set():
                raise AbandonedError
            results = self._cache.of(*part)
            results.by(grouped, gone)
            self._cache.release()  # the counts of all waves together can be large
            found.append(results)
        return found

    def _piece(self, columns: dict[str, list[Any]], number: int | None, version: Any) -> dict[str, list[Any]]:
        """Return a table with columns of the wave or round, and of the version."""
        rows = len(next(iter(columns.values()), ()))
        when = {self._unit: [number] * rows} if self._unit else {}
        return {**when, "version": [version] * rows, **columns}

    def compared(self, reference: str | None, primary: Primary, gone: Event) -> list[dict[str, Any]]:
        """Return the differences of waves as types for JSON, each of all versions together, whose names are their numbers.

        They are of the questions that all waves have, with answers alike (`answers_alike`).

        Raises
        ------
        ValueError
            If people can answer in two that are compared, or they cannot be compared (`survey.compare`).
        """
        found = {str(results.occasion.number): results for results in self.waves(gone) if results.n}
        people = {name: recipe_of(results.occasion.survey).occasion for name, results in found.items()}
        pairs = zip(found, [*found][1:], strict=False) if reference is None else ((reference, name) for name in found)
        same = any(a in people and a != b and people[a].can_share(people[b]) for a, b in pairs)
        if self._unit != "wave" or same:
            raise ValueError("the same people answer in several of them, so that their differences have other errors")
        every = {name: results.result() for name, results in found.items()}
        given = {name: result for name, result in every.items() if result is not None}
        return compared(answers_alike(given), reference, primary)


def _versions(results: Results) -> str:
    """Return the versions that are in an answer."""
    versions = {one.survey.revision for one in getattr(results, "occasions", (results.occasion,))}
    return ", ".join(map(str, sorted(versions)))


def _joined(pieces: Iterable[dict[str, list[Any]]]) -> dict[str, list[Any]]:
    """Return tables below each other."""
    columns: dict[str, list[Any]] = {}
    for piece in pieces:
        for name, values in piece.items():
            columns.setdefault(name, []).extend(values)
    return columns
