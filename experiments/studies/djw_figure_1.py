"""The paper's experiment on drug use: 27 yes-or-no answers per person, released together (figure 1).

Duchi, Jordan and Wainwright (JASA 2018, section 6.2). `experiments.demo.drug_use` has the stand-in for their records and the
measurement. The real data are 27 answers per person from Fair's survey.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..demo import drug_use
from ..demo.curve import Curve
from ..demo.surveys import FAIR, records
from ._study import DJW, Experiment, Study

# Fair's survey: columns and the codes of their answers.
CHOICES = {
    "rate_marriage": (1, 2, 3, 4, 5),
    "religious": (1, 2, 3, 4),
    "educ": (9, 12, 14, 16, 17, 20),
    "occupation": (1, 2, 3, 4, 5, 6),
    "occupation_husb": (1, 2, 3, 4, 5, 6),
}


@dataclass(frozen=True)
class DrugStudy(Study):
    """Errors for the stand-in and for the real answers."""

    stand_in: drug_use.DrugErrors
    real: drug_use.DrugErrors

    @property
    def apart(self) -> bool:
        """Whether the worst run of the l-infinity mechanism is better than the best run of Laplace noise, at every size."""
        pairs = zip(self.stand_in.errors[drug_use.CUBE], self.stand_in.errors[drug_use.LAPLACE], strict=True)
        return all(ours.max() < theirs.min() for ours, theirs in pairs)

    @property
    def holds(self) -> bool:
        return self.stand_in.ratio >= drug_use.MIN_RATIO and self.apart

    @property
    def verdict(self) -> str:
        apart = "yes" if self.apart else "NO"
        return (
            f"{self.stand_in.verdict}, every run better than every run of Laplace noise: {apart}; "
            f"ratio on {drug_use.DRUGS} real answers: {self.real.ratio:.1f}"
        )

    def curves(self) -> Iterator[Curve]:
        for measured in (self.stand_in, self.real):
            for what in ("errors", "largest"):
                yield from measured.curves(what).values()

    def draw(self, figure: Any) -> None:
        left, middle, right = figure.subplots(1, 3)
        drug_use.draw(self.stand_in, left)
        for method, curve in self.stand_in.curves("largest").items():
            curve.draw(middle, drug_use.STYLE[method], method)
        title = f"Largest of the {drug_use.DRUGS} errors"
        drug_use.label_axes(middle, title, self.stand_in.name, "largest error of a share (between 0 and 1)", 100)
        drug_use.draw(self.real, right)


def real_population() -> NDArray[np.uint8]:
    """Return packed rows of `drug_use.DRUGS` bits: which of the answers in `CHOICES` each of 6,366 women gave."""
    answers = records(FAIR)
    chosen = [answers[name].to_numpy()[:, np.newaxis] == codes for name, codes in CHOICES.items()]
    return np.packbits(np.concatenate(chosen, axis=1), axis=1)


def run(rng: np.random.Generator | None, full: bool = False) -> DrugStudy:
    """Measure both populations. `full` selects the hundred repetitions of the paper at every size."""
    repetitions = (100, 100) if full else (10, 40)
    real = drug_use.measure(
        rng, drug_use.SIZES[:4], repetitions, real_population(), "Fair's survey: 6,366 people, real"
    )
    return DrugStudy(drug_use.measure(rng, drug_use.SIZES, repetitions), real)


EXPERIMENT = Experiment(
    "djw-figure-1",
    f"{DJW}, figure 1",
    f"For {drug_use.DRUGS} answers per person at epsilon {drug_use.EPSILON:g}, the mean squared error with Laplace noise is "
    f"at least {drug_use.MIN_RATIO:g} times that of the l-infinity mechanism (n = {drug_use.REFERENCE_SIZE:,}), and the worst "
    "run of the mechanism is better than the best run with Laplace noise (every n).",
    run,
)
