"""What an asked question is to a survey: how its columns make one record, and the counts of its reports an answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .._typing import AnyArray
from ..mechanisms import Mechanism
from ..reports import Counted
from ._answers import Answer
from ._planned_answer import Expected, PlannedAnswer, PlannedQuantiles

if TYPE_CHECKING:
    from ._columns import QuestionColumn
    from ._group_weights import GroupWeights
    from ._shares import Shares


class Found(ABC):
    """What reports say about a question that concludes by itself."""

    @property
    @abstractmethod
    def numbers(self) -> int:
        """How many numbers are reported about the question."""

    @abstractmethod
    def answer(self, numbers: int) -> Answer:
        """Return the answer; `numbers` are reported by the whole survey."""

    def weighted(self, weights: GroupWeights) -> Found:
        """Return the same for a population, from the counts of groups of people, where the form has weights."""
        raise TypeError(f"a {type(self).__name__} has no weighted estimates")


class AnswerForm(ABC):
    """How an asked question makes one record of the cells of its columns, and an answer of the counts of its reports.

    Attributes
    ----------
    columns : tuple of QuestionColumn
        The columns that an answer combines.
    has_symbols : bool
        Whether a record is one symbol, and the answer follows from the shares of the symbols; otherwise `found` makes it.
    join : str
        How the kernel makes a record: "symbol" for one symbol of all columns (or the number of the only one), "string" for the
        bytes of the only column, "positions" for the cells of a table in which all columns have symbols or positions, "row" for
        a row with the symbol of each column.
    has_weights : bool
        Whether answers of groups of people can be weighted.
    collision_variance : float
        Variance of a share that does not decrease with the number of people; 0 where reports have no hash functions.
    shapes : tuple of str
        Names of the distributions for which a plan is made, the default first; none where shares are expected.
    """

    has_symbols: ClassVar[bool] = True
    join: ClassVar[str] = "symbol"
    has_weights: ClassVar[bool] = True
    collision_variance: float = 0.0
    shapes: ClassVar[tuple[str, ...]] = ()

    @property
    @abstractmethod
    def columns(self) -> tuple[QuestionColumn, ...]: ...

    @property
    @abstractmethod
    def k(self) -> int:
        """Number of symbols, with "no answer"; 1 where there are no symbols."""

    @property
    @abstractmethod
    def numbers(self) -> int:
        """How many numbers are reported about the question, with the limits of quantiles."""

    @property
    def length(self) -> float:
        """Length of the range of the reported numbers, the unit of the variances of a plan."""
        return 1.0

    @property
    def unit(self) -> str:
        """Unit of the reported numbers, for plans."""
        return "share"

    @property
    def is_rounded(self) -> bool:
        """Whether a cell becomes a symbol by random rounding, so that different cells can have the same symbol."""
        return any(column.is_rounded for column in self.columns)

    @abstractmethod
    def mechanism(self, epsilon: float) -> Mechanism:
        """Return the mechanism for an answer to this question alone."""

    def joined(self, encoded: list[AnyArray]) -> AnyArray:
        """Return the records of people from what their cells of each column are encoded as: what `join` names."""
        symbols = np.zeros(len(encoded[0]), np.int64)
        for column, own in zip(self.columns, encoded, strict=True):
            symbols = symbols * column.k + own
        return symbols

    def answer(self, shares: Shares, numbers: int) -> Answer:
        """Return the answer from the shares of the symbols; `numbers` are reported by the whole survey."""
        raise TypeError(f"a {type(self).__name__} has no declared symbols")

    def found(self, mechanism: Mechanism, counted: Counted) -> Found:
        """Return what reports by the mechanism say, for a question that concludes by itself."""
        raise TypeError(f"a {type(self).__name__} has declared symbols")

    def expected_variance(self, mechanism: Mechanism) -> float:
        """Return the variance of one decoded answer, for the choice of a number of answers, without declared symbols."""
        raise TypeError(f"a {type(self).__name__} has declared symbols")

    def planned(self, mechanism: Mechanism, expected: Expected, asked: float) -> PlannedAnswer:
        """Return the precision of the answer of a share of the people who are asked, without declared symbols."""
        raise TypeError(f"a {type(self).__name__} has declared symbols")

    def found_from(self, mechanism: Mechanism, n: float) -> float | None:
        """Return from which share of n people on who answer a text is found; None where the answers are declared."""
        return None

    def planned_quantiles(self, mechanism: Mechanism, expected: Expected, n: float) -> PlannedQuantiles:
        """Return the precision of quantiles for each of the shapes, where n people are asked."""
        return {}

    def assumed(self) -> tuple[tuple[float, float], ...]:
        """Return the intervals of the shares for which a plan without expected shares is made."""
        return ((0.0, 1.0),)

    def assumption(self) -> str:
        """Return for which answers such a plan holds."""
        return "any answers"
