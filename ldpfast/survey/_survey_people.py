"""The people of a survey: tables of records become reports, or counts of reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import _check, _schema, _threads
from .._core.stream import Stream
from .._core.survey import ROWS, Column
from .._extras import optional
from .._frames import By, Groups, Piece, group_columns, pieces, read_by, values_of
from .._labels import has_index, require_one_index
from .._person_keys import PersonKeys, Persons, is_personal
from .._random import Randomness, open_stream
from .._typing import AnyArray
from .._warnings import warn
from ..reports import SCHEMA_KEY, Counts
from ..results import ClippedWarning
from ._layout import SurveyLayout
from ._persons import person_answers
from ._survey_tally import LABEL, merge, tally_groups, tally_rows

if TYPE_CHECKING:
    from .._random import RNGLike


class SurveyPeople:
    """People who answer a survey, from a table that is read in pieces.

    Parameters
    ----------
    layout : SurveyLayout
    frame : mapping of arrays, data frame, or object that exports an Arrow stream or array
    rng : RNGLike
    clip : bool
    by : str, list of str or None
        Public columns that divide people into groups.
    """

    def __init__(self, layout: SurveyLayout, frame: Any, rng: RNGLike, clip: bool, by: By | None = None) -> None:
        self.layout, self.frame = layout, frame
        self.clip, self.by = _check.flag("clip", clip), read_by(by)
        self.keys = rng if is_personal(rng) else None
        if self.keys is not None and self.keys.question is not None:
            raise ValueError(f"question must be None in PersonKeys for a survey, got {self.keys.question!r}")
        self._rng, self._randomness = rng, Randomness()
        layout.series.require_keys(self.keys is not None)
        if not is_personal(rng):
            self._randomness.keep(rng, open_stream(rng))

    # Reports ----------------------------------------------------------------------------------------------------------

    def tables(self) -> Iterator[Any]:
        """Yield tables of reports; the first has no rows."""
        pa = optional("pyarrow", "files")
        fields = [pa.field(n, pa.binary(size)) for n, size in zip(self.layout.names, self.layout.sizes, strict=True)]
        metadata = {SCHEMA_KEY: _schema.canonical_json(self.layout.label.schema)}
        schema = pa.schema([*fields, pa.field(LABEL, pa.binary(8))], metadata=metadata)
        yield schema.empty_table()
        for piece, columns in self._pieces():
            reports, valid = self._reports_of(piece, columns)
            n = len(reports[0])
            arrays = [
                pa.FixedSizeBinaryArray.from_buffers(pa.binary(size), n, [pa.py_buffer(bits), pa.py_buffer(rows)])
                for size, bits, rows in zip(self.layout.sizes, valid, reports, strict=True)
            ]
            label = pa.repeat(pa.scalar(self.layout.head[1:], pa.binary(8)), n)
            yield pa.Table.from_arrays([*arrays, label], schema=schema)

    def _reports_of(
        self, piece: Piece, columns: list[Column]
    ) -> tuple[list[NDArray[np.uint8]], list[NDArray[np.uint8]]]:
        """Return the reports to each asked question, one row per person who answers, and packed bits of who was asked."""
        n, sizes = piece.n, self.layout.sizes
        if self.keys is not None:
            made, asked, _ = self._person_answers(piece, columns, self.keys)
            reports = [np.zeros((len(asked), size), np.uint8) for size in sizes]
            for q, rows in enumerate(made):
                reports[q][asked[:, q]] = rows
            return reports, [np.packbits(asked[:, q], bitorder="little") for q in range(len(sizes))]
        reports = [np.zeros((n, size), np.uint8) for size in sizes]
        valid = [np.zeros(-(-n // 8), np.uint8) for _ in sizes]
        stream, first = self._take(-(-n // ROWS))

        def work(start: int, stop: int) -> tuple[int, int] | None:
            return self.layout.kernel.privatize(stream, first, columns, start, stop, self.clip, reports, valid)

        self._raise_first(_threads.parallel_map(work, n, ROWS, n * len(columns)), piece, columns)
        return reports, valid

    # Counts -----------------------------------------------------------------------------------------------------------

    def collect(self, new: Callable[[Groups | None], Counts]) -> Counts:
        """Return the counts of the reports, without storing them."""
        counts = new(None if self.by is None else Groups(self.by))
        counts.clipped = dict.fromkeys(self.layout.columns, 0)
        for piece, columns in self._pieces():
            members, groups = counts.members(values_of(self.by, piece.columns))
            answering, chosen = piece.n, None
            if self.keys is None:
                self._run_piece(piece, columns, members, groups, counts.states)
            else:
                reports, asked, chosen = self._person_answers(piece, columns, self.keys)
                answering = len(asked)
                if members is not None and chosen is not None:
                    members = members[chosen]
                if members is None:
                    tally_rows(self.layout, reports, asked, [state[0] for state in counts.states])
                else:
                    tally_groups(self.layout, reports, asked, members, counts.states)
            counts.n += answering if members is None else np.bincount(members, minlength=groups)
            if self.clip:
                counts.add_clipped(self._clipped(piece, columns, chosen))
        return counts

    def _run_piece(
        self, piece: Piece, columns: list[Column], members: AnyArray | None, groups: int, states: list[AnyArray]
    ) -> None:
        """Privatize and count a piece on all threads."""
        if not piece.n:  # nobody, hence possibly no group
            return
        layout = self.layout
        stream, first = self._take(-(-piece.n // ROWS))
        pairs = np.array(layout.pairs, np.int32).reshape(-1, 2)

        def work(start: int, stop: int) -> tuple[Any, list[AnyArray]]:
            counted: list[AnyArray] = [np.zeros((groups, *shape), dtype) for shape, dtype in layout.state_layouts]
            n, together, *reports = counted
            rows = stream, first, columns, start, stop, self.clip
            return layout.kernel.run(*rows, members, groups, reports, n, pairs, together), counted

        results = _threads.parallel_map(work, piece.n, ROWS, piece.n * len(columns))
        self._raise_first([invalid for invalid, _ in results], piece, columns)
        for _, counted in results:
            merge(layout, states, counted)

    def _person_answers(
        self, piece: Piece, columns: list[Column], keys: PersonKeys
    ) -> tuple[list[NDArray[np.uint8]], NDArray[np.bool_], NDArray[np.intp] | None]:
        """Check a piece, and return the reports of those who were asked each question, who was asked, and whose turn it is.

        The rows of those whose turn it is are None for a survey without waves, in which all answer.
        """
        self._raise_first([self.layout.kernel.first_invalid_block(columns, piece.n, self.clip)], piece, columns)
        if keys.column is not None:
            persons = Persons(piece.columns[keys.column], unique=True)
        else:
            persons = keys.persons_from(piece.start, piece.n)
        chosen = self.layout.series.in_turn(keys, persons)
        return *person_answers(self.layout, keys, persons, columns, chosen), chosen

    # Pieces -----------------------------------------------------------------------------------------------------------

    def _pieces(self) -> Iterator[tuple[Piece, list[Column]]]:
        """Yield the pieces of the table, and the columns of each for the kernel."""
        person = None if self.keys is None else self.keys.column
        names = self.layout.sources
        names += [*group_columns(self.by), *([] if person is None else [person])]
        if self.keys is not None:
            given = map(self.frame.get, names) if isinstance(self.frame, Mapping) else [self.frame]
            require_one_index({"frame": next(filter(has_index, given), None), "persons": self.keys.given})
        people = 0
        for piece in pieces(self.frame, list(dict.fromkeys(names))):
            columns = []
            for name in self.layout.columns:
                question = self.layout.declared[name]
                column = question.column or name
                columns.append(question.read(column, question.gathered(name, piece.columns), clip=self.clip))
            people = piece.start + piece.n
            yield piece, columns
        if self.keys is not None and person is None:  # raises unless there was one person per row of the whole table
            self.keys.persons(people)

    def _take(self, blocks: int) -> tuple[Stream, int]:
        """Return a stream and the number of the first of some new record blocks.

        Without `rng`, every call has a fresh key. A process that was forked while pieces were read shares no coins then.
        """
        stream = self._randomness.stream(self._rng)
        return stream, stream.take(blocks)

    def _raise_first(self, invalid: list[Any], piece: Piece, columns: list[Column]) -> None:
        """Raise the error for the first invalid block, if there is one."""
        for part, first in filter(None, invalid):
            name = self.layout.columns[part]
            question, n = self.layout.declared[name], min(ROWS, piece.n - first)

            def place(row: int) -> str:
                return piece.place(piece.start + row)

            raise question.first_fault(question.column or name, columns[part], first, n, clip=self.clip, place=place)

    def _clipped(self, piece: Piece, columns: list[Column], chosen: NDArray[np.intp] | None) -> dict[str, int]:
        """Return the number of cells of each question that are out of range, or hold an undeclared category.

        `chosen` are the rows of those who answer; None for all.
        """
        clipped = {}
        # A mean is there twice if it is sent as a number and as a symbol.
        for name, read in dict(zip(self.layout.columns, columns, strict=True)).items():
            question = self.layout.declared[name]
            column = question.column or name
            clipped[name] = question.number_clipped(column, question.gathered(name, piece.columns), read, chosen)
        return clipped


def warn_public(layout: SurveyLayout, by: Any) -> None:
    """Warn if a question asks for a column that divides people, whose values are not protected."""
    columns = group_columns(read_by(by))
    for name, question in layout.declared.items():
        for column in columns & question.sources(name).keys():
            warn(
                f"by must be a public column, which is not protected, got {column!r}: question {name!r} asks for it; a Cross "
                "with this question estimates groups privately",
                UserWarning,
            )


def warn_clipped(layout: SurveyLayout, n: int, clipped: dict[str, int]) -> None:
    """Warn if cells of n people were clipped, by question."""
    places: dict[str, list[str]] = {}
    for name, count in clipped.items():
        question = layout.declared[name]
        if count:
            place = f"{count} of {n} ({count / n:.2g} of all) in {question.place_of_cells(question.column or name)}"
            places.setdefault(question.clipped, []).append(place)
    for reason, listed in places.items():
        warn(f"{reason}: {', '.join(listed)}", ClippedWarning)
