"""The standard errors to expect from a survey, and the differences that it finds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import _check
from .._plots import CURVES, LINES, MARKERS, draw_grid, figure, text_of
from .._table import Table
from .._typing import Floats
from ..results import detectable_distance
from ._answer_precision import expectations, planned_answer
from ._answers_per_person import MechanismMaker, maker, share_asked
from ._planned_answer import Expected, PlannedAnswer

if TYPE_CHECKING:
    from ._survey_recipe import SurveyRecipe

MAX_PANELS = 12  # of a plot
QUANTILES = (
    "standard errors of quantiles in this survey, and half of their 95 % intervals, if numbers have such a distribution"
)


@dataclass(frozen=True)
class Goals:
    """The arguments of a plan: differences that are to be found by a test, and what is expected of the answers."""

    compare: Any
    alpha: float
    power: float
    shares: Any
    response: Any

    def __post_init__(self) -> None:
        detectable_distance(1, self.alpha, self.power)  # checks both


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
        Smallest difference of the two groups that is found with this probability; infinite where no possible one is.
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
        Number of people whose answers are planned: of one wave, if there are waves (`waves` has the number of all people), and
        of both groups together, if a comparison is planned.
    names : tuple of str
        Names of the questions.
    stderr : ndarray, shape (questions, questions)
        Entry [q, m - 1] is the largest standard error of question q where each person answers m questions, over all answers
        that people can give: that of a share near 1/2, or of a mean where half of the people are at each end. With `shares`,
        it is the largest one of the labels if people answer so. For a `Text`, it is that of the share of a string that 1 % of
        people have, and for a `Number` that of the median of numbers with a uniform distribution. Infinite where no mechanism
        exists.
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
    assumed : tuple of str
        For which answers the standard error of each question holds.
    response : tuple of float
        Share of the people who answer each question.
    quantiles : Table or None
        Standard errors of the median and of the 95 % quantile of each `Number` in this survey, and half of their 95 % intervals
        ("+-"), for distributions of three shapes on the interval: "uniform"; "normal" around the middle, with the standard
        deviation of a sixth of it; and "skewed", exponential with the mean of a sixth of it. Intervals are longer than those
        of normal errors, because they are valid for every distribution.
    found : dict
        For each `Text`: share of the people from which on a string is found, with probability 0.95; infinite if none is.
        Strings that fewer people have are not in the answer, whatever their standard error would be.

    Examples
    --------
    >>> from ldpfast.survey import Mean, Survey, YesNo
    >>> plan = Survey({"smoker": YesNo(), "age": Mean(0, 120)}, 2.0).plan(10_000, compare={"smoker": 0.1})
    >>> plan.names, plan.answers
    (('smoker', 'age'), 1)
    >>> plan.stderr.shape
    (2, 2)
    >>> plan.comparison.needed
    {'smoker': 2826}
    """

    n: int
    names: tuple[str, ...]
    stderr: Floats
    answers: int
    nonprivate: Floats | None = None
    units: tuple[str, ...] = ()
    comparison: PlannedComparison | None = None
    waves: PlannedWaves | None = None
    assumed: tuple[str, ...] = ()
    response: tuple[float, ...] = ()
    quantiles: Table | None = None
    found: dict[str, float] = field(default_factory=dict)

    @property
    def expected(self) -> Floats:
        """Standard errors of this survey, shape (questions,)."""
        return np.asarray(self.stderr[:, self.answers - 1])

    @property
    def table(self) -> Table:
        """The standard errors, one row per question; the column of this survey is marked with an asterisk.

        With waves, then those of a difference of two waves, of all waves together, and of one wave in which everybody answers
        with an equal part of epsilon. Then those without privacy and, if a comparison is planned, the smallest difference of
        two groups that is found, the differences that are to be found, and the number of people that they need, with waves in
        one wave.
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
                    (f"people needed{' in one wave' * (self.waves is not None)}", self.comparison.needed),
                ):
                    columns[title] = [given.get(name) for name in self.names]
        return Table({"question": list(self.names), **columns})

    def to_frame(self) -> Any:
        """Return `table` as a pandas DataFrame."""
        return self.table.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as types for JSON; "n_of" says whose number `n` is, and "people" is that of all waves together."""
        people, whose = (self.n, "all people") if self.waves is None else (self.waves.people, "one wave")
        described: dict[str, Any] = {"n": self.n, "n_of": whose, "people": people, "answers": self.answers}
        described["stderr"] = self.table.to_dict()
        described |= {"assumed": list(self.assumed), "response": list(self.response)}
        if self.comparison is not None:
            described |= {"alpha": self.comparison.alpha, "power": self.comparison.power}
        if self.found:
            described["found"] = {name: share if math.isfinite(share) else None for name, share in self.found.items()}
        if self.quantiles is not None:
            described["quantiles"] = self.quantiles.to_dict()
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
        of = "" if self.waves is None else f" of {self.waves.people:,} people, in one wave"
        panels[0][0].set_title(f"n = {self.n:,}{of}", fontsize=10, loc="left")
        if path is not None:
            page.savefig(path, dpi=120)
        return page

    @property
    def note(self) -> str:
        """The line below the printed table."""
        text = f"largest standard errors for n = {self.n:,}; * is this survey"
        if self.waves is not None:
            text = f"largest standard errors of one wave, with {self.n:,} of {self.waves.people:,} people; * is this survey"
        if any(rate < 1 for rate in self.response):
            low, high = 100 * min(self.response), 100 * max(self.response)
            text += f"; {low:g} {f'to {high:g} ' * (low < high)}% of people answer"
        if self.comparison is not None:
            text += (
                f"; differences of two groups of n / 2 people, found with probability {self.comparison.power:g} by a test at "
                f"level {self.comparison.alpha:g}"
            )
        for name, share in self.found.items():
            found = f"from {100 * share:.2g} % of people on" if math.isfinite(share) else "by no share of people"
            text += f"; texts of {name!r} are found {found}"
        return text

    def __repr__(self) -> str:
        return f"{self._shown()!r}\n{self.note}{self._quantile_lines}"

    def _repr_html_(self) -> str:
        table = self._shown()._html(self.note)
        return table if self.quantiles is None else f"{table}{self.quantiles._html(QUANTILES)}"

    @property
    def _quantile_lines(self) -> str:
        """The printed table of the quantiles of numbers, on new lines; empty if there are none."""
        return "" if self.quantiles is None else f"\n{self.quantiles!r}\n{QUANTILES}"

    def _shown(self) -> Table:
        """Return the table with empty cells where nothing was asked for."""
        return Table(
            {name: ["" if value is None else value for value in values] for name, values in self.table.columns.items()}
        )


def plan(recipe: SurveyRecipe, makers: Sequence[MechanismMaker], n: Any, goals: Goals) -> SurveyPlan:
    """Return the standard errors to expect from n people, and what a comparison finds.

    `makers` make the mechanisms for 1, 2, ... answers per person.
    """
    names = tuple(recipe.names)
    forms = [item.form for item in recipe.items]
    answers = recipe.answers
    lengths = np.array([form.length for form in forms])
    expected = expectations(names, forms, goals.shares, goals.response)
    here = [
        planned_answer(mechanism, item.form, each, share_asked(recipe.items, item, answers))
        for item, mechanism, each in zip(recipe.items, recipe.mechanisms, expected, strict=True)
    ]
    variances = [
        [answer.variance for answer in here] if m == answers else variances_of(recipe, make, m, expected)
        for m, make in enumerate(makers, 1)
    ]
    single = np.sqrt(np.array(variances).T) * lengths[:, np.newaxis]  # standard errors for one person
    differences = checked_differences(goals.compare, names, lengths, here)
    needed = {}
    for name, difference in differences.items():
        place = names.index(name)
        needed[name] = here[place].people_needed(difference / lengths[place], goals.alpha, goals.power)
    if n is None:
        if not needed:
            raise ValueError("n must be given unless compare has differences to be found")
        n = max(needed.values())
    n = _check.people("n", n)
    collisions = np.array([form.collision_variance for form in forms])
    comparison = None
    if goals.compare:
        smallest = np.array([answer.smallest_difference(n, goals.alpha, goals.power) for answer in here])
        comparison = PlannedComparison(goals.alpha, goals.power, lengths * smallest, differences, needed)
    return SurveyPlan(
        n,
        names,
        np.sqrt(single**2 / n + collisions[:, np.newaxis]),
        answers,
        np.sqrt(np.array([answer.sampling for answer in here]) / n) * lengths,
        tuple(form.unit for form in forms),
        comparison,
        None,
        tuple(
            "as expected" if name in (goals.shares or ()) else form.assumption()
            for name, form in zip(names, forms, strict=True)
        ),
        tuple(each.response for each in expected),
        _quantiles_of(recipe, expected, n),
        _found_from(recipe, expected, n),
    )


def _found_from(recipe: SurveyRecipe, expected: Sequence[Expected], n: int) -> dict[str, float]:
    """Return from which share of the people on the texts of questions are found."""
    found = {}
    for item, mechanism, each in zip(recipe.items, recipe.mechanisms, expected, strict=True):
        people = n * share_asked(recipe.items, item, recipe.answers) * each.response
        share = item.form.found_from(mechanism, people)
        if share is not None:
            found[item.name] = share
    return found


def _quantiles_of(recipe: SurveyRecipe, expected: Sequence[Expected], n: int) -> Table | None:
    """Return the standard errors of the quantiles of all numbers, from n people; None if no question is about numbers."""
    rows = []
    for item, mechanism, each in zip(recipe.items, recipe.mechanisms, expected, strict=True):
        found = item.form.planned_quantiles(mechanism, each, n * share_asked(recipe.items, item, recipe.answers))
        rows += [(item.name, shape, *errors) for shape, errors in found.items()]
    if not rows:
        return None
    names = ("question", "distribution", "median", "median +-", "95 %", "95 % +-")
    return Table({name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)})


def variances_of(
    recipe: SurveyRecipe,
    make: MechanismMaker,
    answers: int,
    expected: Sequence[Expected],
) -> list[float]:
    """Return the variance of the answer to each question for one person; infinite where no coin can certify epsilon."""
    found = []
    for item, each in zip(recipe.items, expected, strict=True):
        try:
            mechanism = make(item.form)
        except ValueError:
            found.append(math.inf)
            continue
        found.append(planned_answer(mechanism, item.form, each, share_asked(recipe.items, item, answers)).variance)
    return found


def plan_waves(
    recipe: SurveyRecipe, makers: Sequence[MechanismMaker], epsilon: float, n: Any, goals: Goals
) -> SurveyPlan:
    """Return the standard errors to expect from n people of a survey with waves, each of whom answers in some of them.

    `epsilon` is that of all waves together.
    """
    panel, forms = recipe.series.panel, [item.form for item in recipe.items]
    assert panel is not None
    in_wave = None
    if n is not None:
        in_wave = _check.people("n", n) * panel.turns // panel.waves
        if not in_wave:
            raise ValueError(f"n must be at least {-(-panel.waves // panel.turns)}, one person per wave, got {n}")
    one = plan(recipe, makers, in_wave, goals)
    people = -(-one.n * panel.waves // panel.turns) if n is None else int(n)
    expected = expectations(recipe.names, forms, goals.shares, goals.response)
    alone = variances_of(recipe, maker(epsilon / panel.waves, recipe.answers), recipe.answers, expected)
    split = np.sqrt(np.array(alone) / people) * [form.length for form in forms]
    pooled = one.expected / math.sqrt(panel.waves) if panel.turns == 1 else None
    return replace(one, waves=PlannedWaves(people, one.expected, math.sqrt(2) * one.expected, pooled, split))


def checked_differences(
    compare: Any, names: Sequence[str], lengths: Floats, planned: Sequence[PlannedAnswer]
) -> dict[str, float]:
    """Return the differences that a comparison is to find, by question."""
    if compare is None or isinstance(compare, bool):
        return {}
    if not isinstance(compare, Mapping):
        raise TypeError(f"compare must be a bool or a mapping from questions to differences, got {compare!r}")
    found = {}
    for name, difference in compare.items():
        if name not in names:
            raise ValueError(f"compare must be of the questions {', '.join(map(repr, names))}, got {name!r}")
        place = names.index(name)
        most = lengths[place] * planned[place].largest_difference
        found[name] = _check.positive(f"compare[{name!r}]", difference)
        if found[name] > most:
            raise ValueError(
                f"compare[{name!r}] must be at most {most:g}, the largest possible difference of two groups, got {difference!r}"
            )
    return found


# Panels ---------------------------------------------------------------------------------------------------------------


def places_of_units(units: Sequence[str]) -> dict[str, list[int]]:
    """Return the places of the questions with each unit."""
    groups: dict[str, list[int]] = {}
    for place, unit in enumerate(units):
        groups.setdefault(unit, []).append(place)
    return groups


def panels_of_units(units: Sequence[str]) -> tuple[Any, list[tuple[Any, tuple[str, list[int]]]]]:
    """Create a figure with one panel per unit, and return it with the panels, their units and their questions.

    Units after the twelfth have no panel.
    """
    shown = list(places_of_units(units).items())[:MAX_PANELS]
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
