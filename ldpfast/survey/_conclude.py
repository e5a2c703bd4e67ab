"""The result of a survey from its counts."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import numpy as np

from ..reports import Counted, recipe_of
from ._answer_forms import Found
from ._answers import Answer
from ._answers_per_person import Item
from ._group_weights import GroupWeights
from ._mechanisms import uses_numbers
from ._pooled import pooled
from ._question_weights import weights_of_questions
from ._result import SurveyResult
from ._shares import Shares
from ._survey_recipe import SurveyRecipe


def conclude(
    layout: SurveyRecipe,
    counted: Counted,
    is_pooled: bool,
    weights: GroupWeights | None = None,
    adjust: Callable[[int, Shares], Shares] | None = None,
) -> SurveyResult:
    """Return the answers to all questions from counts.

    Parameters
    ----------
    layout : SurveyRecipe
    counted : Counted
        Counts of the survey.
    is_pooled : bool
        Whether a question is estimated from all answers that hold it.
    weights : GroupWeights, optional
        Weights of the groups of people that have a row of counts each, for one result of all.
    adjust : callable, optional
        Function of the number of a question and of its shares that returns other shares.
    """
    states = counted.states
    together = dict(zip(layout.pairs, np.moveaxis(states[1], -1, 0).tolist(), strict=True))
    if not np.all(counted.n):
        raise ValueError("a survey must have at least 1 report for an estimate, got n = 0")
    asked_of: list[Any] = [int(n) if n.ndim == 0 else n for n in np.moveaxis(states[0], -1, 0)]
    answered = list(zip(layout.mechanisms, states[2:], asked_of, strict=True))
    own_weights = [weights] * len(answered)
    left_out: list[str] = []
    if weights is not None:
        own_weights, left_out = weights_of_questions(layout.items, weights, asked_of)
        for q, own in enumerate(own_weights):
            mechanism, state, n = answered[q]
            rows = np.ravel(n) > 0
            if own is not None and own is not weights:  # the groups with answers stand for the others
                answered[q] = mechanism, state[rows], n[rows]
                asked_of[q] = n[rows]
    # Where nobody answered a question, the numbers of an empty count of one report are computed and then removed.
    counters = [(mechanism, Counted([state], n if np.all(n) else np.maximum(n, 1))) for mechanism, state, n in answered]
    found: dict[str, Found] = {}
    for item, counter, own in zip(layout.items, counters, own_weights, strict=True):
        if not item.form.has_symbols and item.name not in left_out:
            unweighted = item.form.found(*counter)
            found[item.name] = unweighted if own is None else unweighted.weighted(own)
    numbers = sum(item.form.numbers for item in layout.items if item.form.has_symbols)
    numbers += sum(search.numbers for search in found.values())
    shares = {
        item.name: Shares.of(*counter)
        for item, counter in zip(layout.items, counters, strict=True)
        if item.form.has_symbols and not uses_numbers(counter[0]) and item.name not in left_out
    }
    for item, own in zip(layout.items, own_weights, strict=True):
        if own is not None and item.name in shares:
            shares[item.name] = own.shares(shares[item.name])
    if adjust is not None:
        shares = {item.name: adjust(q, shares[item.name]) for q, item in enumerate(layout.items)}
    answers: dict[str, Answer] = {}
    for item, counter, n, own in zip(layout.items, counters, asked_of, own_weights, strict=True):
        known: Shares | None = None
        if item.name in left_out:
            continue
        if item.name in found:
            answers[item.name] = found[item.name].answer(numbers)
        elif item.name in shares:
            if is_pooled and len(item.parts) == 1:
                known = _pooled(layout, item.name, shares, together, asked_of)
            answers[item.name] = item.form.answer(known or shares[item.name], numbers)
        else:
            mean = recipe_of(counter[0]).mean(counter[1])
            mean = mean if own is None else own.mean(mean)
            answers[item.name] = Answer.of_number(mean, item.form.columns[0].range, numbers)
        if known is None and not np.all(n):
            answers[item.name] = answers[item.name].without_answers(np.equal(n, 0))
    asked = {item.name: _asked(layout, item, is_pooled) for item in layout.items} if layout.answers == 1 else None
    return SurveyResult(answers, int(np.sum(counted.n)) if weights else counted.n, layout.guarantee, asked)


def conclude_some(layout: SurveyRecipe, counted: Counted, names: Collection[str]) -> SurveyResult:
    """Return the answers to some questions from counts, without the work for the others, such as a search for texts."""
    kept = [q for q, item in enumerate(layout.items) if item.name in names]
    items, mechanisms = [layout.items[q] for q in kept], [layout.mechanisms[q] for q in kept]
    states = [counted.states[0][..., kept], counted.states[1][..., :0], *(counted.states[2 + q] for q in kept)]
    return conclude(replace(layout, items=items, mechanisms=mechanisms, pairs=[]), Counted(states, counted.n), False)


def _asked(layout: SurveyRecipe, item: Item, is_pooled: bool) -> frozenset[str]:
    """Return which questions the people were asked whose reports decide the answer to one."""
    pooled_items = [
        other.name for other in layout.items if is_pooled and other.form.has_symbols and item.name in other.parts
    ]
    return frozenset([item.name, *pooled_items])


def _pooled(
    layout: SurveyRecipe, name: str, shares: dict[str, Shares], together: dict[tuple[int, int], int], n: list[Any]
) -> Shares | None:
    """Return the shares of a question from all answers that hold it; None if it has no other answers than its own."""
    places, sources = [], []
    for place, item in enumerate(layout.items):
        if name in item.parts and item.name in shares and n[place]:
            places.append(place)
            if len(item.parts) > 1:
                sizes = [layout.declared[part].k for part in item.parts]
                sources.append(shares[item.name].margin(sizes, [item.parts.index(name)]))
            else:
                sources.append(shares[item.name])
    if len(sources) < 2 and (not sources or layout.items[places[0]].name == name):
        return None
    return pooled(sources, lambda i, j: together.get((min(places[i], places[j]), max(places[i], places[j])), 0))
