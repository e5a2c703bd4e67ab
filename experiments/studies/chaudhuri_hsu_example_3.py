"""The median by smooth sensitivity: a published constant that fails, and the exponential mechanism (example 3).

Chaudhuri and Hsu (ICML 2012) state that the smooth sensitivity of the median of uniform records on an interval of length
2 is about 2 Gamma / n with Gamma = 1/2, for every privacy parameter. In fact it is about 1 / (e beta n f), where f = 1/2 is
the density at the median and beta is of order epsilon / log(1 / delta). The exponential mechanism needs no sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpfast._plots import BLACK, BLUE, GRAY, GREEN, ORANGE, PURPLE, VERMILION, finish
from ldpfast._typing import Floats
from ldpfast.central import median, smooth_sensitivity_quantile

from ..demo.curve import Curve, Row, Style
from ._study import CHAUDHURI_HSU, Experiment, Study

LOWER, UPPER, DENSITY = -1.0, 1.0, 0.5
PUBLISHED = 1.0  # n times the published sensitivity: 2 Gamma
SIZES = (101, 301, 1_001, 3_001, 10_001, 30_001)  # odd: a median is a record
EPSILONS, AT_EPSILON, DELTA = (0.25, 0.5, 1.0), 1.0, 1e-6
REPETITIONS, QUICK_REPETITIONS = 4_000, 400
NEAR = (0.8, 1.6)  # accepted ratios of the sensitivity to the theory
MIN_FACTOR = 10.0  # smallest accepted ratio of the sensitivity to the published one
MIN_RATIO = (
    3.0  # smallest accepted ratio of the error that smooth sensitivity adds to that of the exponential mechanism
)

SMOOTH, EXPONENTIAL, PLAIN = "smooth sensitivity", "exponential mechanism", "no privacy"
STYLES: dict[str, Style] = {SMOOTH: (GREEN, "^", "-"), EXPONENTIAL: (BLUE, "o", "-"), PLAIN: (BLACK, "", "--")}
COLORS = (VERMILION, ORANGE, PURPLE)  # one per epsilon
MARKERS = ("s", "D", "^")


def published_beta(epsilon: float) -> float:
    """Return the published smoothing parameter, epsilon / (2 log(1 / delta))."""
    return epsilon / (2 * math.log(1 / DELTA))


def theory(epsilon: float) -> float:
    """Return n times the sensitivity by the corrected formula, 1 / (e beta f)."""
    return 1 / (math.e * published_beta(epsilon) * DENSITY)


@dataclass(frozen=True)
class SmoothStudy(Study):
    """Smooth sensitivities times n, by epsilon, and errors of the median, by method, against n.

    `added` has the distances of the private medians from those of the samples.
    """

    sensitivities: dict[float, Curve]
    errors: dict[str, Curve]
    added: dict[str, Curve]

    size = (18.0, 5.6)

    @property
    def over_theory(self) -> Floats:
        """Ratios of the mean sensitivity to the theory, for each epsilon and n."""
        return np.array([curve.mean / theory(epsilon) for epsilon, curve in self.sensitivities.items()])

    @property
    def over_published(self) -> float:
        """Smallest ratio of the mean sensitivity to the published one."""
        return min(float(curve.mean.min()) / PUBLISHED for curve in self.sensitivities.values())

    @property
    def ratio(self) -> float:
        """Smallest ratio over n of the error that smooth sensitivity adds to that of the exponential mechanism."""
        return float((self.added[SMOOTH].mean / self.added[EXPONENTIAL].mean).min())

    @property
    def holds(self) -> bool:
        near = bool(((self.over_theory >= NEAR[0]) & (self.over_theory <= NEAR[1])).all())
        return near and self.over_published >= MIN_FACTOR and self.ratio >= MIN_RATIO

    @property
    def verdict(self) -> str:
        return (
            f"smooth sensitivity over 1 / (e beta n f): {self.over_theory.min():.2f} to {self.over_theory.max():.2f} "
            f"({NEAR[0]:g} to {NEAR[1]:g}), over the published one: at least {self.over_published:.0f} ({MIN_FACTOR:g}); "
            f"error added by smooth sensitivity over that added by the exponential mechanism at epsilon {AT_EPSILON:g}: at "
            f"least {self.ratio:.1f} ({MIN_RATIO:g})"
        )

    def curves(self) -> Iterator[Curve]:
        yield from self.sensitivities.values()
        yield from self.errors.values()
        yield from self.added.values()

    def draw(self, figure: Any) -> None:
        left, middle, right = figure.subplots(1, 3)
        middle.sharey(right)
        for (epsilon, curve), color, marker in zip(self.sensitivities.items(), COLORS, MARKERS, strict=False):
            curve.draw(left, (color, marker, "-"), f"measured, epsilon {epsilon:g}")
            left.axhline(theory(epsilon), color=color, linestyle=":")
        left.plot([], [], color=GRAY, linestyle=":", label="1 / (e beta f)")
        left.axhline(PUBLISHED, color=BLACK, linestyle="--", label="published, for every epsilon")
        left.set_ylim(PUBLISHED / 2, 1e3)  # room for the legend
        title = "Smooth sensitivity of the median, uniform records"
        _finish(left, title, "n times the smooth sensitivity (unit of the records)", "mean, and 90 % of the samples")
        for curves, ax in ((self.added, middle), (self.errors, right)):
            for method, curve in curves.items():
                curve.draw(ax, STYLES[method], method, of_mean=True)
        given = f"epsilon {AT_EPSILON:g}, delta {DELTA:g} for smooth sensitivity"
        bands = "mean and two standard errors"
        _finish(
            middle, f"Distance from the median of the sample\n{given}", "mean distance (unit of the records)", bands
        )
        _finish(right, f"Error of the median\n{given}", "mean absolute error (unit of the records)", bands)


def _finish(ax: Any, title: str, ylabel: str, legend: str) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    finish(ax, title, "number of people n", ylabel, title=legend, loc="upper right")


# Measurements ---------------------------------------------------------------------------------------------------------


def estimate(method: str, x: Floats, rng: np.random.Generator | None) -> float:
    """Compute the median of the records with one of the methods of `STYLES`."""
    if method == PLAIN:
        return float(np.median(x))
    interval: dict[str, Any] = {"epsilon": AT_EPSILON, "lower": LOWER, "upper": UPPER, "rng": rng}
    if method == SMOOTH:
        return float(median(x, delta=DELTA, method="smooth-sensitivity", **interval).value)
    return float(median(x, **interval).value)


def measure(sizes: Sequence[int], rng: np.random.Generator | None, repetitions: int) -> SmoothStudy:
    """Measure sensitivities and errors on the same samples.

    Parameters
    ----------
    sizes : sequence of int
        Odd numbers of people.
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the releases reproducible, not private.
    repetitions : int
        Number of samples per size.

    Returns
    -------
    study : SmoothStudy

    Privacy
    -------
    The estimates are private; the sensitivities are functions of the records and are not.
    """
    draw = np.random.default_rng(rng)
    sensitivities: dict[float, list[Floats]] = {epsilon: [] for epsilon in EPSILONS}
    errors: dict[str, list[Floats]] = {method: [] for method in STYLES}
    added: dict[str, list[Floats]] = {method: [] for method in STYLES if method != PLAIN}
    for n in sizes:
        samples = [draw.uniform(LOWER, UPPER, n) for _ in range(repetitions)]
        for epsilon, found in sensitivities.items():
            beta = published_beta(epsilon)
            values = [smooth_sensitivity_quantile(x, 0.5, beta, LOWER, UPPER) for x in samples]
            found.append(n * np.array(values))
        medians = {method: np.array([estimate(method, x, rng) for x in samples]) for method in STYLES}
        for method, estimates in medians.items():
            errors[method].append(np.abs(estimates))  # the true median is 0
            if method in added:
                added[method].append(np.abs(estimates - medians[PLAIN]))

    def curve(what: str, labels: Row, values: list[Floats]) -> Curve:
        return Curve({"what": what, **labels}, "n", tuple(sizes), tuple(values))

    return SmoothStudy(
        {e: curve("n times the smooth sensitivity", {"epsilon": e}, values) for e, values in sensitivities.items()},
        {m: curve("error", {"epsilon": AT_EPSILON, "method": m}, values) for m, values in errors.items()},
        {m: curve("added error", {"epsilon": AT_EPSILON, "method": m}, values) for m, values in added.items()},
    )


def run(rng: np.random.Generator | None, full: bool = False) -> SmoothStudy:
    """Measure all sizes. `full` selects ten times as many repetitions."""
    return measure(SIZES, rng, REPETITIONS if full else QUICK_REPETITIONS)


EXPERIMENT = Experiment(
    "chaudhuri-hsu-example-3",
    f"{CHAUDHURI_HSU}, example 3, corrected",
    "The smooth sensitivity of the median of uniform records is not the published 1 / n but at least "
    f"{MIN_FACTOR:g} times as large and near 1 / (e beta n f) ({NEAR[0]:g} to {NEAR[1]:g}), and adds at least "
    f"{MIN_RATIO:g} times the error that the exponential mechanism adds, for every n.",
    run,
)
