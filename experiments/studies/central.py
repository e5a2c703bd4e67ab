"""The cost of local privacy compared with a trusted curator: errors of the median and of the mean against epsilon.

The respondents of two surveys are the population; samples of the same size are drawn with replacement. In the central
model, the exponential mechanism estimates the median with an error of about 2 / (n epsilon) in rank (Chaudhuri and Hsu,
ICML 2012), which is soon negligible compared with the sampling error. In the local model, each person sends one bit
(Duchi, Jordan and Wainwright, JASA 2018). The error of the median is then coth(epsilon / 2) times the sampling error, for
every n. docs/central.md shows the figure.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ldpfast import estimation
from ldpfast._extras import optional
from ldpfast._plots import BLACK, BLUE, GRAY, GREEN, VERMILION, finish
from ldpfast._typing import Floats
from ldpfast.central import mean, median
from ldpfast.mechanisms import SignBit
from ldpfast.results import SmallSampleWarning

from ..demo.curve import Curve, Style
from ..demo.surveys import FAIR, MAX_VISITS, RAND, records
from ._study import Experiment, Study, report_variance

EPSILONS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
DELTA = 1e-6
REPETITIONS, QUICK_REPETITIONS = 2_000, 400
AT = 1.0  # epsilon of the verdict
MOST = 1.2  # largest accepted ratio of the central error to the sampling error
NEAR = (0.6, 4.0)  # accepted ratios of the local error to theory; a jump of the density at the median costs up to 3
COLORS = 64  # of the figure

SAMPLE, EXPONENTIAL, SMOOTH, STEPS = "no privacy", "exponential mechanism", "smooth sensitivity", "private steps"
NOISE, BITS = "integer noise", "sign bits"
CENTRAL = "central model: exponential mechanism (median), integer noise (mean)"
LOCAL = "local model, one bit per person: private steps (median), sign bits (mean)"
STYLES: dict[str, tuple[str, Style]] = {
    STEPS: (LOCAL, (VERMILION, "s", "-")),
    BITS: (LOCAL, (VERMILION, "s", "-")),
    SMOOTH: (f"central model: smooth sensitivity, delta = {DELTA:g}", (GREEN, "^", "-")),
    EXPONENTIAL: (CENTRAL, (BLUE, "o", "-")),
    NOISE: (CENTRAL, (BLUE, "o", "-")),
    SAMPLE: ("no privacy: sampling error", (BLACK, "", "--")),
}
MEDIANS, MEANS = (SAMPLE, EXPONENTIAL, SMOOTH, STEPS), (SAMPLE, NOISE, BITS)


@dataclass(frozen=True)
class Counts:
    """Integer answers of a survey, in `unit`.

    A uniform number of [-1/2, 1/2] is added to each answer of a sample, so that the distribution is continuous.
    """

    name: str
    values: Floats  # of the whole population, without the added uniform numbers
    lower: float
    upper: float
    unit: str = "unit of the records"

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def median(self) -> float:
        """Median of the population after the uniform numbers are added, by linear interpolation in its cell."""
        numbers, counts = np.unique(self.values, return_counts=True)
        below = np.concatenate([[0], np.cumsum(counts)])
        k = int(np.searchsorted(below, below[-1] / 2)) - 1
        return float(numbers[k] - 0.5 + (below[-1] / 2 - below[k]) / counts[k])

    @property
    def middle(self) -> float:
        """Middle of the interval: the best guess without data."""
        return (self.lower + self.upper) / 2

    def sample(self, draw: np.random.Generator) -> Floats:
        """Draw a sample with replacement, as large as the population."""
        n = len(self.values)
        return self.values[draw.integers(n, size=n)] + draw.uniform(-0.5, 0.5, n)

    def sign_bit_error(self, epsilon: float) -> float:
        """Return the expected absolute error of the mean of sign bits, by the normal approximation."""
        variance = report_variance(SignBit(self.lower, self.upper, epsilon), self.values, float(self.values.var()))
        return math.sqrt(2 / math.pi * variance / len(self.values))


def visits() -> Counts:
    """Return the visits to a doctor in a year, capped at 20, from the RAND health insurance experiment."""
    numbers = np.minimum(records(RAND)["mdvis"].to_numpy(), MAX_VISITS).astype(np.float64)
    return Counts("Visits to a doctor in a year", numbers, -0.5, MAX_VISITS + 0.5, "visits per year")


def ratings() -> Counts:
    """Return the marriage ratings by the wives of Fair's survey, from 1 (very poor) to 5 (very good)."""
    numbers = records(FAIR)["rate_marriage"].to_numpy().astype(np.float64)
    return Counts("Wives rate their marriage, 1 to 5", numbers, 0.5, 5.5, "rating points")


@dataclass(frozen=True)
class Panel:
    """Errors of all methods for one statistic of one population."""

    people: Counts
    statistic: str
    errors: dict[str, Curve]

    def factor(self, method: str) -> Floats:
        """Return the ratio of the error of a method to the sampling error, for each epsilon."""
        return self.errors[method].mean / self.errors[SAMPLE].mean

    @property
    def truth(self) -> float:
        return self.people.median if self.statistic == "median" else self.people.mean

    @property
    def theory(self) -> Floats:
        """Expected errors in the local model, one per epsilon."""
        places = self.errors[SAMPLE].places
        if self.statistic == "median":
            return np.array([e / math.tanh(a / 2) for a, e in zip(places, self.errors[SAMPLE].mean, strict=True)])
        return np.array([self.people.sign_bit_error(a) for a in places])

    @property
    def local(self) -> str:
        """The method of the local model."""
        return STEPS if STEPS in self.errors else BITS

    @property
    def central(self) -> str:
        """The method of the central model with pure differential privacy."""
        return EXPONENTIAL if EXPONENTIAL in self.errors else NOISE


@dataclass(frozen=True)
class CentralStudy(Study):
    """Panels for the median and the mean of the first population, then of the second."""

    panels: tuple[Panel, ...]

    size = (11.0, 7.6)

    def at(self, panel: Panel) -> int:
        """Return the index of the epsilon of the verdict."""
        return panel.errors[SAMPLE].places.index(AT)

    @property
    def trusted(self) -> list[float]:
        """Ratio of the error in the central model to the sampling error, for each panel."""
        return [float(panel.factor(panel.central)[self.at(panel)]) for panel in self.panels]

    @property
    def untrusted(self) -> list[float]:
        """Ratio of the error in the local model to its theory, for each panel."""
        return [float((p.errors[p.local].mean / p.theory)[self.at(p)]) for p in self.panels]

    @property
    def smooth(self) -> list[float]:
        """Error of smooth sensitivity over that of the exponential mechanism: geometric mean over epsilon."""
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
            f"epsilon {AT:g}: error in the central model over the sampling error, {span(self.trusted)} (at most {MOST:g}); "
            f"error in the local model over its theory, {span(self.untrusted)} ({NEAR[0]:g} to {NEAR[1]:g}); error of smooth "
            f"sensitivity over that of the exponential mechanism, geometric mean over epsilon, {span(self.smooth)} (above 1)"
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
    ax.plot(places, panel.theory, color=GRAY, linestyle=":", linewidth=2, label="theory of one bit per person")
    without_data = abs(people.middle - panel.truth)
    ax.axhline(without_data, color=GRAY, linewidth=1, label="no data: the middle of the declared interval")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(places, [f"{epsilon:g}" for epsilon in places])
    ax.set_xticks([], minor=True)
    ax.tick_params(labelbottom=True, labelleft=True)
    title = f"{people.name}, n = {len(people.values):,}: {panel.statistic} ({panel.truth:.2f})"
    finish(ax, title, "epsilon (small: more private)", f"mean error of the {panel.statistic}\n({people.unit})")


# Measurements ---------------------------------------------------------------------------------------------------------


def estimate(method: str, x: Floats, people: Counts, epsilon: float, rng: np.random.Generator | None) -> float:
    """Compute one estimate by a private method.

    Parameters
    ----------
    method : str
        A key of `STYLES` other than `SAMPLE`.
    x : ndarray
        A sample of `people`.
    people : Counts
        Population, of which only the declared interval is used.
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
        found = median(x, epsilon=epsilon, delta=DELTA, lower=lower, upper=upper, method="smooth-sensitivity", rng=rng)
        return float(found.value)
    if method == STEPS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SmallSampleWarning)
            return float(estimation.median(x, epsilon, lower=lower, upper=upper, rng=rng).value)
    if method == NOISE:
        radius = (upper - lower) / 2
        noisy = mean(x - people.middle, epsilon=epsilon, moment=math.inf, radius=radius, rng=rng)
        return people.middle + float(noisy.value)
    return float(SignBit(lower, upper, epsilon).run(x, rng=rng).value)


def measure(
    people: Counts, epsilons: Sequence[float], rng: np.random.Generator | None, repetitions: int
) -> tuple[Panel, Panel]:
    """Measure the errors of all methods on the same samples, for the median and for the mean.

    Parameters
    ----------
    people : Counts
    epsilons : sequence of float
    rng : None or Generator
        As for `estimate`.
    repetitions : int
        Number of samples.

    Returns
    -------
    panels : tuple of Panel
        For the median and for the mean.
    """
    draw = np.random.default_rng(rng)
    samples = [people.sample(draw) for _ in range(repetitions)]
    panels = []
    for statistic, truth, compute, methods in (
        ("median", people.median, np.median, MEDIANS),
        ("mean", people.mean, np.mean, MEANS),
    ):
        plain = np.abs([compute(x) - truth for x in samples])
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
    """Run both surveys. `full` selects the repetitions of the table in docs/central.md."""
    repetitions = REPETITIONS if full else QUICK_REPETITIONS
    return CentralStudy(
        tuple(panel for people in (visits(), ratings()) for panel in measure(people, EPSILONS, rng, repetitions))
    )


class CentralExperiment(Experiment):
    """Experiment whose figure is saved with few colors, at a quarter of the file size."""

    def save(self, study: Study, folder: Path) -> list[Path]:
        """Write the figure and the numbers. See `Experiment.save`."""
        paths = super().save(study, folder)
        with optional("PIL.Image", "demo").open(paths[0]) as picture:
            few = picture.convert("RGB").quantize(COLORS)
        few.save(paths[0], optimize=True)
        return paths


EXPERIMENT = CentralExperiment(
    "central",
    "the central and the local model, on the same surveys",
    f"At epsilon {AT:g} the error in the central model is at most {MOST:g} times the sampling error, that in the local "
    f"model is {NEAR[0]:g} to {NEAR[1]:g} times its theory, and smooth sensitivity has a larger error than the exponential "
    "mechanism.",
    run,
)
