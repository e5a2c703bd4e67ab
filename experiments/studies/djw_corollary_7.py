"""Densities: the rate n^(-2 beta / (2 beta + 2)) of the private series estimate, and two private histograms.

Duchi, Jordan and Wainwright (JASA 2018, corollary 7) prove the rate. Without privacy the exponent is -2 beta / (2 beta
+ 1). The density is simulated: its trigonometric coefficients decay as slowly as its smoothness allows. The index of
chronic diseases is real data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ldpfast._plots import BLACK, BLUE, GRAY, GREEN, VERMILION, finish
from ldpfast._typing import Floats
from ldpfast.estimation import HistogramDensity, SeriesDensity, histogram_density, series_density
from ldpfast.mechanisms import LinfBall

from ..demo.curve import Curve
from ._study import DJW, Experiment, Study, slope
from .salaries import diseases

SMOOTHNESS, EPSILON = 2.0, 1.0
RATE = -2 * SMOOTHNESS / (2 * SMOOTHNESS + 2)
TERMS, LARGEST = 200, 0.5  # number of coefficients of the true density, and the first coefficient
AIMED, FULL_AIMED = (3, 5, 7), (3, 5, 7, 9)  # numbers of terms that the sizes make optimal; odd ones need less noise
BINS, BINS_SIZES = 16, (1_000, 6_000, 40_000)
REAL_RANGE, REAL_BINS, REAL_TERMS, REAL_EPSILON = (0.0, 60.0), 15, 15, 2.0
PEOPLE = 20_000_000  # records in all repetitions of one size; the number of repetitions has these limits
REPETITIONS, QUICK_REPETITIONS = (200, 1_000), (100, 400)
BINS_REPETITIONS = 100

LAPLACE, UNARY = "Laplace noise on each bin", "unary encoding"
NOISES = {LAPLACE: "laplace", UNARY: "unary"}
STYLES = {LAPLACE: (VERMILION, "s", "-"), UNARY: (GREEN, "^", "-")}
POINTS = np.arange(1024) / 1024  # averages over them are exact integrals of the trigonometric polynomials used here

Density = Callable[[Floats], Floats]


@cache
def coefficients() -> Floats:
    """Return the coefficients of the true density, without the constant.

    |theta_j| decays like j^-(beta + 1/2), the limit of the Sobolev balls of smoothness beta.
    """
    order = np.arange(1, TERMS + 1)
    return np.asarray(LARGEST * order ** -(SMOOTHNESS + 0.5) * np.where(order % 4 < 2, 1, -1), np.float64)


def sobolev_radius() -> float:
    """Return C with sum j^(2 beta) theta_j^2 = C^2."""
    return float(np.sqrt(np.sum(np.arange(1, TERMS + 1) ** (2 * SMOOTHNESS) * coefficients() ** 2)))


def density(x: Floats) -> Floats:
    """Return the true density on [0, 1] at the points x."""
    cosines, sines = coefficients()[::2], coefficients()[1::2]
    angles = 2 * np.pi * np.multiply.outer(x, np.arange(1, TERMS // 2 + 1))
    return np.asarray(1 + np.sqrt(2) * (np.cos(angles) @ cosines + np.sin(angles) @ sines))


def size_for(terms: int) -> int:
    """Return the number of people for which the bound on the risk is smallest with k = `terms` terms.

    It is the n that solves k = (beta C^2 n / (pi h^2))^(1 / (2 beta + 2)), with h = coth(epsilon / 2).
    """
    spread = np.pi / np.tanh(EPSILON / 2) ** 2
    return int(np.round(spread * terms ** (2 * SMOOTHNESS + 2) / (SMOOTHNESS * sobolev_radius() ** 2)))


@cache
def _cumulative() -> tuple[Floats, Floats]:
    """Return the distribution function on a fine grid, and the grid."""
    edges = np.linspace(0, 1, 2**14 + 1)
    below = np.concatenate([[0.0], np.cumsum(density((edges[1:] + edges[:-1]) / 2))])
    return below / below[-1], edges


def sample(n: int, draw: np.random.Generator) -> Floats:
    """Draw n records from `density`."""
    return np.interp(draw.random(n), *_cumulative())


def squared_error(estimate: Density) -> float:
    """Return the integral of the squared difference from the true density."""
    return float(np.mean((estimate(POINTS) - _truth()) ** 2))


@cache
def _truth() -> Floats:
    return density(POINTS)


def exact_risk(n: int, terms: int) -> float:
    """Return the expected `squared_error` of the series estimate: variance, and squares of the omitted coefficients."""
    kept, omitted = np.split(coefficients() ** 2, [terms])
    scale = LinfBall(terms, EPSILON, radius=np.sqrt(2)).scale
    return float((terms * scale**2 - kept.sum()) / n + omitted.sum())


def exact_histogram_risk(method: str, n: int) -> float:
    """Return the expected `squared_error` of a histogram with `BINS` bins: bias, sampling variance, and noise."""
    by_bin = _truth().reshape(BINS, -1)
    probabilities = by_bin.mean(axis=1) / BINS
    mechanism = HistogramDensity(EPSILON, bins=BINS, noise=NOISES[method]).mechanism
    noise = float(mechanism.variance([0]).mean())  # of each bin
    spread = BINS * (1 - np.sum(probabilities**2)) + BINS**2 * noise
    return float(by_bin.var(axis=1).mean() + spread / n)


@dataclass(frozen=True)
class Panel:
    """Private densities of one sample, the first with a confidence band, and the true density."""

    title: str
    points: Floats
    truth: Floats
    lines: dict[str, Floats]
    band: tuple[Floats, Floats]


@dataclass(frozen=True)
class DensityStudy(Study):
    """Squared errors against n with their exact formulas, and two panels with single estimates."""

    series: Curve
    series_exact: Floats
    histograms: dict[str, Curve]
    histograms_exact: dict[str, Floats]
    panels: tuple[Panel, Panel]

    size = (14.0, 10.5)

    @property
    def slope(self) -> float:
        """Slope of the mean integrated squared error of the series against n, on logarithmic axes."""
        return slope(self.series.places, self.series.mean)

    @property
    def calibration(self) -> float:
        """Ratio of the error to the exact formula, averaged over the sizes."""
        return float(np.mean(self.series.mean / self.series_exact))

    @property
    def histogram_ratio(self) -> float:
        """Ratio of the error with Laplace noise to that with unary encoding, averaged over the sizes."""
        return float(np.mean(self.histograms[LAPLACE].mean / self.histograms[UNARY].mean))

    @property
    def holds(self) -> bool:
        near = abs(self.slope - RATE) <= 0.1 and abs(self.calibration - 1) <= 0.1
        return near and 1.6 <= self.histogram_ratio <= 2.4

    @property
    def verdict(self) -> str:
        return (
            f"squared error of the series falls like n^{self.slope:.2f} (theory {RATE:.2f}, within 0.1) and is "
            f"{self.calibration:.2f} times the exact formula (0.9 to 1.1); error of the histogram, Laplace noise over unary "
            f"encoding: {self.histogram_ratio:.2f} (1.6 to 2.4)"
        )

    def curves(self) -> Iterator[Curve]:
        yield self.series
        yield from self.histograms.values()

    def draw(self, figure: Any) -> None:
        (rate, histogram), pictures = figure.subplots(2, 2)
        self.series.draw(rate, (BLUE, "o", "-"), f"series estimate: slope {self.slope:.2f}")
        rate.plot(self.series.places, self.series_exact, color=BLACK, linestyle=":", label="exact formula")
        guide = self.series.mean[0] / 3 * (np.array(self.series.places) / self.series.places[0]) ** RATE
        rate.plot(
            self.series.places, guide, color=GRAY, linestyle="--", label=f"the rate of the paper: slope {RATE:.2f}"
        )
        _finish(rate, f"Rate of a private density of smoothness {SMOOTHNESS:g}, epsilon {EPSILON:g}")
        for method, curve in self.histograms.items():
            curve.draw(histogram, STYLES[method], method)
            label = "exact formulas" if method == UNARY else None
            histogram.plot(curve.places, self.histograms_exact[method], color=BLACK, linestyle=":", label=label)
        _finish(histogram, f"Private histogram of {BINS} bins, epsilon {EPSILON:g}: ratio {self.histogram_ratio:.2f}")
        for panel, ax in zip(self.panels, pictures, strict=True):
            _draw_panel(panel, ax)


def _finish(ax: Any, title: str) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    legend = {"loc": "upper right", "title": "mean, and 90 % of the runs"}
    finish(ax, title, "number of people n", "integrated squared error (per unit of the records)", **legend)


def _draw_panel(panel: Panel, ax: Any) -> None:
    ax.plot(panel.points, panel.truth, color=BLACK, linestyle="--", label="true density")
    for (label, values), color in zip(panel.lines.items(), (BLUE, GREEN), strict=False):
        ax.plot(panel.points, values, color=color, label=label)
    ax.fill_between(panel.points, *panel.band, color=BLUE, alpha=0.2, linewidth=0, label="95 % at each point")
    ax.axhline(0, color=GRAY, linewidth=0.8)
    finish(ax, panel.title, "record (unit of the records)", "density (per unit of the records)")


def _measure(
    sizes: Sequence[int],
    repetitions: tuple[int, int],
    rng: np.random.Generator | None,
    estimators: dict[str, Callable[[Floats], Density]],
) -> dict[str, Curve]:
    """Measure the squared errors of all estimators, on samples of each size."""
    draw = np.random.default_rng(rng)
    errors: dict[str, list[Floats]] = {method: [] for method in estimators}
    for n in sizes:
        rounds = range(int(np.clip(PEOPLE // n, *repetitions)))
        people = (sample(n, draw) for _ in rounds)
        of_size = [[squared_error(estimator(x)) for estimator in estimators.values()] for x in people]
        for series, values in zip(errors.values(), np.transpose(of_size), strict=True):
            series.append(values)
    data = "simulated, smoothness 2"
    return {
        method: Curve({"data": data, "method": method}, "n", tuple(sizes), tuple(values))
        for method, values in errors.items()
    }


def _terms(n: int) -> int:
    """Return the number of terms that the library uses for n people and this smoothness."""
    return int(SeriesDensity(EPSILON, n=n, smoothness=SMOOTHNESS, radius=sobolev_radius()).terms)


def _simulated(rng: np.random.Generator | None, n: int) -> Panel:
    """Compute one series estimate of the true density."""
    people = sample(n, np.random.default_rng(rng))
    estimate = series_density(people, EPSILON, smoothness=SMOOTHNESS, radius=sobolev_radius(), rng=rng)
    lines = {f"private series of {len(estimate.value)} terms": estimate(POINTS)}
    title = f"One estimate of the simulated density, n = {n:,}, epsilon {EPSILON:g}"
    return Panel(title, POINTS, _truth(), lines, estimate.band(POINTS))


def _real(rng: np.random.Generator | None) -> Panel:
    """Compute one histogram and one series estimate of the chronic diseases of the whole population."""
    people, (lower, upper) = diseases(), REAL_RANGE
    points = lower + (upper - lower) * (POINTS + 0.5 / len(POINTS))
    heights, edges = np.histogram(people.values, REAL_BINS, REAL_RANGE, density=True)
    truth = heights[np.searchsorted(edges, points, side="right") - 1]
    histogram = histogram_density(people.values, REAL_EPSILON, bins=REAL_BINS, lower=lower, upper=upper, rng=rng)
    series = series_density(people.values, REAL_EPSILON, n_terms=REAL_TERMS, lower=lower, upper=upper, rng=rng)
    lines = {"private histogram": histogram(points), f"private series of {REAL_TERMS} terms": series(points)}
    title = f"{people.name}, n = {len(people.values):,}, epsilon {REAL_EPSILON:g}"
    return Panel(title, points, truth, lines, histogram.band(points))


def run(
    rng: np.random.Generator | None,
    full: bool = False,
    aimed: Sequence[int] | None = None,
    bins_sizes: Sequence[int] = BINS_SIZES,
) -> DensityStudy:
    """Measure the rate and the histograms, and compute two estimates to draw."""
    repetitions = REPETITIONS if full else QUICK_REPETITIONS
    sizes = [size_for(terms) for terms in aimed or (FULL_AIMED if full else AIMED)]
    radius = sobolev_radius()

    def series(x: Floats) -> Density:
        return series_density(x, EPSILON, smoothness=SMOOTHNESS, radius=radius, rng=rng)

    def histogram(method: str) -> Callable[[Floats], Density]:
        return lambda x: histogram_density(x, EPSILON, bins=BINS, noise=NOISES[method], rng=rng)

    histograms = _measure(
        bins_sizes, (BINS_REPETITIONS, BINS_REPETITIONS), rng, {method: histogram(method) for method in NOISES}
    )
    return DensityStudy(
        _measure(sizes, repetitions, rng, {"series": series})["series"],
        np.array([exact_risk(n, _terms(n)) for n in sizes]),
        histograms,
        {method: np.array([exact_histogram_risk(method, n) for n in bins_sizes]) for method in histograms},
        (_simulated(rng, sizes[len(sizes) // 2]), _real(rng)),
    )


EXPERIMENT = Experiment(
    "djw-corollary-7",
    f"{DJW}, corollary 7",
    f"The squared error of the private series estimate of a density of smoothness {SMOOTHNESS:g} falls like n^{RATE:.2f} "
    "(within 0.1), and Laplace noise doubles the error of a private histogram (1.6 to 2.4) compared with unary encoding.",
    run,
)
