"""What texts for people say about a survey: the questions, how many of them a person answers, and the losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..mechanisms import Mechanism
from ._cross import Cross
from ._pairs import Pairs
from ._panel import Panel
from ._questions import SurveyQuestion
from ._survey_plan import SurveyPlan
from ._survey_recipe import SurveyRecipe

PERIODS = 2  # of an open-ended series whose loss is stated together


@dataclass(frozen=True)
class ListedQuestion:
    """A question of a survey.

    Attributes
    ----------
    name : str
    answer : str
        What a person can answer.
    optional : bool or None
        Whether the answer may be missing; None for a question that combines others.
    share : Fraction
        Share of the people of a wave who are asked it; 0 for a question that is declared for others only.
    """

    name: str
    answer: str
    optional: bool | None
    share: Fraction


def listed_questions(questions: Mapping[str, SurveyQuestion], recipe: SurveyRecipe) -> list[ListedQuestion]:
    """Return all questions of a survey, in their order."""
    shares = {
        item.name: item.weight if recipe.answers == 1 else Fraction(recipe.answers, len(recipe.items))
        for item in recipe.items
    }
    found = []
    for name, question in questions.items():
        optional: bool | None = None
        if isinstance(question, Cross):
            answer = f"the questions {' and '.join(question.parts)} together"
        elif isinstance(question, Pairs):
            answer = f"some of the questions {', '.join(question.parts)}, drawn at random, together"
        else:
            column = recipe.declared[name]
            answer, optional = column.answer_text(), column.optional
        found.append(ListedQuestion(name, answer, optional, shares.get(name, Fraction(0))))
    return found


def how_many(answers: int, asked: int) -> str:
    """Return how many of several questions a person answers, as an end of a sentence."""
    if answers == asked:
        return "all of them" if asked > 1 else "it"
    some = "one of them" if answers == 1 else f"{answers} of them"
    return f"{some}, drawn at random without looking at the answers"


def turns_of(turns: int, waves: int) -> str:
    """Return in how many of several waves a person is asked, as an end of a sentence."""
    if turns == waves:
        return "all of them"
    return f"{'one' if turns == 1 else turns} of them, drawn at random"


@dataclass(frozen=True)
class SurveyFacts:
    """What texts say about a whole survey, and not about one of its waves or rounds.

    Attributes
    ----------
    questions : mapping of str to SurveyQuestion
    recipe : SurveyRecipe
    fingerprint : str
    wave_loss : float or None
        Loss of a person in one wave, for a survey with waves.
    periods_loss : float or None
        Loss of a person in several periods, for an open-ended survey.
    planned : callable
        Function that returns the plan for a number of people.
    """

    questions: Mapping[str, SurveyQuestion]
    recipe: SurveyRecipe
    fingerprint: str
    wave_loss: float | None
    periods_loss: float | None
    planned: Callable[[int], SurveyPlan]

    @property
    def panel(self) -> Panel | None:
        """The waves; None for a survey without waves."""
        return self.recipe.series.panel

    @property
    def is_endless(self) -> bool:
        """Whether the survey goes on after its waves."""
        return self.panel is not None and self.panel.open_ended

    @property
    def epsilon(self) -> float:
        """Loss of a person by all answers together, in all waves of a period."""
        return self.recipe.guarantee.epsilon

    @property
    def reports(self) -> int:
        """Number of answers of a person, in all waves of a period."""
        return self.recipe.answers * (1 if self.panel is None else self.panel.turns)

    @cached_property
    def listed(self) -> list[ListedQuestion]:
        """All questions."""
        return listed_questions(self.questions, self.recipe)

    @cached_property
    def mechanisms(self) -> dict[str, Mechanism]:
        """Mechanism of each question that is asked."""
        return dict(zip(self.recipe.names, self.recipe.mechanisms, strict=True))

    @cached_property
    def losses(self) -> dict[str, float]:
        """Losses by what somebody sees, in words that are said to the person: one answer, one wave, everything last."""
        found = {}
        if self.reports > 1:
            found["one of your answers"] = max(mechanism.epsilon_realized for mechanism in self.recipe.mechanisms)
        whole = "everything that is sent for you"
        if self.panel is None or self.wave_loss is None:
            return {**found, whole: self.epsilon}
        found[f"{whole} in one wave"] = self.wave_loss
        if self.periods_loss is None:
            return {**found, f"{whole} in all {self.panel.waves} waves": self.epsilon}
        found[f"{whole} in one period of {self.panel.waves} waves"] = self.epsilon
        return {**found, f"{whole} in {PERIODS} periods": self.periods_loss}

    @property
    def turns_text(self) -> str:
        """In which waves a person answers, as an end of a sentence; empty without waves."""
        if self.panel is None:
            return ""
        period = "each period of " * self.panel.open_ended
        if self.panel.turns == self.panel.waves:
            return f"in all {self.panel.waves} waves"
        return f"in {self.panel.turns} of {period}{self.panel.waves} waves, drawn at random"
