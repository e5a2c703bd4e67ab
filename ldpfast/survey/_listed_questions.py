"""What people are asked, for pages that people read."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ..reports import recipe_of
from ._cross import Cross
from ._pairs import Pairs

if TYPE_CHECKING:
    from ._survey import Survey


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


def listed_questions(survey: Survey) -> list[ListedQuestion]:
    """Return all questions of a survey, in their order."""
    recipe = recipe_of(survey)
    shares = {
        item.name: item.weight if survey.answers == 1 else Fraction(survey.answers, len(recipe.items))
        for item in recipe.items
    }
    found = []
    for name, question in survey.questions.items():
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
