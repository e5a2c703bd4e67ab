"""Results of groups of people."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .._frames import By
from .._plots import caption, draw_intervals, largest, left_out, panels_of_rows, rows_shown, text_of
from .._table import Table
from .._typing import Floats
from ..results import guarantee_text
from ._area_table import area_table
from ._counts import Counts

MAX_SHOWN = 20  # groups of a printed table


def in_order(values: Iterable[Any]) -> list[Any]:
    """Return values in ascending order, with None at the end; in their own order if they cannot be compared."""
    listed = list(values)
    try:
        return sorted(value for value in listed if value is not None) + [None] * (None in listed)
    except TypeError:
        return listed


class GroupedResults(Mapping[Any, Any]):
    """Results of groups of people, by the public values that divide people.

    Groups are in ascending order; in the order in which they are first seen if their values cannot be compared.

    `GroupedAggregator.estimate` and `run` with ``by=`` make one. Each result is computed when it is first used.

    Attributes
    ----------
    by : str, tuple of str or None
        The columns that divide people; None for arrays, which have no name.
    options : dict
        Options of the estimates.

    Examples
    --------
    >>> from ldpfast.survey import Survey, YesNo
    >>> survey = Survey({"smokes": YesNo()}, epsilon=1.0)
    >>> results = survey.run({"smokes": [True, False] * 50, "region": ["N", "S"] * 50}, by="region", rng=1)
    >>> list(results), results["N"].n
    (['N', 'S'], 50)
    >>> results.table()["group"]
    ['N', 'S']
    """

    def __init__(self, values: Sequence[Any], counts: Counts, by: By | None, options: Mapping[str, Any]) -> None:
        self._results: dict[Any, Any] = dict.fromkeys(values)
        self._counts = counts
        self.by, self.options = by, dict(options)

    @property
    def counts(self) -> Counts:
        """Counts of the groups, in their order, as a copy."""
        return self._counts.taken(list(self))

    def __getitem__(self, value: Any) -> Any:
        if self._results[value] is None:
            self._results[value] = self._counts.only(value).conclude(**self.options)
        return self._results[value]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._results)

    def __len__(self) -> int:
        return len(self._results)

    def table(self, confidence: float = 0.95, simultaneous: bool = False) -> Table:
        """Return all numbers of all groups as a table with one row per number.

        Parameters
        ----------
        confidence, simultaneous
            As for `Estimate.interval`. Simultaneous limits hold for one group.

        Returns
        -------
        table : Table
            Column "group", or the columns that divide people if there are several; then the columns of the tables of the
            results.

        Raises
        ------
        TypeError, ValueError
            As for `Estimate.interval`.
        """
        columns: dict[str, list[Any]] = {"group": []}
        if not self.options and (stacked := self._counts.table(list(self), confidence, simultaneous)):
            return self._with_columns(stacked)
        for value, result in self.items():
            part = result._entry_table(confidence, simultaneous)
            columns["group"] += [value] * len(part)
            for name, numbers in part.columns.items():
                columns.setdefault(name, []).extend(numbers)
        return self._with_columns(Table(columns))

    def _with_columns(self, table: Table) -> Table:
        """Return a table with a column for each of several columns that divide people, in the place of "group"."""
        by = self.by
        if not isinstance(by, tuple):
            return table
        groups, *numbers = table.columns.items()
        parts = {
            name if name not in table.columns else f"group {name}": [value[i] for value in groups[1]]
            for i, name in enumerate(by)
        }
        return Table({**parts, **dict(numbers)})

    def small_areas(self, question: str | None = None, covariates: Any = None) -> Table:
        """Return estimates of areas that borrow strength from each other, by the model of Fay and Herriot.

        Parameters
        ----------
        question : str, optional
            Name of the question of a survey; left out for the results of another question.
        covariates : mapping, series or frame of pandas, optional
            By area, a number or several that are known of it, such as a rate in a census: the areas are then alike given these.
            A frame has one row per area. The labels of several columns that divide people are tuples.

        Returns
        -------
        table : Table
            One row for each area and answer: the columns that divide people ("area" if they are one), "answer" if there are
            several, "direct", "direct_stderr", "estimate" and "stderr".

        Raises
        ------
        TypeError, ValueError
            If there is no such question; if `covariates` lack an area, are not finite numbers or determine each other; if too
            few areas have answers: at least three more than coefficients.

        Notes
        -----
        An area is a linear function of the covariates plus a deviation with a common variance, estimated by restricted maximum
        likelihood; the errors of the direct estimates are known. The estimate is the mean of the direct one and that of the
        model, with weights by their variances: it is not unbiased for an area, but has a smaller mean squared error over areas,
        which `stderr` is the root of (Prasad and Rao). An area without answers has the estimate of the model.

        References
        ----------
        .. [1] R. E. Fay, R. A. Herriot, "Estimates of income for small places", JASA, 1979.

        Examples
        --------
        >>> import numpy as np
        >>> from ldpfast.survey import Survey, YesNo
        >>> rng = np.random.default_rng(1)
        >>> town = rng.integers(0, 50, 20_000)
        >>> rate = rng.normal(0.3, 0.05, 50)
        >>> people = {"smokes": rng.random(20_000) < rate[town], "town": town}
        >>> table = Survey({"smokes": YesNo()}, 2.0).run(people, by="town", rng=1).small_areas("smokes")
        >>> errors = [np.mean((np.array(table[name]) - rate) ** 2) ** 0.5 for name in ("direct", "estimate")]
        >>> bool(errors[1] < 0.8 * errors[0])
        True
        """
        found = self._with_columns(area_table(list(self), self.table().columns, question, covariates)).columns
        return Table({"area" if name == "group" else name: column for name, column in found.items()})

    def publish(
        self,
        *,
        round: int = 1,
        suppress: float | None = 0.5,
        population: Any = None,
        invited: int | None = None,
        period: str | int | None = None,
        confidence: float = 0.95,
        title: str = "Results of the survey",
    ) -> Any:
        """Return the tables of a survey by group, which add up to those of all people.

        Parameters
        ----------
        population : mapping or series of pandas by group, or int, optional
            Number of people of each group in the population, which its shares are multiplied by; or of all groups together,
            whose proportions are then those of the survey; by default the people who took part.
        round, suppress, invited, period, confidence, title
            As for `survey.SurveyResult.publish`.

        Returns
        -------
        publication : survey.Publication
            The rows of all people have "all" in the columns that divide people.

        Raises
        ------
        TypeError, ValueError
            As for `survey.SurveyResult.publish`; if the results are not those of a survey.

        Notes
        -----
        First the table of all people is made; then the nearest tables of the groups whose sum it is. If groups were projected
        alone, rare answers would be too frequent in each small group, and in their sum.

        Examples
        --------
        >>> from ldpfast.survey import Survey, YesNo
        >>> people = {"smokes": [True, False] * 998, "sex": ["f", "f", "m", "m"] * 499}
        >>> results = Survey({"smokes": YesNo()}, 4.0).run(people, by="sex", rng=1)
        >>> table = results.publish().tables["smokes"]
        >>> table["sex"], sum(table["people"][:4]) == sum(table["people"][4:]) == 1996
        (['f', 'f', 'm', 'm', 'all', 'all'], True)
        """
        publish = getattr(self._counts.question, "_publish_groups", None)
        if publish is None:
            raise TypeError(f"results must be those of a survey, got those of a {type(self._counts.question).__name__}")
        return publish(
            self,
            population,
            round=round,
            suppress=suppress,
            invited=invited,
            period=period,
            confidence=confidence,
            title=title,
        )

    def to_frame(self, confidence: float = 0.95, simultaneous: bool = False) -> Any:
        """Return `table` as a pandas DataFrame.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        return self.table(confidence, simultaneous).to_frame()

    def plot(self, path: str | Path | None = None, confidence: float = 0.95) -> Any:
        """Draw the numbers of all groups with their intervals, one panel per question, and one row per number and group.

        A figure has room for about 150 rows. If there are more, panels have those that differ most from the mean of the groups,
        in standard errors, and their titles say so; `table` has all, and `survey.compare` has the differences.

        Parameters
        ----------
        path : str or Path, optional
            File to write; the suffix determines the format.
        confidence : float, default 0.95
            Confidence level of the intervals.

        Returns
        -------
        figure : matplotlib.figure.Figure

        Raises
        ------
        ImportError
            If matplotlib is not installed (extra "plot").
        ValueError
            If there are no groups.
        """
        if not len(self):
            raise ValueError("results must have at least one group, got none")
        columns = self.table(confidence).columns
        size = len(columns["estimate"])
        questions, numbers = columns.get("question", [""] * size), ("estimate", "low", "high")
        names = [name for name in columns if name not in ("question", *numbers, "stderr", "n")]
        labels = [
            ", ".join(str(part) for part in row if part != "")
            for row in zip(*(columns[name] for name in names), strict=True)
        ]
        rows = {question: [i for i in range(size) if questions[i] == question] for question in dict.fromkeys(questions)}
        rows = rows or {"": []}  # texts of which none were found
        counts = dict(zip(rows, rows_shown([len(places) for places in rows.values()]), strict=True))
        shown = [question for question, places in rows.items() if counts[question] or not places]
        page, panels = panels_of_rows([counts[question] for question in shown])
        is_hollow = False
        for question, ax in zip(shown, panels, strict=True):
            own = rows[question]
            # The rows that differ most from the others with the same label, in standard errors.
            distances = _distances(columns, own)
            places = [own[i] for i in largest(distances, counts[question])]
            value, low, high = (np.array(columns[name], np.float64)[places] for name in numbers)
            is_hollow |= draw_intervals(ax, [labels[i] for i in places], value, low, high)
            cut = f"the {len(places)} of {len(own)} rows that differ most from the mean of all groups"
            title = [text_of(question)] * bool(question) + [cut] * (len(places) < len(own))
            ax.set_title(": ".join(title), fontsize=10, loc="left")
        rest = caption(is_hollow) + left_out([question for question in rows if question not in shown])
        panels[-1].set_xlabel(f"estimate with {100 * confidence:g} % interval, {self._source()}{rest}")
        if path is not None:
            page.savefig(path, dpi=120)
        return page

    def _source(self, is_cut: bool = False) -> str:
        n = sum(int(self._counts.n[self._counts.places[value]]) for value in self)
        shown = f", of which {MAX_SHOWN} are shown" if is_cut else ""
        return f"n = {n:,} in {len(self)} groups{shown}, {guarantee_text(self._counts.recipe.guarantee)}"

    def __repr__(self) -> str:
        shown = GroupedResults(list(self)[:MAX_SHOWN], self._counts, self.by, self.options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table = shown.table()
        return f"{table!r}\n{self._source(len(self) > MAX_SHOWN)}, 95 % intervals"


def _distances(columns: Mapping[str, Sequence[Any]], places: Sequence[int]) -> Floats:
    """Return how far some rows of a table are from the mean of those with the same label, in standard errors."""
    value, stderr = (np.array([columns[name][i] for i in places], np.float64) for name in ("estimate", "stderr"))
    labels = [name for name in ("answer", "category", "entry") if name in columns]
    own = [tuple(columns[name][i] for name in labels) for i in places]
    groups: dict[Any, list[int]] = {}
    for i, label in enumerate(own):
        groups.setdefault(label, []).append(i)
    means = np.empty(len(places))
    for members in groups.values():
        finite = [i for i in members if np.isfinite(value[i])]
        means[members] = np.mean(value[finite]) if finite else 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.abs(value - means) / stderr)
