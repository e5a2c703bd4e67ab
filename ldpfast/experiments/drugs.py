"""The paper's experiment on drug use: 27 yes-or-no answers per person, released together.

Duchi, Jordan and Wainwright (JASA 2018, section 6.2) drew samples from the records of 959,715 people. Those cannot be
shipped; the population here is a stand-in: as many people with independent answers, whose shares are of the published
order of magnitude. The noise dominates the error, so the comparison hardly depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._extras import optional
from ..mechanisms import LaplaceVector, LinfBall

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
LEAST_RATIO = 6.0
STAND_IN_SEED = 62  # the population is the same in every run

LAPLACE, CUBE, CENTRED, PLAIN = "Laplace noise", "l-infinity mechanism", "l-infinity mechanism, centred", "no privacy"
STYLE = {
    LAPLACE: ("#D55E00", "s", "-"),
    CUBE: ("#0072B2", "o", "-"),
    CENTRED: ("#009E73", "^", "-"),
    PLAIN: ("#000000", "D", "--"),
}


@dataclass(frozen=True)
class Study:
    """Squared errors, averaged over the drugs: for each method and sample size one per repetition."""

    sizes: tuple[int, ...]
    errors: dict[str, list[NDArray[np.float64]]]

    def mse(self, method: str) -> NDArray[np.float64]:
        """Mean over the repetitions, shape (number of sizes,)."""
        return np.array([errors.mean() for errors in self.errors[method]])

    @property
    def ratio(self) -> float:
        """Error of Laplace noise over that of the l-infinity mechanism at the reference size."""
        at = self.sizes.index(REFERENCE_SIZE)
        return float(self.mse(LAPLACE)[at] / self.mse(CUBE)[at])

    @property
    def verdict(self) -> str:
        """The claim of the experiment and whether it holds, in one line."""
        holds = "yes" if self.ratio >= LEAST_RATIO else "NO"
        return (
            f"MSE(Laplace) / MSE(l-infinity) at n = {REFERENCE_SIZE:,}: {self.ratio:.1f}"
            f" (at least {LEAST_RATIO:g}: {holds})"
        )


def population() -> NDArray[np.uint8]:
    """The stand-in: a packed row of `DRUGS` bits per person, the same in every run."""
    generator = np.random.default_rng(STAND_IN_SEED)
    answers = generator.random((POPULATION, DRUGS), dtype=np.float32) < np.array(DRUG_FREQ, np.float32)
    return np.packbits(answers, axis=1)


def _unpack(people: NDArray[np.uint8]) -> NDArray[np.uint8]:
    return np.unpackbits(people, axis=1, count=DRUGS)


def run(
    rng: np.random.Generator | None, sizes: Sequence[int] = SIZES, repetitions: tuple[int, int] = (20, 100)
) -> Study:
    """Sample people with replacement, privatize their answers with each mechanism, and measure the error.

    Parameters
    ----------
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the reports reproducible, not private.
    sizes : sequence of int
        Sample sizes.
    repetitions : (int, int)
        At the largest and at the smallest sizes; in between as many as make two million records.

    Returns
    -------
    study : Study

    Privacy
    -------
    The reports of the three mechanisms are 0.5-LDP each; the errors are measured against the truth and are not private.
    """
    raw, centred = LinfBall(DRUGS, EPSILON), LinfBall(DRUGS, EPSILON, radius=0.5)
    noise = LaplaceVector(DRUGS, EPSILON, radius=0.5, norm="linf")
    people = population()
    truth = _unpack(people).mean(axis=0)
    draw = np.random.default_rng(rng)
    errors: dict[str, list[NDArray[np.float64]]] = {method: [] for method in STYLE}
    for n in sizes:
        rounds = []
        for _ in range(int(np.clip(2_000_000 // n, *repetitions))):
            sample = _unpack(people[draw.integers(POPULATION, size=n)]).astype(np.float32)
            means = {PLAIN: sample.mean(axis=0, dtype=np.float64), CUBE: raw.run(sample, rng=rng).value}
            sample -= 0.5
            means[CENTRED] = centred.run(sample, rng=rng).value + 0.5
            means[LAPLACE] = noise.run(sample, rng=rng).value + 0.5
            rounds.append({method: float(np.mean((mean - truth) ** 2)) for method, mean in means.items()})
        for method, series in errors.items():
            series.append(np.array([errors_of[method] for errors_of in rounds]))
    return Study(tuple(sizes), errors)


def table(study: Study) -> Any:
    """Mean squared errors of all methods and sizes (rich).

    Parameters
    ----------
    study : Study

    Returns
    -------
    table : rich.table.Table
    """
    table = optional("rich.table", "demo").Table(
        title=f"{DRUGS} yes-or-no answers on drug use at once, epsilon {EPSILON:g} for all together\n"
        "Root mean squared error of a share, in percentage points; last column: ratio of the mean squared errors\n"
        f"Stand-in for the {POPULATION:,} records of Duchi, Jordan and Wainwright (2018): shares of the same order",
        title_justify="left",
        box=optional("rich.box", "demo").SIMPLE_HEAD,
        collapse_padding=True,
        pad_edge=False,
    )
    for heading in ("n", "runs", "Laplace\nnoise", "l-infinity\nmechanism", "l-infinity,\ncentred", "no\nprivacy"):
        table.add_column(heading, justify="right")
    table.add_column("Laplace /\nl-infinity", justify="right")
    mse = {method: study.mse(method) for method in STYLE}
    for i, n in enumerate(study.sizes):
        cells = [f"{100 * mse[method][i] ** 0.5:.2f}" for method in STYLE]
        table.add_row(f"{n:,}", str(len(study.errors[PLAIN][i])), *cells, f"{mse[LAPLACE][i] / mse[CUBE][i]:.1f}")
    return table


def draw(study: Study, ax: Any) -> None:
    """Mean squared error against n, both logarithmic; the band holds 90 % of the runs.

    Parameters
    ----------
    study : Study
    ax : matplotlib.axes.Axes
    """
    for method, (color, marker, line) in STYLE.items():
        low, high = np.array([np.quantile(errors, (0.05, 0.95)) for errors in study.errors[method]]).T
        ax.fill_between(study.sizes, low, high, color=color, alpha=0.2, linewidth=0)
        ax.plot(study.sizes, study.mse(method), color=color, marker=marker, linestyle=line, label=method)
    at = study.sizes.index(REFERENCE_SIZE)
    low, high = study.mse(CUBE)[at], study.mse(LAPLACE)[at]
    arrow = {"arrowstyle": "<->", "shrinkA": 5, "shrinkB": 5}
    ax.annotate("", (REFERENCE_SIZE, high), (REFERENCE_SIZE, low), arrowprops=arrow)
    ax.annotate(f" {study.ratio:.1f} times less", (REFERENCE_SIZE, 1.7 * low), va="center", fontsize=10)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_title(
        f"Error of {DRUGS} answers on drug use, epsilon {EPSILON:g} for all\nStand-in population, {POPULATION:,} people",
        fontsize=11,
    )
    ax.set_xlabel("number of people n")
    ax.set_ylabel("mean squared error of a share (between 0 and 1)")
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_ylim(top=50)  # room for the legend
    ax.legend(fontsize=9, loc="upper right", title="mean, and band of 90 % of the runs", title_fontsize=9)
