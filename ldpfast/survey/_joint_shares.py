"""The shares of all questions of a survey whose tables have a question in common, with their joint covariance."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..mechanisms import Mechanism
from ..reports import Counted
from ._answers_per_person import Item
from ._mechanisms import uses_numbers
from ._projection import Tables
from ._shares import Shares
from ._survey_recipe import SurveyRecipe

MAX_HALVINGS = 30  # of covariances of two questions
ROUNDING_ERROR = 1e-9  # of the variance of a sum, as a part of the largest one
MAX_CELLS = 2048  # of tables with a common question, whose covariance matrix is computed


def has_tables(item: Item, mechanism: Mechanism) -> bool:
    """Return whether the reports to an asked question tell the shares of declared symbols."""
    return item.form.has_symbols and not uses_numbers(mechanism)


def margin(parts: Sequence[str], sizes: dict[str, int], kept: Sequence[str]) -> Floats:
    """Return the matrix of zeros and ones that sums the cells of a table of some questions to those of a table of fewer.

    Cells are in C order, and the questions of both tables in the given orders.
    """
    places = np.indices([sizes[part] for part in parts]).reshape(len(parts), -1)
    rows = np.ravel_multi_index([places[parts.index(part)] for part in kept], [sizes[part] for part in kept])
    matrix = np.zeros((math.prod(sizes[part] for part in kept), places.shape[1]))
    matrix[rows, np.arange(places.shape[1])] = 1.0
    return matrix


@dataclass(frozen=True, eq=False)
class Linked:
    """Asked questions whose tables have questions in common, so that they must agree.

    Attributes
    ----------
    asked : tuple of int
        Numbers of the asked questions.
    parts : list of tuple of str
        The questions that each of them combines.
    finest : list of tuple of str
        Those of the tables that are in no other one.
    sizes : dict
        Number of symbols of each question.
    """

    asked: tuple[int, ...]
    parts: list[tuple[str, ...]]
    finest: list[tuple[str, ...]]
    sizes: dict[str, int]

    @classmethod
    def of(cls, layout: SurveyRecipe) -> tuple[list[Linked], list[int]]:
        """Return all sets of linked questions, and the numbers of the questions that have too many cells."""
        groups: list[list[int]] = []
        for q, item in enumerate(layout.items):
            if has_tables(item, layout.mechanisms[q]):
                common = [
                    group
                    for group in groups
                    if any(set(layout.items[other].parts) & set(item.parts) for other in group)
                ]
                groups = [group for group in groups if group not in common]
                groups.append([*itertools.chain(*common), q])
        found, large = [], []
        for group in groups:
            asked = sorted(group)
            parts = [layout.items[q].parts for q in asked]
            finest: list[tuple[str, ...]] = []
            for own in sorted(parts, key=len, reverse=True):
                if not any(set(own) <= set(other) for other in finest):
                    finest.append(own)
            sizes = {part: layout.declared[part].k for part in itertools.chain(*finest)}
            one = cls(tuple(asked), parts, finest, sizes)
            if one.cells > MAX_CELLS:
                large += asked
            else:
                found.append(one)
        return sorted(found, key=lambda one: one.asked), sorted(large)

    @property
    def cells(self) -> int:
        """Number of cells of the finest tables."""
        return sum(math.prod(self.sizes[part] for part in parts) for parts in self.finest)

    def sums(self, parts: Sequence[str]) -> Floats:
        """Return the matrix that sums the cells of all finest tables to those of a table of some questions."""
        blocks, is_found = [], False
        for own in self.finest:
            shape = math.prod(self.sizes[part] for part in parts), math.prod(self.sizes[part] for part in own)
            use = not is_found and set(parts) <= set(own)
            blocks.append(margin(own, self.sizes, parts) if use else np.zeros(shape))
            is_found |= use
        return np.concatenate(blocks, axis=1)

    def margins(self) -> Floats:
        """Return the matrix that sums the cells to those of the other tables: of single questions, and asked ones."""
        found = dict.fromkeys([*((part,) for part in self.sizes), *self.parts])
        return np.concatenate(
            [np.zeros((0, self.cells)), *(self.sums(parts) for parts in found if parts not in self.finest)]
        )

    def equations(self) -> Floats:
        """Return the rows of the equations of the finest tables: their sums, then the differences of common margins."""
        starts = np.cumsum([0, *(math.prod(self.sizes[part] for part in own) for own in self.finest)])
        rows = []
        for first, last in itertools.pairwise(starts):
            row = np.zeros((1, starts[-1]))
            row[0, first:last] = 1
            rows.append(row)
        for i, j in itertools.combinations(range(len(self.finest)), 2):
            common = [part for part in self.finest[i] if part in self.finest[j]]
            if common:
                both = np.zeros((math.prod(self.sizes[part] for part in common), starts[-1]))
                both[:, starts[i] : starts[i + 1]] = margin(self.finest[i], self.sizes, common)
                both[:, starts[j] : starts[j + 1]] = -margin(self.finest[j], self.sizes, common)
                rows.append(both)
        return np.concatenate(rows)

    def right(self) -> Floats:
        """Return the right sides of the equations: the sums of the finest tables are 1."""
        return np.asarray(np.arange(len(self.equations())) < len(self.finest), np.float64)

    def tables(self) -> Tables:
        """Return all tables that agree with each other."""
        equations = self.equations()
        return Tables.of(equations, self.right())

    def design(self) -> Floats:
        """Return the matrix of the shares of all asked questions, one after the other, as sums of the cells."""
        return np.concatenate([self.sums(parts) for parts in self.parts])

    def places(self) -> list[slice]:
        """Return where each asked question is among the sums of `design`."""
        sizes = [math.prod(self.sizes[part] for part in parts) for parts in self.parts]
        return [slice(*pair) for pair in itertools.pairwise(np.cumsum([0, *sizes]).tolist())]


@dataclass(frozen=True, eq=False)
class JointShares:
    """Unbiased shares of linked questions in groups of people, with the covariance of all of them.

    Attributes
    ----------
    linked : Linked
    shares : list of Shares
        Of each asked question, with a first axis for the groups.
    n : ndarray, shape (questions, groups)
        Number of people who were asked.
    value : ndarray, shape (groups, sums)
    covariance : ndarray, shape (groups, sums, sums)
    regular : ndarray, shape (sums, sums)
        Where the shares of a question always add up to 1: ones, which are added to a covariance for its inverse.
    """

    linked: Linked
    shares: list[Shares]
    n: NDArray[np.int64]
    value: Floats
    covariance: Floats
    regular: Floats

    @classmethod
    def of(cls, layout: SurveyRecipe, counted: Counted, linked: Linked) -> JointShares:
        """Return the shares from counts with a first axis for the groups."""
        states = counted.states
        n = np.stack([states[0][:, q] for q in linked.asked])
        shares = [
            Shares.of(layout.mechanisms[q], Counted([states[2 + q]], np.maximum(asked, 1)))
            for q, asked in zip(linked.asked, n, strict=True)
        ]
        places = linked.places()
        value = np.concatenate([one.value for one in shares], axis=1)
        covariance = np.zeros((*value.shape, value.shape[1]))
        regular = np.zeros(covariance.shape[1:])
        for one, asked, place in zip(shares, n, places, strict=True):
            covariance[:, place, place] = one.covariance.matrix
            if one.response is not None and one.response.ones is not None:
                regular[place, place] = 1.0
            known = asked > 0
            # Groups that were not asked are like the others, but nothing is known of them.
            size = place.stop - place.start
            like = (
                np.average(value[known, place], axis=0, weights=asked[known])
                if known.any()
                else np.full(size, 1 / size)
            )
            value[~known, place] = like
            covariance[~known, place, place] = np.eye(size)
        found = cls(linked, shares, n, value, covariance, regular)
        if layout.answers > 1 and len(shares) > 1:
            found._add_common_people(layout, counted)
        return found

    def weighed(self, covariance: Floats) -> Floats:
        """Return covariances plus multiples of ones: they are regular, and the fit of shares with the sum 1 is the same."""
        scale = np.trace(covariance, axis1=-2, axis2=-1) / covariance.shape[-1]
        return np.asarray(covariance + scale[:, np.newaxis, np.newaxis] * self.regular)

    def _add_common_people(self, layout: SurveyRecipe, counted: Counted) -> None:
        """Add the covariances of the shares of two questions that the same people answered.

        Reports of different answers are independent given the answers, so that they have the covariance of the answers:
        it follows from the joint shares, for which a first fit is used. Where no table holds both questions, they are taken as
        independent given what they have in common.
        """
        fit = self.linked.tables().fit(self.value, self.covariance, self.weighed(self.covariance), self.linked.design())
        cells = fit.tables.cells(fit.nearest(fit.coordinates, tolerance=1e-6))[..., 0]
        cells = np.maximum(cells, 0.0)
        pairs = {pair: place for place, pair in enumerate(layout.pairs)}
        m, number = layout.answers, len(layout.items)
        places, alone = self.linked.places(), self.covariance.copy()
        for i, j in itertools.combinations(range(len(self.shares)), 2):
            pair = pairs.get((self.linked.asked[i], self.linked.asked[j]))
            expected = counted.n * (m * (m - 1) / (number * (number - 1)))
            both = expected if pair is None else counted.states[1][:, pair]
            own = [np.maximum(self.n[place], 1) for place in (i, j)]
            scale = np.where((self.n[i] > 0) & (self.n[j] > 0), both / (own[0] * own[1]), 0.0)
            joint = self._joint(cells, i, j)
            block = joint - joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
            block = scale[:, np.newaxis, np.newaxis] * block
            self.covariance[:, places[i], places[j]] = block
            self.covariance[:, places[j], places[i]] = block.swapaxes(-1, -2)
        # Joint shares of very few people can contradict the variances: some sums would have a negative one.
        for _ in range(MAX_HALVINGS):
            size = np.linalg.eigvalsh(self.covariance)
            impossible = size[:, 0] < -ROUNDING_ERROR * size[:, -1]
            if not impossible.any():
                break
            self.covariance[impossible] = (self.covariance[impossible] + alone[impossible]) / 2

    def _joint(self, cells: Floats, i: int, j: int) -> Floats:
        """Return the joint shares of the symbols of two asked questions, shape (groups, symbols, symbols)."""
        linked = self.linked
        first, second = linked.parts[i], linked.parts[j]
        common = [part for part in first if part in second]
        union = [*first, *(part for part in second if part not in first)]
        if any(set(union) <= set(own) for own in linked.finest):
            joint = cells @ linked.sums(union).T
            pick = [margin(union, linked.sizes, parts) for parts in (first, second)]
            return np.asarray(np.einsum("au,bu,gu->gab", *pick, joint, optimize=True))
        a, b = cells @ linked.sums(first).T, cells @ linked.sums(second).T
        given = [np.ones((1, part.shape[1])) for part in (a, b)]
        if common:
            given = [margin(parts, linked.sizes, common) for parts in (first, second)]
        with np.errstate(divide="ignore", invalid="ignore"):
            part = np.where((sums := a @ given[0].T) > 0, 1 / sums, 0.0)
        return np.asarray(np.einsum("ga,gb,sa,sb,gs->gab", a, b, *given, part, optimize=True))
