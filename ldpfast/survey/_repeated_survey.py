"""A whole survey that the same people answer again and again: permanent answers, and a fresh response in every round."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from .. import _check, _coins
from .._described import Described
from .._described import from_dict as described
from ..privacy import Guarantee
from ..reports import Aggregator, Counted, recipe_of
from . import _toml
from ._answer_forms import AnswerForm
from ._answers_per_person import MechanismMaker, epsilon_per_answer
from ._compare import SurveyComparison, compare_rounds
from ._conclude import conclude
from ._panel import Rounds
from ._repeated_client import MAX_ROUNDS
from ._shares import Shares
from ._survey import Survey
from ._two_responses import TwoResponses

if TYPE_CHECKING:
    from ._result import SurveyResult


@dataclass(frozen=True)
class RepeatedSurvey(Described):
    """A survey that the same people answer in several rounds; ``Repeated(survey, ...)`` makes it.

    Each person is asked the same questions in every round, as the secret decides. A permanent answer to each of them is drawn
    once per value, by k-ary response with the epsilon of the survey. In every round, a second k-ary response is applied to the
    permanent answer, with fresh coins.

    Parameters
    ----------
    survey : Survey
        The survey, without waves. Its epsilon is the privacy parameter of the permanent answers of a person together.
    round : float
        Privacy parameter of all answers of a person in one round, > 0 and below the epsilon of the survey.
    rounds : int
        Largest number of rounds that a person answers.

    Raises
    ------
    TypeError, ValueError
        If `survey` is no survey, has waves, or is a round; if `round` is not below its epsilon; if no coins can certify the
        parameters.

    Notes
    -----
    The estimates of a round use the product of the two channels. Their errors do not fall if the same people answer more
    rounds, because the permanent answers stay. A change between two rounds has a smaller error, for the same reason; see
    `change`.

    Privacy
    -------
    As for `Repeated`, for all questions of a person together. A question that is revised between rounds has new permanent
    answers: it counts as a change of its value. Permanent answers are independent of the reports to the plain survey, whose
    loss is added. Two studies with other `round` or `rounds` share permanent answers: count the rounds of both together, with
    the larger `round`.

    References
    ----------
    .. [1] U. Erlingsson, V. Pihur, A. Korolova, "RAPPOR: randomized aggregatable privacy-preserving ordinal response",
       CCS 2014 (permanent and instantaneous responses).

    Examples
    --------
    >>> import numpy as np, ldpfast as ldp
    >>> from ldpfast.survey import Choice, Repeated, Survey, YesNo
    >>> survey = Survey({"smokes": YesNo(), "region": Choice(["N", "S"])}, 4.0, series="health")
    >>> weekly = Repeated(survey, round=2.0, rounds=8)
    >>> keys = ldp.PersonKeys(bytes(32), np.arange(20_000))  # use secrets.token_bytes(32)
    >>> people = {"smokes": np.arange(20_000) % 4 == 0, "region": np.repeat(["N", "S"], 10_000)}
    >>> low, high = weekly.in_round(0).run(people, rng=keys)["smokes"].interval(confidence=0.999)
    >>> low < 0.25 < high
    True
    """

    survey: Survey
    round: float = field(kw_only=True)
    rounds: int = field(kw_only=True)
    _kind: ClassVar[str] = "repeated"
    _first: SurveyRound = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.survey, Survey):
            raise TypeError(f"survey must be a Survey, got {type(self.survey).__name__}")
        if isinstance(self.survey, SurveyRound):
            raise ValueError("survey must be a whole survey, got one round")
        if self.survey.waves is not None:
            raise ValueError(f"survey must have no waves: in rounds everybody answers; got {self.survey.waves} waves")
        first = SurveyRound(
            self.survey.questions, **_options(self.survey), round=self.round, rounds=self.rounds, number=0
        )
        self._set(round=first.round, rounds=first.rounds, _first=first)

    @property
    def guarantee(self) -> Guarantee:
        """Guarantee of one round; see `loss` for several."""
        return self._first.guarantee

    def in_round(self, number: int) -> SurveyRound:
        """Return the survey of one round. What it counts, saves and estimates belongs to this round.

        Parameters
        ----------
        number : int
            Number of the round, from 0. It may be above `rounds`, which bounds how many a person answers.

        Returns
        -------
        round : SurveyRound

        Raises
        ------
        TypeError, ValueError
            If `number` is not an integer in [0, 2^32 - 1).
        """
        return dataclasses.replace(self._first, number=number)

    def loss(self, rounds: int | None = None, changes: int = 0) -> Guarantee:
        """Return a bound on the loss of several rounds.

        Parameters
        ----------
        rounds : int, optional
            Number of rounds; the default is all.
        changes : int, default 0
            Largest number of changes of a person's value of each declared question, each between two rounds in a row. A `Cross`
            can change as often as all of its questions together.

        Returns
        -------
        guarantee : Guarantee
            The sum over the questions of a person for which it is largest, each as for `Repeated.loss`.

        Raises
        ------
        TypeError, ValueError
            If `rounds` or `changes` are not integers in their ranges.
        """
        count = self.rounds if rounds is None else _check.integer("rounds", rounds, 1, self.rounds)
        allowed, first = _check.integer("changes", changes, 0), self._first
        losses = sorted(
            responses.loss(count, allowed * len(item.parts), rounded=recipe_of(first).is_rounded(q))
            for q, (item, responses) in enumerate(zip(recipe_of(first).items, first._responses, strict=True))
        )
        return Guarantee("local", _coins.sum_up(losses[-self.survey.answers :]))

    def change(
        self, before: Aggregator, after: Aggregator, *, changed: float = 1.0, confidence: float = 0.95
    ) -> SurveyComparison:
        """Return the changes of all answers between two rounds, for the same people.

        Parameters
        ----------
        before, after : Aggregator
            Counted reports of two rounds.
        changed : float, default 1.0
            Largest share of people whose value is another one in the other round, among those with each answer in either round,
            in [0, 1]. You declare it: reports do not tell it. Below 1, all people must answer in both rounds.
        confidence : float, default 0.95
            Confidence level of the intervals for all numbers at once (Bonferroni), in (0, 1).

        Returns
        -------
        comparison : SurveyComparison
            Differences, after minus before, of the people who were asked each question. The errors come from the responses,
            without sampling. With the variances V of second responses and W of permanent answers, the variance of a difference
            is at most 2 (V + changed W) / n. For an optional question, whose share is a quotient, this holds if the share of
            "no answer" is about the same in both rounds; otherwise the error can be a few percent larger.

        Raises
        ------
        TypeError, ValueError
            If they do not count reports of two different rounds of this survey; if `changed` or `confidence` are out of range;
            if `changed` is below 1 and a question has other numbers of answers in the two rounds.

        Examples
        --------
        >>> import numpy as np, ldpfast as ldp
        >>> from ldpfast.survey import Repeated, Survey, YesNo
        >>> weekly = Repeated(Survey({"smokes": YesNo()}, 2.0), round=1.9, rounds=8)
        >>> keys, n = ldp.PersonKeys(bytes(32), np.arange(20_000)), 20_000  # use secrets.token_bytes(32)
        >>> before = weekly.in_round(0).collect({"smokes": np.arange(n) < 5000}, rng=keys)
        >>> after = weekly.in_round(1).collect({"smokes": np.arange(n) < 6000}, rng=keys)
        >>> errors = [weekly.change(before, after, changed=share).table["stderr"][0] for share in (1.0, 0.3)]
        >>> errors[1] < 0.7 * errors[0]
        True
        """
        share = _check.real("changed", changed)
        if not 0 <= share <= 1:
            raise ValueError(f"changed must be in [0, 1], got {changed!r}")
        results = {}
        for name, counted in (("before", before), ("after", after)):
            asked = counted.question if isinstance(counted, Aggregator) else None
            if not isinstance(asked, SurveyRound) or self.in_round(asked.number) != asked:
                raise ValueError(f"{name} must be the aggregator of a round of this survey, got {asked or counted!r}")
            results[f"round {asked.number}"] = asked._noise_result(counted._counts.group(), share)
        if len(results) < 2:
            raise ValueError(f"before and after must be of different rounds, got {next(iter(results))} twice")
        if share < 1:
            for name, first, second in zip(
                recipe_of(self._first).names,
                before._counts.group().states[0].tolist(),
                after._counts.group().states[0].tolist(),
                strict=True,
            ):
                if first != second:
                    raise ValueError(
                        f"changed must be 1 unless all people answer in both rounds; question {name!r} has {first} answers "
                        f"before and {second} after"
                    )
        return compare_rounds(results, confidence)

    # Identity ---------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the survey and the parameters as types that JSON has; `from_dict` reads it."""
        return {
            "repeated": "RepeatedSurvey",
            "survey": self.survey.to_dict(),
            "round": self.round,
            "rounds": self.rounds,
        }

    @classmethod
    def _from_packed(cls, arguments: dict[str, Any]) -> Self:
        survey = described(arguments["survey"], "survey")
        return cls(survey, round=arguments["round"], rounds=arguments["rounds"])

    def to_toml(self) -> str:
        """Return the repeated survey as TOML: that of its survey, with "round" and "rounds". `from_toml` reads it.

        Returns
        -------
        text : str

        Raises
        ------
        TypeError
            If a label is neither text, nor a number, a boolean or a date.
        """
        return f"round = {self.round!r}\nrounds = {self.rounds}\n{self.survey.to_toml()}"

    @classmethod
    def from_toml(cls, text: str) -> RepeatedSurvey:
        """Return the repeated survey that TOML describes.

        Parameters
        ----------
        text : str
            As for `Survey.from_toml`, with the entries "round" and "rounds".

        Returns
        -------
        repeated : RepeatedSurvey

        Raises
        ------
        TypeError, ValueError
            If the text is not TOML, or does not describe a repeated survey.

        Examples
        --------
        >>> from ldpfast.survey import Repeated, RepeatedSurvey, Survey, YesNo
        >>> weekly = Repeated(Survey({"smokes": YesNo(optional=True)}, 4.0, series="habits"), round=2.0, rounds=8)
        >>> RepeatedSurvey.from_toml(weekly.to_toml()) == weekly
        True
        """
        options = _toml.parse(text, repeated=True)
        once, rounds = options.pop("round"), options.pop("rounds")
        return cls(Survey(**options), round=once, rounds=rounds)

    def _pinned(self) -> dict[str, Any]:
        return self._first._pinned()


@dataclass(frozen=True, eq=False)
class SurveyRound(Survey):
    """One round of a repeated survey; `RepeatedSurvey.in_round` makes it.

    It is a `Survey` for everything but `revise` and `loss`: `privatize`, `collect` and `run`, engines, files, messages and
    clients. People are asked with `PersonKeys`, a secret or a ledger only, because permanent answers depend on them.

    Parameters
    ----------
    questions, epsilon, answers, weights, series, revision
        As for `Survey`; `epsilon` is the privacy parameter of the permanent answers.
    round : float
        Privacy parameter of one round, > 0 and below `epsilon`.
    rounds : int
        Largest number of rounds that a person answers.
    number : int
        Number of the round.

    Raises
    ------
    TypeError, ValueError
        As for `RepeatedSurvey`.

    Examples
    --------
    >>> from ldpfast.survey import Ledger, Repeated, Survey, YesNo
    >>> weekly = Repeated(Survey({"smokes": YesNo(optional=True)}, 4.0), round=2.0, rounds=8)
    >>> ledger = Ledger({})  # use the name of a file
    >>> messages = [weekly.in_round(week).client(ledger=ledger).answer({"smokes": True}) for week in (0, 1)]
    >>> weekly.in_round(1).aggregator().update(messages[1:]).n
    1
    """

    round: float = field(kw_only=True)
    rounds: int = field(kw_only=True)
    number: int = field(kw_only=True)

    def __post_init__(self) -> None:
        epsilon, once = _check.positive("epsilon", self.epsilon), _check.positive("round", self.round)
        if not once < epsilon:
            raise ValueError(f"round must be below the epsilon of the survey, {epsilon!r}, got {once!r}")
        if self.waves is not None:
            raise ValueError(f"waves must be None in a round, in which everybody answers, got {self.waves!r}")
        self._set(
            round=once,
            rounds=_check.integer("rounds", self.rounds, 1, MAX_ROUNDS - 1),
            number=_check.integer("number", self.number, 0, MAX_ROUNDS - 2),
        )
        super().__post_init__()

    @cached_property
    def repeated(self) -> RepeatedSurvey:
        """The repeated survey that this is a round of."""
        return RepeatedSurvey(Survey(self.questions, **_options(self)), round=self.round, rounds=self.rounds)

    @cached_property
    def _responses(self) -> list[TwoResponses]:
        return [responses for responses in self._recipe.mechanisms if isinstance(responses, TwoResponses)]

    def _maker(self, epsilon: float, answers: int) -> MechanismMaker:
        permanent, once = epsilon_per_answer(epsilon, answers), epsilon_per_answer(self.round, answers)

        def make(form: AnswerForm) -> TwoResponses:
            if not form.has_symbols:
                raise ValueError(
                    "texts, sets of options and pairs have no permanent answers, and are not asked in rounds"
                )
            return TwoResponses(form.k, once, permanent=permanent)

        return make

    def _rounds(self) -> Rounds:
        return Rounds(self.round, self.rounds, self.number)

    def _noise_result(self, counted: Counted, changed: float) -> SurveyResult:
        """Return the answers with half of the variance of the difference of two rounds, given the records."""

        def adjust(q: int, shares: Shares) -> Shares:
            seen = shares.value.clip(0, 1)
            covariance = self._responses[q].noise_covariance(
                seen / seen.sum(), shares.n, changed, self._recipe.is_rounded(q)
            )
            return dataclasses.replace(shares, covariance=covariance, binomial=None, response=None)

        return conclude(self._recipe, counted, False, adjust=adjust)

    def revise(self, **changes: Any) -> NoReturn:
        """Refuse: revise the survey, and repeat the result.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("a round cannot be revised: revise the survey, and use Repeated(survey, ...) of the result")

    def loss(self, versions: Any = (), *, waves: Any = None) -> NoReturn:
        """Refuse: the loss of a round is `guarantee`, and that of several ``Repeated.loss``.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("a round has one loss, its guarantee; see the loss of Repeated(survey, ...) for several rounds")

    def to_toml(self) -> NoReturn:
        """Refuse: TOML describes whole surveys. `to_dict` has the round.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("a round has no form in TOML: save the survey, or the result of to_dict")

    def to_dict(self) -> dict[str, Any]:
        """Return the questions and parameters as types that JSON has; `from_dict` reads it."""
        own = {"round": self.round, "rounds": self.rounds, "number": self.number}
        return {**super().to_dict(), "survey": "SurveyRound", **own}


def _options(survey: Survey) -> dict[str, Any]:
    """Return the arguments of a survey without waves, besides its questions."""
    return {name: getattr(survey, name) for name in ("epsilon", "answers", "weights", "series", "revision")}
