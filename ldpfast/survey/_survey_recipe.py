"""The recipe of surveys: how tables of people become reports, and reports become counts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .._extras import optional
from .._typing import AnyArray
from ..privacy import ReportLaw, laws_of_answers
from ..reports import Counts, Recipe, recipe_of
from ..results import Occasion, Plausibility
from . import _messages, _survey_tally
from ._answers_per_person import WORDS
from ._layout import SurveyLayout
from ._survey_people import SurveyPeople, warn_clipped, warn_public
from ._survey_reports import reports_by_question
from ._survey_simulation import Simulated, simulated

if TYPE_CHECKING:
    from numpy.random import Generator

    from .._frames import By, Groups
    from .._random import RNGLike


@dataclass(frozen=True, eq=False)
class SurveyRecipe(SurveyLayout, Recipe):
    """How the people of a survey answer, and how their reports are counted. Its data are those of `SurveyLayout`."""

    # People -----------------------------------------------------------------------------------------------------------

    @property
    def occasion(self) -> Occasion:  # type: ignore[override]
        """The series and the wave. Surveys without a name are one series, which the same people may answer."""
        return self.series.occasion

    def collect(self, new: Callable[[Groups | None], Counts], x: Any, by: Any, rng: RNGLike, clip: bool) -> Counts:
        return SurveyPeople(self, x, rng, clip, by).collect(new)

    def messages(self, x: Any, rng: RNGLike, clip: bool) -> Iterator[Any]:
        for table in SurveyPeople(self, x, rng, clip).tables():
            yield _messages.messages_of(self, table)

    def warn_clipped(self, n: int, clipped: dict[str, int]) -> None:
        warn_clipped(self, n, clipped)

    def check_groups(self, by: Any) -> None:
        warn_public(self, by)

    def require_keys(self, personal: bool) -> None:
        self.series.require_keys(personal)

    def simulated(self, people: Any, n: Any, by: By | None, generator: Generator) -> Simulated:
        """Return the counts of the reports of people, who are drawn from the rows of a table, by groups."""
        return simulated(self, people, n, by, generator)

    draw = None

    @cached_property
    def report_laws(self) -> Sequence[ReportLaw] | None:
        """Laws of one report for `privacy.shuffled`: which questions a person answers is drawn at random, and is in the report.

        Raises
        ------
        ValueError
            If there are waves, and none is chosen; for a round, which shows permanent answers again.
        """
        self.series.require_wave()
        if self.series.rounds is not None:
            raise ValueError("a round of a repeated survey has permanent answers: its loss is that of Repeated.loss")
        # The draws round the probabilities: those of one question are multiples of 2^-32, and of q questions left each is drawn
        # with a probability of at most 1 / q + 2^-32. Personal keys draw with the weights.
        limits = [0, *self.thresholds.tolist(), WORDS]
        drawn = [Fraction(last - first, WORDS) for first, last in itertools.pairwise(limits)]
        questions = [
            (max(item.weight, share), mechanism.report_laws, mechanism.epsilon_realized)
            for item, share, mechanism in zip(self.items, drawn, self.mechanisms, strict=True)
        ]
        bias = 0.0 if self.answers == 1 else 2 * self.answers * len(self.items) / WORDS
        return laws_of_answers(questions, self.answers, bias=bias)

    # The server -------------------------------------------------------------------------------------------------------

    def tally(self, reports: Any) -> tuple[list[AnyArray], int]:
        return _survey_tally.tally(self, reports)

    def plausibility(self, reports: Any) -> dict[str, Plausibility]:
        answers = reports_by_question(self, reports)
        found = {
            name: recipe_of(mechanism).plausibility(own)
            for name, mechanism, own in zip(self.names, self.mechanisms, answers, strict=True)
            if len(own)
        }
        if not found:
            raise ValueError("reports must be at least 1, got none")
        return found

    @cached_property
    def entropy(self) -> float:
        # Whichever questions a person answers, the answers have coins of their own.
        least = sorted(recipe_of(mechanism).entropy for mechanism in self.mechanisms)
        return sum(least[: self.answers])

    def valid_messages(self, messages: Sequence[bytes]) -> tuple[list[list[bytes]], Counter[str]]:
        return _survey_tally.valid_messages(self, messages)

    def merge(self, states: Sequence[AnyArray], others: Sequence[AnyArray]) -> None:
        _survey_tally.merge(self, states, others)

    def is_possible(self, states: Sequence[AnyArray], n: int) -> bool:
        return _survey_tally.is_possible(self, states, n)

    def to_arrow(self, reports: Any) -> Any:
        self.tally(reports)
        return optional("pyarrow", "files").table(reports)

    def from_arrow(self, table: Any) -> Any:
        return self.to_arrow(table)

    def message(self, report: Any) -> bytes:
        table = self.to_arrow(report)
        if table.num_rows != 1:
            raise ValueError(f"report must be one report, got {table.num_rows}")
        message: bytes = _messages.messages_of(self, table)[0].as_py()
        return message
