"""Rates of the private mean under five definitions of privacy: bounds as numbers, and measured errors (table 1).

Barber and Duchi ("Privacy and statistical risk", 2014) list lower and upper rates of the squared error of a mean of
vectors with E|X|^k <= 1. The bounds of `ldpfast.bounds.central_mean` have explicit constants. The errors of `central.mean` are
measured on records that have the largest possible bias: one far point, just outside the truncation radius.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpfast._plots import BLACK, BLUE, VERMILION, finish
from ldpfast._typing import Floats
from ldpfast.bounds import Bound, central_mean
from ldpfast.central import mean

from ..demo.curve import Curve, Row
from ._study import BARBER_DUCHI, Experiment, Study, slope

MOMENT, EPSILON, DELTA = 4.0, 0.01, 1e-6
SIZES, AT_DIM = (2_000, 5_300, 14_000, 37_000, 100_000), 4
DIMS, AT_SIZE = (64, 128, 256, 512, 1024, 2048), 1_000_000
REPETITIONS, QUICK_REPETITIONS = 1_000, 200
MAX_DIFFERENCE = 0.1  # of slopes
MIN_SHARE = 0.5  # largest error over upper bound that counts as attained
ERRORS = 4.0  # accepted standard errors above the upper bound

DEFINITIONS = {
    "pure": "pure",
    "smooth": "smooth",
    "approximate": "approximate",
    "kl": "Kullback-Leibler",
    "tv": "total variation",
}


def published_rate(privacy: str, side: str, n: Floats, dim: Floats) -> Floats:
    """Return the rate of table 1, without a constant.

    Parameters
    ----------
    privacy : str
        A key of `DEFINITIONS`.
    side : {"lower", "upper"}
    n, dim : ndarray
        Numbers of people, and dimensions.

    Returns
    -------
    rate : ndarray
        min(1, U^((k - 1) / k) + 1 / n) with the U of the definition and side.
    """
    log = math.log(1 / DELTA)
    below = side == "lower"
    if privacy in ("pure", "smooth"):
        u = (dim / (n * EPSILON)) ** 2
    elif privacy == "approximate":
        u = (np.minimum(dim, log) ** 2 if below else dim * log) / (n * EPSILON) ** 2
    else:
        u = (np.ones_like(dim) if below else dim) / (n**2 * (EPSILON if privacy == "kl" else EPSILON**2))
    return np.asarray(np.minimum(1.0, u ** ((MOMENT - 1) / MOMENT) + 1 / n))


@dataclass(frozen=True)
class Line:
    """Bounds of one definition along one axis, with the published rates."""

    privacy: str
    axis: str  # "n" or "dimension"
    places: tuple[float, ...]
    bound: Bound

    @property
    def arguments(self) -> tuple[Floats, Floats]:
        """Numbers of people, and dimensions, one per place."""
        places = np.array(self.places, np.float64)
        if self.axis == "n":
            return places, np.full_like(places, AT_DIM)
        return np.full_like(places, AT_SIZE), places

    def rates(self, side: str) -> Floats:
        """Return the published rate at each place."""
        return published_rate(self.privacy, side, *self.arguments)

    def difference(self, side: str) -> float:
        """Return the slope of a bound minus that of the published rate, on logarithmic axes."""
        return slope(self.places, getattr(self.bound, side)) - slope(self.places, self.rates(side))

    @property
    def excess(self) -> float:
        """Largest violation of the published slopes.

        An upper bound must have the published slope. So must a lower bound against n. Against the dimension, a lower
        bound may grow faster than published, but not more slowly. A published rate is the sum of two terms and a lower
        bound the larger one, so that the slopes differ a little where the terms are about equal.
        """
        below = self.difference("lower")
        return max(abs(self.difference("upper")), abs(below) if self.axis == "n" else -below)

    @property
    def in_order(self) -> bool:
        """Whether the lower bound is at most the upper bound everywhere."""
        return bool((self.bound.lower <= self.bound.upper).all())

    def rows(self) -> Iterator[Row]:
        """Yield a row per place."""
        for n, dim, low, high in zip(*self.arguments, self.bound.lower, self.bound.upper, strict=True):
            point = {"privacy": self.privacy, "n": f"{n:.6g}", "dimension": f"{dim:.6g}"}
            yield {**point, "lower": f"{low:.6g}", "upper": f"{high:.6g}"}


@dataclass(frozen=True)
class TableStudy(Study):
    """Bounds against n and against the dimension, and errors against n, by definition."""

    by_size: dict[str, Line]
    by_dim: dict[str, Line]
    errors: dict[str, Curve]

    size = (19.0, 8.5)

    def share(self, privacy: str) -> float:
        """Return the largest ratio of a measured error to the upper bound."""
        return float((self.errors[privacy].mean / self.by_size[privacy].bound.upper).max())

    def between(self, privacy: str) -> bool:
        """Whether the errors are between the bounds, up to the error of the simulation."""
        found, line = self.errors[privacy], self.by_size[privacy]
        slack = ERRORS * found.stderr
        return bool(((found.mean + slack >= line.bound.lower) & (found.mean - slack <= line.bound.upper)).all())

    @property
    def lines(self) -> list[Line]:
        """All lines."""
        return [*self.by_size.values(), *self.by_dim.values()]

    @property
    def excess(self) -> float:
        """Largest violation of the published slopes."""
        return max(line.excess for line in self.lines)

    @property
    def in_order(self) -> bool:
        """Whether bounds and errors are in order everywhere."""
        return all(line.in_order for line in self.lines) and all(self.between(privacy) for privacy in self.errors)

    @property
    def least_share(self) -> float:
        """Smallest `share` of a definition."""
        return min(self.share(privacy) for privacy in self.errors)

    @property
    def holds(self) -> bool:
        return self.in_order and self.excess <= MAX_DIFFERENCE and self.least_share >= MIN_SHARE

    @property
    def verdict(self) -> str:
        gaps = [float((line.bound.upper / line.bound.lower).max()) for line in self.lines]
        return (
            f"lower bound <= error <= upper bound: {'yes' if self.in_order else 'NO'}; slopes against n and the dimension "
            f"differ from the published rates by at most {self.excess:.2f} (at most {MAX_DIFFERENCE:g}); largest error over "
            f"upper bound, for each definition {self.least_share:.2f} or more (at least {MIN_SHARE:g}); upper over lower "
            f"bound up to {max(gaps):.0f}"
        )

    def curves(self) -> Iterator[Curve]:
        return iter(self.errors.values())

    def rows(self) -> list[Row]:
        """Return the bounds, then the errors."""
        return [*(row for line in self.lines for row in line.rows()), *super().rows()]

    def draw(self, figure: Any) -> None:
        rows = figure.subplots(2, len(self.by_size), sharey="row")
        for lines, axes in zip((self.by_size, self.by_dim), rows, strict=True):
            for line, ax in zip(lines.values(), axes, strict=True):
                self._draw(line, ax)
        handles, names = rows[0][0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names))
        figure.suptitle(
            f"Table 1: the mean of vectors with E|X|^{MOMENT:g} <= 1 under five definitions of privacy, "
            f"parameter {EPSILON:g}, delta {DELTA:g}"
        )

    def _draw(self, line: Line, ax: Any) -> None:
        if line.axis == "n":
            self.errors[line.privacy].draw(ax, (BLACK, "o", ""), "measured error, on the worst records", of_mean=True)
            fixed, label = f"dimension {AT_DIM}", "number of people n"
        else:
            fixed, label = f"n = {AT_SIZE:,}", "dimension (number of coordinates)"
        for side, color in (("upper", VERMILION), ("lower", BLUE)):
            values, rates = getattr(line.bound, side), line.rates(side)
            ax.plot(line.places, values, color=color, label=f"{side} bound")
            published = rates / rates[0] * values[0]
            ax.plot(line.places, published, color=color, linestyle=":", label=f"published rate of the {side} bound")
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.tick_params(labelleft=True)
        finish(ax, f"{DEFINITIONS[line.privacy]}, {fixed}", label, "squared error (squared unit of the records)")
        ax.get_legend().remove()


# Measurements ---------------------------------------------------------------------------------------------------------


def worst_records(n: int, threshold: float, draw: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw records whose truncation has the largest bias, and return them with their expectation.

    A record is 0, or with probability p a fixed point of norm p^(-1/k), so that E|X|^k = 1. The bias p (p^(-1/k) - T) is
    largest for p^(-1/k) = T k / (k - 1).

    Parameters
    ----------
    n : int
        Number of records.
    threshold : float
        Truncation radius T.
    draw : Generator

    Returns
    -------
    records : ndarray, shape (n, AT_DIM)
    expectation : ndarray, shape (AT_DIM,)
    """
    norm = max(threshold * MOMENT / (MOMENT - 1), 1.0)
    probability = norm**-MOMENT
    point = np.full(AT_DIM, norm / math.sqrt(AT_DIM))
    records = np.zeros((n, AT_DIM))
    records[: draw.binomial(n, probability)] = point
    return records, probability * point


def measure(privacy: str, sizes: Sequence[int], rng: np.random.Generator | None, repetitions: int) -> Curve:
    """Measure the squared error of `central.mean` on the worst records, for each n.

    Parameters
    ----------
    privacy : str
        A key of `DEFINITIONS`.
    sizes : sequence of int
        Numbers of people.
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the releases reproducible, not private.
    repetitions : int
        Number of repetitions per size.

    Returns
    -------
    curve : Curve
    """
    draw = np.random.default_rng(rng)
    rule: dict[str, Any] = {
        "epsilon": EPSILON,
        "delta": DELTA if privacy == "approximate" else 0.0,
        "privacy": privacy,
        "moment": MOMENT,
        "radius": 1.0,
        "rng": rng,
    }
    errors = []
    for n in sizes:
        threshold = mean(np.zeros((n, AT_DIM)), **rule).level  # depends on public parameters only
        samples = (worst_records(n, threshold, draw) for _ in range(repetitions))
        errors.append(np.array([np.sum((mean(x, **rule).value - truth) ** 2) for x, truth in samples]))
    return Curve({"privacy": privacy, "dimension": AT_DIM, "method": "central.mean"}, "n", tuple(sizes), tuple(errors))


def bounds_by(axis: str, places: Sequence[int]) -> dict[str, Line]:
    """Return the bounds against n or against the dimension, by definition."""
    n, dim = (places, AT_DIM) if axis == "n" else (AT_SIZE, places)
    lines = {}
    for privacy in DEFINITIONS:
        delta = DELTA if privacy == "approximate" else 0.0
        found = central_mean(n, dim, moment=MOMENT, privacy=privacy, epsilon=EPSILON, delta=delta)
        lines[privacy] = Line(privacy, axis, tuple(places), found)
    return lines


def run(rng: np.random.Generator | None, full: bool = False) -> TableStudy:
    """Compute the bounds and measure the errors. `full` selects five times as many repetitions."""
    repetitions = REPETITIONS if full else QUICK_REPETITIONS
    errors = {privacy: measure(privacy, SIZES, rng, repetitions) for privacy in DEFINITIONS}
    return TableStudy(bounds_by("n", SIZES), bounds_by("dimension", DIMS), errors)


EXPERIMENT = Experiment(
    "barber-duchi-table-1",
    f"{BARBER_DUCHI}, table 1",
    "Under each of five definitions of privacy, the squared error of the private mean on its worst records is between the "
    "bounds and reaches half of the upper bound, and the slopes of the bounds against n and the dimension are those of the "
    f"published rates (within {MAX_DIFFERENCE:g}; the lower bounds may grow faster with the dimension).",
    run,
)
