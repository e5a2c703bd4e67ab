"""Sets of options that are asked together with the answers to other questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._typing import AnyArray, Floats
from ..mechanisms import Mechanism, SetSelection
from ..mechanisms._set_selection import SetMoments, SetSelectionLaw
from ..privacy import Guarantee
from ..reports import Counted, recipe_of
from ..results import Binomial, BoundedSum, Debiasing, Estimate, Fieller, SeparateChange
from ._answer_forms import AnswerForm, Found
from ._answers import NO_ANSWER, Answer, answer_like, axes_of, divided_by, estimate_fields
from ._columns import QuestionColumn
from ._planned_answer import POINTS, Expected, PlannedAnswer


@dataclass(frozen=True, eq=False)
class SetTableForm(AnswerForm):
    """A table of sets of options and the answers to other questions.

    A record has one position in the table for each position of the set, with the answer to the other question; for two
    sets, for each pair of their positions. All records have equally many, so that the mechanism is set selection.
    """

    names: tuple[str, ...]
    parts: tuple[QuestionColumn, ...]
    has_symbols: ClassVar[bool] = False
    has_weights: ClassVar[bool] = False
    join: ClassVar[str] = "positions"

    @property
    def columns(self) -> tuple[QuestionColumn, ...]:
        return self.parts

    @property
    def k(self) -> int:
        """Number of positions in the table."""
        return math.prod(part.k for part in self.parts)

    @property
    def widths(self) -> tuple[int, ...]:
        """Number of positions that a record has in each part."""
        return tuple(max(1, part.row_bytes // 2) for part in self.parts)

    @property
    def numbers(self) -> int:
        """How many numbers are reported, with margins and conditional shares."""
        places = [len(part.labels) + part.optional for part in self.parts]
        return 3 * math.prod(places) + sum(places)

    def mechanism(self, epsilon: float) -> Mechanism:
        own = math.prod(self.widths)
        return SetSelection(self.k - own, own, epsilon)

    def joined(self, encoded: list[AnyArray]) -> AnyArray:
        rows = np.zeros((len(encoded[0]), 1), np.int64)
        for column, own in zip(self.parts, encoded, strict=True):
            rows = rows[:, :, np.newaxis] * column.k + own.reshape(len(rows), 1, -1)
            rows = rows.reshape(len(own), -1)
        return rows

    def found(self, mechanism: Mechanism, counted: Counted) -> SetTable:
        return SetTable.of(self, mechanism, counted)

    def expected_variance(self, mechanism: Mechanism) -> float:
        return float(recipe_of(mechanism).decoding.line.variance(1 / self.k))

    def planned(self, mechanism: Mechanism, expected: Expected, asked: float) -> PlannedAnswer:
        variances = np.asarray(recipe_of(mechanism).decoding.line.variance(POINTS))
        return PlannedAnswer.of_shares(variances, expected, asked * expected.response)


@dataclass(frozen=True, eq=False)
class SetTable(Found):
    """Unbiased shares of the people who have each position of a table of sets.

    Attributes
    ----------
    form : SetTableForm
    counts : ndarray of int64, shape (positions,)
        Reports with each position.
    n : int
    guarantee : privacy.Guarantee
    moments : SetMoments
    size : int
        Number of positions of a report.
    """

    form: SetTableForm
    counts: AnyArray
    n: int
    guarantee: Guarantee
    moments: SetMoments
    size: int

    @classmethod
    def of(cls, form: SetTableForm, mechanism: Mechanism, counted: Counted) -> SetTable:
        """Return the shares from the counts of reports by a mechanism."""
        law = recipe_of(mechanism).law
        assert isinstance(law, SetSelectionLaw)
        return cls(form, counted.states[0], counted.n, mechanism.guarantee, law.moments, law.design.size)

    @property
    def numbers(self) -> int:
        """How many numbers are reported."""
        return self.form.numbers

    def answer(self, numbers: int) -> SetTableAnswer:
        """Return the answer; `numbers` are reported by the whole survey."""
        found = self.sums(self._cells(range(len(self.form.parts))))
        labels = self.labels
        return SetTableAnswer(
            **estimate_fields(found),
            labels=labels[0],
            columns=labels[1] if len(labels) == 2 else None,
            _axes=labels if len(labels) > 2 else None,
            _numbers=numbers,
            names=self.form.names,
            _found=self,
        )

    @property
    def labels(self) -> tuple[tuple[Any, ...], ...]:
        """Labels of each axis."""
        parts = self.form.parts
        return tuple((*part.labels, NO_ANSWER) if part.optional else part.labels for part in parts)

    @property
    def line(self) -> Debiasing:
        """Debiasing of a position."""
        return Debiasing.of(self.moments.own, self.moments.other)

    def _places(self, part: int) -> list[int]:
        """Return the positions of the labels of a part: those of the options, or of the symbols, and of no answer."""
        column = self.form.parts[part]
        return [*range(len(column.labels)), *([column.k - 1] if column.optional else [])]

    def _cells(self, kept: Sequence[int]) -> Floats:
        """Return the weights of the positions in the joint shares of some parts, shape (*labels of the parts, positions).

        A record has one position of a cell, or all that the other parts have together.
        """
        factors = []
        for part, column in enumerate(self.form.parts):
            width = self.form.widths[part]
            rows = np.eye(column.k)[self._places(part)] if part in kept else np.full((1, column.k), 1 / width)
            factors.append(rows)
        weights = np.ones((1, 1))
        for rows in factors:
            weights = np.einsum("ap,bq->abpq", weights, rows).reshape(len(weights) * len(rows), -1)
        order = [len(self._places(part)) for part in range(len(self.form.parts)) if part in kept]
        found = weights.reshape(*order, -1)
        ranks = np.argsort(np.argsort(kept))  # cells are in the order of the parts so far
        return np.asarray(found.transpose(*ranks, len(order)))

    def sums(self, weights: Floats) -> Estimate[Any]:
        """Return sums of the shares with weights of shape (..., positions); each record has 0 or 1 of each sum."""
        flat = weights.reshape(-1, weights.shape[-1])
        value = flat @ self.share
        variance = self.covariance(flat, flat, value) / self.n
        shape = weights.shape[:-1]
        single = (flat.max(axis=1) == flat.sum(axis=1)).all()  # of one position each
        rule: Any
        if single:
            rule = Binomial((flat @ self.counts).astype(np.int64).reshape(shape), np.full(shape, self.n), self.line)
        else:
            step = (self.line.one - self.line.zero) * self._most_hits(flat).reshape(shape) / self.n
            rule = BoundedSum(step, step, change=step)  # no report lowers a sum
        stderr = np.sqrt(np.maximum(variance, 0)).reshape(shape)
        return Estimate(value.reshape(shape), stderr, self.n, self.guarantee, None, rule)

    def _most_hits(self, weights: Floats) -> Floats:
        """Return how much a report can add to sums with weights of shape (sums, positions), at most."""
        return np.asarray(np.minimum(self.size, (weights > 0).sum(axis=1)) * weights.max(axis=1))

    def ratios(self, top: Floats, bottom: Floats) -> Estimate[Any]:
        """Return quotients of sums with weights of shape (..., positions), where a record with the first has the second."""
        shape = top.shape[:-1]
        top, bottom = (w.reshape(-1, w.shape[-1]) for w in (top, np.broadcast_to(bottom, top.shape)))
        numerator, denominator = top @ self.share, bottom @ self.share
        vn = self.covariance(top, top, numerator) / self.n
        vd = self.covariance(bottom, bottom, denominator) / self.n
        c = self.covariance(top, bottom, numerator) / self.n
        with np.errstate(divide="ignore", invalid="ignore"):
            value = numerator / denominator
            stderr = np.sqrt(np.maximum(vn - 2 * value * c + value**2 * vd, 0)) / np.abs(denominator)
        step = (self.line.one - self.line.zero) / self.n
        rule = Fieller(
            numerator.reshape(shape),
            denominator.reshape(shape),
            vn.reshape(shape),
            vd.reshape(shape),
            c.reshape(shape),
            0.0,
            1.0,
            step,
            change=SeparateChange(*(step * self._most_hits(w).reshape(shape) for w in (top, bottom))),
        )
        return Estimate(value.reshape(shape), stderr.reshape(shape), self.n, self.guarantee, None, rule)

    @property
    def share(self) -> Floats:
        """Estimated share of people with each position."""
        return np.asarray(self.line(self.counts / self.n), np.float64)

    def covariance(self, first: Floats, second: Floats, both: Floats) -> Floats:
        """Return the covariances of pairs of sums, times the number of people, shape (sums,).

        Parameters
        ----------
        first, second : ndarray, shape (sums, positions)
            Weights of the positions. The weights of those that a record has add up to 0 or 1 in each sum.
        both : ndarray, shape (sums,)
            Share of records that have 1 in both sums of a pair.
        """
        none, one, two = (float(p) for p in self.moments.pairs)
        p, q = float(self.moments.own), float(self.moments.other)
        x = self.share.clip(0, 1)
        seen = q + (p - q) * x  # probability of each position in a report
        product = first * second
        total, other = first.sum(axis=1), second.sum(axis=1)
        joint = product @ seen + none * (total * other - product.sum(axis=1))
        joint += (one - none) * (other * (first @ x) + total * (second @ x) - 2 * product @ x)
        joint += (two - 2 * one + none) * (both.clip(0, 1) - product @ x)
        return np.asarray((joint - (first @ seen) * (second @ seen)) / (p - q) ** 2)


@dataclass(frozen=True, eq=False, repr=False)
class SetTableAnswer(Answer):
    """Shares of the people who tick each option and give each answer to another question.

    Attributes
    ----------
    value : ndarray, shape (ka, kb, ...)
        Share of the people with each combination. Shares of options do not add up to 1. "No answer" is the last place along the
        axis of an optional question.
    names : tuple of str
        Names of the questions, one per axis.

    Examples
    --------
    >>> from ldpfast.survey import Cross, Several, Survey, YesNo
    >>> asked = {"symptoms": Several(["fever", "cough"], most=1), "smokes": YesNo(), "both": Cross("symptoms", "smokes")}
    >>> people = {"symptoms": [["cough"], ["fever"], []] * 10_000, "smokes": [True, False, False] * 10_000}
    >>> both = Survey(asked, 6.0, weights={"symptoms": 0, "smokes": 0}).run(people, rng=1)["both"]
    >>> both.value.shape, bool(both.given("smokes").value[1, 1] > 0.9)  # share of smokers who cough
    ((2, 2), True)
    """

    names: tuple[str, ...] = ()
    _found: SetTable | None = None

    def margin(self, *names: str) -> Answer:
        """Return the shares of one of the questions alone, or of some of them together, from the people who were asked all.

        Parameters
        ----------
        *names : str
            Names of questions of the table, fewer than all.

        Returns
        -------
        margin : Answer
            Shares among all people who were asked, "no answer" included.

        Raises
        ------
        ValueError
            If `names` are not different questions of the table, or are all of them; if nobody was asked.
        """
        places = axes_of(names, self.names)
        found = self._table_of()
        return self._like(found.sums(found._cells(places)), [found.labels[place] for place in places])

    def given(self, *names: str) -> Answer:
        """Return the shares of the other question in each subgroup with the same answers, or with the same option.

        Parameters
        ----------
        *names : str
            Names of the questions that divide the people: all but one. A person who ticks two options is in two subgroups.

        Returns
        -------
        conditional : Answer
            One row per subgroup, with Fieller's limits.

        Raises
        ------
        ValueError
            If `names` are not all but one of the questions of the table; if nobody was asked.
        """
        places, other = divided_by(names, self.names)
        found = self._table_of()
        top, bottom = found._cells([*places, other]), found._cells(places)
        ratios = found.ratios(top, bottom[..., np.newaxis, :])
        return self._like(ratios, [found.labels[place] for place in (*places, other)])

    def _names_of_axes(self) -> tuple[str, ...]:
        return self.names

    def _like(self, found: Estimate[Any], labels: Sequence[tuple[Any, ...]]) -> Answer:
        return answer_like(
            found,
            self,
            labels=labels[0],
            columns=labels[1] if len(labels) == 2 else None,
            _axes=tuple(labels) if len(labels) > 2 else None,
        )

    def _table_of(self) -> SetTable:
        if self._found is None or not self.n:
            raise ValueError("the table must have at least 1 report, got n = 0")
        return self._found
