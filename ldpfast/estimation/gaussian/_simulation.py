"""Simulation of the whole protocol in one process, for given records or for records from the model."""

from __future__ import annotations

import math

import numpy as np

from ... import _check, _threads
from ..._core.stream import Stream
from ..._typing import AnyArray
from ...domains import Reals
from ...mechanisms import Bins, Mechanism, Residue
from ...reports import aggregator_with, recipe_of
from ._distribution import ReportDistribution
from ._group import AnswerGroups, Group
from ._plan import Part, Plan

PIECE_ROWS = 1 << 17  # records that are gathered, checked and privatized while they are in cache
DRAWN_ROWS = 1 << 20  # records that are drawn at a time, for reports that are not codes


def ask(
    plan: Plan, part: Part, questions: tuple[Mechanism, ...], x: AnyArray, stream: Stream, clip: bool = False
) -> AnswerGroups:
    """Collect the answers of all people of a part, without storing reports.

    Parameters
    ----------
    plan : Plan
        Assignment of people.
    part : Part
        People who are asked.
    questions : tuple of Mechanism
        One question for each group of the part.
    x : ndarray, shape (n,)
        Records of all people.
    stream : Stream
        Source of randomness.
    clip : bool, default False
        Whether records that are not finite are replaced.

    Returns
    -------
    groups : tuple of Group

    Raises
    ------
    ValueError
        If a record is not a finite number and `clip` is false.
    """
    # The assignment of people has a period: the records are a table with one period per row, in which the people of a group are
    # consecutive columns. Whole periods are divided among the threads; the tail, which is not a whole one, comes last. Every
    # group has a range of record blocks of its own, so that its reports do not depend on the number of threads.
    domain = Reals()
    period = plan.second.stop
    recipes = [recipe_of(question) for question in questions]
    rows = recipes[0].kernel.rows
    full = len(x) // period
    table = x[: full * period].reshape(full, period)[:, part.first : part.stop]
    sizes = part.sizes(len(x), period)
    blocks = [stream.take(-(-full * part.slots // rows) + 1) for _ in questions]
    unit = rows // math.gcd(rows, part.slots)  # periods that fill whole blocks of each group
    unit *= max(1, PIECE_ROWS // (unit * part.slots * part.groups))
    in_place = _check.is_readable(table, domain.kernel_dtype(table))

    def check(records: AnyArray) -> AnyArray:
        piece = domain.convert(records)
        if domain.first_invalid(piece) < 0:
            return piece
        if not clip:
            raise domain.invalid_error(x, can_clip=True)
        return domain.clip(piece)

    def work(start: int, stop: int) -> list[AnyArray]:
        states = [question.report.new_state() for question in questions]
        for first in range(start, stop, unit):
            piece = table[first : min(stop, first + unit)]
            piece = piece if in_place else domain.convert(piece)
            columns = piece.reshape(len(piece), part.groups, part.slots).swapaxes(0, 1)
            for recipe, block, column, state in zip(recipes, blocks, columns, states, strict=True):
                recipe.collect_block(column, stream, block + first * part.slots // rows, state, check)
        return states

    parts = _threads.parallel_map(work, full, unit, x.size) if full else []
    tail, groups = check(x[full * period :]), []
    for number, question in enumerate(questions):
        state, first = question.report.new_state(), part.first + number * part.slots
        block = blocks[number] - (-full * part.slots // rows)
        recipes[number].collect_block(tail[first : first + part.slots], stream, block, state, check)
        for states in parts:
            question.report.merge(state, states[number])
        groups.append(Group(question, aggregator_with(question, [state], sizes[number])))
    return tuple(groups)


def simulate(
    plan: Plan,
    part: Part,
    questions: tuple[Mechanism, ...],
    mu: float,
    sigma: float,
    generator: np.random.Generator,
) -> AnswerGroups:
    """Simulate the answers of all people of a part, for records from N(mu, sigma^2).

    Counts are drawn from their distribution, without drawing records.

    Parameters
    ----------
    plan, part, questions
        As for `ask`.
    mu, sigma : float
        Mean and standard deviation of the records.
    generator : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    groups : tuple of Group
    """
    groups = []
    for question, size in zip(questions, part.sizes(plan.n, plan.second.stop), strict=True):
        answers = question.aggregator()
        if isinstance(question, Residue | Bins):
            probabilities = ReportDistribution([question]).reports(mu, sigma).value[0]
            answers = aggregator_with(
                question, [generator.multinomial(size, probabilities / probabilities.sum())], size
            )
        else:
            for start in range(0, size, DRAWN_ROWS):
                records = generator.normal(mu, sigma, min(DRAWN_ROWS, size - start))
                answers.update(question.privatize(records, rng=generator, clip=True))
        groups.append(Group(question, answers))
    return tuple(groups)
