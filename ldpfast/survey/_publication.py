"""Tables of a survey that can be published, with a report of their quality, in several forms of files."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._extras import optional
from .._html_page import html_page, page_table, paragraph
from .._table import Table, is_gap, printable
from ._figures import NUMBERS

SHEET_NAME = 31  # characters of the name of a sheet in Excel
SHARES = {"share", "stderr", "low", "high"}  # columns of a table of shares that pages and Excel show in percent
QUALITY = {"no answer", "response", "expected coverage"}  # those of the quality


@dataclass(frozen=True, eq=False)
class Publication:
    """Tables that can be published, and their quality.

    `survey.SurveyResult.publish` and `reports.GroupedResults.publish` make one.

    Attributes
    ----------
    tables : dict of str to Table
        One table for each question and `Cross`, by its name: the columns that divide people, the labels, "people" (multiples of
        the base of `round`, which add up exactly), "share" of the group, "stderr", "low" and "high" of the share, and "n", the
        number of answers. A mean and other statistics have "value" in the place of "people" and "share". NaN where a number is
        suppressed. The rows of all groups together have "all" in the columns that divide people.
    quality : Table
        One row for each table; see `SurveyResult.publish`.
    figures : Table
        All numbers with the columns of SDMX-CSV, one row for each; see `to_frame`.
    notes : tuple of str
        How the numbers were made, and which are suppressed, for the readers of the tables.
    title : str

    Examples
    --------
    >>> from ldpfast.survey import Choice, Cross, Survey, YesNo
    >>> survey = Survey({"way": Choice(["foot", "car"]), "smoker": YesNo(), "both": Cross("way", "smoker")}, 4.0)
    >>> people = {"way": ["foot", "car", "car"] * 1000, "smoker": [True, False, False] * 1000}
    >>> publication = survey.run(people, rng=1).publish(population=60_000, round=100)
    >>> list(publication.tables), sum(publication.tables["way"]["people"])
    (['way', 'smoker', 'both'], 60000)
    """

    tables: Mapping[str, Table]
    quality: Table
    figures: Table
    notes: tuple[str, ...]
    title: str
    _texts: frozenset[str] = frozenset()  # questions that people answer with texts of their own

    def to_frame(self) -> Any:
        """Return all numbers as a pandas DataFrame with the columns of SDMX-CSV 2.0, one row for each.

        Returns
        -------
        frame : pandas.DataFrame
            "STRUCTURE", "STRUCTURE_ID" and "ACTION"; "TABLE"; the dimensions, which are the columns that divide people and the
            questions, with "_T" for all together; "UNIT_MEASURE" ("PS" for people); "TIME_PERIOD"; "OBS_VALUE", with "STDERR",
            "LOWER" and "UPPER" in its unit; "SHARE" of the group; "ANSWERS", the number of answers; "OBS_STATUS" ("A", or "Q"
            for suppressed) and "CONF_STATUS" ("F", free: the numbers are private).

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self.figures.to_frame()

    def to_csv(self, folder: str | Path) -> None:
        """Write the tables as CSV into a folder: one file for each, "quality.csv", "figures.csv" as SDMX-CSV, and "notes.txt".

        Suppressed numbers are empty. Texts of people that begin like a formula have an apostrophe before. Existing files with
        these names are replaced.

        Parameters
        ----------
        folder : str or Path
            Is made if it does not exist.

        Raises
        ------
        ValueError
            If it is a file.
        """
        folder = Path(folder)
        if folder.exists() and not folder.is_dir():
            raise ValueError(f"folder must be a directory, got the file {str(folder)!r}")
        folder.mkdir(parents=True, exist_ok=True)
        for name, table in self._named(["notes"], _file_name).items():
            texts = {column for column in table.columns if column.removeprefix("question ") in self._texts}
            (folder / f"{name}.csv").write_text(table._csv(texts), encoding="utf-8", newline="")
        (folder / "notes.txt").write_text("\n".join([self.title, *self.notes, ""]), encoding="utf-8")

    def to_excel(self, path: str | Path) -> None:
        """Write the tables as an Excel file: sheets with the notes, the quality, all figures, and one for each table.

        Texts are never formulas.

        Parameters
        ----------
        path : str or Path
            Name of the file, with the suffix ".xlsx". An existing one is replaced.

        Raises
        ------
        ImportError
            If openpyxl is not installed (extra "publish").
        ValueError
            If the suffix is another one.
        """
        if Path(path).suffix.lower() != ".xlsx":
            raise ValueError(f"path must be the name of a file with the suffix .xlsx, got {str(path)!r}")
        book = optional("openpyxl", "publish").Workbook()
        sheet = book.active
        sheet.title = "About"
        for row, text in enumerate([self.title, *self.notes], 1):
            _write(sheet, row, 1, text)
        for name, table in self._named(["About", "History"], _sheet_name).items():
            _write_table(
                book.create_sheet(name), table, NUMBERS if name not in ("quality", "figures") else table.columns
            )
        book.save(path)

    def to_html(self, path: str | Path) -> None:
        """Write the tables as one page of HTML without external resources.

        Parameters
        ----------
        path : str or Path
            Name of the file. An existing one is replaced.
        """
        Path(path).write_text(self._page(), encoding="utf-8")

    def _named(self, taken: Sequence[str], shortened: Callable[[str, int], str]) -> dict[str, Table]:
        """Return all tables by different names, which a function makes of a name and a number; first quality and figures."""
        found = {"quality": self.quality, "figures": self.figures}
        used = {name.lower() for name in (*taken, *found)}
        for name, table in self.tables.items():
            short = next(
                short for number in itertools.count(1) if (short := shortened(name, number)).lower() not in used
            )
            used.add(short.lower())
            found[short] = table
        return found

    def _page(self) -> str:
        parts = ["<h2>Quality</h2>", _html(self.quality, self.quality.columns), *map(paragraph, self.notes)]
        for name, table in self.tables.items():
            parts += [f"<h2>{html.escape(name)}</h2>", _html(table, NUMBERS)]
        return html_page(self.title, parts)

    def __repr__(self) -> str:
        parts = [f"{name}\n{table!r}" for name, table in self.tables.items()]
        return "\n\n".join([f"Publication: {self.title}", *parts, f"quality\n{self.quality!r}"])

    def _repr_html_(self) -> str:
        return self.quality._html(self.title)


def _in_percent(table: Table) -> set[str]:
    """Return the columns of a table that are shown in percent: not the limits of a mean."""
    return SHARES if "share" in table.columns else QUALITY & set(table.columns)


def _shown(value: Any, is_number: bool, is_percent: bool) -> str:
    """Return a cell of a page: a dash where there is no number. A label, such as a year, is shown as it is."""
    if is_gap(value):
        return "\N{EN DASH}"
    if not is_number:
        return printable(str(value))
    if isinstance(value, float):
        return f"{100 * value:.1f} %" if is_percent else f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else printable(str(value))


def _html(table: Table, numbers: Container[str]) -> str:
    left = {name for name, values in table.columns.items() if any(isinstance(value, str) for value in values)}
    percent = _in_percent(table)
    columns = {
        name: [_shown(value, name in numbers, name in percent) for value in values]
        for name, values in table.columns.items()
    }
    return page_table(columns, left)


def _file_name(name: str, number: int) -> str:
    """Return a name for a file, of letters, digits and hyphens; with a number that is not 1."""
    short = re.sub(r"[^\w]+", "-", name).strip("-").lower()[:80] or "table"
    return short if number == 1 else f"{short}-{number}"


def _sheet_name(name: str, number: int) -> str:
    """Return a name that a sheet can have; with a number that is not 1."""
    ending = "" if number == 1 else f" {number}"
    short = re.sub(r"[\[\]:*?/\\']", " ", printable(name)).strip() or "table"
    return short[: SHEET_NAME - len(ending)].strip() + ending


def _write(sheet: Any, row: int, column: int, value: Any) -> None:
    """Write a cell; a text is a text, also if it begins like a formula."""
    cell = sheet.cell(row, column)
    if isinstance(value, str):
        cell.value = printable(value)
        cell.data_type = "s"
    elif not is_gap(value):
        cell.value = value if isinstance(value, int | float) else str(value)


def _write_table(sheet: Any, table: Table, numbers: Container[str]) -> None:
    styles, percent = optional("openpyxl.styles", "publish"), _in_percent(table)
    for column, (name, values) in enumerate(table.columns.items(), 1):
        _write(sheet, 1, column, name)
        sheet.cell(1, column).font = styles.Font(bold=True)
        for row, value in enumerate(values, 2):
            _write(sheet, row, column, value)
            if name not in numbers:
                continue
            if isinstance(value, float) and name in percent:
                sheet.cell(row, column).number_format = "0.0%"
            elif isinstance(value, int):
                sheet.cell(row, column).number_format = "#,##0"
        widest = max([len(name), *(len(str(value)) for value in values if isinstance(value, str))])
        sheet.column_dimensions[sheet.cell(1, column).column_letter].width = min(40, max(10, widest + 2))
    sheet.freeze_panes = "A2"
