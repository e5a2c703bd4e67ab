"""27 yes-or-no answers per person on drug use, released together: errors of several mechanisms.

Duchi, Jordan and Wainwright (JASA 2018, section 6.2 and figure 1) drew samples from the records of 959,715 people, which
cannot be distributed. The stand-in has as many people with independent answers, and shares of the published order of
magnitude. The noise dominates the error, so the comparison hardly depends on the population.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpfast._plots import BLACK, BLUE, GREEN, ORANGE, VERMILION, finish
from ldpfast._typing import Floats
from ldpfast.mechanisms import LaplaceVector, LinfBall, Warner

from .curve import Curve, Style
from .surveys import new_table

POPULATION = 959_715
# Alcohol, cocaine, heroin, marijuana, stimulants, amphetamines, methamphetamine, MDMA, LSD, PCP, antidepressants,
# antipsychotics, miscellaneous hallucinogens, inhalants, lithium, opiates, opiates unspecified, narcotic analgesics,
# buprenorphine, codeine, fentanyl, hydrocodone, methadone, morphine, oxycodone, ibuprofen, muscle relaxants.
DRUG_FREQ = (
    *(0.632, 0.526, 0.269, 0.475, 0.167, 0.074, 0.107, 0.0234, 0.0050),
    *(0.0787, 0.0927, 0.0646, 0.0084, 0.0105, 0.0117, 0.191, 0.076, 0.382),
    *(0.0224, 0.0103, 0.0209, 0.0859, 0.0697, 0.0360, 0.158, 0.0390, 0.0549),
)
DRUGS = len(DRUG_FREQ)
EPSILON = 0.5
SIZES = (10_000, 20_000, 50_000, 100_000, 200_000, 500_000, POPULATION)
REFERENCE_SIZE = 20_000
MIN_RATIO = 6.0
STAND_IN_SEED = 62  # the population is the same in every run

LAPLACE, CUBE, CENTERED, PLAIN = "Laplace noise", "l-infinity mechanism", "l-infinity mechanism, centered", "no privacy"
ONE_EACH = "one random answer each"
STYLE: dict[str, Style] = {
    LAPLACE: (VERMILION, "s", "-"),
    CUBE: (BLUE, "o", "-"),
    CENTERED: (GREEN, "^", "-"),
    ONE_EACH: (ORANGE, "v", "-"),
    PLAIN: (BLACK, "D", "--"),
}


@dataclass(frozen=True)
class DrugErrors:
    """Errors for one population: one per repetition, for each method and sample size.

    `errors` holds squared errors averaged over the drugs, `largest` the largest absolute error of a drug.
    """

    sizes: tuple[int, ...]
    errors: dict[str, list[Floats]]
    largest: dict[str, list[Floats]] = field(default_factory=dict)
    name: str = f"Drug use: stand-in population, {POPULATION:,} people"

    def mse(self, method: str) -> Floats:
        """Return the mean squared error over the repetitions, shape (number of sizes,)."""
        return np.array([errors.mean() for errors in self.errors[method]])

    @property
    def ratio(self) -> float:
        """Mean squared error of Laplace noise over that of the l-infinity mechanism, at the reference size."""
        at = self.sizes.index(REFERENCE_SIZE)
        return float(self.mse(LAPLACE)[at] / self.mse(CUBE)[at])

    @property
    def verdict(self) -> str:
        """The claim of the experiment and whether it holds, in one line."""
        holds = "yes" if self.ratio >= MIN_RATIO else "NO"
        return (
            f"MSE(Laplace) / MSE(l-infinity) at n = {REFERENCE_SIZE:,}: {self.ratio:.1f}"
            f" (at least {MIN_RATIO:g}: {holds})"
        )

    def curves(self, what: str) -> dict[str, Curve]:
        """Return the curves of `errors` or of `largest`, by method."""
        return {
            method: Curve({"data": self.name, "error": what, "method": method}, "n", self.sizes, tuple(errors))
            for method, errors in getattr(self, what).items()
        }


def report_variances() -> dict[str, float]:
    """Return the exact variance per coordinate that each mechanism adds to a record in the middle of its domain."""
    middle = np.zeros((1, DRUGS))
    mechanisms = {
        LAPLACE: LaplaceVector(DRUGS, EPSILON, radius=0.5, norm="linf"),
        CUBE: LinfBall(DRUGS, EPSILON),
        CENTERED: LinfBall(DRUGS, EPSILON, radius=0.5),
    }
    variances = {name: float(mechanism.variance(middle).mean()) for name, mechanism in mechanisms.items()}
    return variances | {ONE_EACH: DRUGS * Warner(EPSILON).worst_variance}


def population() -> NDArray[np.uint8]:
    """Return the stand-in population, the same in every run: a packed row of `DRUGS` bits per person."""
    generator = np.random.default_rng(STAND_IN_SEED)
    answers = generator.random((POPULATION, DRUGS), dtype=np.float32) < np.array(DRUG_FREQ, np.float32)
    return np.packbits(answers, axis=1)


def _unpack(people: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.unpackbits(people, axis=1, count=DRUGS)


def measure(
    rng: np.random.Generator | None,
    sizes: Sequence[int] = SIZES,
    repetitions: tuple[int, int] = (20, 100),
    people: NDArray[np.uint8] | None = None,
    name: str = DrugErrors.name,
) -> DrugErrors:
    """Sample people with replacement, privatize their answers with each mechanism, and measure the errors.

    Parameters
    ----------
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the reports reproducible, not private.
    sizes : sequence of int
        Sample sizes.
    repetitions : (int, int)
        Smallest and largest number of repetitions per size; in between, as many as give two million records.
    people : ndarray of uint8, optional
        Packed rows of `DRUGS` bits. By default `population`.
    name : str
        Name of the population.

    Returns
    -------
    errors : DrugErrors

    Privacy
    -------
    The reports of the four mechanisms are 0.5-LDP each. The errors, measured against the true values, are not private.
    """
    raw, centered = LinfBall(DRUGS, EPSILON), LinfBall(DRUGS, EPSILON, radius=0.5)
    noise = LaplaceVector(DRUGS, EPSILON, radius=0.5, norm="linf")
    people = population() if people is None else people
    truth = _unpack(people).mean(axis=0)
    draw = np.random.default_rng(rng)
    one_each_rng = None if rng is None else rng.spawn(1)[0]  # does not change the samples of the other methods
    errors: dict[str, list[Floats]] = {method: [] for method in STYLE}
    largest: dict[str, list[Floats]] = {method: [] for method in STYLE}
    for n in sizes:
        rounds = []
        for _ in range(int(np.clip(2_000_000 // n, *repetitions))):
            answers = _unpack(people[draw.integers(len(people), size=n)])
            sample = answers.astype(np.float32)
            means = {PLAIN: sample.mean(axis=0, dtype=np.float64), CUBE: raw.run(sample, rng=rng).value}
            sample -= 0.5
            means[CENTERED] = centered.run(sample, rng=rng).value + 0.5
            means[LAPLACE] = noise.run(sample, rng=rng).value + 0.5
            means[ONE_EACH] = _one_each(answers, one_each_rng)
            rounds.append({method: mean - truth for method, mean in means.items()})
        for method in STYLE:
            of_method = np.array([errors_of[method] for errors_of in rounds])
            errors[method].append(np.mean(of_method**2, axis=1))
            largest[method].append(np.abs(of_method).max(axis=1))
    return DrugErrors(tuple(sizes), errors, largest, name)


def _one_each(answers: NDArray[np.uint8], rng: np.random.Generator | None) -> Floats:
    """Estimate the shares if each person privatizes one answer, chosen uniformly at random."""
    coin = Warner(EPSILON)
    asked = np.random.default_rng(rng).integers(DRUGS, size=len(answers))
    return np.array([coin.run(answers[asked == drug, drug], rng=rng).value for drug in range(DRUGS)])


def table(measured: DrugErrors) -> Any:
    """Return a table (rich) of the root mean squared errors of all methods and sizes.

    Parameters
    ----------
    measured : DrugErrors

    Returns
    -------
    table : rich.table.Table
    """
    table = new_table(
        f"{DRUGS} yes-or-no answers on drug use at once, epsilon {EPSILON:g} for all together\n"
        "Root mean squared error of a share, in percentage points; last column: ratio of the mean squared errors\n"
        f"Stand-in for the {POPULATION:,} records of Duchi, Jordan and Wainwright (2018): shares of the same order"
    )
    for heading in (
        "n",
        "runs",
        "Laplace\nnoise",
        "l-infinity\nmechanism",
        "l-infinity,\ncentered",
        "one\nanswer",
        "no\nprivacy",
    ):
        table.add_column(heading, justify="right")
    table.add_column("Laplace /\nl-infinity", justify="right")
    mse = {method: measured.mse(method) for method in STYLE}
    for i, n in enumerate(measured.sizes):
        cells = [f"{100 * mse[method][i] ** 0.5:.2f}" for method in STYLE]
        table.add_row(f"{n:,}", str(len(measured.errors[PLAIN][i])), *cells, f"{mse[LAPLACE][i] / mse[CUBE][i]:.1f}")
    return table


def draw(measured: DrugErrors, ax: Any) -> None:
    """Draw the mean squared error against n on logarithmic axes, with bands of 90 % of the runs.

    Parameters
    ----------
    measured : DrugErrors
    ax : matplotlib.axes.Axes
    """
    for method, curve in measured.curves("errors").items():
        curve.draw(ax, STYLE[method], method)
    at = measured.sizes.index(REFERENCE_SIZE)
    low, high = measured.mse(CUBE)[at], measured.mse(LAPLACE)[at]
    arrow = {"arrowstyle": "<->", "shrinkA": 5, "shrinkB": 5}
    ax.annotate("", (REFERENCE_SIZE, high), (REFERENCE_SIZE, low), arrowprops=arrow)
    ax.annotate(f" {measured.ratio:.1f} times less", (REFERENCE_SIZE, 1.7 * low), va="center", fontsize=10)
    for method, variance in report_variances().items():
        expected = variance / np.array(measured.sizes)
        ax.plot(
            measured.sizes,
            expected,
            color=BLACK,
            linestyle=":",
            linewidth=1,
            label="" if method != CUBE else "exact formulas",
        )
    title = f"Error of {DRUGS} yes-or-no answers, epsilon {EPSILON:g} for all"
    label_axes(ax, title, measured.name, "mean squared error of a share (squared share)", 500)


def label_axes(ax: Any, title: str, name: str, ylabel: str, top: float) -> None:
    """Make both axes logarithmic up to `top`, and add the titles, the labels and a legend."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_ylim(top=top)  # room for the legend
    legend = {"loc": "upper right", "title": "mean, and band of 90 % of the runs"}
    finish(ax, f"{title}\n{name}", "number of people n", ylabel, **legend)
