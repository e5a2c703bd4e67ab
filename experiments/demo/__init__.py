"""Private estimates of two well-known surveys beside the true values: ``ldpfast demo``.

The studies of the repository, which repeat the experiments of the papers, use the same data.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ldpfast._plots import figure as new_figure

from . import drug_use, surveys, whole_surveys

INTRODUCTION = (
    "Every record of two sensitive surveys is privatized separately, for several values of epsilon (small: more private). "
    "The estimates are computed from the reports alone. On average, one 95 % interval in twenty misses the true value. "
    "Laplace: estimates from noise of scale (upper - lower) / epsilon; for distributions, from noise of scale 2 / epsilon on "
    "the 0 or 1 of each answer."
)
READING = (
    "Points are estimates, vertical lines 95 % intervals. Epsilon is the privacy parameter of one answer (small: more "
    "private).\nThe privacy loss of a person who answers all questions of a survey is at most the sum: {totals}."
)


def demo(output: Path, rng: np.random.Generator | None, console: Any) -> None:
    """Estimate sensitive statistics privately, question by question and for whole surveys; then 27 answers per person.

    Parameters
    ----------
    output : Path
        File for the figure (PNG).
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the reports reproducible, not private.
    console : rich.console.Console
        Console for the tables.

    Raises
    ------
    ImportError
        If statsmodels, rich or matplotlib is not installed (extra "demo").
    OSError
        If the figure cannot be written.

    Privacy
    -------
    The output is not private: it shows the true values beside the estimates.
    """
    figure = new_figure(17, 16, "demo")
    console.print(INTRODUCTION)
    answers = surveys.run(rng)
    for table in surveys.tables(answers):
        console.print(table)
    wholes = whole_surveys.run(rng)
    for table in whole_surveys.tables(wholes):
        console.print(table)
    errors = drug_use.measure(rng)
    console.print(drug_use.table(errors))
    console.print(errors.verdict)

    grid = figure.add_gridspec(3, 1)
    top, bottom, last = (grid[row].subgridspec(1, columns) for row, columns in enumerate((3, 3, 2)))
    surveys.draw(answers, [figure.add_subplot(place) for place in (*top, *list(bottom)[:2])])
    drug_use.draw(errors, figure.add_subplot(bottom[2]))
    for whole, place in zip(wholes, last, strict=True):
        whole_surveys.draw(whole, figure.add_subplot(place))
    totals = " and ".join(f"{count} epsilon ({survey})" for survey, count in surveys.counts(answers).items())
    figure.suptitle(
        "Private estimates beside the true values: every answer was randomized before it was counted", fontsize=18
    )
    figure.supxlabel(READING.format(totals=totals), fontsize=12)
    figure.get_layout_engine().set(h_pad=0.12, w_pad=0.12)
    figure.savefig(output, dpi=110, format="png")
    console.print(f"Figure: {output.resolve()}", soft_wrap=True)
