"""The paper's experiment on the median salary: one bit per person against noise on the salary itself (figure 6).

Stochastic gradient steps of one private bit each converge to the median. The median of salaries with Laplace noise does
not: symmetric noise shifts the median of a skewed distribution, for every n. (The paper claims the contrary before its
equation 41.) The salaries are a stand-in (see `salaries`); the index of chronic diseases is real data.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpfast._plots import BLACK, BLUE, GRAY, VERMILION, finish
from ldpfast._typing import Floats
from ldpfast.estimation import median, naive_median
from ldpfast.results import DoubtfulWarning, SmallSampleWarning

from ..demo.curve import Curve
from ._study import DJW, Experiment, Study, slope
from .salaries import Population, diseases, salaries

EPSILON = 1.0
RADII = (1.5, 2.0, 4.0, 8.0, 16.0)  # upper ends of the intervals, in units of the population
SIZES = (1_000, 4_000, 15_000, 60_000, 252_540)
REFERENCE_RADIUS, MIN_RATIO = 4.0, 10.0
REPETITIONS, QUICK_REPETITIONS, PLAIN_REPETITIONS = 400, 40, 40

SGD, NAIVE, PLAIN = "private gradient steps (one bit each)", "median of noisy values", "gradient steps, no privacy"
THEORY = "theory: half the interval times coth(epsilon / 2) / sqrt(n)"
STYLES = {NAIVE: (VERMILION, "s", "-"), SGD: (BLUE, "o", "-"), PLAIN: (BLACK, "D", "--")}


@dataclass(frozen=True)
class Guesses:
    """Estimates for one population and interval [0, radius unit].

    There is one estimate per repetition, for each method and size.
    """

    people: Population
    radius: float
    sizes: tuple[int, ...]
    guesses: dict[str, list[Floats]]

    @property
    def upper(self) -> float:
        """Upper end of the interval."""
        return self.radius * self.people.unit

    def curve(self, method: str) -> Curve:
        """Return the gaps E|guess - X| - E|median - X| of a method."""
        labels = {"data": self.people.name, "method": method, "radius": f"{self.radius:g}"}
        return Curve(labels, "n", self.sizes, tuple(self.people.gap(guesses) for guesses in self.guesses[method]))

    def distance(self, method: str, at: int) -> float:
        """Return the mean distance of the estimates from the median, for the size with index `at`."""
        return float(np.abs(self.guesses[method][at] - self.people.median).mean())

    def bound(self) -> Floats:
        """Return the bound r coth(epsilon / 2) / sqrt(n) on the mean gap of the average of all steps, for each size."""
        return np.asarray(self.upper / 2 / np.tanh(EPSILON / 2) / np.sqrt(self.sizes))


@dataclass(frozen=True)
class MedianStudy(Study):
    """Estimates for the salaries at each of `RADII`, and for the diseases at one radius."""

    salaries: tuple[Guesses, ...]
    diseases: Guesses

    size = (17.0, 10.0)

    @property
    def distances(self) -> tuple[float, float]:
        """Mean distances from the median at the reference radius.

        The first is that of private steps at the second-largest size, the second that of the naive median at the largest.
        """
        panel = self.salaries[RADII.index(REFERENCE_RADIUS)]
        return panel.distance(SGD, -2), panel.distance(NAIVE, -1)

    @property
    def slopes(self) -> list[float]:
        """Slopes of the mean gap of the private steps against n on logarithmic axes, one per radius."""
        return [slope(panel.sizes, panel.curve(SGD).mean) for panel in self.salaries]

    @property
    def holds(self) -> bool:
        near, far = self.distances
        ahead = all(6 * panel.curve(SGD).mean[-1] < panel.curve(NAIVE).mean[-1] for panel in self.salaries)
        return far >= MIN_RATIO * near and ahead and max(self.slopes) <= -0.5

    @property
    def verdict(self) -> str:
        (near, far), (few, total) = self.distances, self.salaries[0].sizes[-2:]
        return (
            f"distance from the median at radius {REFERENCE_RADIUS:g}: {near:,.0f} with n = {few:,} private bits, "
            f"{far:,.0f} for the median of {total:,} noisy salaries, {far / near:.0f} times as much (at least "
            f"{MIN_RATIO:g}); the gap falls like n^{min(self.slopes):.2f} to n^{max(self.slopes):.2f} (n^-0.5 or faster)"
        )

    def curves(self) -> Iterator[Curve]:
        return (panel.curve(method) for panel in (*self.salaries, self.diseases) for method in STYLES)

    def draw(self, figure: Any) -> None:
        axes = figure.subplots(2, 3).ravel()
        for panel, ax in zip((*self.salaries, self.diseases), axes, strict=True):
            for method, style in STYLES.items():
                panel.curve(method).draw(ax, style, method)
            ax.plot(panel.sizes, panel.bound(), color=GRAY, linestyle=":", label=THEORY)
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.set_ylim(bottom=panel.curve(PLAIN).mean.min() / 5)  # cuts bands that are far below the mean
            title = f"{panel.people.name}: interval [0, {panel.upper:,.0f}]"
            finish(ax, title, "number of people n", f"E|guess - X| - E|median - X| ({panel.people.unit_name})")
            ax.get_legend().remove()
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=len(names))
        figure.suptitle(
            f"Figure 6: the median at epsilon {EPSILON:g} for five intervals, and on real data (mean, and 90 % of the runs)"
        )


def plain_steps(samples: Floats, uppers: Floats, sizes: Sequence[int]) -> list[Floats]:
    """Compute averages of gradient steps without privacy, for many samples and intervals at once.

    Parameters
    ----------
    samples : ndarray, shape (repetitions, n)
    uppers : ndarray, shape (number of intervals,)
        Upper ends of the intervals [0, upper] that contain the median.
    sizes : sequence of int
        Numbers of people after which the averages are taken.

    Returns
    -------
    averages : list of ndarray, shape (number of intervals, repetitions)
    """
    upper = uppers[:, np.newaxis]
    guess = np.repeat(upper / 2, len(samples), axis=1)
    total, averages = np.zeros_like(guess), []
    for i, numbers in enumerate(samples.T, start=1):
        total += guess
        if i in sizes:
            averages.append(total / i)
        guess += np.where(numbers >= guess, upper, -upper) / np.sqrt(2 * i)
        np.clip(guess, 0, upper, out=guess)
    return averages


def measure(
    people: Population,
    radii: Sequence[float],
    rng: np.random.Generator | None,
    repetitions: int,
    sizes: tuple[int, ...] = SIZES,
) -> tuple[Guesses, ...]:
    """Estimate the median from samples with replacement, for every interval, method and size.

    Parameters
    ----------
    people : Population
    radii : sequence of float
        Radii of the intervals [0, radius unit] that contain the median.
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the reports reproducible, not private.
    repetitions : int
        Number of repetitions; at most `PLAIN_REPETITIONS` for the steps without privacy.
    sizes : tuple of int
        Numbers of people, in increasing order.

    Returns
    -------
    guesses : tuple of Guesses
        One per radius.

    Privacy
    -------
    The private steps and the naive median are functions of epsilon-LDP reports. The steps without privacy and the
    errors are not private.
    """
    draw = np.random.default_rng(rng)
    uppers = np.array(radii) * people.unit
    private = {method: np.empty((len(radii), len(sizes), repetitions)) for method in (SGD, NAIVE)}
    for i in range(repetitions):
        sample = draw.choice(people.values, sizes[-1])
        for r, upper in enumerate(uppers):
            for s, n in enumerate(sizes):
                with warnings.catch_warnings():  # the experiment is about values, not about intervals
                    warnings.simplefilter("ignore", DoubtfulWarning)
                    private[SGD][r, s, i] = median(sample[:n], EPSILON, lower=0.0, upper=upper, rng=rng).value
                private[NAIVE][r, s, i] = naive_median(sample[:n], EPSILON, lower=0.0, upper=upper, rng=rng).value
    samples = draw.choice(people.values, (min(repetitions, PLAIN_REPETITIONS), sizes[-1]))
    plain = np.stack(plain_steps(samples, uppers, sizes), axis=1)
    return tuple(
        Guesses(people, radius, sizes, {SGD: list(steps), NAIVE: list(naive), PLAIN: list(without)})
        for radius, steps, naive, without in zip(radii, private[SGD], private[NAIVE], plain, strict=True)
    )


def run(rng: np.random.Generator | None, full: bool = False) -> MedianStudy:
    """Run both populations. `full` selects the repetitions of the paper instead of a tenth of them."""
    repetitions = REPETITIONS if full else QUICK_REPETITIONS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallSampleWarning)  # errors of small samples are measured here
        (of_diseases,) = measure(diseases(), (REFERENCE_RADIUS,), rng, repetitions)
        return MedianStudy(measure(salaries(), RADII, rng, repetitions), of_diseases)


EXPERIMENT = Experiment(
    "djw-figure-6",
    f"{DJW}, figure 6",
    "The excess risk of private gradient steps, one bit per person, falls like n^(-1/2) or faster, and the median of noisy "
    f"salaries is at least {MIN_RATIO:g} times as far from the median although it has more people.",
    run,
)
