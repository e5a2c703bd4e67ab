"""The paper's experiment on logistic regression: classify documents, for several values of epsilon (figure 7).

Duchi, Jordan and Wainwright (JASA 2018) classify news stories by their words. These data cannot be distributed; the
documents are stand-ins. Their words are independent, and the most frequent words determine the probability of the class.
The number of words kept per document is bounded, so that each vector has norm at most 1. The real data are whether a
person goes to a doctor more than once a year.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ldpfast._plots import BLACK, BLUE, GRAY, VERMILION, finish
from ldpfast._typing import Floats
from ldpfast.estimation import GradientDescent
from ldpfast.results import SmallSampleWarning

from ..demo.curve import Curve
from ..demo.surveys import RAND, records
from ._study import DJW, Experiment, Study

EPSILONS = (1.0, 2.0, 4.0, 6.0)
# For many words: at epsilon 1 both errors are near 1/2, and few repetitions cannot order them.
QUICK_EPSILONS = (2.0, 3.0, 4.0, 6.0)
TRAINED = 0.75  # fraction of the records used for training
REPETITIONS, QUICK_REPETITIONS = 25, 8
LENGTH = 5.0  # norm of the true coefficients of the stand-ins, and radius of the projection
STAND_IN_SEED = 71  # the documents are the same in every run

PLAIN, HALF_SPACE, LAPLACE = "no privacy", "l2 mechanism", "Laplace noise"
NOISES = {HALF_SPACE: "half-space", LAPLACE: "laplace"}
STYLES = {LAPLACE: (VERMILION, "s", "-"), HALF_SPACE: (BLUE, "o", "-"), PLAIN: (BLACK, "D", "--")}
# Columns of the RAND health insurance experiment and their public ranges, mapped to [-1, 1].
COVARIATES = {
    "lncoins": (0.0, 5.0),
    "idp": (0.0, 1.0),
    "lpi": (0.0, 8.0),
    "fmde": (0.0, 9.0),
    "physlm": (0.0, 1.0),
    "disea": (0.0, 60.0),
    "hlthg": (0.0, 1.0),
    "hlthf": (0.0, 1.0),
    "hlthp": (0.0, 1.0),
}


@dataclass(frozen=True)
class Data:
    """Rows of norm at most 1, and their classes, 0 or 1."""

    name: str
    x: NDArray[np.float32]
    y: NDArray[np.float32]


def documents(n: int, words: int, rarest: float, kept: int, telling: int) -> Data:
    """Generate stand-ins for documents: log-spaced word frequencies from 40 %, classes from the most frequent words.

    Parameters
    ----------
    n, words : int
        Number of documents, and number of words.
    rarest : float
        Frequency of the rarest word.
    kept : int
        Largest number of words kept per document, chosen at random. Each has the value 1 / sqrt(kept).
    telling : int
        Number of words with a nonzero coefficient. The coefficients are such that the classes are balanced.

    Returns
    -------
    data : Data
    """
    draw = np.random.default_rng(STAND_IN_SEED)
    frequencies = np.geomspace(0.4, rarest, words).astype(np.float32)
    x = np.empty((n, words), np.float32)
    for start in range(0, n, 10_000):
        part = x[start : start + 10_000]
        present = draw.random(part.shape, np.float32) < frequencies
        order = np.where(present, draw.random(part.shape, np.float32), 2)
        part[:] = present & (order < np.partition(order, kept, axis=1)[:, kept, np.newaxis])
    x /= np.float32(np.sqrt(kept))
    typical, weights = x[:, :telling].mean(axis=0), draw.standard_normal(telling)
    weights -= typical * (typical @ weights) / (typical @ typical)
    truth = np.concatenate([weights * LENGTH / np.linalg.norm(weights), np.zeros(words - telling)])
    y = draw.random(n) < 1 / (1 + np.exp(-(x @ truth)))
    return Data(f"{n:,} documents, {words} words, stand-in", x, y.astype(np.float32))


@cache
def patients() -> Data:
    """Return the real data: nine covariates and a constant; class 1 is more than one visit to a doctor in a year."""
    table = records(RAND)
    scaled = [
        np.clip(2 * (table[name].to_numpy() - low) / (high - low) - 1, -1, 1)
        for name, (low, high) in COVARIATES.items()
    ]
    x = np.stack([*scaled, np.ones(len(table))], axis=1) / np.sqrt(len(scaled) + 1)
    y = (table["mdvis"].to_numpy() > 1).astype(np.float32)
    return Data(f"{len(x):,} people, many visits or few, real", x.astype(np.float32), y)


def maximum_likelihood(x: NDArray[np.float32], y: NDArray[np.float32], start: Floats) -> Floats:
    """Fit a logistic regression without privacy, with the ridge penalty that matches coefficients of norm `LENGTH`."""
    from scipy.optimize import minimize

    ridge = x.shape[1] / LENGTH**2

    def objective(theta: Floats) -> tuple[float, Floats]:
        z = (x @ theta.astype(np.float32)).astype(np.float64)
        residual = (1 / (1 + np.exp(-z)) - y).astype(np.float32)
        loss = np.logaddexp(0, z).sum() - z @ y + ridge / 2 * theta @ theta
        return float(loss), (residual @ x).astype(np.float64) + ridge * theta

    return np.asarray(minimize(objective, start, jac=True, method="L-BFGS-B").x)


def held_out_error(theta: Floats, x: NDArray[np.float32], y: NDArray[np.float32]) -> float:
    """Return the fraction of records that are misclassified."""
    return float(np.mean((x @ theta.astype(np.float32) > 0) != y))


@dataclass(frozen=True)
class LogisticStudy(Study):
    """Held-out errors of each method against epsilon, for each data set."""

    errors: dict[str, dict[str, Curve]]  # real data last

    size = (17.0, 5.8)

    @property
    def ordered(self) -> dict[str, bool]:
        """For each data set, whether the mean errors satisfy no privacy < l2 < Laplace for every epsilon."""
        return {
            data: bool(
                (curves[PLAIN].mean < curves[HALF_SPACE].mean).all()
                and (curves[HALF_SPACE].mean < curves[LAPLACE].mean).all()
            )
            for data, curves in self.errors.items()
        }

    @property
    def holds(self) -> bool:
        *stand_ins, _ = self.ordered.values()
        return all(stand_ins)

    @property
    def verdict(self) -> str:
        at_last = (
            f"{', '.join(f'{curve.mean[-1]:.3f}' for curve in (curves[PLAIN], curves[HALF_SPACE], curves[LAPLACE]))} ({data})"
            for data, curves in self.errors.items()
        )
        ordered = ", ".join("yes" if ordered else "NO" for ordered in self.ordered.values())
        return (
            f"held-out error at epsilon {EPSILONS[-1]:g} without privacy, by the l2 mechanism, by Laplace noise: "
            f"{'; '.join(at_last)}; in this order for every epsilon: {ordered}"
        )

    def curves(self) -> Iterator[Curve]:
        return (curve for curves in self.errors.values() for curve in curves.values())

    def draw(self, figure: Any) -> None:
        for (data, curves), ax in zip(self.errors.items(), figure.subplots(1, len(self.errors)), strict=True):
            for method, curve in curves.items():
                curve.draw(ax, STYLES[method], method, of_mean=True)
            ax.axhline(0.5, color=GRAY, linestyle=":", label="guessing")
            ax.set_xscale("log")
            epsilons = curves[PLAIN].places
            ax.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
            ax.set_xticks([], minor=True)
            legend: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 0.08)}  # above the line at the bottom
            finish(
                ax,
                data,
                "epsilon",
                "held-out error (share of the records)",
                title="mean and two standard errors",
                **legend,
            )
        figure.suptitle(
            "Figure 7: logistic regression for four values of epsilon, three quarters of the records used for training"
        )


def measure(
    data: Data, rng: np.random.Generator | None, repetitions: int, epsilons: tuple[float, ...] = EPSILONS
) -> dict[str, Curve]:
    """Repeatedly split the records, fit each method, and measure the held-out errors.

    Parameters
    ----------
    data : Data
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the reports reproducible, not private.
    repetitions : int
    epsilons : tuple of float

    Returns
    -------
    errors : dict of str to Curve
        Errors against epsilon, by method.

    Privacy
    -------
    The coefficients of the two mechanisms are functions of epsilon-LDP reports of gradients. The coefficients without
    privacy and the errors are not private.
    """
    draw = np.random.default_rng(rng)
    trained = int(TRAINED * len(data.y))
    errors = {method: np.empty((len(epsilons), repetitions)) for method in STYLES}
    theta = np.zeros(data.x.shape[1])
    for i in range(repetitions):
        order = draw.permutation(len(data.y))
        x, y = data.x[order[:trained]], data.y[order[:trained]]
        held_out = data.x[order[trained:]], data.y[order[trained:]]
        theta = maximum_likelihood(x, y, theta)
        errors[PLAIN][:, i] = held_out_error(theta, *held_out)
        for e, epsilon in enumerate(epsilons):
            for method, noise in NOISES.items():
                server = GradientDescent("logistic", x.shape[1], epsilon, noise=noise, projection=LENGTH)
                errors[method][e, i] = held_out_error(server.run(x, y, rng=rng).value, *held_out)
    return {
        method: Curve({"data": data.name, "method": method}, "epsilon", epsilons, tuple(of_method))
        for method, of_method in errors.items()
    }


def run(rng: np.random.Generator | None, full: bool = False) -> LogisticStudy:
    """Run the experiment on documents with few words, on documents with many words, and on patients."""
    repetitions = REPETITIONS if full else QUICK_REPETITIONS
    few = documents(120_000, 50, 0.1, 5, 15)
    many = documents(280_000, 450, 0.005, 20, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallSampleWarning)  # about intervals, which are not used
        real = patients()
        return LogisticStudy(
            {
                few.name: measure(few, rng, repetitions),
                many.name: measure(many, rng, repetitions, EPSILONS if full else QUICK_EPSILONS),
                real.name: measure(real, rng, 5 * repetitions),
            }
        )


EXPERIMENT = Experiment(
    "djw-figure-7",
    f"{DJW}, figure 7",
    "For every epsilon, the mean held-out error of logistic regression on documents is smallest without privacy, larger "
    "with the l2 mechanism, and largest with Laplace noise.",
    run,
)
