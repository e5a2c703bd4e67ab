"""Experiments on real data and from the papers.

`demo` is what ``python -m ldpfast demo`` runs: tables for the terminal, and one picture. `reproduce` is what ``python
-m ldpfast reproduce`` runs: for each of `EXPERIMENTS` a picture, the numbers, and whether the claim of the paper holds.
An experiment is the module of its name.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from .._plots import figure as new_figure
from . import drugs, surveys
from ._study import Experiment

EXPERIMENTS = (
    "drugs",
    "salary-mean",
    "salary-median",
    "logistic",
    "density",
    "curves",
    "gaussian",
    "central",
    "price",
)
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
    figure = new_figure(17, 11)
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


def experiment(name: str) -> Experiment:
    """The experiment of a name in `EXPERIMENTS`."""
    found: Experiment = import_module("." + name.replace("-", "_"), __name__).EXPERIMENT
    return found


def reproduce(names: Iterable[str], output: Path, seed: int | None, full: bool, console: Any) -> bool:
    """Run experiments of the papers; write a picture and the numbers of each; say whether the claims hold.

    Parameters
    ----------
    names : iterable of str
        Of `EXPERIMENTS`.
    output : Path
        An existing directory, for NAME.png and NAME.csv.
    seed : int, optional
        Makes the reports reproducible, not private. Without it fresh keys from the operating system.
    full : bool
        With the repetitions of the papers.
    console : rich.console.Console
        Where the lines go.

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
    Compares the estimates with the truth, which no private release would.
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
