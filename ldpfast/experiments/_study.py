"""Base classes of the experiments: curves of errors, studies that draw them, and experiments that save studies."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._plots import figure as new_figure
from .._typing import Floats

Row = Mapping[str, Any]
Style = tuple[str, str, str]  # color, marker, line

DJW = "Duchi, Jordan and Wainwright (2018)"
JKMW = "Joseph, Kulkarni, Mao and Wu (2019)"
BARBER_DUCHI = "Barber and Duchi (2014)"
CHAUDHURI_HSU = "Chaudhuri and Hsu (2012)"
# The first part of the names of experiments, and the paper.
PAPERS = {"djw": DJW, "jkmw": JKMW, "barber-duchi": BARBER_DUCHI, "chaudhuri-hsu": CHAUDHURI_HSU}


@dataclass(frozen=True)
class Curve:
    """Errors of one method: one number per repetition, for each place on the axis.

    `labels` identify the curve in the CSV file, for example by data, method and epsilon.
    """

    labels: Row
    axis: str
    places: tuple[float, ...]
    errors: tuple[Floats, ...]

    @property
    def mean(self) -> Floats:
        """Mean over the repetitions, shape (number of places,)."""
        return np.array([errors.mean() for errors in self.errors])

    @property
    def stderr(self) -> Floats:
        """Standard error of `mean`."""
        return np.array([errors.std(ddof=1) / len(errors) ** 0.5 for errors in self.errors])

    @property
    def band(self) -> Floats:
        """5 % and 95 % quantiles over the repetitions, shape (2, number of places)."""
        return np.array([np.quantile(errors, (0.05, 0.95)) for errors in self.errors]).T

    def rows(self) -> Iterator[Row]:
        """Yield a row per place: mean, band, and the error of each repetition."""
        for place, errors, mean, low, high in zip(self.places, self.errors, self.mean, *self.band, strict=True):
            yield {
                **self.labels,
                self.axis: f"{place:.6g}",
                "repetitions": len(errors),
                "mean": f"{mean:.6g}",
                "quantile_05": f"{low:.6g}",
                "quantile_95": f"{high:.6g}",
                "errors": " ".join(f"{error:.4g}" for error in errors),
            }

    def draw(self, ax: Any, style: Style, label: str, of_mean: bool = False) -> None:
        """Draw the mean with a band: 90 % of the repetitions, or two standard errors of the mean on either side."""
        color, marker, line = style
        band = self.mean + np.array([[-2], [2]]) * self.stderr if of_mean else self.band
        ax.fill_between(self.places, *band, color=color, alpha=0.2, linewidth=0)
        ax.plot(self.places, self.mean, color=color, marker=marker, linestyle=line, label=label, markersize=5)


class Study(ABC):
    """Result of an experiment: its curves, a verdict on the claim of the paper, and a figure."""

    size: tuple[float, float] = (16.0, 5.5)  # of the figure, in inches

    @property
    @abstractmethod
    def verdict(self) -> str:
        """The measured values and the claim of the paper, in one line."""

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


def slope(places: Sequence[float], values: Floats) -> float:
    """Return the slope of a line fitted to the logarithms: -1 if `values` are proportional to 1 / n."""
    return float(np.polyfit(np.log(places), np.log(values), 1)[0])
