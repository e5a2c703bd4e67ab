"""Experiments on real data and from the papers: tables for the terminal, and one picture.

`demo` is what ``python -m ldpfast demo`` runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .._extras import optional
from . import drugs, surveys

INTRODUCTION = (
    "Every record of two sensitive surveys is randomised by itself, at several epsilons (small: more private); the "
    "estimates are made from the reports alone. On average one 95 % interval in twenty misses the truth. Laplace: what noise "
    "of scale (upper - lower) / epsilon would have given; for distributions, scale 2 / epsilon on the 0 or 1 of each answer."
)
READING = (
    "Points are estimates, vertical lines 95 % intervals. Epsilon is the privacy parameter of one answer (small: more "
    "private);\na person who answers all questions of a survey spends the sum: {totals}."
)


def demo(output: Path, rng: np.random.Generator | None, console: Any) -> None:
    """Estimate sensitive statistics privately, beside the truth; then compare mechanisms on 27 answers at once.

    Parameters
    ----------
    output : Path
        Where the picture goes (PNG).
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the reports reproducible, not private.
    console : rich.console.Console
        Where the tables go.

    Raises
    ------
    ImportError
        If statsmodels, rich or matplotlib is not installed (extra "demo").
    OSError
        If the picture cannot be written.

    Privacy
    -------
    Shows the truth beside the estimates, which no private release would.
    """
    figure = optional("matplotlib.figure", "demo").Figure(figsize=(17, 11), layout="constrained")
    console.print(INTRODUCTION)
    answers = surveys.run(rng)
    for table in surveys.tables(answers):
        console.print(table)
    study = drugs.run(rng)
    console.print(drugs.table(study))
    console.print(study.verdict)

    grid = figure.add_gridspec(2, 1)
    top, bottom = grid[0].subgridspec(1, 3), grid[1].subgridspec(1, 3)
    surveys.draw(answers, [figure.add_subplot(place) for place in (*top, *list(bottom)[:2])])
    drugs.draw(study, figure.add_subplot(bottom[2]))
    totals = " and ".join(f"{count} epsilon ({survey})" for survey, count in surveys.counts(answers).items())
    figure.suptitle("Private answers beside the truth: every answer was randomised before it was counted", fontsize=18)
    figure.supxlabel(READING.format(totals=totals), fontsize=12)
    figure.get_layout_engine().set(h_pad=0.12, w_pad=0.12)
    figure.savefig(output, dpi=110, format="png")
    console.print(f"Picture: {output.resolve()}", soft_wrap=True)
