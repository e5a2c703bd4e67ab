"""The coins of a person's answer to one question: what they depend on, and how they make the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .. import _schema
from .._person_keys import PersonKeys, Persons, QuestionKeys
from .._typing import AnyArray
from ..mechanisms import Mechanism
from ..mechanisms._kernel import answer_asked
from ..reports import recipe_of
from ._two_responses import TwoResponses


@dataclass(frozen=True)
class Round:
    """A round of a repeated question.

    Attributes
    ----------
    number : int
        Number of the round, from 0 on.
    description : bytes
        Digest on which the coins of the response to the permanent answer depend.
    """

    number: int
    description: bytes


@dataclass(frozen=True)
class AnswerCoins:
    """What the personal coins of the answers to one question depend on, besides its name, the persons and their values.

    Attributes
    ----------
    mechanism : Mechanism
        In a round, the two responses.
    series : bytes
        Digest of the series of surveys that the question is asked in; `NO_SERIES` outside of surveys.
    description : bytes
        Digest of everything that fixes the distribution and the meaning of the reports; in a round, of the permanent answers.
    round : Round or None
        None for a question that is not repeated.
    """

    mechanism: Mechanism
    series: bytes
    description: bytes
    round: Round | None = None

    @classmethod
    def permanent(cls, mechanism: TwoResponses, series: bytes, description: bytes, round: Round) -> AnswerCoins:
        """Return the coins of a question that is repeated, from the digest of the question that is asked once.

        They are not those of the same question that is asked once, whose reports would show the permanent answers.
        """
        return cls(mechanism, series, _schema.digest({"permanent": description.hex()}), round)

    def responder(self, keys: PersonKeys, name: str, persons: Persons) -> Responder:
        """Return what makes the reports of persons to a question with a name."""
        own, fresh = keys.named(self.series, name, self.description, persons), None
        if self.round is not None:
            fresh = keys.round(self.series, name, self.round.description, self.round.number, persons)
        return Responder(self.mechanism, own, fresh)


@dataclass(frozen=True)
class Responder:
    """Makes the reports of persons to one question.

    Attributes
    ----------
    mechanism : Mechanism
    own : QuestionKeys
        Keys of the values of persons.
    fresh : QuestionKeys or None
        Keys of the round.
    """

    mechanism: Any
    own: QuestionKeys
    fresh: QuestionKeys | None

    def respond(self, start: int, own: AnyArray, records: AnyArray, out: AnyArray) -> None:
        """Write the reports of persons from number `start` on, with the keys of their values."""
        if self.fresh is None and recipe_of(self.mechanism).kernel.asks:
            answer_asked(recipe_of(self.mechanism).kernel, self.own, start, records, out)
        elif self.fresh is None:
            recipe_of(self.mechanism).kernel.privatize_each(own, records, out)
        else:
            self.mechanism.respond(own, self.fresh, start, records, out)
