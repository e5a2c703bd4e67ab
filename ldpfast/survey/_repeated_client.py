"""The device of one person that answers a repeated question."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .. import _check
from .._person_keys import PersonKeys

MAX_ROUNDS = 1 << 32


class RepeatedClient:
    """The device of one person that answers a repeated question, with a ledger of the rounds.

    Attributes
    ----------
    answered : frozenset of int
        Rounds that were answered. The device must store it, for the next client.

    Examples
    --------
    >>> from ldpfast.survey import Repeated, YesNo
    >>> question = Repeated(YesNo(optional=True), permanent=3.0, round=1.0, rounds=30)
    >>> client = question.client(bytes(32), "person 7", question="smoker")  # use secrets.token_bytes(32)
    >>> len(client.answer(True, 0))
    12
    """

    def __init__(self, recipe_in: Callable[[int], Any], rounds: int, keys: PersonKeys, answered: Iterable[int]) -> None:
        self._recipe_in = recipe_in
        self._rounds = rounds
        self._keys = keys
        self.answered = frozenset(_check.integer("answered", number, 0, MAX_ROUNDS) for number in answered)

    def answer(self, value: Any, round: int) -> bytes:
        """Return the report of a round. It never raises because of the value.

        Parameters
        ----------
        value : object
            The present value; what is missing or unknown counts as "no answer".
        round : int
            Number of the round, which may be any number that was not used before.

        Returns
        -------
        message : bytes
            As of `Question.message`.

        Raises
        ------
        TypeError, ValueError
            If the round was answered before, or the declared number of rounds is used up, whatever the value is.

        Privacy
        -------
        See `Repeated`.
        """
        number = _check.integer("round", round, 0, MAX_ROUNDS - 1)
        if number in self.answered:
            raise ValueError(f"round must be one that was not answered before, got {number}")
        if len(self.answered) >= self._rounds:
            raise ValueError(f"a person must answer at most {self._rounds} rounds, which are used up")
        self.answered |= {number}
        recipe = self._recipe_in(number)
        message: bytes = recipe.message(recipe.respond(recipe.cell_of(value), self._keys))
        return message
