"""Error against the number of people and against epsilon: simulations of a summary of the first paper, corrected.

A well-known summary of Duchi, Jordan and Wainwright (NIPS 2013) adds noise of scale epsilon to normal records. This is
not private for any epsilon: the records are unbounded, and a smaller epsilon means less noise. Here records are clipped
to [lower, upper], and the noise has the scale (upper - lower) / epsilon. All simulations are repeated on real data of
the RAND health insurance experiment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpfast._plots import BLACK, BLUE, GREEN, VERMILION, finish
from ldpfast._typing import Floats
from ldpfast.estimation import HistogramDensity, frequencies, histogram_density
from ldpfast.mechanisms import Laplace, RandomizedResponse, SignBit, UnaryEncoding

from ..demo.curve import Curve, Style
from ..demo.surveys import HEALTH, MAX_VISITS, own_health
from ._study import Experiment, Study, report_variance, slope
from .salaries import diseases, visits

SIZES, AT_EPSILON = (1_000, 2_500, 6_300, 16_000, 40_000), 1.0
EPSILONS, AT_SIZE = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0), 10_000
REPETITIONS, QUICK_REPETITIONS = 2_000, 200
NORMAL_RANGE, NORMAL_BINS = (97.0, 103.0), 12
DISEASE_RANGE, DISEASE_BINS = (0.0, 60.0), 12
SHARES = (0.4, 0.25, 0.15, 0.1, 0.06, 0.04)  # of the simulated categories

PLAIN, NOISE, BITS, KARY = "no privacy", "Laplace noise", "randomized bits", "k-ary response"
STYLES: dict[str, Style] = {
    NOISE: (VERMILION, "s", "-"),
    BITS: (BLUE, "o", "-"),
    KARY: (GREEN, "^", "-"),
    PLAIN: (BLACK, "D", "--"),
}

People = NDArray[Any]
RNG = np.random.Generator | None


@dataclass(frozen=True)
class Method:
    """Estimator, and the exact variance per person as a function of epsilon.

    The variance of an estimate from n people, summed over coordinates, is ``variance(epsilon) / n``.
    """

    estimate: Callable[[People, float, RNG], Any]
    variance: Callable[[float], float]


@dataclass(frozen=True)
class Problem:
    """Estimation problem with its population. The error is `scale` times the sum of the squared differences."""

    name: str
    error: str
    people: People
    truth: Any
    methods: dict[str, Method]
    scale: float = 1.0


def mean_of(name: str, people: Floats, lower: float, upper: float) -> Problem:
    """Return the problem of the mean of numbers in [lower, upper]."""
    truth, variance = float(people.mean()), float(people.var())
    return Problem(
        f"mean of {name}",
        "squared error of the mean (squared unit of the records)",
        people,
        truth,
        {
            NOISE: Method(
                lambda x, epsilon, rng: Laplace(lower, upper, epsilon).run(x, rng=rng).value,
                lambda epsilon: report_variance(Laplace(lower, upper, epsilon), people, variance),
            ),
            BITS: Method(
                lambda x, epsilon, rng: SignBit(lower, upper, epsilon).run(x, rng=rng).value,
                lambda epsilon: report_variance(SignBit(lower, upper, epsilon), people, variance),
            ),
            PLAIN: Method(lambda x, epsilon, rng: x.mean(), lambda epsilon: variance),
        },
    )


def shares_of(name: str, people: NDArray[np.uint8], k: int) -> Problem:
    """Return the problem of the shares of k categories."""
    truth = np.bincount(people, minlength=k) / len(people)
    spread = 1 - float(np.sum(truth**2))

    return Problem(
        f"shares of {name}",
        "squared error, summed over categories (squared share)",
        people,
        truth,
        {
            BITS: Method(
                lambda x, epsilon, rng: frequencies(x, k, epsilon, mechanism="symmetric", rng=rng).value,
                lambda epsilon: report_variance(UnaryEncoding(k, epsilon, method="symmetric"), people, spread),
            ),
            KARY: Method(
                lambda x, epsilon, rng: frequencies(x, k, epsilon, mechanism="k-ary", rng=rng).value,
                lambda epsilon: report_variance(RandomizedResponse(k, epsilon), people, spread),
            ),
            PLAIN: Method(lambda x, epsilon, rng: np.bincount(x, minlength=k) / len(x), lambda epsilon: spread),
        },
    )


def histogram_of(name: str, people: Floats, lower: float, upper: float, bins: int) -> Problem:
    """Return the problem of the histogram of numbers in [lower, upper].

    The error is the integral of the squared difference from the histogram of the population.
    """
    width = (upper - lower) / bins
    middles = lower + width * (np.arange(bins) + 0.5)

    def shares(x: Floats) -> Floats:
        return np.histogram(x, bins, (lower, upper))[0] / len(x)

    def private(noise: str) -> Callable[[People, float, RNG], Floats]:
        def estimate(x: People, epsilon: float, rng: RNG) -> Floats:
            found = histogram_density(x, epsilon, bins=bins, lower=lower, upper=upper, noise=noise, rng=rng)
            return np.asarray(width * found(middles))

        return estimate

    def variance(noise: str) -> Callable[[float], float]:
        def of_report(epsilon: float) -> float:
            problem = HistogramDensity(epsilon, bins=bins, lower=lower, upper=upper, noise=noise)
            bin_of_person = np.minimum((people - lower) / width, bins - 1).astype(np.intp)
            return report_variance(problem.mechanism, bin_of_person, spread)

        return of_report

    truth = shares(people)
    spread = 1 - float(np.sum(truth**2))
    return Problem(
        f"histogram of {name}",
        "integrated squared error (per unit of the records)",
        people,
        truth,
        {
            NOISE: Method(private("laplace"), variance("laplace")),
            BITS: Method(private("unary"), variance("unary")),
            PLAIN: Method(lambda x, epsilon, rng: shares(x), lambda epsilon: spread),
        },
        1 / width,
    )


def problems() -> list[tuple[Problem, Problem]]:
    """Return three problems, each for a simulated and for a real population."""
    from scipy.special import ndtri

    normal = np.clip(100 + ndtri((np.arange(100_000) + 0.5) / 100_000), *NORMAL_RANGE)
    simulated = np.repeat(np.arange(len(SHARES), dtype=np.uint8), np.round(100 * np.array(SHARES)).astype(int))
    capped = np.minimum(visits().values, MAX_VISITS)
    clipped = "N(100, 1) clipped to [97, 103]"
    return [
        (mean_of(clipped, normal, *NORMAL_RANGE), mean_of("visits to a doctor, real", capped, 0.0, MAX_VISITS)),
        (
            shares_of("6 simulated categories", simulated, len(SHARES)),
            shares_of("own health, real", own_health(), len(HEALTH)),
        ),
        (
            histogram_of(clipped, normal, *NORMAL_RANGE, NORMAL_BINS),
            histogram_of("chronic diseases, real", diseases().values, *DISEASE_RANGE, DISEASE_BINS),
        ),
    ]


@dataclass(frozen=True)
class Sweep:
    """Errors of all methods along one axis, n or epsilon, with the exact formulas."""

    problem: Problem
    axis: str
    curves: dict[str, Curve]
    theory: dict[str, Floats]

    def calibration(self, method: str) -> float:
        """Return the ratio of error to theory, averaged over the places."""
        return float(np.mean(self.curves[method].mean / self.theory[method]))


def measure(
    problem: Problem, axis: str, places: Sequence[float], rng: np.random.Generator | None, repetitions: int
) -> Sweep:
    """Measure errors along one axis, with the other parameter fixed at `AT_SIZE` or `AT_EPSILON`.

    Parameters
    ----------
    problem : Problem
    axis : {"n", "epsilon"}
    places : sequence of float
        Values of n or of epsilon.
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the reports reproducible, not private.
    repetitions : int
        Number of repetitions per place.

    Returns
    -------
    sweep : Sweep

    Privacy
    -------
    Each private estimate is a function of epsilon-LDP reports. The errors, measured against the true values, are not private.
    """
    draw = np.random.default_rng(rng)
    cases = [(int(place), AT_EPSILON) if axis == "n" else (AT_SIZE, place) for place in places]
    errors = np.empty((len(problem.methods), len(cases), repetitions))
    for c, (n, epsilon) in enumerate(cases):
        for i in range(repetitions):
            sample = draw.choice(problem.people, n)
            for m, method in enumerate(problem.methods.values()):
                difference = method.estimate(sample, epsilon, rng) - problem.truth
                errors[m, c, i] = problem.scale * np.sum(difference**2)
    labels = {"problem": problem.name, "fixed": f"epsilon = {AT_EPSILON:g}" if axis == "n" else f"n = {AT_SIZE}"}
    return Sweep(
        problem,
        axis,
        {
            name: Curve({**labels, "method": name}, axis, tuple(places), tuple(of_method))
            for name, of_method in zip(problem.methods, errors, strict=True)
        },
        {
            name: np.array([problem.scale * method.variance(epsilon) / n for n, epsilon in cases])
            for name, method in problem.methods.items()
        },
    )


@dataclass(frozen=True)
class CurveStudy(Study):
    """A row of panels per problem: simulated and real population, each against n and against epsilon."""

    sweeps: tuple[tuple[Sweep, ...], ...]

    size = (22.0, 14.0)

    @property
    def worst(self) -> tuple[float, Sweep, str]:
        """The ratio of error to theory that is farthest from 1, with its sweep and method."""
        found = [
            (sweep.calibration(method), sweep, method)
            for row in self.sweeps
            for sweep in row
            for method in sweep.curves
        ]
        return max(found, key=lambda entry: abs(np.log(entry[0])))

    @property
    def falling(self) -> bool:
        """Whether all errors decrease with n, and all private errors with epsilon."""
        return all(
            slope(curve.places, curve.mean) < -0.5
            for row in self.sweeps
            for sweep in row
            for method, curve in sweep.curves.items()
            if sweep.axis == "n" or method != PLAIN
        )

    @property
    def holds(self) -> bool:
        return self.falling and abs(self.worst[0] - 1) <= 0.2

    @property
    def verdict(self) -> str:
        factor, sweep, method = self.worst
        return (
            f"errors decrease with n and with epsilon: {'yes' if self.falling else 'NO'}; error over exact formula, at worst: "
            f"{factor:.2f} ({method}, {sweep.problem.name}, against {sweep.axis}; 0.8 to 1.2)"
        )

    def curves(self) -> Iterator[Curve]:
        return (curve for row in self.sweeps for sweep in row for curve in sweep.curves.values())

    def draw(self, figure: Any) -> None:
        axes = figure.subplots(len(self.sweeps), len(self.sweeps[0]))
        for sweep, ax in zip((sweep for row in self.sweeps for sweep in row), axes.ravel(), strict=True):
            _draw(sweep, ax)
        figure.suptitle(
            f"Errors against n (epsilon {AT_EPSILON:g}) and against epsilon (n = {AT_SIZE:,}): mean, 90 % of the runs, and "
            "the exact formulas (dotted)",
            fontsize=16,
        )


def _draw(sweep: Sweep, ax: Any) -> None:
    for method, curve in sweep.curves.items():
        curve.draw(ax, STYLES[method], method)
        ax.plot(curve.places, sweep.theory[method], color=BLACK, linestyle=":")
    ax.set_xscale("log")
    ax.set_yscale("log")
    lowest = min(theory.min() for theory in sweep.theory.values())
    ax.set_ylim(bottom=lowest / 8)  # cuts bands that are far below the mean
    if sweep.axis == "epsilon":
        ax.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
        ax.set_xticks([], minor=True)
    finish(ax, sweep.problem.name, {"n": "number of people n"}.get(sweep.axis, sweep.axis), sweep.problem.error)


def run(rng: np.random.Generator | None, full: bool = False) -> CurveStudy:
    """Measure all problems against n and against epsilon."""
    repetitions = REPETITIONS if full else QUICK_REPETITIONS
    axes: tuple[tuple[str, Sequence[float]], ...] = (("n", SIZES), ("epsilon", EPSILONS))
    return CurveStudy(
        tuple(
            tuple(measure(problem, axis, places, rng, repetitions) for problem in pair for axis, places in axes)
            for pair in problems()
        )
    )


EXPERIMENT = Experiment(
    "curves",
    "a summary of Duchi, Jordan and Wainwright (2013), its simulations",
    "The errors of private means, shares and histograms decrease with n and with epsilon, and differ from the exact "
    "formulas by at most 20 %.",
    run,
)
