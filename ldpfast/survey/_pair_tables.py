"""All tables of two of many questions, with common margins, from the counts of view response."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._typing import AnyArray, Floats
from ..mechanisms import ViewResponse
from ..reports import Views, recipe_of
from ._covariance import Covariance

SIGNS = np.array([[1.0, -1.0], [-1.0, 1.0]])  # of the cells of two questions with two answers, in their product
LEAST = 0.5  # reports of each symbol that variances assume, so that none is zero


@dataclass(frozen=True, eq=False)
class PairTables:
    """The tables of the answers to every two of many questions.

    A share of a cell is 1 / (rows columns), plus the effects of its row and of its column, plus an interaction whose sums over
    rows and columns are 0. The effects of a question are estimated from all plain views with it, and the interaction from all
    views with both questions, each report with a weight in proportion to the probability of keeping its symbol, which is the
    best. So all tables of a question have the same margin. All results have the leading axes of the state: of groups of people.

    Attributes
    ----------
    format : Views
    kept : ndarray, shape (questions, questions)
        Probability of keeping the symbol of a plain view with two questions; 0 on the diagonal.
    flip_kept : float
        The same for flip views; 0 without them.
    cells, pairs : ndarray of int64
        Counts of the reports; see `Views`.
    """

    format: Views
    kept: Floats
    flip_kept: float
    cells: AnyArray
    pairs: AnyArray

    @classmethod
    def of(cls, mechanism: ViewResponse, state: AnyArray) -> PairTables:
        """Return the tables from the counts of the reports of a mechanism."""
        law: Any = recipe_of(mechanism).law
        report = law.report
        return cls(report, law.kept, float(law.flip_kept), *report.split(state))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of answers to each question."""
        return self.format.sizes

    def _block(self, i: int, j: int) -> Floats:
        """Return the counts of the answers to two questions in plain views with both."""
        first = self.format.first
        low, high = min(i, j), max(i, j)
        block = self.cells[..., first[low] : first[low + 1], first[high] : first[high + 1]].astype(np.float64)
        return block if i < j else np.swapaxes(block, -1, -2)

    def _one(self, i: int) -> Floats:
        """Return the counts of the answers to one question in all plain views with it."""
        first = self.format.first
        return np.diagonal(self.cells, axis1=-2, axis2=-1)[..., first[i] : first[i + 1]].astype(np.float64)

    @cached_property
    def plain(self) -> Floats:
        """Number of reports of plain views with two questions, shape (..., questions, questions)."""
        starts = self.format.first[:-1]
        upper = np.triu(self.cells, 1).astype(np.float64)
        blocks = np.add.reduceat(np.add.reduceat(upper, starts, axis=-2), starts, axis=-1)
        return np.asarray(blocks + np.swapaxes(blocks, -1, -2))

    @cached_property
    def flips(self) -> Floats:
        """Number of reports of flip views with two questions, shape (..., questions, questions)."""
        upper = np.triu(self.pairs, 1).astype(np.float64)
        return np.asarray(upper + np.swapaxes(upper, -1, -2))

    def asked(self, i: int, j: int) -> Any:
        """Return the number of people who were asked two questions."""
        return (self.plain[..., i, j] + self.flips[..., i, j]).astype(np.int64)

    def weight(self, i: int, j: int) -> Any:
        """Return how many reports without noise would tell as much about an interaction."""
        return self.plain[..., i, j] * self.kept[i, j] ** 2 + self.flips[..., i, j] * self.flip_kept**2

    def _powers(self, i: int) -> list[Any]:
        """Return the sums of c^2, c^3 and c^4 over the reports of all plain views with a question."""
        if self.format.plain == 2:
            return [(self.plain[..., i, :] * self.kept[i] ** power).sum(axis=-1) for power in (2, 3, 4)]
        reports, c = self._one(i).sum(axis=-1), self.kept[i].max()
        return [reports * c**power for power in (2, 3, 4)]

    def informative(self, i: int) -> Any:
        """Return how many reports without noise would tell as much about the shares of a question."""
        return self._powers(i)[0]

    def answered(self, i: int) -> Any:
        """Return the number of people who were asked a question in a plain view."""
        return self._one(i).sum(axis=-1).astype(np.int64)

    def effects(self, i: int) -> Floats:
        """Return the shares of the answers to a question less those of random answers, shape (..., answers)."""
        if self.format.plain == 2:
            counts: Any = 0.0
            for j in range(len(self.sizes)):
                if j != i:
                    counts = counts + self.kept[i, j] * self._block(i, j).sum(axis=-1)
        else:
            counts = self.kept[i].max() * self._one(i)
        centered = counts - counts.mean(axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(centered / self.informative(i)[..., np.newaxis])

    @cached_property
    def all_effects(self) -> list[Floats]:
        """`effects` of all questions."""
        return [self.effects(i) for i in range(len(self.sizes))]

    def interaction(self, i: int, j: int) -> Floats:
        """Return the interaction of two questions, shape (..., answers, answers)."""
        block = self.kept[i, j] * self._block(i, j)
        centered = block - block.mean(axis=-1, keepdims=True)
        centered = centered - centered.mean(axis=-2, keepdims=True)
        if self.flip_kept:
            agree = self.pairs[..., max(i, j), min(i, j)].astype(np.float64)
            balance = 2 * agree - self.flips[..., i, j]
            centered = centered + self.flip_kept * balance[..., np.newaxis, np.newaxis] / 4 * SIGNS
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(centered / self.weight(i, j)[..., np.newaxis, np.newaxis])

    def shares(self, i: int) -> Floats:
        """Return the shares of the answers to a question, shape (..., answers)."""
        return 1 / self.sizes[i] + self.all_effects[i]

    def table(self, i: int, j: int) -> Floats:
        """Return the joint shares of the answers to two questions, shape (..., answers, answers)."""
        rows, columns = self.sizes[i], self.sizes[j]
        margins = 1 / (rows * columns) + self.all_effects[i][..., :, np.newaxis] / columns
        return np.asarray(margins + self.all_effects[j][..., np.newaxis, :] / rows + self.interaction(i, j))

    # Precision --------------------------------------------------------------------------------------------------------

    def _reported(self, i: int, j: int, table: Floats) -> Floats:
        """Return the probabilities of the answers to two questions in the reports of plain views with both.

        The table may have negative cells; the nearest probabilities are used, and none is below half a report.
        """
        c, n = self.kept[i, j], np.asarray(self.plain[..., i, j])[..., np.newaxis, np.newaxis]
        cells = table.shape[-1] * table.shape[-2]
        seen = np.maximum(c * table + (1 - c) / cells, LEAST / np.maximum(n, 1.0))
        return np.asarray(seen / seen.sum(axis=(-1, -2), keepdims=True))

    def _slopes(self, i: int, j: int) -> list[Any]:
        """Return by how much a report moves the effects of both questions and their interaction, times n of cells."""
        c = self.kept[i, j]
        with np.errstate(divide="ignore", invalid="ignore"):
            own = [c / (self.informative(a) * self.sizes[b]) for a, b in ((i, j), (j, i))]
            return [*own, c / self.weight(i, j)]

    def _others(self, i: int, j: int) -> list[Any]:
        """Return the sums of `_powers` over the plain views with the first question and not with the second."""
        return [
            total - self.plain[..., i, j] * self.kept[i, j] ** power
            for total, power in zip(self._powers(i), (2, 3, 4), strict=True)
        ]

    def variance(self, i: int, j: int, table: Floats | None = None) -> Floats:
        """Return the variances of the cells of a table, shape (..., answers, answers), for the true shares `table`.

        By default they are the estimated ones.
        """
        rows, columns = self.sizes[i], self.sizes[j]
        table = self.table(i, j) if table is None else table
        effects = table.sum(axis=-1) - 1 / rows, table.sum(axis=-2) - 1 / columns
        joint = self._reported(i, j, table)
        row, column = joint.sum(axis=-1, keepdims=True), joint.sum(axis=-2, keepdims=True)
        first, second, both = (np.asarray(slope)[..., np.newaxis, np.newaxis] for slope in self._slopes(i, j))
        mean: Any = 0.0
        square: Any = 0.0
        for a, p in ((1 - 1 / rows, 1), (-1 / rows, 0)):  # whether the report has the row of the cell, and its column
            for b, q in ((1 - 1 / columns, 1), (-1 / columns, 0)):
                share = joint if p and q else row - joint if p else column - joint if q else 1 - row - column + joint
                score = first * a + second * b + both * a * b
                mean, square = mean + share * score, square + share * score**2
        found = self.plain[..., i, j][..., np.newaxis, np.newaxis] * (square - mean**2)
        for one, other, effect, axis in ((i, j, effects[0], -1), (j, i, effects[1], -2)):
            w2, w3, w4 = (w[..., np.newaxis] for w in self._others(one, other))
            r = self.sizes[one]
            own = w2 / r + w3 * effect - (w2 / r**2 + 2 * w3 * effect / r + w4 * effect**2)
            own = own / (self.informative(one)[..., np.newaxis] * self.sizes[other]) ** 2
            found = found + np.expand_dims(np.maximum(own, 0.0), axis)
        return np.asarray(found + self._flip_variance(i, j, table)[..., np.newaxis, np.newaxis])

    def _flip_variance(self, i: int, j: int, table: Floats) -> Any:
        """Return what the reports of flip views add to the variance of each cell."""
        if not self.flip_kept:
            return np.zeros(np.shape(self.plain[..., i, j]))
        product = np.clip((table * SIGNS).sum(axis=(-1, -2)), -1, 1)
        c = self.flip_kept
        return self.flips[..., i, j] * c**2 * (1 - (c * product) ** 2) / (4 * self.weight(i, j)) ** 2

    def covariance(self, i: int, j: int) -> Floats:
        """Return the covariance matrix of the cells of a table in C order, for states without leading axes."""
        rows, columns = self.sizes[i], self.sizes[j]
        table = self.table(i, j)
        joint = self._reported(i, j, table).ravel()
        first, second, both = self._slopes(i, j)
        row_scores, column_scores = np.eye(rows) - 1 / rows, np.eye(columns) - 1 / columns
        ones = [np.ones((size, size)) for size in (rows, columns)]
        score = (
            first * np.kron(row_scores, ones[1])
            + second * np.kron(ones[0], column_scores)
            + both * np.kron(row_scores, column_scores)
        )
        mean = score @ joint
        found = self.plain[i, j] * ((score * joint) @ score.T - np.outer(mean, mean))
        found = found + np.kron(self._other_covariance(i, j), ones[1]) + np.kron(ones[0], self._other_covariance(j, i))
        if self.flip_kept:
            found = found + self._flip_variance(i, j, table) * np.outer(SIGNS, SIGNS)
        return np.asarray(found)

    def _other_covariance(self, i: int, j: int) -> Floats:
        """Return what plain views without the second question add to the covariance of cells in different rows."""
        w2, w3, w4 = self._others(i, j)
        r, effect = self.sizes[i], self.all_effects[i]
        scale = (self.informative(i) * self.sizes[j]) ** 2
        return np.asarray(_multinomial(w2, w3, w4, r, effect) / scale)

    def share_covariance(self, i: int) -> Floats:
        """Return the covariance matrix of the shares of a question, for states without leading axes."""
        w2, w3, w4 = self._powers(i)
        return np.asarray(_multinomial(w2, w3, w4, self.sizes[i], self.all_effects[i]) / w2**2)

    def share_variance(self, i: int) -> Floats:
        """Return the variances of the shares of a question, shape (..., answers)."""
        w2, w3, w4 = (w[..., np.newaxis] for w in self._powers(i))
        r, effect = self.sizes[i], self.all_effects[i]
        with np.errstate(divide="ignore", invalid="ignore"):
            own = w2 / r + w3 * effect - (w2 / r**2 + 2 * w3 * effect / r + w4 * effect**2)
            return np.asarray(np.maximum(own, 0.0) / w2**2)


def _multinomial(w2: Any, w3: Any, w4: Any, answers: int, effect: Floats) -> Floats:
    """Return the sum of c^2 times the covariance of one report, whose answers have the probabilities 1 / answers + c effect."""
    both = w2 / answers**2 + w3 * np.add.outer(effect, effect) / answers + w4 * np.outer(effect, effect)
    return np.asarray(np.diag(w2 / answers + w3 * effect) - both)


def as_covariance(matrix: Floats) -> Covariance:
    """Return a covariance matrix in the form of a diagonal and products of vectors.

    The matrix may be singular: the diagonal is its mean, and the vectors are its eigenvectors.
    """
    values, vectors = np.linalg.eigh(matrix)
    mean = float(matrix.diagonal().mean())
    return Covariance(np.full(len(matrix), mean), tuple(vectors.T), np.diag(np.maximum(values, 0.0) - mean))
