"""Curve of errors of one method: statistics, rows of a table, and drawing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpfast._typing import Floats

Row = Mapping[str, Any]
Style = tuple[str, str, str]  # color, marker, line


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
