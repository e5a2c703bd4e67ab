"""What a trusted curator is worth: errors of the median and of the mean against epsilon, with a curator and without.

The people of two surveys are a population, and samples as large as it answer. Of the median, the exponential mechanism
is off by about 2 / (n epsilon) in rank (Chaudhuri and Hsu, ICML 2012), which soon vanishes beside the error of
sampling. If nobody is trusted and everybody sends one bit (Duchi, Jordan and Wainwright, JASA 2018), the error is
coth(epsilon / 2) times that of the sample, however many people there are. docs/central.md shows the picture.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import SmallSampleWarning, estimation
from .._extras import optional
from .._plots import BLACK, BLUE, GRAY, GREEN, VERMILION, finish
from .._typing import Floats
from ..central import mean, median
from ..mechanisms import SignBit
from ._study import Curve, Experiment, Study, Style
from .surveys import FAIR, MOST_VISITS, RAND, records

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
DELTA = 1e-6
REPETITIONS, QUICK_REPETITIONS = 2_000, 400
AT, MOST, NEAR = (
    1.0,
    1.2,
    (0.6, 4.0),
)  # of the verdict; a step of the density at the median costs up to a factor of three
COLORS = 64  # of the picture

SAMPLE, EXPONENTIAL, SMOOTH, STEPS = "no privacy", "exponential mechanism", "smooth sensitivity", "private steps"
NOISE, BITS = "integer noise", "sign bits"
CURATOR = "trusted curator: exponential mechanism (median), integer noise (mean)"
NOBODY = "nobody trusted, one bit each: private steps (median), sign bits (mean)"
STYLES: dict[str, tuple[str, Style]] = {
    STEPS: (NOBODY, (VERMILION, "s", "-")),
    BITS: (NOBODY, (VERMILION, "s", "-")),
    SMOOTH: (f"trusted curator: smooth sensitivity, delta = {DELTA:g}", (GREEN, "^", "-")),
    EXPONENTIAL: (CURATOR, (BLUE, "o", "-")),
    NOISE: (CURATOR, (BLUE, "o", "-")),
    SAMPLE: ("no privacy: the error of sampling", (BLACK, "", "--")),
}
MEDIANS, MEANS = (SAMPLE, EXPONENTIAL, SMOOTH, STEPS), (SAMPLE, NOISE, BITS)


@dataclass(frozen=True)
class Counts:
    """Whole numbers of a survey. Every person adds a uniform number of [-1/2, 1/2], so that the median is a number too."""

    name: str
    values: Floats  # those of everybody, without what is added
    lower: float
    upper: float

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def median(self) -> float:
        """Of the numbers with what is added: in the cell of the number that half of the people are at or below."""
        numbers, counts = np.unique(self.values, return_counts=True)
        below = np.concatenate([[0], np.cumsum(counts)])
        k = int(np.searchsorted(below, below[-1] / 2)) - 1
        return float(numbers[k] - 0.5 + (below[-1] / 2 - below[k]) / counts[k])

    @property
    def middle(self) -> float:
        """Of the interval: the answer of somebody who has no data."""
        return (self.lower + self.upper) / 2

    def sample(self, draw: np.random.Generator) -> Floats:
        """As many people as there are, drawn with replacement."""
        n = len(self.values)
        return self.values[draw.integers(n, size=n)] + draw.uniform(-0.5, 0.5, n)

    def sign_bit_error(self, epsilon: float) -> float:
        """Expected error of the mean of sign bits, normal: their variance is that of fair coins, but for the mean's."""
        reach = (self.upper - self.lower) / 2 / math.tanh(epsilon / 2)
        return math.sqrt(2 / math.pi * (reach**2 - (self.mean - self.middle) ** 2) / len(self.values))


def visits() -> Counts:
    """Visits to a doctor in a year, at most 20 counted, of the RAND health insurance experiment."""
    numbers = np.minimum(records(RAND)["mdvis"].to_numpy(), MOST_VISITS).astype(np.float64)
    return Counts("Visits to a doctor in a year", numbers, -0.5, MOST_VISITS + 0.5)


def ratings() -> Counts:
    """How the wives of Fair's survey rate their marriage, from 1 (very poor) to 5 (very good)."""
    numbers = records(FAIR)["rate_marriage"].to_numpy().astype(np.float64)
    return Counts("Wives rate their marriage, 1 to 5", numbers, 0.5, 5.5)


@dataclass(frozen=True)
class Panel:
    """Errors of all methods for one statistic of one population."""

    people: Counts
    statistic: str
    errors: dict[str, Curve]

    def factor(self, method: str) -> Floats:
        """How many times the error of the sample, for each epsilon."""
        return self.errors[method].mean / self.errors[SAMPLE].mean

    @property
    def truth(self) -> float:
        return self.people.median if self.statistic == "median" else self.people.mean

    @property
    def theory(self) -> Floats:
        """Expected error where nobody is trusted."""
        places = self.errors[SAMPLE].places
        if self.statistic == "median":
            return np.array([e / math.tanh(a / 2) for a, e in zip(places, self.errors[SAMPLE].mean, strict=True)])
        return np.array([self.people.sign_bit_error(a) for a in places])

    @property
    def local(self) -> str:
        """The method that trusts nobody."""
        return STEPS if STEPS in self.errors else BITS

    @property
    def central(self) -> str:
        """The pure method that trusts a curator."""
        return EXPONENTIAL if EXPONENTIAL in self.errors else NOISE


@dataclass(frozen=True)
class CentralStudy(Study):
    """The panels: median and mean of the first population, then of the second."""

    panels: tuple[Panel, ...]

    size = (11.0, 7.6)

    def at(self, panel: Panel) -> int:
        """Index of the epsilon of the verdict."""
        return panel.errors[SAMPLE].places.index(AT)

    @property
    def trusted(self) -> list[float]:
        """Errors of the pure curator over those of the sample."""
        return [float(panel.factor(panel.central)[self.at(panel)]) for panel in self.panels]

    @property
    def untrusted(self) -> list[float]:
        """Errors where nobody is trusted over the theory."""
        return [float((p.errors[p.local].mean / p.theory)[self.at(p)]) for p in self.panels]

    @property
    def smooth(self) -> list[float]:
        """Smooth sensitivity over the exponential mechanism, mean over epsilon of the logarithms."""
        medians = [panel for panel in self.panels if SMOOTH in panel.errors]
        return [float(np.exp(np.log(p.factor(SMOOTH) / p.factor(EXPONENTIAL)).mean())) for p in medians]

    @property
    def holds(self) -> bool:
        near = all(NEAR[0] <= ratio <= NEAR[1] for ratio in self.untrusted)
        return max(self.trusted) <= MOST and near and min(self.smooth) > 1

    @property
    def verdict(self) -> str:
        def span(values: list[float]) -> str:
            return f"{min(values):.2f} to {max(values):.2f}"

        return (
            f"epsilon {AT:g}: a trusted curator errs {span(self.trusted)} times as much as the sample (at most {MOST:g}); "
            f"one bit each, nobody trusted, {span(self.untrusted)} times the theory ({NEAR[0]:g} to {NEAR[1]:g}); smooth "
            f"sensitivity errs {span(self.smooth)} times as much as the exponential mechanism, mean over epsilon (above 1)"
        )

    def curves(self) -> Iterator[Curve]:
        return (curve for panel in self.panels for curve in panel.errors.values())

    def draw(self, figure: Any) -> None:
        axes = figure.subplots(len(self.panels) // 2, 2, sharex=True, sharey="row", squeeze=False)
        for panel, ax in zip(self.panels, axes.ravel(), strict=True):
            _draw(panel, ax)
        handles, names = axes[0, 0].get_legend_handles_labels()
        for ax in axes.ravel():
            ax.get_legend().remove()
        figure.legend(handles, names, loc="outside lower center", ncols=2, fontsize=9, frameon=False)


def _draw(panel: Panel, ax: Any) -> None:
    places, people = panel.errors[SAMPLE].places, panel.people
    for method, (label, style) in STYLES.items():
        if method in panel.errors:
            panel.errors[method].draw(ax, style, label, of_mean=True)
    ax.plot(places, panel.theory, color=GRAY, linestyle=":", linewidth=2, label="theory of one bit each")
    useless = abs(people.middle - panel.truth)
    ax.axhline(useless, color=GRAY, linewidth=1, label="no data: the middle of the declared interval")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(places, [f"{epsilon:g}" for epsilon in places])
    ax.set_xticks([], minor=True)
    ax.tick_params(labelbottom=True, labelleft=True)
    title = f"{people.name}, n = {len(people.values):,}: {panel.statistic} ({panel.truth:.2f})"
    finish(ax, title, "epsilon (small: more private)", f"mean error of the {panel.statistic}")


# Measurements ---------------------------------------------------------------------------------------------------------


def estimate(method: str, x: Floats, people: Counts, epsilon: float, rng: np.random.Generator | None) -> float:
    """One estimate by a private method.

    Parameters
    ----------
    method : str
        A key of `STYLES`, not `SAMPLE`.
    x : ndarray
        A sample of `people`, of which name and ends are used.
    people : Counts
    epsilon : float
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the estimates reproducible, not private.

    Returns
    -------
    estimate : float
    """
    lower, upper = people.lower, people.upper
    if method == EXPONENTIAL:
        return float(median(x, epsilon=epsilon, lower=lower, upper=upper, rng=rng).value)
    if method == SMOOTH:
        word = "smooth-sensitivity"
        return float(median(x, epsilon=epsilon, lower=lower, upper=upper, method=word, delta=DELTA, rng=rng).value)
    if method == STEPS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SmallSampleWarning)
            return float(estimation.median(x, epsilon, lower, upper, rng=rng).value)
    if method == NOISE:
        radius = (upper - lower) / 2
        found = mean(x - people.middle, epsilon=epsilon, moment=math.inf, radius=radius, rng=rng)
        return people.middle + float(found.value)
    return float(SignBit(lower, upper, epsilon).run(x, rng=rng).value)


def measure(
    people: Counts, epsilons: Sequence[float], rng: np.random.Generator | None, repetitions: int
) -> tuple[Panel, Panel]:
    """The errors of all methods on the same samples: a panel for the median and one for the mean.

    Parameters
    ----------
    people : Counts
    epsilons : sequence of float
    rng : None or Generator
        As for `estimate`.
    repetitions : int
        How many samples.

    Returns
    -------
    panels : tuple of Panel
    """
    draw = np.random.default_rng(rng)
    samples = [people.sample(draw) for _ in range(repetitions)]
    panels = []
    for statistic, truth, own, methods in (
        ("median", people.median, np.median, MEDIANS),
        ("mean", people.mean, np.mean, MEANS),
    ):
        plain = np.abs([own(x) - truth for x in samples])
        errors = {
            method: tuple(
                plain
                if method == SAMPLE
                else np.abs([estimate(method, x, people, epsilon, rng) - truth for x in samples])
                for epsilon in epsilons
            )
            for method in methods
        }
        labels = {"data": people.name, "statistic": statistic}
        curves = {m: Curve({**labels, "method": m}, "epsilon", tuple(epsilons), found) for m, found in errors.items()}
        panels.append(Panel(people, statistic, curves))
    return panels[0], panels[1]


def run(rng: np.random.Generator | None, full: bool = False) -> CentralStudy:
    """Both surveys; `full`: with the repetitions of the table of docs/central.md."""
    repetitions = REPETITIONS if full else QUICK_REPETITIONS
    return CentralStudy(
        tuple(panel for people in (visits(), ratings()) for panel in measure(people, EPSILONS, rng, repetitions))
    )


class CentralExperiment(Experiment):
    """With a picture of few colors, a quarter of the size."""

    def save(self, study: Study, folder: Path) -> list[Path]:
        """As `Experiment.save`."""
        paths = super().save(study, folder)
        with optional("PIL.Image", "demo").open(paths[0]) as picture:
            few = picture.convert("RGB").quantize(COLORS)
        few.save(paths[0], optimize=True)
        return paths


EXPERIMENT = CentralExperiment("central", "the central and the local model on the same surveys", run)
