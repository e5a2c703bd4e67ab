"""The table of a fitted regression, as it is printed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._table import Table
from ..results import LabeledEstimate, StudentT

LEAST_PVALUE = 1e-4  # smaller ones are shown as smaller than this
LATEX = {character: f"\\{character}" for character in "&%$#_{}"}
LATEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "`": r"\textasciigrave{}"}


def coefficient_table(found: LabeledEstimate, confidence: float) -> Table:
    """Return a table with one row per coefficient: its estimate, standard error, test of 0 and limits."""
    test = found.test()
    low, high = found.interval(confidence)
    statistic = "t" if isinstance(found.rule, StudentT) else "z"
    columns = {"estimate": found.value, "stderr": found.stderr, statistic: test.statistic, "pvalue": test.pvalue}
    numbers = {name: np.ravel(values).tolist() for name, values in {**columns, "low": low, "high": high}.items()}
    return Table({"name": list(found.labels), **numbers})


@dataclass(frozen=True, eq=False)
class RegressionSummary:
    """The coefficients of a fitted regression.

    Attributes
    ----------
    table : Table
        One row per coefficient: "name", "estimate", "stderr", "z", "pvalue", "low" and "high"; "t" in the place of "z" if the
        limits are by t quantiles.
    notes : tuple of str
        Lines about the data and the fit.

    Examples
    --------
    >>> import numpy as np
    >>> from ldpfast import analysis, designs
    >>> x, reports = np.arange(400) % 2, np.arange(400) % 3 == 0
    >>> summary = analysis.RandomizedLogit(designs.warner(0.8)).fit(x[:, None], reports).summary()
    >>> list(summary.table["name"])
    ['const', 'x1']
    """

    table: Table
    notes: tuple[str, ...]

    def to_frame(self) -> Any:
        """Return `table` as a pandas DataFrame.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self.table.to_frame()

    def as_latex(self) -> str:
        """Return the table for LaTeX, as an environment tabular with the notes below, which needs no packages.

        Returns
        -------
        text : str
            p-values below 0.0001 are shown as such.
        """
        head = [_latex(name) for name in self.table.columns]
        names, *numbers = self.table.columns.values()
        texts, rows = self.table.to_texts(), []
        kinds = list(texts)[1:]
        for place, name in enumerate(names):
            cells = zip(kinds, (column[place] for column in numbers), strict=True)
            rows.append([_latex(str(name)), *(_latex_number(kind, value, texts[kind][place]) for kind, value in cells)])
        lines = [" & ".join(row) + r" \\" for row in (head, *rows)]
        notes = [rf"\multicolumn{{{len(head)}}}{{l}}{{{_latex(note)}}} \\" for note in self.notes]
        begin, end = rf"\begin{{tabular}}{{l{'r' * len(numbers)}}}", r"\end{tabular}"
        return "\n".join([begin, r"\hline", lines[0], r"\hline", *lines[1:], r"\hline", *notes, end])

    def as_html(self) -> str:
        """Return the table as HTML, with the notes below."""
        return self._repr_html_()

    def __repr__(self) -> str:
        return "\n".join([repr(self.table), *self.notes])

    def _repr_html_(self) -> str:
        return self.table._html("; ".join(self.notes))


def _latex(text: str) -> str:
    """Return a text that LaTeX shows as it is."""
    return "".join(LATEX.get(character, character) for character in text)


def _latex_number(kind: str, value: float, text: str) -> str:
    """Return a number of a column for LaTeX, from its text."""
    if kind == "pvalue" and value < LEAST_PVALUE:
        return f"$<{LEAST_PVALUE:.4f}$"
    if not math.isfinite(value):
        return "--" if math.isnan(value) else rf"${'-' * (value < 0)}\infty$"
    digits, _, power = text.partition("e")
    return rf"${digits} \times 10^{{{int(power)}}}$" if power else f"${digits}$"
