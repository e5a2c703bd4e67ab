"""Which options people tick together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from .._core.survey import Column
from .._typing import AnyArray, Floats
from ..domains import Sets
from ..domains._sets import MISSING
from ..mechanisms import Mechanism
from ..mechanisms._set_selection import MAX_TICKS
from ..reports import Counted
from ..results import Estimate, rule_with_liars, shift_by_liars
from ._answer_forms import AnswerForm, Found
from ._answers import Answer
from ._columns import QuestionColumn
from ._group_weights import GroupWeights
from ._option_answers import OptionsAnswer, OptionShares
from ._questions import SurveyQuestion
from ._several import SetColumn, SeveralColumn


@dataclass(frozen=True)
class Together(SurveyQuestion):
    """Pairs of options of a `Several` question that people tick together. The answer is a table of their shares.

    Parameters
    ----------
    of : str
        Name of a `Several` question of the survey with `most` in [2, 23]. Its column is read; people need not be asked the
        question itself, which can have weight 0.

    Raises
    ------
    TypeError
        If `of` is not the name of a question.

    Notes
    -----
    A person who ticks s options has s (s - 1) / 2 of the k (k - 1) / 2 pairs, which are the options of the mechanism. For 20
    options of which 3 can be ticked, the variance is a tenth of that from a `YesNo` for each pair.

    Examples
    --------
    >>> from ldpfast.survey import Several, Survey, Together
    >>> asked = {"symptoms": Several(["fever", "cough", "rash"], most=2), "pairs": Together("symptoms")}
    >>> people = {"symptoms": [["fever", "cough"], ["rash"]] * 10_000}
    >>> pairs = Survey(asked, 4.0).run(people, rng=1)["pairs"]
    >>> pairs.value.shape, bool(abs(pairs.value[0, 1] - 0.5) < 0.05)
    ((3, 3), True)
    """

    of: str

    def __post_init__(self) -> None:
        if not isinstance(self.of, str):
            raise TypeError(f"of must be the name of a question, got {self.of!r}")

    def _column_of(self, own: str, columns: Mapping[str, QuestionColumn]) -> QuestionColumn:
        column = columns.get(self.of)
        if not isinstance(column, SeveralColumn):
            raise ValueError(f"question {own!r} must name a Several question, got {self.of!r}")
        k, most = column.domain.k, column.domain.most
        pairs, together = math.comb(k, 2), math.comb(most, 2)
        if not 1 <= together <= MAX_TICKS or k < 3 or pairs + together + 1 > MISSING:
            raise ValueError(
                f"question {own!r} must name a Several question with at least 3 and at most {_most_options(together)} options "
                f"and most in [2, 23], got {k} options and most={most}"
            )
        return TogetherColumn(
            optional=column.optional,
            column=column.column or self.of,
            describe_question=lambda: {"question": "Together", "of": column.describe_question()},
            labels=tuple(itertools.combinations(column.labels, 2)),
            row_bytes=2 * together,
            domain=Sets(pairs, together, column.optional),
            of=column,
        )

    def _form(self, columns: Sequence[QuestionColumn]) -> AnswerForm:
        return columns[0]


def _most_options(together: int) -> int:
    """Return the largest number of options whose pairs have a number, with so many pairs at once."""
    k = 3
    while math.comb(k + 1, 2) + together + 1 <= MISSING:
        k += 1
    return k


@dataclass(frozen=True, eq=False, kw_only=True)
class TogetherColumn(SetColumn):
    """Sets of options, as the sets of the pairs of these options.

    Attributes
    ----------
    of : SeveralColumn
        The column of the options.
    """

    of: SeveralColumn
    can_be_combined: ClassVar[bool] = False
    clipped: ClassVar[str] = SeveralColumn.clipped

    @property
    def options(self) -> tuple[Any, ...]:
        return self.of.options

    @property
    def spelled(self) -> dict[str, int] | None:
        return self.of.spelled

    def client_part(self, start: int) -> tuple[int, bytes, bytes]:
        return 6, self.of.client_part(start)[1], b""

    def describe(self) -> str:
        return self.of.describe()

    def answer_text(self) -> str:
        return f"pairs of: {self.of.answer_text()}"

    def sources(self, name: str) -> dict[str, QuestionColumn]:
        return self.of.sources(self.column or name)

    def gathered(self, name: str, columns: Mapping[str, Any]) -> Any:
        return self.of.gathered(self.column or name, columns)

    def reason(self, is_missing: bool) -> str:
        return self.of.reason(is_missing)

    def place_of_cells(self, name: str) -> str:
        return self.of.place_of_cells(name)

    def read(self, name: str, values: Any, *, clip: bool = False) -> Column:
        return self._pairs(self.of.read(name, values, clip=clip))

    def read_cell(self, value: Any) -> Column:
        return self._pairs(self.of.read_cell(value))

    def _pairs(self, column: Column) -> Column:
        """Return sets of options as a column of sets of their pairs, in the order of the options."""
        sets = column.strings(0, column.n).view(np.uint16).astype(np.int64)
        k, last = self.of.domain.k, sets[:, -1]
        missing = (last == MISSING) | (self.optional & (last == self.of.domain.positions - 1))
        valid = last != MISSING + 1
        people, pairs = [], []
        for i, j in itertools.combinations(range(self.of.domain.most), 2):
            first, second = sets[:, i], sets[:, j]
            (own,) = np.nonzero((second < k) & valid & ~missing)
            people.append(own)
            pairs.append((first * (2 * k - first - 1) // 2 + second - first - 1)[own])
        order = np.lexsort((np.concatenate(pairs), np.concatenate(people)))
        rows = self.domain.rows(np.concatenate(people)[order], np.concatenate(pairs)[order], missing, valid)
        return Column("uint8", rows.view(np.uint8), None, 0, column.n, row_bytes=self.row_bytes)

    def found(self, mechanism: Mechanism, counted: Counted) -> PairShares:  # type: ignore[override]
        return PairShares(self.of.labels, OptionShares.of(self.labels, self.optional, mechanism, counted))


@dataclass(frozen=True, eq=False)
class PairShares(Found):
    """Shares of the people with each pair of options.

    Attributes
    ----------
    options : tuple
        Labels of the options.
    shares : OptionShares
        Shares of the pairs.
    """

    options: tuple[Any, ...]
    shares: OptionShares

    @property
    def numbers(self) -> int:
        """How many numbers are reported."""
        return self.shares.numbers

    def weighted(self, weights: GroupWeights) -> Self:
        """Return the shares in a population from those of groups of people."""
        return type(self)(self.options, self.shares.weighted(weights))

    def answer(self, numbers: int) -> TogetherAnswer:
        """Return the answer; `numbers` are reported by the whole survey."""
        return TogetherAnswer.of_pairs(self.options, self.shares.answer(numbers))


@dataclass(frozen=True, eq=False)
class PairLimits:
    """Limits of the entries of a symmetric matrix by the rule of the pairs above its diagonal.

    Attributes
    ----------
    pairs : OptionsAnswer
    places : ndarray of int, shape (k, k)
        Number of the pair of each entry; -1 on the diagonal, whose limits are infinite.
    """

    pairs: OptionsAnswer
    places: NDArray[np.intp]
    by_coordinate: ClassVar[bool] = True

    def bounds(self, value: Floats, stderr: Floats, tail: Any) -> tuple[Floats, Floats]:
        low, high = self.pairs.rule.bounds(self.pairs.value, self.pairs.stderr, self._of_pairs(tail))
        return self._matrix(low, -np.inf), self._matrix(high, np.inf)

    def with_liars(self, share: float, n: Any) -> PairLimits:
        """Return the limits where some reports are forged."""
        return replace(self, pairs=replace(self.pairs, rule=rule_with_liars(self.pairs.rule, share, n)))

    def largest_shift(self, share: float, n: Any) -> Floats:
        """Return how far forged reports can move each number; infinite on the diagonal."""
        shift = np.broadcast_to(shift_by_liars(self.pairs.rule, share, n), np.shape(self.pairs.value))
        return self._matrix(shift, np.inf)

    @property
    def has_tails(self) -> bool:
        """Whether the rule of the pairs has tails of limits."""
        return bool(getattr(self.pairs.rule, "has_tails", False))

    def tails(self, value: Floats, stderr: Floats, limit: Floats, side: int) -> Floats:
        rule: Any = self.pairs.rule
        return self._matrix(rule.tails(self.pairs.value, self.pairs.stderr, self._of_pairs(limit), side), 1.0)

    def _of_pairs(self, numbers: Any) -> Any:
        if np.ndim(numbers) == 0:
            return numbers
        return np.asarray(numbers)[np.triu_indices(len(self.places), 1)]

    def _matrix(self, numbers: AnyArray, diagonal: float) -> Floats:
        return np.append(numbers, diagonal)[self.places]


@dataclass(frozen=True, eq=False, repr=False)
class TogetherAnswer(Answer):
    """Shares of the people who tick both of two options.

    Attributes
    ----------
    value : ndarray, shape (k, k)
        Symmetric; the diagonal is NaN.
    labels, columns : tuple
        The options.
    pairs : OptionsAnswer
        The same shares, one for each pair of options.

    Examples
    --------
    >>> from ldpfast.survey import Several, Survey, Together
    >>> asked = {"apps": Several(["mail", "maps", "games"], most=2), "pairs": Together("apps")}
    >>> answer = Survey(asked, 4.0).run({"apps": ["mail;maps", "games", ""] * 8000}, rng=1)["pairs"]
    >>> answer.pairs.labels[0], bool(answer.value[0, 1] == answer.value[1, 0] == answer.pairs.value[0])
    (('mail', 'maps'), True)
    """

    pairs: OptionsAnswer = None  # type: ignore[assignment]

    @classmethod
    def of_pairs(cls, options: tuple[Any, ...], pairs: OptionsAnswer) -> TogetherAnswer:
        """Return the table of the shares of pairs."""
        k = len(options)
        places = np.full((k, k), -1)
        places[np.triu_indices(k, 1)] = np.arange(len(pairs.value))
        places = np.maximum(places, places.T)
        value, stderr = (np.append(numbers, np.nan)[places] for numbers in (pairs.value, pairs.stderr))
        return cls(
            value,
            stderr,
            pairs.n,
            pairs.guarantee,
            None,
            PairLimits(pairs, places),
            labels=options,
            columns=options,
            missing=pairs.missing,
            pairs=pairs,
            _numbers=pairs._numbers,
        )

    def without_answers(self, gaps: NDArray[np.bool_]) -> Self:
        return replace(super().without_answers(gaps), pairs=self.pairs.without_answers(gaps))

    def _parts(self) -> list[tuple[str, Estimate[Any]]]:
        return self._listed()._parts()

    def _names_of_axes(self) -> tuple[str, ...]:
        return "one option", "another option"

    def _listed(self) -> OptionsAnswer:
        shown = replace(self.pairs, n=self.n, missing=self.missing, _people=self._people)
        return replace(shown, _total=self._total, _survey_reports=self._survey_reports)
