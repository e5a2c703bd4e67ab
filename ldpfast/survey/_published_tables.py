"""From the counts of a survey to tables that can be published: what is in them, how it is rounded, and what is suppressed."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _check
from .._labels import in_order, numbers_by_label
from .._table import Table, decimals
from .._typing import Floats
from .._warnings import warn
from ..reports import Counted, Counts
from ..results import DoubtfulWarning, Estimate
from ._agreeing_tables import AgreeingTables, TableNumbers
from ._answers import NO_ANSWER, Answer
from ._calibration import Calibration
from ._figures import PEOPLE, Figure, check_labels, frame_of, tables_of
from ._group_weights import GroupWeights
from ._joint_shares import MAX_CELLS, JointShares, Linked, has_tables
from ._pairs import PairsForm
from ._publication import Publication
from ._question_weights import weights_of_questions
from ._rounded_tables import rounded, rounded_groups
from ._survey_recipe import SurveyRecipe

SMALLEST_SPREAD = 1e-9  # of shares that are not all 0 or 1: the sum of share * (1 - share)
ROUNDING = 12.0  # the variance of an error of rounding to multiples of 1 is 1 / 12


@dataclass(frozen=True)
class PublishOptions:
    """The arguments of `publish`, after their checks."""

    round: int
    suppress: float | None
    invited: int | None
    period: str
    confidence: float
    title: str

    @classmethod
    def of(cls, *, round: Any, suppress: Any, invited: Any, period: Any, confidence: Any, title: Any) -> PublishOptions:
        """Return checked options.

        Raises
        ------
        TypeError, ValueError
            If an option is out of range.
        """
        return cls(
            _check.integer("round", round, 1),
            None if suppress is None else _check.positive("suppress", suppress),
            None if invited is None else _check.integer("invited", invited, 1),
            "" if period is None else str(period),
            _check.probability("confidence", confidence),
            str(title),
        )


@dataclass(frozen=True, eq=False)
class PublishedSurvey:
    """The counts of a survey that are published, with the results of what has no tables of shares.

    Attributes
    ----------
    counts : Counts
        With one row for each group.
    groups : list
        The groups whose tables are published, in the order of the rows, as tuples; empty for one table of all people.
    by : list of str
        The columns that divide people.
    weights : GroupWeights or None
        Weights of the groups in the table of all people.
    answers : dict
        The answers to all questions of each group, and of all people with the key ().
    people : ndarray, shape (groups,), or (1,)
        Number of people that the shares of each group are multiplied by; that of all for tables without groups.
    options : PublishOptions
    """

    counts: Counts
    groups: list[tuple[Any, ...]]
    by: list[str]
    weights: GroupWeights | None
    answers: dict[tuple[Any, ...], Mapping[str, Answer]]
    people: Floats
    options: PublishOptions

    @property
    def layout(self) -> SurveyRecipe:
        found: SurveyRecipe = self.counts.recipe
        return found

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """Numbers of people of the groups in multiples of the base, which add up to the number of all people."""
        exact = self.people / self.options.round
        total = round(float(exact.sum()))
        return rounded(exact / exact.sum(), np.ones((1, len(exact))), np.ones(1), total)

    def publication(self) -> Publication:
        """Return the tables, with their quality."""
        layout, options = self.layout, self.options
        if options.invited is not None and options.invited < self.counts.n.sum():
            raise ValueError(
                f"invited must be at least the {self.counts.n.sum()} people who took part, got {options.invited}"
            )
        if (self.units < 1).any():
            raise ValueError(f"round must be at most the number of people of each group, got {options.round}")
        # First the tables of shares, of all questions that must agree at a time; then everything else, and what is left out.
        linked, large = Linked.of(layout)
        by_name: dict[str, list[Figure]] = {}
        quality: dict[str, tuple[float, float]] = {}
        own_weights = self._weights()
        left_out = [layout.items[q].name for q in large]
        for one in linked:
            if any(own_weights[q] is None for q in one.asked):
                left_out += [layout.items[q].name for q in one.asked]
                continue
            self._add_linked(one, own_weights, by_name, quality, left_out)
        symbols = {q for one in linked for q in one.asked} | set(large)
        for q, item in enumerate(layout.items):
            if q in symbols:
                continue
            if isinstance(item.form, PairsForm):
                left_out.append(item.name)
            else:
                by_name[item.name] = list(self._single(item.name))
        if left_out:
            warn(
                "questions are left out of the tables, because they are `Pairs`, have tables of more than "
                f"{MAX_CELLS:,} cells or of several means, or have no weighted answers: "
                f"{', '.join(map(repr, dict.fromkeys(left_out)))}",
                DoubtfulWarning,
            )
        order = [*layout.declared, *(item.name for item in layout.items if item.name not in layout.declared)]
        figures = [self._checked(figure) for name in order for figure in by_name.get(name, [])]
        check_labels(figures)
        return Publication(
            tables_of(figures, self.by),
            _quality_table(self, figures, quality),
            frame_of(figures, self.by, f"LDPFAST:SURVEY_{layout.label.fingerprint.upper()}(1.0)", options.period),
            _notes(self),
            options.title,
            frozenset(name for name, column in layout.declared.items() if column.encoding == "string"),
        )

    # Tables of shares -------------------------------------------------------------------------------------------------

    def _weights(self) -> list[GroupWeights | None]:
        """Return the weights of the groups in the table of all, for each asked question; None where it has none."""
        items = self.layout.items
        n = [self.counts.states[0][:, q] for q in range(len(items))]
        if self.weights is None:
            names = list(self.counts.places)
            # Groups whose numbers of people depend on who takes part: the sizes are a part of the error.
            random = _calibration_of(self.counts, self.people)
            found = []
            for asked in n:
                shares = np.where(asked > 0, self.people, 0.0) if asked.any() else self.people
                found.append(GroupWeights(names, shares / shares.sum(), self.counts.n, random))
            return list(found)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the weighted result has warned
            own = weights_of_questions(items, self.weights, n)[0]
        full: list[GroupWeights | None] = []
        for asked, part in zip(n, own, strict=True):
            if part is None or part is self.weights:
                full.append(part)
                continue
            weights = np.zeros(len(asked))
            weights[asked > 0] = part.weights
            full.append(replace(self.weights, weights=weights))
        return full

    def _add_linked(
        self,
        linked: Linked,
        weights: list[GroupWeights | None],
        by_name: dict[str, list[Figure]],
        quality: dict[str, tuple[float, float]],
        left_out: list[str],
    ) -> None:
        """Add the tables of questions that must agree."""
        layout, options = self.layout, self.options
        joint = JointShares.of(layout, Counted(self.counts.states, self.counts.n), linked)
        own = [part for q in linked.asked if (part := weights[q]) is not None]
        stages = self._stages(joint, own)
        # The numbers of the groups are rounded, and those of all people are their sums, so that both add up.
        margins = linked.margins()
        units = rounded_groups(stages[0][0].cells, linked.equations(), linked.right(), self.units, margins)
        counts = [units, units.sum(axis=0, keepdims=True)][-len(stages) :]
        for name, parts in self._tables_of(linked):
            means = [axis for axis, part in enumerate(parts) if layout.declared[part].quantity == "mean"]
            if len(means) > 1:
                left_out.append(name)
                continue
            asked = [place for place, other in enumerate(linked.parts) if set(parts) <= set(other)]
            figures: list[Figure] = []
            for (tables, groups, people), whole_cells in zip(stages, counts, strict=True):
                n = joint.n[asked].sum(axis=0) if layout.answers == 1 else joint.n[asked].max(axis=0)
                n = n if len(groups) == len(n) else np.array([n.sum()])
                if means:
                    numbers = tables.means(parts, means[0], layout.declared[parts[means[0]]], options.confidence)
                    kept = [part for axis, part in enumerate(parts) if axis != means[0]]
                    figures += self._figures(name, kept, numbers, groups, people, n, None)
                else:
                    numbers = tables.shares(parts, options.confidence)
                    whole = np.round(whole_cells @ linked.sums(parts).T).astype(np.int64)
                    figures += self._figures(name, list(parts), numbers, groups, people, n, whole)
            by_name[name] = figures
            if numbers.coverage is not None and n.any():
                quality[name] = (float(numbers.coverage.mean()), _design_effect(numbers, int(self.counts.n.sum())))

    def _stages(
        self, joint: JointShares, weights: Sequence[GroupWeights]
    ) -> list[tuple[AgreeingTables, list[tuple[Any, ...]], Floats]]:
        """Return the tables of the groups, if there are some, and that of all, with their groups and numbers of people."""
        exact = joint.shares[0] if len(joint.shares) == 1 and joint.regular.any() else None
        is_one = len(self.counts.n) == 1 and not self.groups and self.weights is None
        total = AgreeingTables.of(joint, *_weighted(joint, weights), exact if is_one else None)
        everybody = (total, [()], np.array([self.people.sum()]))
        if not self.groups:
            return [everybody]
        return [(total.of_groups(self.people / self.people.sum(), exact), self.groups, self.people), everybody]

    def _tables_of(self, linked: Linked) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the name and the questions of each table: those that are asked, and those that only tables hold."""
        names = [self.layout.items[q].name for q in linked.asked]
        yield from zip(names, linked.parts, strict=True)
        yield from ((part, (part,)) for part in linked.sizes if part not in self.layout.names)

    def _figures(
        self,
        name: str,
        parts: Sequence[str],
        numbers: TableNumbers,
        groups: list[tuple[Any, ...]],
        people: Floats,
        n: Any,
        whole: Any,
    ) -> Iterator[Figure]:
        """Yield the numbers of a table; `whole` are the rounded numbers of people of its cells, None for means."""
        declared, base = self.layout.declared, self.options.round
        axes = [
            (*declared[part].labels, NO_ANSWER) if declared[part].optional else declared[part].labels for part in parts
        ]
        for g, (group, size) in enumerate(zip(groups, people, strict=True)):
            for k, labels in enumerate(itertools.product(*axes)):
                value, error, low, high = (
                    float(x[g, k]) for x in (numbers.value, numbers.stderr, numbers.low, numbers.high)
                )
                named = dict(zip(parts, labels, strict=True))
                if whole is None:
                    yield _statistic(name, group, named, "MEAN", (value, error, low, high), int(n[g]))
                    continue
                count = int(whole[g, k]) * base
                share = count / (base * int(whole[g].sum()))
                yield self._share(name, group, named, share, (value, error, low, high), count, float(size), int(n[g]))

    def _share(
        self,
        name: str,
        group: tuple[Any, ...],
        labels: dict[str, Any],
        share: float,
        numbers: tuple[float, ...],
        people: int,
        size: float,
        n: int,
    ) -> Figure:
        """Return a share that was rounded; `numbers` are the share before that, its standard error and limits."""
        value, error, low, high = numbers
        # A sum of many rounded cells can be further from its value than a cell.
        step = self.options.round / size if self.options.round > 1 else 0.0
        error = math.hypot(error, max(step / math.sqrt(ROUNDING), abs(share - value)))
        low, high = max(0.0, min(low - step / 2, share)), min(1.0, max(high + step / 2, share))
        return Figure(name, group, labels, PEOPLE, share, error, low, high, people, size, n)

    # Other numbers ----------------------------------------------------------------------------------------------------

    def _single(self, name: str) -> Iterator[Figure]:
        """Yield the numbers of a question that has no table of declared shares, with what is out of range moved to its end."""
        sizes = dict(zip(self.groups, zip(self.people, self.units, strict=True), strict=True)) if self.groups else {}
        for group in [*self.groups, ()]:
            if name not in self.answers[group]:
                continue
            size, units = sizes.get(group, (self.people.sum(), self.units.sum()))
            for label, part in self.answers[group][name]._parts():
                yield from self._parts_of(name, group, float(size), int(units), label, part)

    def _parts_of(
        self, name: str, group: tuple[Any, ...], size: float, units: int, label: str, part: Estimate[Any]
    ) -> Iterator[Figure]:
        assert isinstance(part, Answer)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            low, high = part.interval(self.options.confidence)
        labels = [label] if label else part.entries
        columns = (np.ravel(np.clip(part.value, *part.range)), *(np.ravel(x) for x in (part.stderr, low, high)))
        for entry, *numbers in zip(labels, *(np.broadcast_to(x, len(labels)).tolist() for x in columns), strict=True):
            value, error, *ends = numbers
            limits = min(ends[0], value), max(ends[1], value)
            named = {name: entry} if entry else {}
            if part._quantity != "share":
                yield _statistic(name, group, named, part._quantity.upper(), (value, error, *limits), int(part.n))
            elif math.isnan(value):
                yield Figure(name, group, named, PEOPLE, value, error, *limits, 0, size, int(part.n))
            else:
                count = round(value * units)
                own = (value, error, *limits)
                people = count * self.options.round
                yield self._share(name, group, named, count / units, own, people, size, int(part.n))

    def _checked(self, figure: Figure) -> Figure:
        """Return a number, suppressed by the rule of the standard error."""
        value, error = figure.value, figure.stderr
        unknown = not (math.isfinite(value) and math.isfinite(error)) or figure.n == 0
        limit = self.options.suppress
        return replace(figure, is_suppressed=unknown or (limit is not None and error > limit * abs(value)))


def _statistic(
    name: str, group: tuple[Any, ...], labels: dict[str, Any], unit: str, numbers: tuple[float, ...], n: int
) -> Figure:
    """Return a number that is no share, with two digits of its standard error."""
    value, error, low, high = numbers
    digits = decimals(error)
    if digits is not None:
        value = round(value, digits)
    return Figure(name, group, labels, unit, value, error, min(low, value), max(high, value), None, 1.0, n)


def _weighted(joint: JointShares, weights: Sequence[GroupWeights]) -> tuple[Floats, Floats]:
    """Return the shares of all people with weights of the groups for each asked question, and their covariance."""
    sizes = [place.stop - place.start for place in joint.linked.places()]
    w = np.concatenate([np.tile(one.weights, (size, 1)).T for one, size in zip(weights, sizes, strict=True)], axis=1)
    value = (w * joint.value).sum(axis=0)
    covariance = np.einsum("ga,gab,gb->ab", w, joint.covariance, w, optimize=True)
    if weights[0].calibration is not None:
        rest = np.concatenate(
            [one.residuals(joint.value[:, place]) for one, place in zip(weights, joint.linked.places(), strict=True)],
            axis=1,
        )
        rest = w * rest / np.sqrt(weights[0].n)[:, np.newaxis]
        covariance = covariance + rest.T @ rest
    return value[np.newaxis], covariance[np.newaxis]


def _sizes_of(counts: Counts, names: list[Any], population: Any) -> Floats:
    """Return the number of people of each group: those who took part, a total in their proportion, or given numbers."""
    own = np.asarray(counts.n, np.float64)
    if population is None:
        return own
    if isinstance(population, int | np.integer):
        return np.asarray(own * (_check.people("population", population) / own.sum()))
    if numbers_by_label("population", population) is None:
        raise TypeError(f"population must be a whole number, or numbers by group, got {type(population).__name__}")
    sizes = _check.numbers("population", in_order("population", population, [[name] for name in names]))
    if (sizes < 1).any():
        raise ValueError(f"population must be at least 1 for each group, got {sizes.min():g}")
    if sizes.sum() > _check.MAX_PEOPLE:
        raise ValueError(f"population must be at most {_check.MAX_PEOPLE} in all groups together, got {sizes.sum():g}")
    return sizes


def _calibration_of(counts: Counts, people: Floats) -> Calibration | None:
    """Return the margins of groups if their shares come from the people who took part; None for other, known shares."""
    shares, own = people / people.sum(), counts.n / counts.n.sum()
    return (
        Calibration(np.ones((len(own), 1)), np.ones(1))
        if len(own) == len(shares) and np.allclose(shares, own)
        else None
    )


def _design_effect(numbers: TableNumbers, n: int) -> float:
    """Return the variance of shares, divided by their variance if as many people answered all questions without privacy."""
    simple = float(np.sum(numbers.value * (1 - numbers.value))) / n
    is_known = simple * n > SMALLEST_SPREAD  # not where all people have the same answer
    return float(np.sum(np.square(numbers.stderr))) / simple if is_known else math.nan


# Quality --------------------------------------------------------------------------------------------------------------


def _quality_table(
    survey: PublishedSurvey, figures: Sequence[Figure], quality: Mapping[str, tuple[float, float]]
) -> Table:
    """Return one row for each table."""
    layout, counts = survey.layout, survey.counts
    people = int(counts.n.sum())
    response = math.nan if survey.options.invited is None else people / survey.options.invited
    asked = {item.name: int(counts.states[0][:, q].sum()) for q, item in enumerate(layout.items)}
    rows: list[dict[str, Any]] = []
    for name in dict.fromkeys(figure.table for figure in figures):
        own = [figure for figure in figures if figure.table == name]
        total = [figure for figure in own if figure.group == ()]
        missing = [x.value for x in total if x.unit == PEOPLE and [*x.labels.values()] == [NO_ANSWER]]
        coverage, effect = quality.get(name, (math.nan, math.nan))
        rows.append(
            {
                "table": name,
                "people": people,
                "response": response,
                "answers": asked.get(name, max((figure.n for figure in total), default=0)),
                "no answer": missing[0] if len(missing) == 1 else math.nan,
                "clipped": counts.clipped.get(name, 0),
                "numbers": len(own),
                "suppressed": sum(figure.is_suppressed for figure in own),
                "expected coverage": coverage,
                "design effect": effect,
                "epsilon": layout.guarantee.epsilon,
            }
        )
    names = list(rows[0]) if rows else ["table"]
    return Table({name: [row[name] for row in rows] for name in names})


def _notes(survey: PublishedSurvey) -> tuple[str, ...]:
    """Return how the numbers were made, for their readers."""
    options, guarantee = survey.options, survey.layout.guarantee
    percent = f"{100 * options.confidence:g} %"
    found = [
        "Every person changed the answers at random before they were sent (local differential privacy, epsilon = "
        f"{guarantee.epsilon:.6g} for all answers of a person). The tables follow from the random answers alone, so that no "
        "number needs to be suppressed to protect anybody, and suppressed ones may be computed from others.",
        "Numbers of people are estimates for the population. They are not negative and add up exactly over all tables: the "
        "nearest such tables by weighted least squares with the known covariance of the errors, in multiples of "
        f"{options.round}. This moves numbers whose estimates are negative up, and others down by as much.",
        f"Limits of {percent} intervals are those before this step, which have no bias, and contain the number. Standard "
        "errors are for the numbers after it, from simulated surveys.",
    ]
    if options.suppress is not None:
        found.append(
            "A number is suppressed because it is not reliable if its standard error is larger than "
            f"{options.suppress:g} times the number, or if nobody answered."
        )
    if survey.counts.refused:
        found.append(f"{sum(survey.counts.refused.values()):,} messages were refused because they were no reports.")
    return tuple(found)


# Entries --------------------------------------------------------------------------------------------------------------


def counts_of_tables(counts: Counts) -> Counts:
    """Return a copy of the counts that tables are made of, without those of questions that have none, which can be large."""
    layout = counts.recipe
    pairs = zip(layout.items, layout.mechanisms, strict=True)
    used = [True, True, *(has_tables(*pair) and pair[0].form.k <= MAX_CELLS for pair in pairs)]
    states = [state.copy() if own else state[:, :0] for state, own in zip(counts.states, used, strict=True)]
    found = Counts.of(counts.question, list(counts.places), states, counts.n.copy())
    found.clipped = {name: number for name, number in counts.clipped.items() if number}
    found.refused = counts.refused.copy()
    return found


def publish_all(
    counts: Counts,
    weights: GroupWeights | None,
    answers: Mapping[str, Answer],
    population: Any,
    options: PublishOptions,
) -> Publication:
    """Return the publication of the result of all people."""
    total = int(counts.n.sum()) if population is None else _check.people("population", population)
    return PublishedSurvey(counts, [], [], weights, {(): answers}, np.array([float(total)]), options).publication()


def publish_groups(
    counts: Counts,
    by: Sequence[str],
    results: Mapping[Any, Mapping[str, Answer]],
    total: Any,
    population: Any,
    options: PublishOptions,
) -> Publication:
    """Return the publication of the results of groups; `total` is a function of weights that returns the answers of all."""
    names = list(results)
    sizes = _sizes_of(counts, names, population)
    groups = [name if len(by) > 1 else (name,) for name in names]
    answers: dict[tuple[Any, ...], Mapping[str, Answer]] = {}
    pairs = zip(counts.recipe.items, counts.recipe.mechanisms, strict=True)
    others = [item for item, mechanism in pairs if not has_tables(item, mechanism)]
    if others:
        answers = {group: results[name] for group, name in zip(groups, names, strict=True)}
        own = GroupWeights(names, sizes / sizes.sum(), counts.n, _calibration_of(counts, sizes))
        answers[()] = total(own) if any(item.form.has_weights for item in others) else {}
    return PublishedSurvey(counts, groups, list(by), None, answers, sizes, options).publication()
