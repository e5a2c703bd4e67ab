"""The standard errors to expect from a survey, and the differences that it finds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .. import _check
from .._plots import CURVES, LINES, MARKERS, draw_grid, figure, text_of
from .._table import Table
from .._typing import Floats
from ..mechanisms import Mechanism, SketchResponse, Window
from ..reports import recipe_of
from ..results import detectable_distance
from ._columns import QuestionColumn
from ._design import Item, MechanismMaker, answer_variances, maker
from ._mechanisms import RARE, of_rare_string
from ._shares import Shares
from ._sums import Cells

if TYPE_CHECKING:
    from ._survey import Survey

MAX_PANELS = 12  # of a plot


def expected_variance(mechanism: Mechanism, parts: list[QuestionColumn]) -> float:
    """Return the variance of one decoded answer, from noise and sampling.

    Everybody answers, and all answers have equal shares; for numbers, half of the people are at each end. For means, it is in
    units of the squared length of the interval. For an optional question it is the variance of the ratio (delta method).
    """
    if isinstance(mechanism, Window):
        ends = np.array([mechanism.lower, mechanism.upper])
        return float(mechanism.variance(ends).mean()) / (mechanism.upper - mechanism.lower) ** 2 + 0.25
    if isinstance(mechanism, SketchResponse):
        return of_rare_string(mechanism)
    answered = math.prod(len(part.labels) for part in parts)
    if len(parts) > 1 or not parts[0].optional:
        return float(mechanism.debiasing.variance(1 / answered))  # type: ignore[union-attr]
    share = np.append(np.full(answered, 1 / answered), 0.0)
    last, all_of_them = Cells.one(answered - 1).total(), Cells.first(answered).total()
    return float(Shares.expected(mechanism, share).ratio(last, all_of_them).stderr ** 2)  # type: ignore[arg-type]


def sampling_variance(parts: list[QuestionColumn]) -> float:
    """Return the variance of one answer without privacy, for the people of `expected_variance`."""
    share = RARE if parts[0].row_bytes else 1 / math.prod(len(part.labels) for part in parts)
    return share * (1 - share)


@dataclass(frozen=True)
class PlannedWaves:
    """Standard errors of the questions of a survey with waves, and of the alternative without turns.

    Attributes
    ----------
    people : int
        Number of people in the whole panel.
    stderr : ndarray, shape (questions,)
        Of one wave.
    difference : ndarray, shape (questions,)
        Of the difference of two waves with different people.
    pooled : ndarray, shape (questions,), or None
        Of all waves together; None if the same people answer several times.
    split : ndarray, shape (questions,)
        Of one wave, if everybody answered in each wave with an equal part of epsilon; infinite where no mechanism exists.
    """

    people: int
    stderr: Floats
    difference: Floats
    pooled: Floats | None
    split: Floats


@dataclass(frozen=True)
class PlannedComparison:
    """What a comparison of two groups finds, each of which is half of the people.

    Attributes
    ----------
    alpha : float
        Level of a two-sided test of one number.
    power : float
        Probability that the test finds a difference.
    smallest : ndarray, shape (questions,)
        Smallest difference of the two groups that is found with this probability.
    differences : dict
        Differences that are to be found, by question.
    needed : dict
        Number of people in both groups that each of them needs, by question.
    """

    alpha: float
    power: float
    smallest: Floats
    differences: dict[str, float]
    needed: dict[str, int]


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
        shares are equal, or of a mean where half of the people are at each end; for a `Text`, of the share of a string that
        1 % of people have. Everybody answers, also optional questions.
        Infinite where no mechanism exists.
    answers : int
        Number of answers per person in this survey.
    nonprivate : ndarray, shape (questions,), or None
        Standard errors for the same people without privacy, where each of them answers all questions.
    units : tuple of str
        Unit of each question: "share", or the range of a mean.
    comparison : PlannedComparison or None
        What a comparison of two groups finds, if it is planned.
    waves : PlannedWaves or None
        For a survey with waves, of which all other numbers describe one.

    Examples
    --------
    >>> from ldpfast.survey import Mean, Survey, YesNo
    >>> plan = Survey({"smoker": YesNo(), "age": Mean(0, 120)}, 2.0).plan(10_000, compare={"smoker": 0.1})
    >>> plan.names, plan.answers
    (('smoker', 'age'), 1)
    >>> plan.stderr.shape
    (2, 2)
    >>> plan.comparison.needed
    {'smoker': 2707}
    """

    n: int
    names: tuple[str, ...]
    stderr: Floats
    answers: int
    nonprivate: Floats | None = None
    units: tuple[str, ...] = ()
    comparison: PlannedComparison | None = None
    waves: PlannedWaves | None = None

    @property
    def expected(self) -> Floats:
        """Standard errors of this survey, shape (questions,)."""
        return np.asarray(self.stderr[:, self.answers - 1])

    @property
    def table(self) -> Table:
        """The standard errors, one row per question; the column of this survey is marked with an asterisk.

        With waves, then those of a difference of two waves, of all waves together, and of one wave in which everybody answers
        with an equal part of epsilon. Then those without privacy and, if a comparison is planned, the smallest difference of
        two groups that is found, the differences that are to be found, and the number of people that they need.
        """
        columns: dict[str, list[Any]] = {
            f"{m} answer{'s' * (m > 1)}{' *' * (m == self.answers)}": [float(x) for x in self.stderr[:, m - 1]]
            for m in range(1, self.stderr.shape[1] + 1)
        }
        if self.waves is not None:
            columns["two waves"] = self.waves.difference.tolist()
            if self.waves.pooled is not None:
                columns["all waves"] = self.waves.pooled.tolist()
            columns["everybody, split epsilon"] = self.waves.split.tolist()
        if self.nonprivate is not None:
            columns["without privacy"] = self.nonprivate.tolist()
        if self.comparison is not None:
            columns["smallest difference"] = self.comparison.smallest.tolist()
            if self.comparison.differences:
                for title, given in (
                    ("difference", self.comparison.differences),
                    ("people needed", self.comparison.needed),
                ):
                    columns[title] = [given.get(name) for name in self.names]
        return Table({"question": list(self.names), **columns})

    def to_frame(self) -> Any:
        """Return `table` as a pandas DataFrame."""
        return self.table.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as types for JSON."""
        described = {"n": self.n, "answers": self.answers, "stderr": self.table.to_dict()}
        if self.comparison is not None:
            described |= {"alpha": self.comparison.alpha, "power": self.comparison.power}
        return described

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the standard errors against the number of answers per person, one panel per unit and one curve per question.

        Parameters
        ----------
        path : str or Path, optional
            File to write; the suffix determines the format.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        """
        page, panels = panels_of_units(self.units or ("",) * len(self.names))
        numbers = np.arange(1, self.stderr.shape[1] + 1)
        for ax, (unit, places) in panels:
            for at, place in enumerate(places):
                known = np.where(np.isfinite(self.stderr[place]), self.stderr[place], np.nan)
                ax.plot(
                    numbers, known, label=text_of(self.names[place]), **curve(at), marker=MARKERS[at % len(MARKERS)]
                )
            ax.axvline(self.answers, color="0.5", linewidth=0.8, label="this survey")
            ax.set_yscale("log")
            ax.set_xticks(numbers[:: -(-len(numbers) // 15)])
            ax.set_xlabel("number of answers per person")
            finish_panel(ax, unit)
        panels[0][0].set_title(f"n = {self.n:,}", fontsize=10, loc="left")
        if path is not None:
            page.savefig(path, dpi=120)
        return page

    @property
    def note(self) -> str:
        """The line below the printed table."""
        text = f"expected standard errors for n = {self.n:,}; * is this survey"
        if self.waves is not None:
            text = f"expected standard errors of one wave, with {self.n:,} of {self.waves.people:,} people; * is this survey"
        if self.comparison is not None:
            text += (
                f"; differences of two groups of n / 2 people, found with probability {self.comparison.power:g} by a test at "
                f"level {self.comparison.alpha:g}"
            )
        return text

    def __repr__(self) -> str:
        return f"{self._shown()!r}\n{self.note}"

    def _repr_html_(self) -> str:
        return self._shown()._html(self.note)

    def _shown(self) -> Table:
        """Return the table with empty cells where nothing was asked for."""
        return Table(
            {name: ["" if value is None else value for value in values] for name, values in self.table.columns.items()}
        )


def plan(
    items: list[Item],
    questions: dict[str, Any],
    makers: Sequence[MechanismMaker],
    answers: int,
    n: Any,
    compare: Any,
    alpha: float,
    power: float,
) -> SurveyPlan:
    """Return the standard errors to expect from n people, and what a comparison finds.

    `makers` make the mechanisms for 1, 2, ... answers per person.
    """
    variances = [
        answer_variances(items, questions, make, answers, expected_variance) for answers, make in enumerate(makers, 1)
    ]
    nonprivate = np.array([sampling_variance([questions[name] for name in item.parts]) for item in items])
    scale = np.array([questions[item.parts[0]].length if len(item.parts) == 1 else 1.0 for item in items])
    single = np.sqrt(np.array(variances).T) * scale[:, np.newaxis]  # standard errors for one person
    names = tuple(item.name for item in items)
    differences = checked_differences(compare, names)
    # Two groups of n / 2 people: the variance of a difference is 4 times that of a mean of n.
    distance = 2 * detectable_distance(1, alpha, power) * single[:, answers - 1]
    needed = {
        name: _check.people("people needed", math.ceil((distance[names.index(name)] / difference) ** 2))
        for name, difference in differences.items()
    }
    if n is None:
        if not needed:
            raise ValueError("n must be given unless compare has differences to be found")
        n = max(needed.values())
    n = _check.people("n", n)
    units = tuple(unit_of([questions[part] for part in item.parts]) for item in items)
    collisions = np.array([questions[item.parts[0]].collision_variance for item in items])
    comparison = None
    if compare:
        comparison = PlannedComparison(alpha, power, distance / math.sqrt(n), differences, needed)
    stderr = np.sqrt(single**2 / n + collisions[:, np.newaxis])
    return SurveyPlan(n, names, stderr, answers, np.sqrt(nonprivate / n) * scale, units, comparison)


def plan_waves(survey: Survey, n: Any, compare: Any, alpha: float, power: float) -> SurveyPlan:
    """Return the standard errors to expect from n people of a survey with waves, each of whom answers in some of them."""
    panel, items, questions = (
        recipe_of(survey).series.panel,
        recipe_of(survey).items,
        cast(dict[str, Any], recipe_of(survey).declared),
    )
    assert panel is not None
    in_wave = None
    if n is not None:
        in_wave = _check.people("n", n) * panel.turns // panel.waves
        if not in_wave:
            raise ValueError(f"n must be at least {-(-panel.waves // panel.turns)}, one person per wave, got {n}")
    one = plan(items, questions, survey._makers, survey.answers, in_wave, compare, alpha, power)
    people = -(-one.n * panel.waves // panel.turns) if n is None else int(n)
    scale = np.array([questions[item.parts[0]].length if len(item.parts) == 1 else 1.0 for item in items])
    split = maker(survey.epsilon / panel.waves, survey.answers)
    alone = answer_variances(items, questions, split, survey.answers, expected_variance)
    pooled = one.expected / math.sqrt(panel.waves) if panel.turns == 1 else None
    waves = PlannedWaves(
        people, one.expected, math.sqrt(2) * one.expected, pooled, np.sqrt(np.array(alone) / people) * scale
    )
    return replace(one, waves=waves)


def checked_differences(compare: Any, names: Sequence[str]) -> dict[str, float]:
    """Return the differences that a comparison is to find, by question."""
    if compare is None or isinstance(compare, bool):
        return {}
    if not isinstance(compare, Mapping):
        raise TypeError(f"compare must be a bool or a mapping from questions to differences, got {compare!r}")
    for name in compare:
        if name not in names:
            raise ValueError(f"compare must be of the questions {', '.join(map(repr, names))}, got {name!r}")
    return {name: _check.positive(f"compare[{name!r}]", difference) for name, difference in compare.items()}


def unit_of(parts: Sequence[QuestionColumn]) -> str:
    """Return the unit of an answer."""
    if len(parts) > 1 or parts[0].quantity != "mean":
        return "share"
    low, high = parts[0].range
    return f"mean in [{low:g}, {high:g}]"


# Panels ---------------------------------------------------------------------------------------------------------------


def panels_of_units(units: Sequence[str]) -> tuple[Any, list[tuple[Any, tuple[str, list[int]]]]]:
    """Create a figure with one panel per unit, and return it with the panels, their units and their questions.

    Units after the twelfth have no panel.
    """
    groups: dict[str, list[int]] = {}
    for place, unit in enumerate(units):
        groups.setdefault(unit, []).append(place)
    shown = list(groups.items())[:MAX_PANELS]
    page = figure(7.5, 0.4 + 3.2 * len(shown))
    axes = page.subplots(len(shown), 1, squeeze=False)[:, 0]
    return page, list(zip(axes, shown, strict=True))


def curve(place: int) -> dict[str, Any]:
    """Return the style of the curve of one question in a panel."""
    style = place // len(CURVES)
    return {"color": CURVES[place % len(CURVES)], "linestyle": LINES[style % len(LINES)], "markersize": 4}


def finish_panel(ax: Any, unit: str) -> None:
    """Set the label, the grid and the legend of the panel of a unit."""
    ax.set_ylabel(f"standard error{f' ({unit})' if unit else ''}")
    draw_grid(ax)
    ax.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
