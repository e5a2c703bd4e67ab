"""The price of privacy: lower bounds, errors of the mechanisms, and errors without privacy, for each problem.

Nothing is random: these are the bounds of `ldpfast.bounds` and the exact errors of the mechanisms, against epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ldpfast._typing import Floats
from ldpfast.bounds import Bound, _registered_problem
from ldpfast.bounds._comparison import curves
from ldpfast.bounds._plan_plot import paint

from ..demo.curve import Curve, Row
from ._study import Experiment, Study

PEOPLE, PLACES = 100_000, 21
FEW = 100  # number of people for a bound that decreases exponentially in n epsilon
EPSILONS = np.geomspace(0.05, 10, PLACES)
PROBLEMS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("mean_1d", {"moment": 3.0}),
    ("mean_1d", {"moment": math.inf}),
    ("median", {"radius": 1.0}),
    ("mean_l2", {"dim": 20}),
    ("sparse_mean", {"dim": 20}),
    ("multinomial", {"k": 10}),
    ("logistic", {"dim": 3}),
    ("density", {"smoothness": 2.0}),
    ("density", {"smoothness": 1.0, "radius": 2.0, "family": "lipschitz"}),
    ("gaussian_mean", {"sigma": 1.0, "mu_bound": 100.0}),
    ("central_mean", {"dim": 20, "moment": 4.0, "privacy": "pure"}),
    ("central_mean", {"dim": 20, "moment": 4.0, "privacy": "approximate", "delta": 1e-6}),
    ("central_mean", {"dim": 20, "moment": 4.0, "privacy": "kl"}),
    ("central_mean", {"dim": 20, "moment": 4.0, "privacy": "tv"}),
    ("central_support", {"t": 1.0}),
    ("central_density", {"dim": 1}),
    ("central_range", {"low": 0.0, "high": 1.0}),
    ("central_ges", {"delta": 1e-6, "ges": 1.0}),
)


@dataclass(frozen=True)
class Price:
    """Bound and errors of one problem, for several values of epsilon."""

    problem: str
    fixed: dict[str, Any]
    n: int
    epsilon: Floats
    bound: Bound
    mechanisms: dict[str, Floats]

    @property
    def title(self) -> str:
        """Name of the problem and its arguments."""
        people = {"n": self.n} if self.n == FEW else {}
        return ", ".join([self.problem, *(f"{name} {value}" for name, value in {**people, **self.fixed}.items())])

    @property
    def in_order(self) -> bool:
        """Whether no error is below the lower bound, and the lower bound is not above the upper bound."""
        lower = self.bound.lower
        ordered = bool((lower <= self.bound.upper * (1 + 1e-12)).all())
        return ordered and all(not (errors < lower).any() for errors in self.mechanisms.values())

    def rows(self) -> Iterator[Row]:
        """Yield a row per epsilon."""
        for at, epsilon in enumerate(self.epsilon):
            numbers = {name: getattr(self.bound, name)[at] for name in ("lower", "upper", "nonprivate", "rate")}
            yield {
                "problem": self.title,
                "n": self.n,
                "epsilon": f"{epsilon:.6g}",
                **{name: f"{value:.6g}" for name, value in numbers.items()},
                "mechanisms": "; ".join(f"{name} {errors[at]:.6g}" for name, errors in self.mechanisms.items()),
            }


@dataclass(frozen=True)
class PriceStudy(Study):
    """Prices of all problems."""

    prices: tuple[Price, ...]

    size = (19.0, 26.0)

    @property
    def holds(self) -> bool:
        return all(price.in_order for price in self.prices)

    @property
    def verdict(self) -> str:
        broken = [price.title for price in self.prices if not price.in_order]
        answer = "yes" if not broken else f"NO ({'; '.join(broken)})"
        return f"{len(self.prices)} problems: lower bound at most the error of every mechanism and the upper bound: {answer}"

    def curves(self) -> Iterator[Curve]:
        """Return no curves, because nothing is repeated."""
        return iter(())

    def rows(self) -> list[Row]:
        return [row for price in self.prices for row in price.rows()]

    def draw(self, figure: Any) -> None:
        axes = figure.subplots(-(-len(self.prices) // 3), 3).ravel()
        for price, ax in zip(self.prices, axes, strict=False):
            paint(ax, price.bound, price.mechanisms, price.epsilon, "epsilon")
            ax.set_title(price.title, fontsize=10)
        for ax in axes[len(self.prices) :]:
            ax.remove()
        figure.suptitle(f"The price of privacy for {self.prices[0].n:,} people", fontsize=16)


def run(rng: np.random.Generator | None, full: bool = False) -> PriceStudy:
    """Compute the bounds and the errors. `rng` and `full` are ignored."""
    prices = []
    for problem, fixed in PROBLEMS:
        epsilon = EPSILONS
        largest = _registered_problem.PROBLEMS[problem].max_epsilon(fixed)
        if largest <= 1:
            epsilon = np.geomspace(EPSILONS[0] / 50, largest, PLACES)
        elif problem.startswith("central"):
            epsilon = EPSILONS / 50
        people = FEW if problem == "central_range" else PEOPLE
        n = np.full(PLACES, float(people))
        mechanisms = curves(problem, n, epsilon, **fixed) if not _registered_problem.PROBLEMS[problem].central else {}
        prices.append(
            Price(
                problem,
                fixed,
                people,
                epsilon,
                _registered_problem.PROBLEMS[problem].bound(n=n, epsilon=epsilon, **fixed),
                mechanisms,
            )
        )
    return PriceStudy(tuple(prices))


EXPERIMENT = Experiment(
    "price",
    "the bounds of both models",
    "For every problem and epsilon, the lower bound is at most the error of every mechanism and the upper bound.",
    run,
)
