"""Which mechanisms a survey uses, and how many questions each person answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from ..mechanisms import Mechanism, Window
from ._answer_forms import AnswerForm

WORDS = 1 << 32  # random words that choose one question

MechanismMaker = Callable[[AnswerForm], Mechanism]


@dataclass(frozen=True)
class Item:
    """A question that people are asked.

    Attributes
    ----------
    name : str
        Name of the question.
    parts : tuple of str
        Names of the declared questions that it combines.
    form : AnswerForm
        How their columns make a record and an answer.
    tickets : int
        Weight of the question among those that a person can be asked.
    weight : Fraction
        Probability that a person who answers one question is asked this one.
    """

    name: str
    parts: tuple[str, ...]
    form: AnswerForm
    tickets: int
    weight: Fraction


def epsilon_per_answer(epsilon: float, answers: int) -> float:
    """Return the largest double whose product with the number of answers is at most epsilon, exactly."""
    each = epsilon / answers
    return each if Fraction(each) * answers <= Fraction(epsilon) else math.nextafter(each, 0)


def maker(epsilon: float, answers: int) -> MechanismMaker:
    """Return the function that makes the mechanism of each of several answers, with a part of epsilon."""
    each = epsilon_per_answer(epsilon, answers)
    return lambda form: form.mechanism(each)


def thresholds(weights: list[Fraction]) -> NDArray[np.uint32]:
    """Return the limits of the random words that choose one question: all but the first and last of the cumulative sums."""
    total = sum(weights)
    cumulative = Fraction(0)
    limits = []
    for weight in weights:
        cumulative += weight
        limits.append(round(cumulative / total * WORDS))
    return np.array(limits[:-1], np.uint32)


def variance_of_answer(mechanism: Mechanism, form: AnswerForm) -> float:
    """Return the variance of one decoded answer for the choice of a number of answers: all symbols have equal shares.

    "No answer" counts as a symbol. For means, it is in units of the squared length of the interval. The choice is part of the
    design of a survey, so this does not change; plans have variances of their own.
    """
    if isinstance(mechanism, Window):
        length = mechanism.upper - mechanism.lower
        return float(mechanism.variance(mechanism.lower + length / 2)) / length**2 + 0.25
    if not form.has_symbols:
        return form.expected_variance(mechanism)
    return float(mechanism.debiasing.variance(1 / form.k))  # type: ignore[union-attr]


def best_answers(items: list[Item], epsilon: float) -> int:
    """Return the number of answers per person with the smallest sum of variances; the smallest number among equals."""
    numbers = range(1, len(items) + 1)
    return min(numbers, key=lambda m: sum(answer_variances(items, maker(epsilon, m), m)))


def share_asked(items: list[Item], item: Item, answers: int) -> float:
    """Return the share of the people who are asked a question, if each person answers a number of the questions."""
    return float(item.weight) if answers == 1 else answers / len(items)


def answer_variances(items: list[Item], make: MechanismMaker, answers: int) -> list[float]:
    """Return the variance of each estimate times the number of people; infinite where no coin can certify epsilon."""
    found = []
    for item in items:
        try:
            mechanism = make(item.form)
        except ValueError:
            found.append(math.inf)
            continue
        found.append(variance_of_answer(mechanism, item.form) / share_asked(items, item, answers))
    return found
