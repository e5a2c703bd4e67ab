"""Base classes of the experiments: studies that draw their curves, and experiments that save studies."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ldpfast._plots import figure as new_figure
from ldpfast._typing import AnyArray, Floats
from ldpfast.mechanisms import Mechanism

from ..demo.curve import Curve, Row

DJW = "Duchi, Jordan and Wainwright (2018)"
JKMW = "Joseph, Kulkarni, Mao and Wu (2019)"
BARBER_DUCHI = "Barber and Duchi (2014)"
CHAUDHURI_HSU = "Chaudhuri and Hsu (2012)"
FNNT = "Feldman, Nelson, Nguyen and Talwar (2022)"
# The first part of the names of experiments, and the paper.
PAPERS = {"djw": DJW, "jkmw": JKMW, "barber-duchi": BARBER_DUCHI, "chaudhuri-hsu": CHAUDHURI_HSU, "fnnt": FNNT}


class Study(ABC):
    """Result of an experiment: its curves, a verdict on the claim of the paper, and a figure."""

    size: tuple[float, float] = (16.0, 5.5)  # of the figure, in inches

    @property
    @abstractmethod
    def verdict(self) -> str:
        """The measured values and the claim of the paper, in one line."""

    @property
    def table(self) -> str:
        """A table that is printed under the verdict; empty where the numbers are only saved."""
        return ""

    @property
    @abstractmethod
    def holds(self) -> bool:
        """Whether the claim is reproduced."""

    @abstractmethod
    def curves(self) -> Iterable[Curve]:
        """Return all measured curves."""

    @abstractmethod
    def draw(self, figure: Any) -> None:
        """Draw the figure, in the layout of the paper.

        Parameters
        ----------
        figure : matplotlib.figure.Figure
            An empty figure with a constrained layout.
        """

    def rows(self) -> list[Row]:
        """Return the numbers, a row per curve and place."""
        return [row for curve in self.curves() for row in curve.rows()]


@dataclass(frozen=True)
class Experiment:
    """An experiment: its name, the source of the claim, the claim, and the function ``run(rng, full)``.

    The name of an experiment of a paper is the paper, a key of `PAPERS`, and the place in it. `source` has the authors
    and the place. `claim` is one sentence; `Study.holds` tells whether it is confirmed. `rng` is None (fresh keys from
    the operating system) or a Generator, which makes the reports reproducible, not private. `full` selects as many
    repetitions as in the paper.
    """

    name: str
    source: str
    claim: str
    run: Callable[[np.random.Generator | None, bool], Study]

    def save(self, study: Study, folder: Path) -> list[Path]:
        """Write the figure (PNG) and the numbers (CSV).

        Parameters
        ----------
        study : Study
        folder : Path
            An existing directory.

        Returns
        -------
        paths : list of Path
            The figure, then the numbers.
        """
        picture, numbers = (folder / f"{self.name}.{kind}" for kind in ("png", "csv"))
        figure = new_figure(*study.size, extra="demo")
        study.draw(figure)
        figure.savefig(picture, dpi=110, format="png")
        rows = study.rows()
        names = dict.fromkeys(name for row in rows for name in row)
        with numbers.open("w", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)
        return [picture, numbers]


def report_variance(mechanism: Mechanism, people: AnyArray, spread: float) -> float:
    """Return the exact variance of one decoded report of a person drawn at random, summed over its numbers.

    `spread` is the variance of the records of `people`; the mechanism adds its own.
    """
    records, counts = np.unique(people, return_counts=True)
    added = mechanism.variance(records).reshape(len(records), -1).sum(axis=1)
    return spread + float(added @ counts) / len(people)


def slope(places: Sequence[float], values: Floats) -> float:
    """Return the slope of a line fitted to the logarithms: -1 if `values` are proportional to 1 / n."""
    return float(np.polyfit(np.log(places), np.log(values), 1)[0])
