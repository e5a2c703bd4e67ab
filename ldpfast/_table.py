"""Small tables with named columns, as text, as HTML, and for other packages."""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._extras import optional

FORMULA = ("=", "+", "-", "@")  # first characters of a cell that spreadsheets compute
ESTIMATED = frozenset(
    ["estimate", "value", "share", "difference", "stderr", "low", "high"]
)  # columns with a standard error
MAX_ROWS = 60  # of a table in HTML; of a longer one, the first and the last rows are shown


@dataclass(frozen=True)
class Table:
    """A table with named columns.

    Attributes
    ----------
    columns : dict
        Lists of equal length by the names of the columns.

    Examples
    --------
    >>> from ldpfast.survey import Table
    >>> Table({"way": ["foot", "car"], "share": [0.25, 0.75]})
    way   share
    foot   0.25
    car    0.75
    """

    columns: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, name: str) -> list[Any]:
        """Return the column with a name."""
        return self.columns[name]

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists."""
        return {name: list(values) for name, values in self.columns.items()}

    def to_frame(self) -> Any:
        """Return a pandas DataFrame.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return optional("pandas", "frames").DataFrame(self.columns)

    def to_arrow(self) -> Any:
        """Return a pyarrow Table.

        Raises
        ------
        ImportError
            If pyarrow is not installed.
        """
        return optional("pyarrow", "files").table(self.columns)

    def _csv(self, texts: Container[str] = ()) -> str:
        """Return the table as CSV, with empty cells for NaN and None. Columns `texts` have texts of people, no formulas."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.columns)
        shown = [map(without_formula, own) if name in texts else own for name, own in self.columns.items()]
        writer.writerows(["" if is_gap(x) else x for x in row] for row in zip(*shown, strict=True))
        return file.getvalue()

    def _texts(self) -> list[list[str]]:
        return [[name, *values] for name, values in self.to_texts().items()]

    def __repr__(self) -> str:
        columns = []
        for name, values in zip(self.columns.values(), self._texts(), strict=True):
            width = max(map(len, values))
            left = any(isinstance(value, str) for value in name)
            columns.append([text.ljust(width) if left else text.rjust(width) for text in values])
        return "\n".join("  ".join(row).rstrip() for row in zip(*columns, strict=True))

    def _html(self, note: str = "") -> str:
        """Return the table as HTML, with a note below."""
        left = {name for name, values in self.columns.items() if any(isinstance(value, str) for value in values)}
        return html_table(self.to_texts(), left, note)

    def to_texts(self) -> dict[str, list[str]]:
        """Return the columns as texts, as they are printed.

        Numbers have four digits; estimates and their limits have two digits of the standard error of their row.
        """
        digits = [decimals(x) if isinstance(x, float) else None for x in self.columns.get("stderr", [])]

        def texts(name: str, values: list[Any]) -> list[str]:
            if not digits or name not in ESTIMATED:
                return list(map(_shown, values))
            pairs = zip(values, digits, strict=True)
            return [
                _shown(value) if d is None or not isinstance(value, float) else _fixed(value, d) for value, d in pairs
            ]

        return {name: texts(name, values) for name, values in self.columns.items()}

    def _repr_html_(self) -> str:
        return self._html()


def is_gap(value: Any) -> bool:
    """Return whether a cell has no value: None or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def without_formula(text: str) -> str:
    """Return a text of a person for a cell of CSV, so that no spreadsheet computes it."""
    return f"'{text}" if text.startswith(FORMULA) else text


def answers_without_formulas(columns: Mapping[str, Sequence[Any]], texts: Container[str]) -> dict[str, list[Any]]:
    """Return the columns of a table of answers for CSV. Those to the questions `texts` are texts of people."""
    found = {name: list(values) for name, values in columns.items()}
    if found:
        pairs = zip(found["question"], found["answer"], strict=True)
        found["answer"] = [without_formula(answer) if name in texts else answer for name, answer in pairs]
    return found


def printable(text: str) -> str:
    """Return a text whose control characters are escaped, so that it stays in its row and does not command a terminal."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def shown_places(count: int) -> list[int]:
    """Return the places of the rows that `html_table` shows of a table: the first and the last ones of a long table."""
    half = MAX_ROWS // 2
    return list(range(count)) if count <= MAX_ROWS else [*range(half), *range(count - half, count)]


def html_table(
    columns: dict[str, list[str]],
    left: Container[str] = (),
    note: str = "",
    total: int | None = None,
    *,
    named_cells: bool = False,
) -> str:
    """Return a table of texts, with a note below, as HTML without scripts and colors.

    Parameters
    ----------
    columns : dict
        Lists of texts of equal length, by the names of the columns. All are escaped.
    left : container of str
        Names of the columns that are aligned at the left; numbers are aligned at the right.
    note : str
        Text below the table. If there are more than 60 rows, 60 are shown, and the note says so.
    total : int, optional
        Number of rows of the whole table, if `columns` has only those that are shown.
    named_cells : bool, default False
        Whether cells have the name of their column as an attribute, for styles that show a row as a list.
    """
    places = [f' style="text-align: {"left" if name in left else "right"}"' for name in columns]
    names = [f' data-column="{html.escape(name)}"' if named_cells else "" for name in columns]
    rows = list(zip(*columns.values(), strict=True))
    total = len(rows) if total is None else total
    if total > MAX_ROWS:
        half = MAX_ROWS // 2
        note = "; ".join(part for part in (note, f"{MAX_ROWS} of {total:,} rows are shown") if part)
        rows = [*rows[:half], ("...",) * len(columns), *rows[-half:]]

    def line(cell: str, attributes: Iterable[str], texts: Iterable[str]) -> str:
        cells = zip(attributes, texts, strict=True)
        return "<tr>" + "".join(f"<{cell}{own}>{html.escape(text)}</{cell}>" for own, text in cells) + "</tr>"

    described = [place + name for place, name in zip(places, names, strict=True)]
    body = "".join(line("td", described, texts) for texts in rows)
    below = f"<p>{html.escape(note)}</p>" if note else ""
    return f"<table><thead>{line('th', places, columns)}</thead><tbody>{body}</tbody></table>{below}"


def estimate_columns(
    value: Any, stderr: Any, low: Any, high: Any, places: Sequence[int] | None = None
) -> dict[str, list[str]]:
    """Return columns of texts of numbers with standard errors and limits, to two digits of the standard error.

    Parameters
    ----------
    value, stderr, low, high : float or ndarray
        Numbers of the same shape.
    places : sequence of int, optional
        Places of the numbers to show, in the flattened arrays. The default is all of them.
    """
    numbers = {"estimate": value, "std. error": stderr, "low": low, "high": high}
    which = slice(None) if places is None else np.asarray(places, np.intp)
    lists = {name: np.ravel(part)[which].tolist() for name, part in numbers.items()}
    digits = [decimals(error) for error in lists["std. error"]]
    return {name: [_fixed(x, d) for x, d in zip(part, digits, strict=True)] for name, part in lists.items()}


def decimals(stderr: float) -> int | None:
    """Return the number of decimals that shows two digits of a standard error; None if it is 0 or not finite."""
    return max(0, 1 - math.floor(math.log10(stderr))) if 0 < stderr < math.inf else None


def _fixed(value: float, digits: int | None) -> str:
    plain = digits is not None and digits <= 12 and abs(value) < 1e15
    return f"{value:.{digits}f}" if plain else f"{value:.6g}"
