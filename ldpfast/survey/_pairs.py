"""Many questions, of which all tables of two are estimated from one answer."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from .._core.survey import ROW_PARTS
from .._typing import AnyArray
from ..mechanisms import Mechanism, ViewResponse
from ..reports import Counted
from ._answer_forms import AnswerForm, Found
from ._columns import QuestionColumn
from ._pair_planning import cell_variances
from ._pair_tables import PairTables
from ._pairs_answer import PairsAnswer
from ._planned_answer import POINTS, Expected, PlannedAnswer
from ._questions import SurveyQuestion


@dataclass(frozen=True, init=False, repr=False)
class Pairs(SurveyQuestion):
    """Many declared questions, answered together. The answer is the tables of every two of them.

    A person is asked a few of the questions, drawn at random, and sends one report about the answers to them, with the epsilon
    of one answer. For 20 yes-or-no questions the variance of a cell is a quarter of that of one `Cross` of every two questions,
    each asked to a part of the people, for epsilon 1, and a tenth for epsilon 4. If only the shares of the questions are
    needed, the questions alone are better.

    Parameters
    ----------
    *names : str
        Names of 2 to 64 different questions of the survey, with at most 1,024 answers together ("no answer" is one). A `Mean`,
        whose values are no symbols, and a `Text` are not possible; use a `Histogram` for a number.

    Raises
    ------
    TypeError, ValueError
        If these are not the names of different questions.

    Notes
    -----
    `mechanisms.ViewResponse` makes the reports; docs/proofs/view_response.md. Tables need about 20 people who were asked both
    questions: of 20 yes-or-no questions, with epsilon 1, one person in 92 is. All tables of a question have the same margins.
    Estimates are unbiased, so that shares close to 0 may be negative. With ``pooled=True`` the questions alone are not
    estimated from these answers.

    References
    ----------
    .. [1] Z. Zhang, T. Wang, N. Li, S. He, J. Chen, "CALM: consistent adaptive local marginal for marginal release under local
       differential privacy", CCS 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast.survey import Pairs, Survey, YesNo
    >>> names = ["smoker", "owner", "retired", "cyclist"]
    >>> survey = Survey({**dict.fromkeys(names, YesNo()), "all": Pairs(*names)}, 2.0, weights=dict.fromkeys(names, 0))
    >>> answers = np.random.default_rng(0).random((50_000, 4)) < [0.2, 0.6, 0.3, 0.5]
    >>> answers[:, 3] |= answers[:, 0]  # smokers are cyclists
    >>> found = survey.run(dict(zip(names, answers.T, strict=True)), rng=1)["all"]
    >>> low, high = found["smoker", "cyclist"].interval()
    >>> bool(low[1, 1] < 0.2 < high[1, 1])  # share of smokers who are cyclists
    True
    """

    names: tuple[str, ...]

    def __init__(self, *names: str) -> None:
        for name in names:
            if not isinstance(name, str):
                raise TypeError(f"names must be names of questions, got {name!r}")
        if not 2 <= len(names) <= ROW_PARTS:
            raise ValueError(f"names must be those of 2 to {ROW_PARTS} questions, got {len(names)}")
        if len(set(names)) < len(names):
            raise ValueError(f"names must be different questions, got {', '.join(map(repr, names))}")
        self._set(names=names)

    @classmethod
    def _from_arguments(cls, arguments: dict[str, Any]) -> Self:
        names = arguments.get("names")
        if set(arguments) != {"names"} or not isinstance(names, list | tuple):
            raise TypeError(f"a Pairs must have the entry names, a list, got {', '.join(sorted(arguments))}")
        return cls(*names)

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of all questions that are combined."""
        return self.names

    def _parts_of(self, name: str) -> tuple[str, ...]:
        return self.names

    def _form(self, columns: Sequence[QuestionColumn]) -> AnswerForm:
        for name, column in zip(self.names, columns, strict=True):
            if column.join != "symbol" or not column.has_symbols or column.is_rounded:
                raise ValueError(
                    "a Pairs must combine questions with a list of answers, such as YesNo, Choice and Histogram; "
                    f"{name!r} has none"
                )
        return PairsForm(self.names, tuple(columns))

    def __repr__(self) -> str:
        return f"Pairs({', '.join(map(repr, self.names))})"


@dataclass(frozen=True, eq=False)
class PairsForm(AnswerForm):
    """An answer to many questions at once, whose record is the row of their symbols."""

    names: tuple[str, ...]
    parts: tuple[QuestionColumn, ...]
    has_symbols: ClassVar[bool] = False
    has_weights: ClassVar[bool] = False
    join: ClassVar[str] = "row"

    @property
    def columns(self) -> tuple[QuestionColumn, ...]:
        return self.parts

    @property
    def k(self) -> int:
        """1: there is no number of symbols of all questions together."""
        return 1

    @property
    def numbers(self) -> int:
        return sum(a.k * b.k for a, b in itertools.combinations(self.parts, 2))

    def mechanism(self, epsilon: float) -> Mechanism:
        return ViewResponse(tuple(part.k for part in self.parts), epsilon)

    def joined(self, encoded: list[AnyArray]) -> AnyArray:
        return np.stack(encoded, axis=-1)

    def found(self, mechanism: Mechanism, counted: Counted) -> FoundPairs:
        return FoundPairs(self, views_of(mechanism), counted)

    def expected_variance(self, mechanism: Mechanism) -> float:
        return max(
            float(cell_variances(views_of(mechanism), np.array([1 / (a * b)]))[0])
            for a, b in [sorted(part.k for part in self.parts)[-2:]]
        )

    def planned(self, mechanism: Mechanism, expected: Expected, asked: float) -> PlannedAnswer:
        return PlannedAnswer.of_shares(cell_variances(views_of(mechanism), POINTS), expected, asked)

    def assumption(self) -> str:
        return "any share of a cell of a table, the others equal"


def views_of(mechanism: Mechanism) -> ViewResponse:
    """Return the mechanism of a `Pairs` under its own class."""
    assert isinstance(mechanism, ViewResponse)
    return mechanism


@dataclass(frozen=True, eq=False)
class FoundPairs(Found):
    """What reports say about all tables of two questions."""

    form: PairsForm
    mechanism: ViewResponse
    counted: Counted

    @property
    def numbers(self) -> int:
        """How many numbers are reported."""
        return self.form.numbers

    def answer(self, numbers: int) -> PairsAnswer:
        """Return the answer; `numbers` are reported by the whole survey."""
        tables = PairTables.of(self.mechanism, self.counted.states[0])
        form, n = self.form, self.counted.n
        return PairsAnswer.of(form.names, form.parts, tables, n, self.mechanism.guarantee, numbers)
