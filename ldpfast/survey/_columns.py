"""Columns of a survey: how the cells of a table become symbols, and the shares of the symbols an answer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._core.survey import ROWS, Column
from .._typing import AnyArray, Floats
from ..mechanisms import Mechanism
from ..results import Estimate
from ._answer_forms import AnswerForm
from ._answers import Answer, estimate_fields
from ._mechanisms import for_symbols
from ._shares import Shares
from ._weighted_sums import Cells, WeightedSums

LISTED_LABELS = 12  # of a question on pages that people read


@dataclass(frozen=True, eq=False, kw_only=True)
class QuestionColumn(AnswerForm):
    """What a question that one column answers holds: how a cell becomes a symbol, and the shares of symbols an answer.

    Attributes
    ----------
    optional : bool
        Whether an answer may be missing. "No answer" is then one more symbol, the last.
    column : str or None
        Name of the column; None for the name of the question.
    describe_question : callable
        Function that returns what fixes the meaning of an answer, on which personal keys depend.
    labels : tuple
        Labels of the symbols without "no answer".
    steps : int
        Number of steps between the values to which numbers are rounded first; 0 where they are not.
    row_bytes : int
        Bytes of a string in the form of the kernel; 0 where cells are symbols or numbers.
    can_be_combined : bool
        Whether a `Cross` can have the question.
    scalar : bool
        Whether the answer is one number.
    quantity : str
        What is estimated, "share" or "mean".
    encoding : str
        How a cell becomes a symbol, as `SurveyKernel` and clients know it: "symbol" by a table, "low-high" by random rounding,
        "bin" by edges; "string" where it stays a string.
    lacking, outside, clipped : str
        Ends of the messages about cells without a value, and about those outside of the declared set: of the error, and of the
        warning with ``clip=True``.
    """

    optional: bool
    column: str | None
    describe_question: Callable[[], dict[str, Any]]
    labels: tuple[Any, ...] = ()
    steps: int = 0
    row_bytes: int = 0
    collision_variance: float = 0.0
    can_be_combined: ClassVar[bool] = True
    scalar: ClassVar[bool] = False
    quantity: ClassVar[str] = "share"
    encoding: ClassVar[str] = "symbol"
    lacking: ClassVar[str] = "has no value, which needs optional=True"
    outside: ClassVar[str] = "holds another value"
    clipped: ClassVar[str] = 'undeclared categories count as "no answer"'

    @property
    def columns(self) -> tuple[QuestionColumn, ...]:
        """The column itself."""
        return (self,)

    @property
    def k(self) -> int:
        """Number of symbols, with "no answer" if the question is optional."""
        return len(self.labels) + self.optional

    @property
    def is_rounded(self) -> bool:
        """Whether a cell becomes a symbol by random rounding, so that different cells can have the same symbol."""
        return self.encoding == "low-high"

    @property
    def cells(self) -> tuple[Any, ...]:
        """Values of the cells that have the symbols 0, 1, ..., for questions with a table of symbols."""
        return self.labels

    @property
    def label_weights(self) -> Floats | None:
        """Weights of the labels in the only number that is reported, above the start of its range; None if shares are."""
        return None

    @property
    def answered(self) -> Cells:
        """The symbols without "no answer"."""
        return Cells.first(len(self.labels))

    def sums(self, cells: Cells) -> WeightedSums:
        """Return the reported sums, where the symbols without "no answer" are some cells."""
        return cells.each() if self.label_weights is None else cells.total(self.label_weights, self.range[0])

    @property
    def range(self) -> tuple[float, float]:
        """Interval of the reported numbers."""
        return 0.0, 1.0

    @property
    def length(self) -> float:
        """Length of the range, the unit of the variances of a plan."""
        return self.range[1] - self.range[0]

    @property
    def unit(self) -> str:
        """Unit of the reported numbers."""
        return "share" if self.quantity != "mean" else f"mean in [{self.range[0]:g}, {self.range[1]:g}]"

    @abstractmethod
    def describe(self) -> str:
        """Return a description of valid cells, for messages of the form "column must hold ..."."""

    def answer_text(self) -> str:
        """Return what a person can answer, for pages that people read."""
        listed = list(map(str, self.labels))
        return ", ".join(listed[:LISTED_LABELS]) + (
            f", ... ({len(listed)} answers)" if len(listed) > LISTED_LABELS else ""
        )

    def kernel_part(self) -> tuple[str, int, bool, float, float, Any, int, int]:
        """Return the question in the form of `SurveyKernel`."""
        return self.encoding, self.k, self.optional, *self.valid_range(), self.limits(), self.steps, self.row_bytes

    def valid_range(self) -> tuple[float, float]:
        """Return the ends of valid numbers; (0, 0) where cells are not numbers."""
        return 0.0, 0.0

    def limits(self) -> Floats | None:
        """Return the numbers at which a new bin starts."""
        return None

    # Cells ------------------------------------------------------------------------------------------------------------

    def sources(self, name: str) -> dict[str, QuestionColumn]:
        """Return the columns of a table that answer the question with a name, and what the cells of each of them answer."""
        return {self.column or name: self}

    def gathered(self, name: str, columns: Mapping[str, Any]) -> Any:
        """Return the values that answer the question with a name, from the columns of a piece of a table."""
        return columns[self.column or name]

    def place_of_cells(self, name: str) -> str:
        """Return what messages call the columns, or the column with a name, that answer the question."""
        return f"column {name!r}"

    @abstractmethod
    def read(self, name: str, values: Any, *, clip: bool = False) -> Column:
        """Return a column in the form that the kernel reads.

        Parameters
        ----------
        name : str
            Name of the column, for error messages.
        values : ndarray, categorical or Arrow array
            What `gathered` returns.
        clip : bool
            Whether undeclared categories count as "no answer" where the question is optional.

        Raises
        ------
        TypeError, ValueError
            If the values have a type that the question cannot have, or are symbols of other labels.
        """

    def spellings(self) -> list[tuple[str, ...]] | None:
        """Return the texts in files that stand for each cell; None for numbers."""
        return None

    @abstractmethod
    def read_cell(self, value: Any) -> Column:
        """Return one cell of a client as a column. What is missing or unknown is "no answer"; numbers are not clipped."""

    @abstractmethod
    def faults(
        self, column: Column, first: int, n: int, *, clip: bool = False
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which of n cells lack a value that they need, and which are outside of the declared set."""

    @abstractmethod
    def canonical(self, column: Column, rows: NDArray[np.intp], *, clip: bool = False) -> Any:
        """Return the canonical values of some rows in ascending order, on which personal keys depend.

        They are symbols, numbers of steps, numbers in the declared range, or rows of bytes. A missing number is NaN, or the
        number after that of the last step. With `clip`, numbers out of range are moved to the nearest end. Returns None if a
        cell is invalid.
        """

    def encoded(self, cells: AnyArray, keys: AnyArray, part: int) -> AnyArray:
        """Return the symbols of canonical values, or rows, for a part of an answer with a personal key."""
        return np.asarray(cells, np.int64)

    def symbol_shares(self, cells: AnyArray) -> tuple[AnyArray, AnyArray, Floats]:
        """Return two symbols of each canonical value, and the probability of the second, which is 0 without random rounding."""
        symbols = self.encoded(cells, np.zeros(0), 0)
        return symbols, symbols, np.zeros(len(symbols))

    def numbers_of(self, cells: AnyArray) -> Floats:
        """Return the numbers that canonical values stand for, where a number is sent."""
        raise TypeError(f"a {type(self).__name__} is not sent as a number")

    def number_clipped(self, name: str, values: Any, column: Column, chosen: NDArray[np.intp] | None = None) -> int:
        """Return the number of cells that are outside of the declared set, and are moved or count as "no answer".

        `chosen` are the rows of those who answer, in ascending order; None for all.
        """
        faults = (self.faults(column, i, min(ROWS, column.n - i), clip=False)[1] for i in range(0, column.n, ROWS))
        if chosen is None:
            return sum(int(fault.sum()) for fault in faults)
        return int(np.concatenate([np.zeros(0, np.bool_), *faults])[chosen].sum())

    def first_fault(
        self, name: str, column: Column, first: int, n: int, *, clip: bool = False, place: Callable[[int], str]
    ) -> Exception:
        """Return the error for a column with an invalid cell among n rows.

        Parameters
        ----------
        name : str
            Name of the column.
        column : Column
        first, n : int
            Rows of the column that hold the invalid cell.
        clip : bool
        place : callable
            Function that returns the position of a row of the column.
        """
        rule = f"{self.place_of_cells(name)} must hold {self.describe()}"
        missing, outside = self.faults(column, first, n, clip=clip)
        bad = np.flatnonzero(missing | outside)
        if not len(bad):
            return ValueError(f"{rule}; it changed while it was read")
        row = int(bad[0])
        return ValueError(f"{rule}; {place(first + row)} {self.reason(bool(missing[row]))}")

    def reason(self, is_missing: bool) -> str:
        """Return why a cell is invalid, for the end of a message."""
        return self.lacking if is_missing else self.outside

    @property
    def client_size(self) -> int:
        """Number of symbols in tables of clients."""
        return self.k

    def client_part(self, start: int) -> tuple[int, bytes, bytes]:
        """Return the encoding in tables of clients, 16 bytes of numbers, and the bytes that are stored at offset `start`."""
        return 0, bytes(16), b""

    # Mechanism and answer ---------------------------------------------------------------------------------------------

    def mechanism(self, epsilon: float) -> Mechanism:
        return for_symbols(self.k, epsilon)

    @property
    def numbers(self) -> int:
        """How many numbers are reported about the question, with the limits of quantiles."""
        return (1 if self.scalar else 2 * len(self.labels)) + self.optional

    @property
    def functions(self) -> int:
        """How many further numbers a margin of a table reports about the question."""
        return 0

    def answer(self, shares: Shares, numbers: int) -> Answer:
        """Return the answer from the shares of the symbols.

        Parameters
        ----------
        shares : Shares
            Shares of the k symbols.
        numbers : int
            How many numbers the whole survey reports.
        """
        return Answer(**self.answer_fields(shares, numbers))

    def among_answers(self, shares: Shares, sums: WeightedSums) -> Estimate[Any]:
        """Return sums of the shares, among the people who answered if the question is optional."""
        if not self.optional:
            return shares.linear(sums)
        return shares.ratio(sums, self.answered.total(keep=sums.ndim > 0))

    def answer_fields(self, shares: Shares, numbers: int) -> dict[str, Any]:
        """Return the fields of an answer from the shares of the symbols."""
        missing = None
        if self.optional:
            missing = Answer(**estimate_fields(shares.linear(Cells.one(-1).total())), _numbers=numbers)
        return {
            **estimate_fields(self.among_answers(shares, self.sums(self.answered))),
            "labels": None if self.scalar else self.labels,
            "missing": missing,
            "range": self.range,
            "_quantity": self.quantity,
            "_numbers": numbers,
            "_shares": shares,
            "_column": self,
        }
