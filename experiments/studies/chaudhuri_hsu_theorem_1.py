"""The private median near a distribution: its errors, and the lower bound of its gross error sensitivity (theorem 1).

Chaudhuri and Hsu (ICML 2012) prove that every private estimate has an error of order GES / (n epsilon) at a distribution
F or at a contamination of F, whatever F is. GES is the gross error sensitivity, the largest influence of one point. The
median of the exponential mechanism attains the order. F is the uniform distribution on [-1, 1]. A contamination with a
share rho of records at 1 moves the median by rho / (1 - rho), at least rho GES, so the bound applies with GES = 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpfast._plots import BLACK, BLUE, GRAY, GREEN, VERMILION, finish
from ldpfast._typing import Floats
from ldpfast.bounds import central_ges
from ldpfast.central import gross_error_sensitivity, median

from ..demo.curve import Curve, Style
from ._study import CHAUDHURI_HSU, Experiment, Study

LOWER, UPPER = -1.0, 1.0
SIZES = (1_001, 10_001)  # odd: a median is a record
PRODUCTS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)  # of n and epsilon
REPETITIONS, QUICK_REPETITIONS = 4_000, 1_000
CONSTANT = 4.0  # GES / (n epsilon) times this is the error that the mechanism adds
MOST = 1.1  # largest accepted error over the theory
ORDER = 25.0  # largest accepted error over the lower bound, where privacy dominates
DOMINATED = 2.0  # privacy dominates where the error is more than this multiple of the sampling error

PLAIN, AT_F, AT_G = "no privacy", "private median", "private median, contaminated"
STYLES: dict[str, Style] = {
    AT_F: (BLUE, "o", "-"),
    AT_G: (GREEN, "^", "-"),
    PLAIN: (BLACK, "", "--"),
}


def share(epsilon: float, n: int) -> float:
    """Return the share of contamination in the theorem, ceil(log(2) / (2 epsilon)) / n."""
    return math.ceil(math.log(2) / (2 * epsilon)) / n


def contaminated_median(rho: float) -> float:
    """Return the median of a uniform distribution on [-1, 1] of which a share `rho` is moved to 1."""
    return min(rho / (1 - rho), UPPER) if rho < 1 else UPPER


def sensitivity() -> float:
    """Return the gross error sensitivity of the median at the uniform distribution."""
    from scipy.stats import uniform

    return gross_error_sensitivity("median", uniform(LOWER, UPPER - LOWER))


@dataclass(frozen=True)
class Panel:
    """Errors for one n, against epsilon, with the bound and the theory."""

    n: int
    errors: dict[str, Curve]

    @property
    def epsilons(self) -> Floats:
        """Values of epsilon."""
        return np.array(self.errors[PLAIN].places)

    @property
    def bound(self) -> Floats:
        """Lower bound on the worse of the two errors, for each epsilon."""
        return np.asarray(central_ges(self.n, self.epsilons, 0.0, ges=sensitivity()).lower)

    @property
    def published(self) -> Floats:
        """Lower bound with the constants of the paper."""
        return np.asarray(central_ges(self.n, self.epsilons, 0.0, ges=sensitivity(), method="paper").lower)

    @property
    def theory(self) -> Floats:
        """Sampling error, and the error that the mechanism adds, at most that of a uniform guess."""
        added = np.minimum(CONSTANT * sensitivity() / (self.n * self.epsilons), (UPPER - LOWER) / 4)
        return self.errors[PLAIN].mean + added

    @property
    def worse(self) -> Floats:
        """Worse of the errors at the distribution and at its contamination, for each epsilon."""
        return np.maximum(self.errors[AT_F].mean, self.errors[AT_G].mean)

    @property
    def over_bound(self) -> Floats:
        """Ratio of the worse error to the lower bound, for each epsilon."""
        return self.worse / self.bound

    @property
    def over_theory(self) -> Floats:
        """Ratio of the error at the distribution to the theory, for each epsilon."""
        return self.errors[AT_F].mean / self.theory

    @property
    def dominated(self) -> Any:
        """Whether privacy dominates the error, for each epsilon."""
        return self.errors[AT_F].mean > DOMINATED * self.errors[PLAIN].mean


@dataclass(frozen=True)
class SensitivityStudy(Study):
    """A panel for each n."""

    panels: tuple[Panel, ...]

    size = (13.0, 5.8)

    @property
    def least(self) -> float:
        """Smallest ratio of an error to the lower bound."""
        return min(float(panel.over_bound.min()) for panel in self.panels)

    @property
    def most(self) -> float:
        """Largest ratio of an error to the lower bound, where privacy dominates."""
        return max(float(panel.over_bound[panel.dominated].max(initial=0.0)) for panel in self.panels)

    @property
    def theory(self) -> float:
        """Largest ratio of an error to the theory."""
        return max(float(panel.over_theory.max()) for panel in self.panels)

    @property
    def holds(self) -> bool:
        return self.least >= 1 and 0 < self.most <= ORDER and self.theory <= MOST

    @property
    def verdict(self) -> str:
        return (
            f"worse of the errors at the distribution and at its contamination, over the lower bound: at least "
            f"{self.least:.2f} (1), at most {self.most:.0f} where privacy dominates ({ORDER:g}); error over sampling error + "
            f"{CONSTANT:g} GES / (n epsilon): at most {self.theory:.2f} ({MOST:g})"
        )

    def curves(self) -> Iterator[Curve]:
        return (curve for panel in self.panels for curve in panel.errors.values())

    def draw(self, figure: Any) -> None:
        axes = figure.subplots(1, len(self.panels), sharey=True, squeeze=False).ravel()
        for panel, ax in zip(self.panels, axes, strict=True):
            for method, style in STYLES.items():
                label = "no privacy: sampling error" if method == PLAIN else method
                panel.errors[method].draw(ax, style, label, of_mean=True)
            text = f"sampling error + {CONSTANT:g} GES / (n epsilon)"
            ax.plot(panel.epsilons, panel.theory, color=GRAY, linestyle=":", linewidth=2, label=text)
            ax.plot(panel.epsilons, panel.bound, color=VERMILION, label="lower bound of the library")
            ax.plot(panel.epsilons, panel.published, color=VERMILION, linestyle=":", label="published lower bound")
            ax.set_xscale("log")
            ax.set_yscale("log")
            ax.tick_params(labelleft=True)
            finish(ax, f"n = {panel.n:,}", "epsilon", "mean absolute error (unit of the records)")
            ax.get_legend().remove()
        handles, names = axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3)
        figure.suptitle(
            "Theorem 1: the median of uniform records on [-1, 1], and the bound of its gross error sensitivity"
        )


# Measurements ---------------------------------------------------------------------------------------------------------


def contaminate(x: Floats, rho: float, draw: np.random.Generator) -> Floats:
    """Move each record to 1 with probability `rho`."""
    return np.asarray(np.where(draw.random(len(x)) < rho, UPPER, x))


def measure(n: int, products: Sequence[float], rng: np.random.Generator | None, repetitions: int) -> Panel:
    """Measure the errors of the median with and without privacy, on the same samples for each epsilon.

    Parameters
    ----------
    n : int
        Number of people.
    products : sequence of float
        Values of n epsilon.
    rng : None or Generator
        ``None`` draws fresh keys from the operating system. A generator makes the releases reproducible, not private.
    repetitions : int
        Number of samples.

    Returns
    -------
    panel : Panel
    """
    draw = np.random.default_rng(rng)
    samples = [draw.uniform(LOWER, UPPER, n) for _ in range(repetitions)]
    plain = np.abs([np.median(x) for x in samples])

    def private(x: Floats, epsilon: float) -> float:
        return float(median(x, epsilon=epsilon, lower=LOWER, upper=UPPER, rng=rng).value)

    epsilons = tuple(product / n for product in products)
    errors: dict[str, list[Floats]] = {method: [] for method in STYLES}
    for epsilon in epsilons:
        rho = share(epsilon, n)
        moved, truth = [contaminate(x, rho, draw) for x in samples], contaminated_median(rho)
        errors[PLAIN].append(plain)
        errors[AT_F].append(np.abs([private(x, epsilon) for x in samples]))
        errors[AT_G].append(np.abs([private(x, epsilon) - truth for x in moved]))
    return Panel(n, {m: Curve({"n": n, "method": m}, "epsilon", epsilons, tuple(e)) for m, e in errors.items()})


def run(rng: np.random.Generator | None, full: bool = False) -> SensitivityStudy:
    """Measure the errors for both n. `full` selects four times as many repetitions."""
    repetitions = REPETITIONS if full else QUICK_REPETITIONS
    return SensitivityStudy(tuple(measure(n, PRODUCTS, rng, repetitions) for n in SIZES))


EXPERIMENT = Experiment(
    "chaudhuri-hsu-theorem-1",
    f"{CHAUDHURI_HSU}, theorem 1",
    "The error of the private median, at the uniform distribution or at its contamination, is at least the lower bound of "
    f"the gross error sensitivity (GES) and of the same order (at most {ORDER:g} times where privacy dominates), and the "
    f"mechanism adds at most {CONSTANT:g} GES / (n epsilon) to the sampling error (within 10 %).",
    run,
)
