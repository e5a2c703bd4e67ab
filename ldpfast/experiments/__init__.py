"""Experiments on real data and from the papers.

``python -m ldpfast demo`` runs `demo`, which prints tables and saves one figure. ``python -m ldpfast reproduce`` runs
`reproduce`, which saves a figure and the numbers of each of `EXPERIMENTS` and prints whether the claim of the paper
holds. ``python -m ldpfast reproduce --list`` prints `listing`: names, papers and claims. An experiment is named after
the paper and the figure, table, theorem or example that it repeats, if it has one. Its module has the same name, with
underscores for hyphens.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from .._extras import optional
from .._plots import figure as new_figure
from . import djw_figure_1, surveys, whole_surveys
from ._study import Experiment

EXPERIMENTS = (
    "djw-figure-1",
    "djw-figure-5",
    "djw-figure-6",
    "djw-figure-7",
    "djw-corollary-7",
    "curves",
    "jkmw-protocols",
    "barber-duchi-table-1",
    "chaudhuri-hsu-theorem-1",
    "chaudhuri-hsu-example-3",
    "central",
    "price",
    "shuffling",
)
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
    study = djw_figure_1.run(rng)
    console.print(djw_figure_1.table(study))
    console.print(study.verdict)

    grid = figure.add_gridspec(3, 1)
    top, bottom, last = (grid[row].subgridspec(1, columns) for row, columns in enumerate((3, 3, 2)))
    surveys.draw(answers, [figure.add_subplot(place) for place in (*top, *list(bottom)[:2])])
    djw_figure_1.draw(study, figure.add_subplot(bottom[2]))
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


def experiment(name: str) -> Experiment:
    """Return the experiment with a name in `EXPERIMENTS`."""
    found: Experiment = import_module("." + name.replace("-", "_"), __name__).EXPERIMENT
    return found


def listing(names: Iterable[str]) -> Any:
    """Return a table (rich) of experiments: name, paper and place in it, and the claim.

    Parameters
    ----------
    names : iterable of str
        Names in `EXPERIMENTS`.

    Returns
    -------
    table : rich.table.Table

    Raises
    ------
    ImportError
        If rich is not installed (extra "demo").
    """
    box = optional("rich.box", "demo").SIMPLE_HEAD
    table = optional("rich.table", "demo").Table(box=box, pad_edge=False, collapse_padding=True, leading=1)
    table.add_column("name", no_wrap=True)
    table.add_column("paper and place", max_width=30)
    table.add_column("claim", ratio=1)
    for name in names:
        found = experiment(name)
        table.add_row(found.name, found.source, found.claim)
    return table


def reproduce(names: Iterable[str], output: Path, seed: int | None, full: bool, console: Any) -> bool:
    """Run experiments of the papers, save their figures and numbers, and print whether the claims hold.

    Parameters
    ----------
    names : iterable of str
        Names in `EXPERIMENTS`.
    output : Path
        An existing directory for the files NAME.png and NAME.csv.
    seed : int, optional
        Makes the reports reproducible, not private. Without a seed, fresh keys come from the operating system.
    full : bool
        Whether to use as many repetitions as the papers.
    console : rich.console.Console
        Console for the verdicts.

    Returns
    -------
    holds : bool
        Whether every claim is reproduced.

    Raises
    ------
    ImportError
        If statsmodels, rich or matplotlib is not installed (extra "demo").
    OSError
        If a file cannot be written.

    Privacy
    -------
    The output is not private: it compares the estimates with the true values.
    """
    all_hold = True
    for name in names:
        chosen, start = experiment(name), perf_counter()
        with console.status(f"{name}: {chosen.source}"):
            study = chosen.run(None if seed is None else np.random.default_rng(seed), full)
            paths = chosen.save(study, output)
        word = "reproduced" if study.holds else "NOT reproduced"
        console.print(f"{name}: {word} in {perf_counter() - start:.0f} s ({chosen.source})", soft_wrap=True)
        console.print(f"    {study.verdict}", soft_wrap=True)
        console.print(f"    {' '.join(map(str, paths))}", soft_wrap=True)
        all_hold &= study.holds
    return all_hold
