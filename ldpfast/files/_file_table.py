"""Files as a table of people for surveys."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import _check
from .._extras import optional
from ..survey import Coded, ColumnQuestion, Piece, Source
from ..survey._questions import column_of
from ._column_reader import TableFile
from ._open import open_table
from ._status import STDIN, duplicates

AS_IT_IS = (True, None, None)  # the kind of a column that no question asks for


class FileTable(Source):
    """The rows of one or more files, as a table for `Survey.run` and `Survey.privatize`.

    Texts are compared with the labels of a question as they are printed; for yes-or-no questions "yes" and "no", "true" and
    "false", 1 and 0 are accepted. Blanks around a text are ignored, unless a label has them. In every format, a value is
    missing if it is null, NaN, or one of the texts "", "NA", "N/A", "NaN", "nan", "NULL", "null" and "None" in exactly this
    spelling. A declared label is never missing. With ``clip=True``, another text counts as "no answer" where a question is
    optional, as in frames; it is an error otherwise.

    Columns that no question asks for, but that `by` or `PersonKeys` name, are read as they are stored. From CSV files they are
    texts, so that the person 17 is "17" there.

    Parameters
    ----------
    paths : sequence of str or Path
        Files with the suffix .csv, .csv.gz, .jsonl, .ndjson, .parquet, .feather, .arrow or .npy, or "-" for a CSV file on the
        standard input.
    questions : mapping of str to ColumnQuestion
        The questions that the columns answer. A survey whose questions have other labels refuses the table.
    progress : callable, optional
        Function called after each chunk with the fraction of the files that has been read.

    Raises
    ------
    TypeError
        If `paths` is a single path.
    ValueError
        If there is no file; if a file is given twice, by a link, or as a copy of the same bytes that has records; if the suffix
        of one is not known, or it is no regular file; if a column answers questions of two kinds; if the labels of a question
        are equal when they are printed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from ldpfast.files import FileTable
    >>> from ldpfast.survey import Choice, Survey, YesNo
    >>> survey = Survey({"region": Choice(["north", "south"]), "smoker": YesNo()}, epsilon=2.0)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "people.csv")
    ...     _ = path.write_text("region,smoker\\nnorth,yes\\nsouth,no\\nsouth,no\\n")
    ...     aggregator = survey.collect(FileTable([path], survey.column_questions))
    >>> aggregator.n
    3
    """

    def __init__(
        self,
        paths: Sequence[str | Path],
        questions: Mapping[str, ColumnQuestion],
        *,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        if isinstance(paths, str | Path):
            raise TypeError(f"paths must be a sequence of paths, got {type(paths).__name__}")
        if not paths:
            raise ValueError("paths must be at least one file, got none")
        self._paths = list(paths)
        counts = Counter(str(path) if path == STDIN else os.path.realpath(path) for path in self._paths)
        for path in self._paths:
            if counts[str(path) if path == STDIN else os.path.realpath(path)] > 1:
                raise ValueError(f"paths must be different files, got {str(path)!r} twice")
            open_table(path, [])
        # For each column of a question: whether it is read as it is, and the spellings and the values of its categories.
        self._kinds: dict[str, tuple[bool, list[tuple[str, ...]] | None, tuple[Any, ...] | None]] = {}
        # Columns of optional questions, in which a survey counts or refuses undeclared values.
        self._optional: set[str] = set()
        for name, asked in questions.items():
            for column, question in column_of(asked).sources(name).items():
                spellings = question.spellings()
                kind = question.row_bytes > 0, spellings, None if spellings is None else question.cells
                if self._kinds.setdefault(column, kind) != kind:
                    raise ValueError(f"column {column!r} must answer questions of one kind, with the same categories")
                if question.optional:
                    self._optional.add(column)
        for path, earlier, is_same in duplicates(self._paths):
            if is_same or any(rows for _, rows, _ in open_table(path, list(self._kinds)).chunks()):
                fault = "is the same file as" if is_same else "has the same contents as"
                raise ValueError(f"paths must be different files, got {str(path)!r}, which {fault} {str(earlier)!r}")
        self._progress = progress or (lambda _: None)
        self._starts: list[tuple[int, TableFile]] = []

    def pieces(self, names: Sequence[str]) -> Iterator[Piece]:
        kept: dict[str, list[Any]] = {name: [] for name in names}
        start, waiting = 0, 0
        self._starts = []
        for number, path in enumerate(self._paths):
            file = open_table(path, names)
            self._starts.append((start + waiting, file))
            read = 0
            for values, rows, fraction in file.chunks():
                for name, column in zip(names, values, strict=True):
                    kept[name].append(self._converted(file, name, column, read))
                read, waiting = read + rows, waiting + rows
                if waiting >= Piece.ROWS:
                    whole = waiting // Piece.ROWS * Piece.ROWS
                    joined = {name: _joined(name, parts) for name, parts in kept.items()}
                    yield self._piece(start, whole, joined)
                    kept = {name: [column[whole:]] for name, column in joined.items()}
                    start, waiting = start + whole, waiting - whole
                self._progress((number + fraction) / len(self._paths))
        if waiting:
            yield self._piece(start, waiting, {name: _joined(name, parts) for name, parts in kept.items()})

    def _piece(self, start: int, n: int, columns: dict[str, Any]) -> Piece:
        cut = {}
        for name, column in columns.items():
            *_, cells = self._kinds.get(name, AS_IT_IS)
            cut[name] = column[:n] if cells is None else Coded(column[:n], cells)
        return Piece(start, n, cut, self._place)

    def _converted(self, file: TableFile, name: str, values: Any, start: int) -> Any:
        is_text, spellings, _ = self._kinds.get(name, AS_IT_IS)
        if is_text:
            return file.plain(name, values)
        if spellings is not None:
            return file.codes(name, values, spellings, start, keep_others=name in self._optional)
        numbers = file.numbers(name, values, start)
        return numbers.astype(np.float32) if numbers.dtype == np.float16 else numbers

    def _place(self, row: int) -> str:
        """Return the file and the position of a row."""
        start, file = next((start, file) for start, file in reversed(self._starts) if start <= row)
        return file.place(row - start)


def _joined(name: str, parts: list[Any]) -> Any:
    """Return the parts of a column as one array. Arrow arrays, of columns that no question asks for, must have one type."""
    if isinstance(parts[0], np.ndarray):
        filled = [part for part in parts if len(part)]
        if len(filled) == 1:
            return _check.laid_out(filled[0])
        return np.concatenate(parts)
    pa = optional("pyarrow", "files")
    texts = (pa.large_string(), pa.string())
    parts = [part.cast(pa.string()) if part.type in texts else part for part in parts]
    kinds = list(dict.fromkeys(part.type for part in parts if not pa.types.is_null(part.type))) or [pa.null()]
    if len(kinds) > 1:
        raise TypeError(f"column {name!r} must have one type in all files, got {', '.join(map(str, kinds))}")
    return pa.concat_arrays([part.cast(kinds[0]) for part in parts])
