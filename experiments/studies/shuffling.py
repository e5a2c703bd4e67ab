"""Shuffled reports: epsilon of all people's reports together, for several mechanisms and numbers of people.

Nothing is random: these are the bounds of `ldpfast.privacy.shuffled`. The numbers of the first table are those for
delta = 1e-8 and 100 categories or 100 dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpfast._plots import BLACK, BLUE, GRAY, GREEN, ORANGE, PURPLE, SKY, VERMILION, finish
from ldpfast._typing import Floats
from ldpfast.mechanisms import RandomizedResponse, UnaryEncoding, Warner
from ldpfast.privacy import shuffled
from ldpfast.privacy._two_level import TwoLevel

from ..demo.curve import Curve, Row, Style
from ._study import Experiment, Study, slope

DELTA, SIZE = 1e-8, 100
PEOPLE = tuple(int(n) for n in np.geomspace(1e4, 1e8, 5))
QUICK_PEOPLE = (10_000, 1_000_000)
EPSILONS = (1.0, 4.0)

FORMULA = "any mechanism, closed form"
ANY, BINARY, K_ARY = "any mechanism, L2Ball, LinfBall", "Warner", "k-ary response"
OPTIMIZED, SYMMETRIC = "unary encoding, optimized", "unary encoding, symmetric"
SUBSETS, CAP = "subset selection", "spherical cap (PrivUnit)"
STYLES: dict[str, Style] = {
    FORMULA: (GRAY, "", ":"),
    ANY: (BLACK, "D", "-"),
    BINARY: (BLUE, "o", "-"),
    CAP: (PURPLE, "v", "-"),
    SYMMETRIC: (VERMILION, "s", "-"),
    SUBSETS: (ORANGE, "<", "-"),
    OPTIMIZED: (SKY, "^", "-"),
    K_ARY: (GREEN, "P", "-"),
}


def closed_form(n: int, epsilon: float) -> float:
    """Return the epsilon of theorem 3.1 for any mechanism; infinite where its condition does not hold."""
    if epsilon > math.log(n / (16 * math.log(2 / DELTA))):
        return math.inf
    odds = math.exp(epsilon)
    return math.log1p(math.tanh(epsilon / 2) * (8 * math.sqrt(odds * math.log(4 / DELTA) / n) + 8 * odds / n))


def subset_selection(epsilon: float) -> TwoLevel:
    """Return the parameters of subset selection, with subsets of about SIZE / (e^epsilon + 1) categories."""
    size = max(1, round(SIZE / (math.exp(epsilon) + 1)))
    return TwoLevel.of_sets(math.exp(epsilon), size, SIZE, size * (SIZE - size) / (SIZE - 1))


def spherical_cap(epsilon: float) -> TwoLevel:
    """Return the parameters of PrivUnit with its best cap: the height of the cap is the mean of a report along the record."""
    from scipy.optimize import brentq
    from scipy.special import betainc, gammaln

    odds, half = math.exp(epsilon), (SIZE - 1) / 2
    constant = math.exp(gammaln(SIZE / 2) - gammaln(half)) / math.sqrt(math.pi)

    def cap(height: float) -> float:
        return float(betainc(half, 0.5, 1 - height**2)) / 2

    def mean(height: float) -> float:
        moment: float = constant * (1 - height**2) ** half / (2 * half)
        return (odds - 1) * moment / (1 + (odds - 1) * cap(height))

    size = cap(float(brentq(lambda height: height - mean(height), 0.0, 1.0, xtol=1e-14)))
    return TwoLevel.of_sets(odds, size, 1, size)


def bounds(n: int, epsilon: float) -> dict[str, float]:
    """Return the shuffled epsilon of each method."""
    channels: dict[str, Any] = {
        ANY: epsilon,
        BINARY: Warner(epsilon),
        CAP: spherical_cap(epsilon),
        SYMMETRIC: UnaryEncoding(SIZE, epsilon),
        SUBSETS: subset_selection(epsilon),
        OPTIMIZED: UnaryEncoding(SIZE, epsilon, method="optimized"),
        K_ARY: RandomizedResponse(SIZE, epsilon),
    }
    return {FORMULA: closed_form(n, epsilon)} | {
        method: shuffled(channel, n, DELTA).epsilon for method, channel in channels.items()
    }


@dataclass(frozen=True)
class ShuffleStudy(Study):
    """Shuffled epsilons of all methods, by the epsilon of one report and the number of people."""

    people: tuple[int, ...]
    found: dict[float, dict[str, Floats]]

    size = (14.0, 6.0)

    @property
    def in_order(self) -> bool:
        """Whether the bound of each mechanism is at most that of all mechanisms, and that at most the closed form."""
        return all(
            bool((panel[method] <= panel[ANY]).all() and (panel[ANY] <= panel[FORMULA]).all())
            for panel in self.found.values()
            for method in panel
            if method != FORMULA
        )

    @property
    def slopes(self) -> tuple[float, float]:
        """The least and the largest slope of log epsilon against log n."""
        found = [
            slope(self.people, line)
            for panel in self.found.values()
            for method, line in panel.items()
            if method != FORMULA
        ]
        return min(found), max(found)

    @property
    def holds(self) -> bool:
        return self.in_order and all(abs(value + 0.5) <= 0.1 for value in self.slopes)

    @property
    def verdict(self) -> str:
        least, largest = self.slopes
        parts = [
            f"epsilon {epsilon:g}: {panel[ANY][0]:.3g} (any), {panel[BINARY][0]:.3g} (Warner), {panel[K_ARY][0]:.3g} (k-ary)"
            for epsilon, panel in self.found.items()
        ]
        return (
            f"n = {self.people[0]:,}, {'; '.join(parts)}; mechanism <= any mechanism <= closed form: "
            f"{'yes' if self.in_order else 'NO'}; slopes {least:.2f} to {largest:.2f} (-0.6 to -0.4"
            f"{'' if self.holds or not self.in_order else ': NO'})"
        )

    def curves(self) -> Iterator[Curve]:
        """Return no curves, because nothing is repeated."""
        return iter(())

    def rows(self) -> list[Row]:
        return [
            {
                "n": n,
                "epsilon": f"{epsilon:g}",
                "delta": DELTA,
                **{method: f"{line[at]:.5f}" for method, line in panel.items()},
            }
            for at, n in enumerate(self.people)
            for epsilon, panel in self.found.items()
        ]

    def draw(self, figure: Any) -> None:
        axes = figure.subplots(1, len(self.found), sharey=True)
        for ax, (epsilon, panel) in zip(axes, self.found.items(), strict=True):
            for method, (color, marker, line) in STYLES.items():
                ax.plot(
                    self.people, panel[method], color=color, marker=marker, linestyle=line, label=method, markersize=5
                )
            ax.axhline(epsilon, color=GRAY, linewidth=0.8)
            ax.annotate("one report", (self.people[0], epsilon), va="bottom", fontsize=9, color=GRAY)
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_ylim(top=300.0)  # space for the legend
            shuffled_label = f"epsilon of the shuffled reports, delta = {DELTA:g}"
            finish(ax, f"epsilon {epsilon:g} of one report", "number of people n", shuffled_label, loc="upper right")
        figure.suptitle(f"Shuffled reports, {SIZE} categories or dimensions", fontsize=16)


def run(rng: np.random.Generator | None, full: bool = False) -> ShuffleStudy:
    """Compute the bounds. `rng` is ignored; `full` adds numbers of people."""
    people = PEOPLE if full else (*QUICK_PEOPLE, PEOPLE[-1])
    found = {}
    for epsilon in EPSILONS:
        columns = [bounds(n, epsilon) for n in people]
        found[epsilon] = {method: np.array([column[method] for column in columns]) for method in STYLES}
    return ShuffleStudy(people, found)


EXPERIMENT = Experiment(
    "shuffling",
    "Feldman, McMillan and Talwar (2021), theorem 3.1",
    "The epsilon of shuffled reports is smaller for each mechanism than for all mechanisms, which is smaller than the "
    "closed form, and falls with the square root of the number of people.",
    run,
)
