"""Laws of reports that hold the answers to several questions.

Which questions a person answers is drawn at random, without a look at the record, and is part of the report. So the law of a
report is the mixture, over the sets of questions, of the products of the laws of the answers (docs/proofs/shuffling.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from ._directed_rounding import UNIT, Floats
from ._report_law import UP, ReportLaw
from ._two_level import Rational, TwoLevel

MAX_ATOMS = 2048  # of a law of several answers
MAX_ATOMS_OF_ANSWER = 256
MAX_PRODUCTS = 512  # number of questions times that of answers; for more, the law of any channel is used
CELLS = 48  # between the smallest and the largest ratio
SPLIT_ERROR = 16 * UNIT  # more than the relative error of the means of values that are split

AskedQuestion = tuple[Rational, Sequence[ReportLaw] | None, float]


def laws_of_answers(questions: Sequence[AskedQuestion], answers: int, *, bias: float = 0.0) -> list[ReportLaw] | None:
    """Return the laws of a report of one or several answers; None if there are too many sets of questions.

    Parameters
    ----------
    questions : sequence of (probability, laws, epsilon)
        Probability that a person who gives one answer is asked the question, the laws of the report of its answer if they are
        known, and its epsilon. With several answers, all sets of questions have the same probability.
    answers : int
        Number of questions that a person answers.
    bias : float
        Largest relative excess of the probability of a set of questions over the stated one.
    """
    if len(questions) == 1 and questions[0][1] is not None:
        return list(questions[0][1])
    if answers > 1 and len(questions) * answers > MAX_PRODUCTS:
        return None
    laws = [_above_all_pairs(laws, epsilon) for _, laws, epsilon in questions]
    if answers == 1:
        found = ReportLaw.mixture(list(zip([weight for weight, _, _ in questions], laws, strict=True)))
        return [_weighted(_reduced(found, 1, MAX_ATOMS), bias)]
    return [_weighted(_mean_of_products(laws, answers), bias)]


def _above_all_pairs(laws: Sequence[ReportLaw] | None, epsilon: float) -> ReportLaw:
    """Return a law that is above those of all pairs of records, equal ones included: two people may differ in other answers."""
    if laws is not None and len(laws) == 1 and laws[0].above_all_pairs:
        return laws[0]
    return ReportLaw.of_two_level(TwoLevel.arbitrary(epsilon))


def _mean_of_products(laws: Sequence[ReportLaw], answers: int) -> ReportLaw:
    """Return the mixture of the products of the laws of all sets of questions of one size."""
    # means[j] is that of all sets of j of the questions so far, of which the part j / q holds question number q.
    one = np.ones(1)
    means: list[ReportLaw | None] = [ReportLaw(one, one, one, 0.0), *[None] * answers]
    for q, law in enumerate(laws, 1):
        small = _reduced(law, 1, MAX_ATOMS_OF_ANSWER)
        for j in range(min(q, answers), max(0, answers - len(laws) + q - 1), -1):
            with_it, without = means[j - 1], means[j]
            parts = []
            if with_it is not None:
                parts.append((Fraction(j, q), with_it.product(small)))
            if without is not None:
                parts.append((Fraction(q - j, q), without))
            means[j] = _reduced(ReportLaw.mixture(parts), j, MAX_ATOMS)
    found = means[answers]
    assert found is not None
    return found


def _weighted(law: ReportLaw, bias: float) -> ReportLaw:
    """Return a law with all masses larger by a relative excess."""
    if bias == 0:
        return law
    return replace(law, masses=law.masses * ((1 + bias) * UP))


def _reduced(law: ReportLaw, answers: int, most: int) -> ReportLaw:
    """Return a law of at most so many atoms that is above another one in the convex order.

    Equal atoms are merged. If too many are left, both ratios are split to the ends of geometric cells, with the same mean. The
    ratios of several answers with about the same odds are near the powers of these odds, which are ends of cells.
    """
    found = _merged(law)
    cells = answers * max(1, CELLS // answers)
    while len(found.masses) > most and cells >= 1:
        found = _merged(_split(law, cells))
        cells //= 2
    return found


def _merged(law: ReportLaw) -> ReportLaw:
    pairs, places = np.unique(np.stack([law.first, law.second]), axis=1, return_inverse=True)
    masses = np.asarray(np.bincount(places.ravel(), law.masses) * (1 + len(law.masses) * UNIT), np.float64)
    return replace(law, masses=masses, first=pairs[0], second=pairs[1])


def _split(law: ReportLaw, cells: int) -> ReportLaw:
    """Return a law whose ratios are ends of geometric cells, with the same means for each atom."""
    (a, up_a, p), (b, up_b, q) = (_cell(ratios, cells) for ratios in (law.first, law.second))
    # The two ratios are split by the same uniform number, so that their difference varies little.
    both = np.minimum(p, q)
    parts = [(both, up_a, up_b), (p - both, up_a, b), (q - both, a, up_b), (1 - np.maximum(p, q), a, b)]
    masses = np.concatenate([law.masses * weight * UP for weight, _, _ in parts])
    first = np.concatenate([ratio for _, ratio, _ in parts]) * (1 + SPLIT_ERROR)
    second = np.concatenate([ratio for _, _, ratio in parts]) * (1 - SPLIT_ERROR)
    some = masses > 0
    return replace(law, masses=masses[some], first=first[some], second=second[some])


def _cell(ratios: Floats, cells: int) -> tuple[Floats, Floats, Floats]:
    """Return both ends of the cells that hold some ratios, and the weights of the upper ends."""
    low, high = float(ratios.min()), float(ratios.max())
    ends = np.unique(np.concatenate([[low, high], high ** (np.arange(cells + 1) / cells)]))
    ends = ends[(ends >= low) & (ends <= high)]
    if len(ends) == 1:
        return ratios, ratios, np.zeros(len(ratios))
    at = np.clip(np.searchsorted(ends, ratios, side="right") - 1, 0, len(ends) - 2)
    below, above = ends[at], ends[at + 1]
    return below, above, np.clip((ratios - below) / (above - below), 0.0, 1.0)
