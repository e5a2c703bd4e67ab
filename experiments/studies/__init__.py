"""Experiments of the papers and on real data. They are part of the repository, and not of the installed package.

In a checkout, ``ldpfast reproduce`` runs `reproduce`, which saves a figure and the numbers of each of `EXPERIMENTS` and
prints whether the claim of the paper holds. ``ldpfast reproduce --list`` prints `listing`: names, papers and claims. An
experiment is named after the paper and the figure, table, theorem or example that it repeats, if it has one. Its module
has the same name, with underscores for hyphens. The data of ``ldpfast demo`` are in `experiments.demo`.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ldpfast._extras import optional

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
    "fnnt-experiments",
    "central",
    "price",
    "shuffling",
)


def experiment(name: str) -> Experiment:
    """Return the experiment with a name in `EXPERIMENTS`."""
    chosen: Experiment = import_module("." + name.replace("-", "_"), __name__).EXPERIMENT
    return chosen


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
        chosen = experiment(name)
        table.add_row(chosen.name, chosen.source, chosen.claim)
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
        if study.table:
            console.print(study.table, soft_wrap=True, highlight=False)
        console.print(f"    {' '.join(map(str, paths))}", soft_wrap=True)
        all_hold &= study.holds
    return all_hold
