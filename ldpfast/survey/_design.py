"""Which mechanisms a survey uses, how many questions each person answers, and the standard errors to expect."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._plots import CURVES, LINES, MARKERS, axes, draw_grid, text_of
from .._table import Table
from .._typing import Floats
from ..mechanisms import Mechanism, Window
from ._mechanisms import for_symbols
from ._questions import ColumnQuestion, SurveyQuestion
from ._shares import Shares
from ._sums import Cells

WORDS = 1 << 32  # random words that choose one question


@dataclass(frozen=True)
class Item:
    """A question that people are asked.

    Attributes
    ----------
    name : str
        Name of the question.
    parts : tuple of str
        Names of one or two declared questions that it combines.
    tickets : int
        Weight of the question among those that a person can be asked.
    weight : Fraction
        Probability that a person who answers one question is asked this one.
    """

    name: str
    parts: tuple[str, ...]
    tickets: int
    weight: Fraction


def epsilon_per_answer(epsilon: float, answers: int) -> float:
    """Return the largest double whose product with the number of answers is at most epsilon, exactly."""
    each = epsilon / answers
    return each if Fraction(each) * answers <= Fraction(epsilon) else math.nextafter(each, 0)


def mechanism_for(parts: list[ColumnQuestion], epsilon: float) -> Mechanism:
    """Return the mechanism for an answer that combines one or two questions."""
    return parts[0].mechanism(epsilon) if len(parts) == 1 else for_symbols(math.prod(part.k for part in parts), epsilon)


def thresholds(weights: list[Fraction]) -> NDArray[np.uint32]:
    """Return the limits of the random words that choose one question: all but the first and last of the cumulative sums."""
    total, cumulative, limits = sum(weights), Fraction(0), []
    for weight in weights:
        cumulative += weight
        limits.append(round(cumulative / total * WORDS))
    return np.array(limits[:-1], np.uint32)


def variance_of_answer(mechanism: Mechanism, parts: list[ColumnQuestion]) -> float:
    """Return the variance of one decoded answer for the choice of a number of answers: all symbols have equal shares.

    "No answer" counts as a symbol. For means, it is in units of the squared length of the interval. The choice is part of the
    design of a survey, so this does not change; `expected_variance` is for plans.
    """
    if isinstance(mechanism, Window):
        length = mechanism.upper - mechanism.lower
        return float(mechanism.variance(mechanism.lower + length / 2)) / length**2 + 0.25
    return float(mechanism.debiasing.variance(1 / math.prod(part.k for part in parts)))  # type: ignore[union-attr]


def best_answers(items: list[Item], questions: dict[str, SurveyQuestion], epsilon: float) -> int:
    """Return the number of answers per person with the smallest sum of variances; the smallest number among equals."""
    return min(range(1, len(items) + 1), key=lambda m: sum(_variances(items, questions, epsilon, m)))


def expected_variance(mechanism: Mechanism, parts: list[ColumnQuestion]) -> float:
    """Return the variance of one decoded answer, from noise and sampling, for a plan.

    Everybody answers, and all answers have equal shares; for numbers, half of the people are at each end. For means, it is in
    units of the squared length of the interval. For an optional question it is the variance of the ratio (delta method).
    """
    if isinstance(mechanism, Window):
        ends = np.array([mechanism.lower, mechanism.upper])
        return float(mechanism.variance(ends).mean()) / (mechanism.upper - mechanism.lower) ** 2 + 0.25
    answered = math.prod(len(part.labels) for part in parts)
    if len(parts) > 1 or not parts[0].optional:
        return float(mechanism.debiasing.variance(1 / answered))  # type: ignore[union-attr]
    share = np.append(np.full(answered, 1 / answered), 0.0)
    last, all_of_them = Cells.one(answered - 1).total(), Cells.first(answered).total()
    return float(Shares.expected(mechanism, share).ratio(last, all_of_them).stderr ** 2)  # type: ignore[arg-type]


def sampling_variance(parts: list[ColumnQuestion]) -> float:
    """Return the variance of one answer without privacy, for the people of `expected_variance`."""
    share = 1 / math.prod(len(part.labels) for part in parts)
    return share * (1 - share)


def _variances(
    items: list[Item],
    questions: dict[str, Any],
    epsilon: float,
    answers: int,
    variance: Callable[[Mechanism, list[ColumnQuestion]], float] = variance_of_answer,
) -> list[float]:
    """Return the variance of each estimate times the number of people; infinite where no coin can certify epsilon."""
    found = []
    for item in items:
        parts = [questions[name] for name in item.parts]
        try:
            mechanism = mechanism_for(parts, epsilon_per_answer(epsilon, answers))
        except ValueError:
            found.append(math.inf)
            continue
        share = float(item.weight) if answers == 1 else answers / len(items)
        found.append(variance(mechanism, parts) / share)
    return found


@dataclass(frozen=True)
class SurveyPlan:
    """Expected standard errors of the answers of a survey, for every possible number of answers per person.

    Attributes
    ----------
    n : int
        Number of people.
    names : tuple of str
        Names of the questions.
    stderr : ndarray, shape (questions, questions)
        Entry [q, m - 1] is the standard error of question q where each person answers m questions: of a share where all
        shares are equal, or of a mean where half of the people are at each end. Everybody answers, also optional questions.
        Infinite where no mechanism exists.
    answers : int
        Number of answers per person in this survey.
    nonprivate : ndarray, shape (questions,), or None
        Standard errors for the same people without privacy, where each of them answers all questions.

    Examples
    --------
    >>> from ldpfast.survey import Mean, Survey, YesNo
    >>> plan = Survey({"smoker": YesNo(), "age": Mean(0, 120)}, 2.0).plan(10_000)
    >>> plan.names, plan.answers
    (('smoker', 'age'), 1)
    >>> plan.stderr.shape
    (2, 2)
    """

    n: int
    names: tuple[str, ...]
    stderr: Floats
    answers: int
    nonprivate: Floats | None = None

    @property
    def table(self) -> Table:
        """The standard errors, one row per question; the column of this survey is marked with an asterisk.

        The last column has those without privacy.
        """
        columns = {
            f"{m} answer{'s' * (m > 1)}{' *' * (m == self.answers)}": [float(x) for x in self.stderr[:, m - 1]]
            for m in range(1, self.stderr.shape[1] + 1)
        }
        if self.nonprivate is not None:
            columns["without privacy"] = self.nonprivate.tolist()
        return Table({"question": list(self.names), **columns})

    def to_frame(self) -> Any:
        """Return `table` as a pandas DataFrame."""
        return self.table.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as types for JSON."""
        return {"n": self.n, "answers": self.answers, "stderr": self.table.to_dict()}

    def plot(self, ax: Any = None) -> Any:
        """Draw the standard errors against the number of answers per person, one curve per question.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on; those of a new figure by default.

        Returns
        -------
        ax : matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        """
        ax, numbers = axes(ax), np.arange(1, self.stderr.shape[1] + 1)
        for at, (name, stderr) in enumerate(zip(self.names, self.stderr, strict=True)):
            style, known = at // len(CURVES), np.where(np.isfinite(stderr), stderr, np.nan)
            line = {"linestyle": LINES[style % len(LINES)], "marker": MARKERS[at % len(MARKERS)]}
            ax.plot(numbers, known, color=CURVES[at % len(CURVES)], markersize=4, label=text_of(name), **line)
        ax.axvline(self.answers, color="0.5", linewidth=0.8, label="this survey")
        ax.set_yscale("log")
        ax.set_xticks(numbers[:: -(-len(numbers) // 15)])
        ax.set_xlabel("number of answers per person")
        ax.set_ylabel(f"expected standard error (unit of the answer)\nn = {self.n:,}")
        draw_grid(ax)
        ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
        return ax

    def __repr__(self) -> str:
        return f"{self.table!r}\nexpected standard errors for n = {self.n:,}; * is this survey"

    def _repr_html_(self) -> str:
        return self.table._html(f"expected standard errors for n = {self.n:,}; * is this survey")


def plan(items: list[Item], questions: dict[str, Any], epsilon: float, answers: int, n: int) -> SurveyPlan:
    """Return the standard errors to expect from n people."""
    numbers = range(1, len(items) + 1)
    variances = [_variances(items, questions, epsilon, m, expected_variance) for m in numbers]
    nonprivate = np.array([sampling_variance([questions[name] for name in item.parts]) for item in items])
    scale = np.array([questions[item.parts[0]].length if len(item.parts) == 1 else 1.0 for item in items])
    stderr = np.sqrt(np.array(variances).T / n) * scale[:, np.newaxis]
    return SurveyPlan(n, tuple(item.name for item in items), stderr, answers, np.sqrt(nonprivate / n) * scale)
