"""Questions of which people tick several options."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._core.survey import Column
from .._extras import optional
from .._frames import Coded, arrow_array, package_of, python_values
from .._typing import AnyArray
from ..domains import Sets, declared_categories
from ..domains._sets import INVALID, MISSING
from ..mechanisms import Mechanism, for_sets
from ..mechanisms._set_selection import MAX_TICKS
from ..reports import Counted
from ._answers import NO_ANSWER
from ._columns import QuestionColumn
from ._option_answers import OptionShares, planned_options
from ._planned_answer import POINTS, Expected, PlannedAnswer
from ._questions import ColumnQuestion, column_of
from ._yes_no import YesNo

DELIMITER = ";"  # of options in a text
_SET = struct.Struct("<II8x")


@dataclass(frozen=True)
class Several(ColumnQuestion):
    """Some of several declared options: "check all that apply". The answer is the share of people with each option.

    Parameters
    ----------
    options : int or sequence
        The declared labels, at least 2, or their number if they are 0, 1, 2, ... They are never taken from the data.
    most : int, optional
        Largest number of options that a person can tick, in [1, 256]; the default is their number. The variance grows with it,
        so declare the smallest number that people need, and say it in the question. More are an error, and "no answer"
        in clients.
    optional : bool, default False
        Whether an answer may be missing. The shares are then those among people who answered. To tick nothing is an answer.
    column : str or sequence of str, optional
        Name of the column; the default is the name of the question. Or names of columns of booleans, or zeros and ones, one
        for each option in the same order; clients then find the ticks under the name of the question.

    Raises
    ------
    TypeError, ValueError
        If `options` is neither an integer >= 2 nor at least 2 different labels, or `most` is not in its range; if `column` is
        neither one name nor a different name for each option.

    Notes
    -----
    A cell is a list or set of labels; a text with labels between semicolons, such as "fever;cough"; or a row of zeros and ones,
    where the column is an array of shape (n, options), or has lists of as many booleans, or integers if no option is a number.
    The order of the labels does not matter, and neither do repeated ones. An empty list or text means that nothing is ticked;
    a missing cell is no answer. In a CSV file an empty field is a missing cell, and ";" means that nothing is ticked. With a
    column for each option, a row without any value is no answer, and a row with some values is an error.

    The mechanism is that of `mechanisms.for_sets`. The whole set has one guarantee. `OptionsAnswer.sizes` has the distribution
    of the number of ticks, and `OptionsAnswer.difference` that of two options. `Together` asks which options people tick
    together, and `Cross` combines the options with the answers to another question.

    Examples
    --------
    >>> from ldpfast.survey import Several, Survey
    >>> survey = Survey({"symptoms": Several(["fever", "cough", "rash"], most=2)}, 4.0)
    >>> answer = survey.run({"symptoms": [["fever", "cough"], []] * 10_000}, rng=1)["symptoms"]
    >>> low, high = answer.interval()
    >>> answer.labels, bool(low[0] < 0.5 < high[0])
    (('fever', 'cough', 'rash'), True)
    >>> bool(abs(answer.sizes.value[2] - 0.5) < 0.05)
    True
    >>> boxes = Several(["fever", "cough", "rash"], most=2, column=["q1_fever", "q1_cough", "q1_rash"])
    >>> people = {"q1_fever": [1, 0] * 10_000, "q1_cough": [1, 0] * 10_000, "q1_rash": [0, 0] * 10_000}
    >>> bool((Survey({"symptoms": boxes}, 4.0).run(people, rng=1)["symptoms"].value == answer.value).all())
    True
    """

    options: Any
    most: int | None = None
    optional: bool = field(default=False, kw_only=True)
    column: str | tuple[str, ...] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        domain, labels = declared_categories("options", self.options)
        if labels is not None and None in labels:
            raise ValueError("options must not contain None, which is a missing value: use optional=True")
        if self.optional and labels is not None and NO_ANSWER in labels:
            raise ValueError(f"options must not contain {NO_ANSWER!r} where the question is optional")
        if self.most is None and domain.k > MAX_TICKS:
            raise ValueError(f"most must be given for more than {MAX_TICKS} options, got {domain.k} options")
        most = domain.k if self.most is None else _check.integer("most", self.most, 1, min(domain.k, MAX_TICKS))
        self._set(options=domain.k if labels is None else labels, most=None if self.most is None else most)
        sets = Sets(domain.k, most, _check.flag("optional", self.optional))
        if sets.positions > MISSING:
            raise ValueError(f"options must be at most {MISSING - most - 1} with most={most}, got {domain.k}")
        declared: dict[str, Any] = {
            "labels": tuple(range(domain.k)) if labels is None else labels,
            "domain": sets,
            "row_bytes": 2 * most,
        }
        if isinstance(self.column, str) or not isinstance(self.column, Sequence):
            self._hold(SeveralColumn, **declared)
        else:
            self._set(column=_columns_of_options(self.column, domain.k))
            self._hold(OptionColumns, column=None, option_columns=self.column, **declared)


@dataclass(frozen=True, eq=False, kw_only=True)
class SetColumn(QuestionColumn):
    """Base class of columns whose cells are sets of labels, which become rows of ascending positions.

    Attributes
    ----------
    domain : Sets
        The sets of the numbers of the labels.
    """

    domain: Sets
    has_symbols: ClassVar[bool] = False
    lacking: ClassVar[str] = (
        'has no value, which needs optional=True: an empty list, or the text ";", means that nothing is ticked'
    )
    join: ClassVar[str] = "positions"
    encoding: ClassVar[str] = "positions"

    @property
    def k(self) -> int:
        """Number of positions of a set: those of the options, of the fillers, and that of no answer."""
        return self.domain.positions

    @property
    def options(self) -> tuple[Any, ...]:
        """Labels that a cell is made of."""
        return self.labels

    @property
    def spelled(self) -> dict[str, int] | None:
        """Numbers of the options by the parts of a text that name them; None if texts cannot name all of them."""
        raise NotImplementedError

    # Clients ----------------------------------------------------------------------------------------------------------

    def client_part(self, start: int) -> tuple[int, bytes, bytes]:
        return 5, _SET.pack(self.domain.k, self.domain.most), b""

    # Cells ------------------------------------------------------------------------------------------------------------

    def faults(
        self, column: Column, first: int, n: int, *, clip: bool = False
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        last = self._rows_of(column, first, n)[:, -1]
        return last == MISSING, last == INVALID

    def canonical(self, column: Column, rows: NDArray[np.intp], *, clip: bool = False) -> Any:
        first, stop = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
        found = self._rows_of(column, first, stop - first)[rows - first]
        return None if self.domain.invalid(found).any() else found

    def _rows_of(self, column: Column, first: int, n: int) -> NDArray[np.uint16]:
        """Return the positions of n rows of a column, shape (n, most)."""
        return np.asarray(column.strings(first, n).view(np.uint16))

    def number_clipped(self, name: str, values: Any, column: Column, chosen: NDArray[np.intp] | None = None) -> int:
        if not self.optional:  # a set that is not valid has raised an error
            return 0
        return super().number_clipped(name, values, self.read(name, values, clip=False), chosen)

    def encoded(self, cells: AnyArray, keys: AnyArray, part: int) -> AnyArray:
        return cells

    def joined(self, encoded: list[AnyArray]) -> AnyArray:
        return encoded[0]

    # Mechanism and answer ---------------------------------------------------------------------------------------------

    def mechanism(self, epsilon: float) -> Mechanism:
        return for_sets(self.domain.k, self.domain.most, epsilon, optional=self.optional)

    @property
    def numbers(self) -> int:
        """How many numbers are reported: the shares of the options, and that of no answer."""
        return self.domain.k + self.optional

    def found(self, mechanism: Mechanism, counted: Counted) -> OptionShares:
        return OptionShares.of(self.labels, self.optional, mechanism, counted)

    def expected_variance(self, mechanism: Mechanism) -> float:
        """Return the variance of one decoded answer for people who tick half of the options that they may tick."""
        return float(planned_options(mechanism, np.array([self.domain.most / (2 * self.domain.k)]))[0])

    def planned(self, mechanism: Mechanism, expected: Expected, asked: float) -> PlannedAnswer:
        variances = np.array(planned_options(mechanism, POINTS))
        if self.optional:  # a ratio, whose variance is largest with that of the denominator
            variances = variances / expected.response**2
            return PlannedAnswer.of_shares(variances, expected, asked)
        return PlannedAnswer.of_shares(variances, expected, asked * expected.response)


class SeveralColumn(SetColumn):
    """Sets of declared options."""

    outside: ClassVar[str] = "holds another option, or too many"
    clipped: ClassVar[str] = 'sets with undeclared or too many options count as "no answer"'

    def describe(self) -> str:
        shown = ", ".join(map(repr, self.labels[:20])) + (", ..." if len(self.labels) > 20 else "")
        return f"lists of at most {self.domain.most} of the options {shown}"

    def answer_text(self) -> str:
        most = "any" if self.domain.most == self.domain.k else f"at most {self.domain.most}"
        return f"{most} of: {super().answer_text()}"

    def spellings(self) -> None:
        return None

    def read(self, name: str, values: Any, *, clip: bool = False) -> Column:
        rows = self._column_rows(name, values, clip)
        return Column("uint8", np.ascontiguousarray(rows).view(np.uint8), None, 0, len(rows), row_bytes=self.row_bytes)

    @property
    def spelled(self) -> dict[str, int] | None:
        return self._spelled

    def read_cell(self, value: Any) -> Column:
        codes = self._cell(value)
        known = [] if codes is None or min(codes, default=0) < 0 else sorted(set(codes))
        missing = np.array([codes is None or min(codes, default=0) < 0])
        rows = self._rows(np.zeros(len(known), np.intp), np.array(known, np.intp), missing, np.array([True]), True)
        return Column("uint8", rows.view(np.uint8), None, 0, 1, row_bytes=self.row_bytes)

    @cached_property
    def _codes(self) -> dict[Any, int]:
        return {label: code for code, label in enumerate(self.labels)}

    @cached_property
    def _spelled(self) -> dict[str, int] | None:
        """Numbers of the options by the parts of a text that name them; None if texts cannot name all of them."""
        spelled = {str(label): code for code, label in enumerate(self.labels)}
        is_clear = all(text and text == text.strip() and DELIMITER not in text for text in spelled)
        return spelled if is_clear and len(spelled) == len(self.labels) else None

    def _cell(self, value: Any) -> list[int] | None:
        """Return the numbers of the options in one cell of a client, -1 for other values; None if it is no set."""
        if isinstance(value, str):
            return None if self._spelled is None else _codes_of(self._spelled, value)
        if isinstance(value, bytes | Mapping) or not isinstance(value, Sequence | Set | np.ndarray):
            return None
        try:
            codes = self._codes
            return [_code(codes, label) for label in value]
        except Exception:  # of the methods of the values
            return None

    def _column_rows(self, name: str, values: Any, clip: bool) -> NDArray[np.uint16]:
        """Return the cells of a column as rows of positions."""
        # Different texts, and lists of labels or of zeros and ones, become rows once; codes repeat them.
        if package_of(values) == "pandas":  # a categorical, with code -1 for missing values
            rows = self._column_rows(name, arrow_array(name, values.categories.tolist()), clip)
            return self._repeated(rows, np.asarray(values.codes), clip)
        if isinstance(values, np.ndarray) and values.dtype.kind == "f" and np.isnan(values).all():
            return self._repeated(self._no_rows(), np.full(len(values), -1), clip)  # nobody answered
        if isinstance(values, Coded | np.ndarray):
            got = "symbols of labels" if isinstance(values, Coded) else f"dtype {values.dtype}"
            raise TypeError(f"column {name!r} must hold {self.describe()}, got {got}")
        pa = optional("pyarrow", "files")
        kind, is_ = values.type, pa.types
        if is_.is_null(kind):
            return self._repeated(self._no_rows(), np.full(len(values), -1), clip)
        if is_.is_dictionary(kind) or is_.is_string(kind) or is_.is_large_string(kind) or is_.is_string_view(kind):
            coded = values if is_.is_dictionary(kind) else values.dictionary_encode()
            codes = coded.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
            cells = python_values(coded.dictionary)
            if cells is None or not all(cell is None or isinstance(cell, str) for cell in cells):
                raise TypeError(f"column {name!r} must hold {self.describe()}, got type {kind}")
            spelled = self._spelled
            if spelled is None:
                raise ValueError(
                    f"column {name!r} must hold lists, because texts with {DELIMITER!r} between options are not clear where an "
                    f"option is empty, contains {DELIMITER!r}, has spaces at an end, or is printed like another; got texts"
                )
            lists = [None if cell is None else _codes_of(spelled, cell) for cell in cells]
            missing = np.array([options is None for options in lists], np.bool_)
            sizes = [len(options or ()) for options in lists]
            people = np.repeat(np.arange(len(lists)), sizes)
            options = np.array([option for own in lists for option in own or ()], np.int64)
            return self._repeated(self._checked(people, options, missing, clip), codes, clip)
        if not (is_.is_list(kind) or is_.is_large_list(kind) or is_.is_fixed_size_list(kind)):
            raise TypeError(f"column {name!r} must hold {self.describe()}, got type {kind}")
        return self._list_rows(name, values, clip)

    def _list_rows(self, name: str, values: Any, clip: bool) -> NDArray[np.uint16]:
        """Return lists of labels, or of as many zeros and ones as there are options, as rows of positions."""
        pa, pc = optional("pyarrow", "files"), optional("pyarrow.compute", "files")
        kind = values.type
        missing = np.asarray(values.is_null())
        sizes = pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        flat, people = pc.list_flatten(values), np.repeat(np.arange(len(values)), sizes)
        if pa.types.is_fixed_size_list(kind):  # flattened without the rows that are missing
            people = np.repeat(np.flatnonzero(~missing), kind.list_size)
            sizes = np.where(missing, 0, kind.list_size)
        is_number, is_bool = pa.types.is_integer(kind.value_type), pa.types.is_boolean(kind.value_type)
        are_rows = is_number and pa.types.is_fixed_size_list(kind)
        are_rows |= is_bool and not any(isinstance(label, bool) for label in self.labels)
        if is_number and not are_rows and (sizes[~missing] == self.domain.k).all():
            are_rows = not any(isinstance(label, int | float) for label in self.labels)
            if not are_rows and self._may_be_bits(flat):
                raise ValueError(
                    f"column {name!r} must be an array of zeros and ones, or hold sets of options, got lists that may be either"
                )
        if are_rows:
            if (sizes[~missing] != self.domain.k).any():
                raise ValueError(
                    f"column {name!r} must have rows of {self.domain.k} zeros and ones, one for each option"
                )
            # Zeros and ones of every row that is not missing; all other numbers become 2, which no set has.
            bits = np.zeros((len(values), self.domain.k), np.uint8)
            kept = pc.fill_null(flat.cast(pa.int8()) if pa.types.is_boolean(flat.type) else flat, 2)
            rows = kept.to_numpy(zero_copy_only=False).reshape(-1, self.domain.k)
            bits[~missing] = np.where((rows == 0) | (rows == 1), rows, 2)
            return self._valid_or_missing(self.domain.convert(bits), missing, clip)
        try:
            coded = flat.dictionary_encode()
        except pa.ArrowException:
            raise TypeError(
                f"column {name!r} must hold {self.describe()}, got lists of type {kind.value_type}"
            ) from None
        if pa.types.is_dictionary(coded.type) and pa.types.is_dictionary(flat.type):
            coded = flat
        different = python_values(coded.dictionary)
        if different is None:
            raise TypeError(f"column {name!r} must hold {self.describe()}, got other values of type {kind}")
        known = self._codes
        table = np.array([*(_code(known, value) for value in different), -1], np.int64)
        codes = coded.indices.cast(pa.int64()).fill_null(len(different)).to_numpy(zero_copy_only=False)
        return self._checked(people, table[codes], missing, clip)

    def _may_be_bits(self, flat: Any) -> bool:
        """Return whether lists of as many numbers as there are options, one after the other, are zeros and ones.

        They are no lists of options then, because these would be repeated or not in their order.
        """
        if flat.null_count or not len(flat):
            return False
        rows = flat.to_numpy(zero_copy_only=False).reshape(-1, self.domain.k)
        return bool(((rows == 0) | (rows == 1)).all() and (np.diff(rows.astype(np.int8), axis=1) <= 0).any())

    def _checked(
        self, people: NDArray[np.intp], options: NDArray[np.int64], missing: NDArray[np.bool_], clip: bool
    ) -> NDArray[np.uint16]:
        """Return rows of positions from pairs of a person and an option, which is -1 for an undeclared one."""
        valid = np.full(len(missing), True)
        valid[people[options < 0]] = False
        k = self.domain.k
        pairs = np.unique((people * k + options)[options >= 0])  # in ascending order, without repetitions
        return self._rows(pairs // k, pairs % k, missing, valid, clip)

    def _rows(
        self,
        people: NDArray[np.intp],
        options: NDArray[np.intp],
        missing: NDArray[np.bool_],
        valid: NDArray[np.bool_],
        clip: bool,
    ) -> NDArray[np.uint16]:
        """Return rows of positions; with `clip`, sets that are not valid are missing where they may be."""
        if clip and self.optional:
            valid = valid & (np.bincount(people, minlength=len(missing)) <= self.domain.most)
            missing = missing | ~valid
            kept = ~missing[people]
            people, options = people[kept], options[kept]
            valid = np.full(len(missing), True)
        return self.domain.rows(people, options, missing, valid)

    def _valid_or_missing(self, rows: NDArray[np.uint16], missing: NDArray[np.bool_], clip: bool) -> NDArray[np.uint16]:
        """Return rows of positions, where some are missing; with `clip`, those that are not valid are missing as well."""
        if clip and self.optional:
            missing = missing | self.domain.invalid(rows)
        nobody = np.zeros(0, np.intp)
        rows[missing] = self.domain.rows(nobody, nobody, np.array([True]), np.array([True]))
        return rows

    def _no_rows(self) -> NDArray[np.uint16]:
        return np.zeros((0, self.domain.most), np.uint16)

    def _repeated(self, rows: NDArray[np.uint16], codes: AnyArray, clip: bool) -> NDArray[np.uint16]:
        """Return the rows of codes; -1 is missing."""
        nobody = np.zeros(0, np.intp)
        missing = self._rows(nobody, nobody, np.array([True]), np.array([True]), clip)
        return np.concatenate([rows, missing])[codes]


@dataclass(frozen=True, eq=False, kw_only=True)
class OptionColumns(SeveralColumn):
    """Sets of declared options in columns of zeros and ones.

    Attributes
    ----------
    option_columns : tuple of str
        Names of the columns, in the order of the options.
    """

    option_columns: tuple[str, ...]
    lacking: ClassVar[str] = "has no value in any of them, which needs optional=True"
    outside: ClassVar[str] = "has another value, more ones, or a value in some of them only"
    clipped: ClassVar[str] = (
        'rows with another value, too many ones, or a value in some columns only count as "no answer"'
    )

    def describe(self) -> str:
        return f"zeros and ones, at most {self.domain.most} ones in a row"

    def place_of_cells(self, name: str) -> str:
        shown = ", ".join(map(repr, self.option_columns[:20])) + (", ..." if len(self.option_columns) > 20 else "")
        return f"columns {shown}"

    def sources(self, name: str) -> dict[str, QuestionColumn]:
        return dict.fromkeys(self.option_columns, TICK)

    def gathered(self, name: str, columns: Mapping[str, Any]) -> Any:
        """Return rows of zeros and ones. A row that has other values, or some values only, is made of twos."""
        symbols = []
        for source in self.option_columns:
            cells = TICK.read(source, columns[source])
            symbols.append(cells.symbols(0, cells.n))
        found = np.stack(symbols, axis=-1)
        missing = (found == TICK.k - 1).all(axis=1)
        found[(found > 1).any(axis=1)] = 2
        pa = optional("pyarrow", "files")
        valid = pa.py_buffer(np.packbits(~missing, bitorder="little").tobytes())
        kind, ticks = pa.list_(pa.uint8(), len(self.option_columns)), pa.array(found.astype(np.uint8).reshape(-1))
        return pa.Array.from_buffers(kind, len(found), [valid], children=[ticks])


TICK = column_of(YesNo(optional=True))  # what the cells of a column of one option answer


def _columns_of_options(names: Sequence[Any], k: int) -> tuple[str, ...]:
    """Return the names of the columns of k options."""
    for name in names:
        if not isinstance(name, str) or not name:
            raise TypeError(f"column must be the name of a column, or a list of names, got one that is {name!r}")
    if len(names) != k:
        raise ValueError(f"column must have one name for each of the {k} options, got {len(names)} names")
    if len(set(names)) < k:
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"column must have different names, got {twice!r} twice")
    _check.labels("column", names)
    return tuple(names)


def _codes_of(spelled: Mapping[str, int], text: str) -> list[int]:
    """Return the numbers of the options that a text names, -1 for other parts."""
    return [spelled.get(part, -1) for part in map(str.strip, text.split(DELIMITER)) if part]


def _code(codes: Mapping[Any, int], value: Any) -> int:
    """Return the number of a label; -1 for another value."""
    try:
        return codes.get(value, -1)
    except TypeError:  # not hashable
        return -1
