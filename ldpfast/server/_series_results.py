"""The estimates of all waves or rounds of a survey together, and their comparison."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Event
from typing import Any

from ._results import AbandonedError, Primary, ResultCache, Results, compared
from ._server_plan import SurveyOccasion, texts_of


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

    def _each(self, gone: Event) -> list[Results]:
        """Return the results of all occasions, which are computed one after the other.

        Raises
        ------
        AbandonedError
            If `gone` is set before all are computed.
        """
        found = []
        for occasion in self._occasions:
            if gone.is_set():
                raise AbandonedError
            results = self._cache.of(occasion)
            results.answers()
            self._cache.release()  # the counts of all waves together can be large
            found.append(results)
        return found

    def newest(self, gone: Event) -> list[Results]:
        """Return the results of the newest version with reports of each wave or round; `AbandonedError` as above."""
        return list({results.occasion.entry: results for results in self._each(gone) if results.n}.values())

    def to_dict(self, gone: Event) -> list[dict[str, Any]]:
        """Return everything as types for JSON, one entry for each version of each wave or round."""
        return [results.to_dict(False, gone) for results in self._each(gone)]

    def columns(self, gone: Event) -> dict[str, list[Any]]:
        """Return a table of all answers, with columns of waves or rounds, and of versions."""
        columns: dict[str, list[Any]] = {}
        for results in self._each(gone):
            part, occasion = results.columns(False, gone), results.occasion
            rows = len(next(iter(part.values()), ()))
            ends: dict[str, list[Any]] = {
                occasion.unit: [occasion.number] * rows,
                "version": [occasion.survey.revision] * rows,
            }
            for name, values in {**ends, **part}.items():
                columns.setdefault(name, []).extend(values)
        return columns

    def compared(self, reference: str | None, primary: Primary, gone: Event) -> list[dict[str, Any]]:
        """Return the differences of waves as types for JSON, of the newest version of each, whose names are their numbers.

        Raises
        ------
        ValueError
            If people answer in several of them, or they cannot be compared (`survey.compare`).
        """
        survey = self._occasions[-1].survey
        if self._occasions[-1].unit != "wave" or survey.turns > 1:
            raise ValueError("the same people answer in several of them, so that their differences have other errors")
        found = {str(results.occasion.number): results.result() for results in self.newest(gone)}
        return compared({name: result for name, result in found.items() if result is not None}, reference, primary)
