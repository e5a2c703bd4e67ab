"""The same question asked again and again: a permanent answer, and a fresh response to it in every round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from .. import _check, _schema
from .._described import Described, made_again
from .._described import from_dict as described
from .._frames import Groups, read_by, require_one_index, whole_column
from .._person_keys import NO_SERIES, PIECE_ROWS, PersonKeys, is_personal
from .._typing import AnyArray
from ..mechanisms import RandomizedResponse, RecordPiece, RecordRecipe, Records
from ..privacy import Channel, Guarantee
from ..reports import Codes, Counted, Counts, Label, Question, recipe_of
from ..reports._labeled_reports import messages_of
from ..results import Occasion
from ._answer_coins import AnswerCoins, Round
from ._answers import Answer
from ._columns import QuestionColumn
from ._persons import fields_of
from ._questions import ColumnQuestion, column_of
from ._repeated_client import MAX_ROUNDS, RepeatedClient
from ._repeated_survey import RepeatedSurvey
from ._shares import Shares
from ._survey import Survey
from ._two_responses import TwoResponses

if TYPE_CHECKING:
    from .._random import RNGLike


@dataclass(frozen=True)
class Repeated(Described):
    """A question that the same people are asked in several rounds. For a survey, it returns a `RepeatedSurvey`.

    Each person has a permanent answer, which k-ary response draws once per value. In every round, a second k-ary response
    is applied to the permanent answer, with fresh coins.

    Parameters
    ----------
    question : YesNo, Choice, Mean or Histogram, or a Survey
        The question.
    permanent : float
        Privacy parameter of the permanent answer, > 0. It is left out for a survey, whose epsilon it is.
    round : float
        Privacy parameter of one round, > 0 and below `permanent`.
    rounds : int
        Largest number of rounds that a person answers.

    Attributes
    ----------
    first, second : RandomizedResponse
        The responses to the value, whose results are permanent, and to the permanent answer in a round.
    epsilon_realized : float
        Exact guarantee of the report of one round, at most `round`.

    Raises
    ------
    TypeError, ValueError
        If `question` is no question that a column answers; if `round` is not below `permanent`; if no coins can certify the
        parameters.

    Notes
    -----
    The estimate of a round uses the product of the two channels. Its error does not fall if the same people answer more
    rounds, because their permanent answers stay.

    Privacy
    -------
    One report is exactly `epsilon_realized`-LDP. `loss` bounds the loss of several rounds, by the number of changes of a
    person's value. **Without a change it is at most `permanent`; one change already costs about half of the rounds, because it
    can be seen from many rounds when a value changed.** The product of `round` and the number of rounds is no bound, because
    reports of the same permanent answer support each other. A study can go on with another `round` or other `rounds`: the
    permanent answers stay. **With another `permanent`, another question or another name, everybody draws a second
    permanent answer, and the losses of both studies add up.** The keys follow `PersonKeys`. docs/proofs/repeated.md.

    References
    ----------
    .. [1] U. Erlingsson, V. Pihur, A. Korolova, "RAPPOR: randomized aggregatable privacy-preserving ordinal response",
       CCS 2014 (permanent and instantaneous responses).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast.survey import Repeated, YesNo
    >>> question = Repeated(YesNo(), permanent=3.0, round=1.0, rounds=30)
    >>> keys = ldp.PersonKeys(bytes(32), np.arange(20_000), question="smoker")  # use secrets.token_bytes(32)
    >>> first = question.in_round(0)
    >>> reports = first.privatize(np.arange(20_000) % 4 == 0, rng=keys)
    >>> low, high = first.estimate(reports).interval(confidence=0.999)
    >>> low < 0.25 < high
    True
    """

    question: ColumnQuestion
    permanent: float = field(kw_only=True)
    round: float = field(kw_only=True)
    rounds: int = field(kw_only=True)
    _kind: ClassVar[str] = "repeated"
    _responses: TwoResponses = field(init=False, repr=False, compare=False)

    def __new__(cls, question: Any = None, **options: Any) -> Any:
        if not isinstance(question, Survey):
            return object.__new__(cls)
        if "permanent" in options:
            raise TypeError("permanent must be left out for a survey, whose epsilon it is")
        return RepeatedSurvey(question, **options)

    def __post_init__(self) -> None:
        if not isinstance(self.question, ColumnQuestion) or not column_of(self.question).has_symbols:
            raise TypeError(
                f"question must be a YesNo, Choice, Mean, Histogram or Survey, got {type(self.question).__name__}"
            )
        permanent, once = _check.positive("permanent", self.permanent), _check.positive("round", self.round)
        if not once < permanent:
            raise ValueError(f"round must be below permanent = {permanent!r}, got {once!r}")
        rounds = _check.integer("rounds", self.rounds, 1, MAX_ROUNDS)
        responses = TwoResponses(self.question.k, once, permanent=permanent)
        self._set(permanent=permanent, round=once, rounds=rounds, _responses=responses)

    @property
    def first(self) -> RandomizedResponse:
        """The response to the value, which is permanent."""
        return self._responses.first

    @property
    def second(self) -> RandomizedResponse:
        """The response to the permanent answer in a round."""
        return self._responses.second

    @property
    def epsilon_realized(self) -> float:
        """Exact guarantee of the report of one round, at most `round`."""
        return self._responses.epsilon_realized

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one round; see `loss` for several."""
        return Guarantee("local", self.epsilon_realized)

    def loss(self, rounds: int | None = None, changes: int = 0) -> Guarantee:
        """Return a bound on the loss of several rounds.

        Parameters
        ----------
        rounds : int, optional
            Number of rounds; the default is all.
        changes : int, default 0
            Largest number of changes of a person's value, each between two rounds in a row.

        Returns
        -------
        guarantee : Guarantee
            For any two persons with at most so many changes, in any rounds. It is the exact maximum, rounded up, without a
            change, and with one change in up to 128 rounds; otherwise an upper bound. It holds for all rounds with the same
            question, name, secret and `permanent`; the loss of another study with the same people is added.

        Raises
        ------
        TypeError, ValueError
            If `rounds` or `changes` are not integers in their ranges.

        Examples
        --------
        >>> from ldpfast.survey import Repeated, YesNo
        >>> question = Repeated(YesNo(), permanent=1.1, round=0.47, rounds=8)
        >>> [round(question.loss(changes=changes).epsilon, 1) for changes in (0, 1)]
        [1.1, 3.7]
        """
        count = self.rounds if rounds is None else _check.integer("rounds", rounds, 1, self.rounds)
        allowed = _check.integer("changes", changes, 0)
        return Guarantee("local", self._responses.loss(count, allowed, rounded=column_of(self.question).is_rounded))

    def channel(self) -> Channel:
        """Return the exact channel from a symbol to the report of one round.

        Returns
        -------
        channel : privacy.Channel
        """
        return self._responses.channel()

    # Rounds ----------------------------------------------------------------------------------------------------------

    def in_round(self, number: int) -> RepeatedRound:
        """Return the question of one round.

        Parameters
        ----------
        number : int
            Number of the round, from 0. It may be above `rounds`, which bounds how many a person answers.

        Returns
        -------
        round : RepeatedRound

        Raises
        ------
        TypeError, ValueError
            If `number` is not an integer in [0, 2^32).
        """
        return RepeatedRound(self, number)

    def client(
        self, secret: bytes, person: int | str | bytes, *, question: str, answered: Iterable[int] = ()
    ) -> RepeatedClient:
        """Return the client of one person.

        Parameters
        ----------
        secret : bytes
            32 random bytes that only this person has.
        person : int, str or bytes
            Identifier of the person.
        question : str
            Name of the question.
        answered : iterable of int
            Rounds that the person has answered before: the ledger of an earlier client, which the device must store.

        Returns
        -------
        client : RepeatedClient

        Raises
        ------
        TypeError, ValueError
            If an argument is invalid; if the question is not optional, because a client must not refuse a missing value.
        """
        if not self.question.optional:
            raise ValueError("question must be optional for a client, which cannot refuse a missing value")
        keys = PersonKeys(secret, [person], question=question)
        return RepeatedClient(self._recipe_in, self.rounds, keys, answered)

    def _recipe_in(self, number: int) -> RoundRecipe:
        """Return the recipe of a round."""
        return self.in_round(number)._recipe

    # Identity ---------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the question and the parameters as types that JSON has; `from_dict` reads it."""
        return {
            "repeated": "Repeated",
            "question": self.question.to_dict(),
            "permanent": self.permanent,
            "round": self.round,
            "rounds": self.rounds,
        }

    @classmethod
    def _from_packed(cls, arguments: dict[str, Any]) -> Self:
        question = described(arguments["question"], "question")
        return cls(question, **{name: arguments[name] for name in ("permanent", "round", "rounds")})

    @cached_property
    def _permanent_digest(self) -> bytes:
        """Digest of what permanent answers depend on: the question without the name of its column, and the first response.

        The parameters of the rounds are not part of it, so that a study with other rounds keeps the permanent answers.
        """
        asked = column_of(self.question).describe_question()
        return _schema.digest({"version": _schema.VERSION, "permanent": asked, **self.first._pinned()})

    @cached_property
    def _round_digest(self) -> bytes:
        """Digest of what the reports of a round depend on: the permanent answers, and the second response."""
        return _schema.digest({"permanent": self._permanent_digest.hex(), **self.second._pinned()})

    def _pinned(self) -> dict[str, Any]:
        return self._responses._pinned()


@dataclass(frozen=True, eq=False)
class RoundRecipe(RecordRecipe):
    """How the values of people become the reports of a round: by personal keys alone.

    Attributes
    ----------
    column : QuestionColumn
        What the question holds.
    coins : AnswerCoins
        What the personal coins depend on.
    """

    column: QuestionColumn = field(kw_only=True)
    coins: AnswerCoins = field(kw_only=True)
    clips: ClassVar[bool] = False
    draw: ClassVar[Any] = None

    @property
    def occasion(self) -> Occasion:  # type: ignore[override]
        """The permanent answers, which the rounds have in common."""
        return Occasion(self.coins.description.hex())

    def privatize(self, x: Any, rng: RNGLike, out: AnyArray | None, clip: bool) -> AnyArray:
        self.require_keys(is_personal(rng))
        assert is_personal(rng)
        _check.flag("clip", clip)
        require_one_index({"x": x, "persons": rng.given})
        read = self.column.read("x", whole_column("x", x), clip=clip)
        cells = self.column.canonical(read, np.arange(read.n), clip=clip)
        if cells is None:
            raise self.column.first_fault("x", read, 0, read.n, clip=clip, place="row {}".format)
        return self.respond(cells, rng)

    def single(self, x: Any, clip: bool) -> None:
        return None

    def collect(self, new: Callable[[Groups | None], Counts], x: Any, by: Any, rng: RNGLike, clip: bool) -> Counts:
        counts = new(None if by is None else Groups(read_by(by) if isinstance(x, Records) else None))
        for piece in self._pieces(x, by, rng):
            with piece.place():
                self.tally_groups(counts, self.privatize(piece.x, piece.rng, None, clip), piece.by)
        return counts

    def messages(self, x: Any, rng: RNGLike, clip: bool) -> Iterator[Any]:
        for piece in self._pieces(x, None, rng):
            with piece.place():
                reports = self.privatize(piece.x, piece.rng, None, clip)
            yield messages_of(self.report, self.label, reports)

    def _pieces(self, x: Any, by: Any, rng: RNGLike) -> Iterator[RecordPiece]:
        """Yield the people of a column of a table, or of an array, with their groups."""
        if isinstance(x, Records):
            yield from x.pieces(True, by, rng)
        else:
            require_one_index({"x": x, "by": by, "persons": rng.given if is_personal(rng) else None})
            yield RecordPiece(x, None if by is None else whole_column("by", by), rng, 0)

    def require_keys(self, personal: bool) -> None:
        if not personal:
            raise TypeError(
                "rng must be PersonKeys, or person and key must be given on an engine, for a round: permanent answers depend "
                "on them"
            )

    def warn_clipped(self, n: int, clipped: dict[str, int]) -> None:
        """Do nothing: clients clip, and do not count what they clipped."""

    def respond(self, cells: AnyArray, keys: PersonKeys) -> AnyArray:
        """Return the reports of canonical values."""
        if keys.question is None:
            raise ValueError("question must be the name of the question in PersonKeys, got None")
        responder = self.coins.responder(keys, keys.question, keys.persons(len(cells)))
        reports = np.empty(len(cells), self.report.dtype(np.dtype(np.uint8)))
        for start in range(0, len(cells), PIECE_ROWS):
            piece = cells[start : start + PIECE_ROWS]
            own = responder.own.derive(start, fields_of(piece))
            symbols = self.column.encoded(piece, own, 0)
            responder.respond(start, own, symbols, reports[start : start + len(piece)])
        return reports

    def cell_of(self, value: Any) -> AnyArray:
        """Return the canonical value of one cell of a client."""
        return np.asarray(self.column.canonical(self.column.read_cell(value), np.arange(1), clip=True))


@dataclass(frozen=True)
class RepeatedRound(Question[Answer]):
    """One round of a repeated question; `Repeated.in_round` makes it. Messages and saved states carry its number.

    Parameters
    ----------
    repeated : Repeated
    number : int
        Number of the round.

    Raises
    ------
    TypeError, ValueError
        If `repeated` is not a `Repeated`, or `number` is not an integer in [0, 2^32).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast.survey import Repeated, YesNo
    >>> first = Repeated(YesNo(), permanent=3.0, round=1.0, rounds=30).in_round(0)
    >>> keys = ldp.PersonKeys(bytes(32), np.arange(4), question="smoker")  # use secrets.token_bytes(32)
    >>> first.privatize([True, False, True, True], rng=keys).shape
    (4,)
    """

    repeated: Repeated
    number: int
    report: Codes = field(init=False, repr=False, compare=False)
    _kind: ClassVar[str] = "round"
    _recipe: RoundRecipe = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.repeated, Repeated):
            raise TypeError(f"repeated must be a Repeated, got {type(self.repeated).__name__}")
        number = _check.integer("number", self.number, 0, MAX_ROUNDS - 1)
        self._set(number=number, report=Codes(self.repeated.question.k))
        repeated = self.repeated
        inner, column = recipe_of(repeated._responses), column_of(repeated.question)
        coins = AnswerCoins(
            repeated._responses, NO_SERIES, repeated._permanent_digest, Round(number, repeated._round_digest)
        )
        line = inner.debiasing
        span = inner.value_range
        loss = inner.loss
        parts = inner.domain, inner.kernel, self.report, line, span, loss, inner.law, Label(self.schema, self.__repr__)
        self._set(_recipe=RoundRecipe(*parts, column=column, coins=coins))

    def __reduce__(self) -> tuple[Any, ...]:
        return made_again, (type(self), {"repeated": self.repeated, "number": self.number})

    def privatize(  # type: ignore[override]  # the reports are a new array
        self, x: ArrayLike, *, rng: RNGLike = None, clip: bool = False
    ) -> AnyArray:
        """Turn the values of people into the reports of this round.

        Parameters
        ----------
        x : array_like
            One cell per person, as in a column of a survey.
        rng : PersonKeys
            Secret, persons and name of the question. There is no other source of permanent answers.
        clip : bool, default False
            As in `Survey.privatize`.

        Returns
        -------
        reports : ndarray of unsigned integers, shape (n,)

        Raises
        ------
        TypeError, ValueError
            If `rng` is not `PersonKeys` with a name of the question; if a cell is invalid. That nobody answers more than
            `Repeated.rounds` rounds, or a round twice with different values, is up to the caller: use `Repeated.client` on the
            devices of people.

        Privacy
        -------
        See `Repeated`.
        """
        return self._recipe.privatize(x, rng, None, clip)

    def _conclude(self, counted: Counted) -> Answer:
        column = self._recipe.column
        return column.answer(Shares.of(self._recipe.coins.mechanism, counted), column.numbers)

    def to_dict(self) -> dict[str, Any]:
        """Return the repeated question and the number of the round as types that JSON has."""
        return {"round": "RepeatedRound", "asked": self.repeated.to_dict(), "number": self.number}

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return ["asked", "number"]

    @classmethod
    def _from_packed(cls, arguments: dict[str, Any]) -> Self:
        return cls(described(arguments["asked"], "repeated"), arguments["number"])

    def _pinned(self) -> dict[str, Any]:
        return self.repeated._pinned()
