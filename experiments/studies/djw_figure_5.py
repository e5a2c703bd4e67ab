"""The paper's experiment on the mean salary: error against the assumed moment (figure 5 and table 1).

Duchi, Jordan and Wainwright (JASA 2018) draw half of the people without replacement, truncate at a threshold that depends
on the assumed number k of moments, and add Laplace noise. A small k gives a large threshold and much noise. For a large k
the few largest salaries dominate the radius. The salaries are a stand-in (see `salaries`); the visits to a doctor are
real data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpfast._extras import optional
from ldpfast._plots import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION, finish
from ldpfast._typing import Floats
from ldpfast.estimation import truncated_mean

from ..demo.curve import Curve, Style
from ._study import DJW, Experiment, Study
from .salaries import Population, salaries, visits

EPSILONS = (0.1, 0.5, 1.0, 2.0)
MOMENTS = tuple(float(k) for k in np.geomspace(1.2, 20, 10))
REPETITIONS, QUICK_REPETITIONS = 400, 100
COMPARED_AT = 1.0  # epsilon of the variants

PAPER = "as in the paper"
VARIANTS: dict[str, dict[str, Any]] = {
    PAPER: {"method": "paper"},
    "threshold that minimizes the bound": {"method": "optimal"},
    "one bit per person": {"method": "paper", "noise": "sign-bit"},
    "lower bound of 0 known": {"method": "paper", "lower": 0.0},
    "all three": {"method": "optimal", "noise": "sign-bit", "lower": 0.0},
}
STYLES: tuple[Style, ...] = (
    (VERMILION, "s", "-"),
    (ORANGE, "^", "-"),
    (BLUE, "o", "-"),
    (GREEN, "D", "-"),
    (PURPLE, "v", "-"),
)


@dataclass(frozen=True)
class Errors:
    """Absolute errors relative to the mean of one population.

    They are given by epsilon, by variant at `COMPARED_AT`, and without privacy.
    """

    people: Population
    by_epsilon: dict[float, Curve]
    by_variant: dict[str, Curve]
    plain: Floats

    def best(self, epsilon: float) -> tuple[float, float]:
        """Return the moment with the smallest mean error, and that error."""
        mean = self.by_epsilon[epsilon].mean
        return MOMENTS[int(mean.argmin())], float(mean.min())

    @property
    def inside(self) -> bool:
        """Whether the best moment is neither the smallest nor the largest, for every epsilon."""
        return all(MOMENTS[0] < self.best(epsilon)[0] < MOMENTS[-1] for epsilon in self.by_epsilon)


@dataclass(frozen=True)
class MeanStudy(Study):
    """Errors for the stand-in and for the real data."""

    salaries: Errors
    visits: Errors

    size = (17.0, 5.8)

    @property
    def holds(self) -> bool:
        return self.salaries.inside

    @property
    def verdict(self) -> str:
        ends = self.salaries.by_epsilon[COMPARED_AT].mean[[0, -1]]
        moment, least = self.salaries.best(COMPARED_AT)
        inside = {True: "yes", False: "NO"}
        return (
            f"mean error at epsilon {COMPARED_AT:g}: {ends[0]:.0%} at k = {MOMENTS[0]:g}, {least:.1%} at k = {moment:.1f}, "
            f"{ends[1]:.0%} at k = {MOMENTS[-1]:g}, {self.salaries.plain.mean():.2%} without privacy "
            f"(least inside for every epsilon: {inside[self.salaries.inside]}; real visits: {inside[self.visits.inside]})"
        )

    def curves(self) -> Iterator[Curve]:
        for errors in (self.salaries, self.visits):
            yield from errors.by_epsilon.values()
            yield from (curve for variant, curve in errors.by_variant.items() if variant != PAPER)
            yield Curve(_labels(errors.people, "no privacy", np.inf), "moment", (np.nan,), (errors.plain,))

    def draw(self, figure: Any) -> None:
        left, middle, right = figure.subplots(1, 3)
        _draw_epsilons(self.salaries, left, "figure 5 and table 1")
        _draw_variants(self.salaries, middle)
        _draw_epsilons(self.visits, right, "the same on real data")


def _labels(people: Population, variant: str, epsilon: float) -> dict[str, str]:
    return {"data": people.name, "method": variant, "epsilon": f"{epsilon:g}"}


def _draw_epsilons(errors: Errors, ax: Any, what: str) -> None:
    for style, (epsilon, curve) in zip(STYLES, errors.by_epsilon.items(), strict=False):
        moment, least = errors.best(epsilon)
        curve.draw(ax, style, f"epsilon {epsilon:g}: {least:.1%} at k = {moment:.1f}", of_mean=True)
    _finish(ax, errors, f"{errors.people.name}: {what}", "smallest error and its moment")


def _draw_variants(errors: Errors, ax: Any) -> None:
    for style, (variant, curve) in zip(STYLES, errors.by_variant.items(), strict=True):
        curve.draw(ax, style, variant, of_mean=True)
    _finish(
        ax,
        errors,
        f"{errors.people.name}: epsilon {COMPARED_AT:g}, variants",
        "threshold, noise and range; means of the runs",
    )


def _finish(ax: Any, errors: Errors, title: str, legend: str) -> None:
    ax.axhline(errors.plain.mean(), color=BLACK, linestyle="--", label=f"no privacy: {errors.plain.mean():.2%}")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(optional("matplotlib.ticker", "demo").PercentFormatter(1))
    ax.set_ylim(top=10 * ax.get_ylim()[1])  # room for the legend
    ticks = (1.2, 2, 3, 5, 10, 20)
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    xlabel = "assumed number of moments k"
    ylabel = "mean error (percent of the mean)"
    finish(ax, title, xlabel, ylabel, title=legend, loc="upper center", ncols=2)


def measure(
    people: Population, rng: np.random.Generator | None, repetitions: int, epsilons: Sequence[float] = EPSILONS
) -> Errors:
    """Estimate the mean of random halves of a population, for every epsilon, variant and assumed moment.

    Parameters
    ----------
    people : Population
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the reports reproducible, not private.
    repetitions : int
    epsilons : sequence of float
        Must contain `COMPARED_AT`.

    Returns
    -------
    errors : Errors

    Privacy
    -------
    Each estimate is a function of epsilon-LDP reports. The radius is the moment of the population, which a real study
    would have to assume. Neither the radius nor the errors are private.
    """
    draw = np.random.default_rng(rng)
    radii = [people.moment(k) for k in MOMENTS]
    cases = [(epsilon, PAPER) for epsilon in epsilons]
    cases += [(COMPARED_AT, variant) for variant in VARIANTS if variant != PAPER]
    errors = np.empty((len(cases), len(MOMENTS), repetitions))
    plain = np.empty(repetitions)
    for i in range(repetitions):
        half = draw.choice(people.values, len(people.values) // 2, replace=False)
        plain[i] = half.mean()
        for case, (epsilon, variant) in enumerate(cases):
            for at, (k, radius) in enumerate(zip(MOMENTS, radii, strict=True)):
                estimate = truncated_mean(half, epsilon, moment=k, radius=radius, rng=rng, **VARIANTS[variant])
                errors[case, at, i] = estimate.value
    errors = np.abs(errors / people.mean - 1)
    curves = {
        case: Curve(_labels(people, case[1], case[0]), "moment", MOMENTS, tuple(of_case))
        for case, of_case in zip(cases, errors, strict=True)
    }
    return Errors(
        people,
        {epsilon: curve for (epsilon, variant), curve in curves.items() if variant == PAPER},
        {variant: curve for (epsilon, variant), curve in curves.items() if epsilon == COMPARED_AT},
        np.abs(plain / people.mean - 1),
    )


def run(rng: np.random.Generator | None, full: bool = False) -> MeanStudy:
    """Run both populations. `full` selects the repetitions of the paper instead of a quarter of them."""
    repetitions = REPETITIONS if full else QUICK_REPETITIONS
    return MeanStudy(measure(salaries(), rng, repetitions), measure(visits(), rng, repetitions))


EXPERIMENT = Experiment(
    "djw-figure-5",
    f"{DJW}, figure 5 and table 1",
    "For every epsilon, the error of the private mean is smallest for an assumed number of moments strictly between "
    f"{MOMENTS[0]:g} and {MOMENTS[-1]:g}.",
    run,
)
