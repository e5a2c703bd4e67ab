"""Tests whether the reports of a mechanism can come from it."""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._typing import AnyArray, Floats
from ..domains import Categories, Domain
from ..reports import CountFormat, Decoding, Format
from ..results import AnyDebiasing, Binomial, Debiasing, Plausibility, TestResult, WithGaps, repeat_test, tail_test
from ._law import Law

LEAST = 2.0**-1000  # probability below which products of probabilities can be 0 in double precision


class Tested(Protocol):
    """What the tests use of a recipe."""

    @property
    def domain(self) -> Domain: ...

    @property
    def inner(self) -> Domain | None: ...

    @property
    def report(self) -> Format: ...

    @property
    def debiasing(self) -> AnyDebiasing | None: ...

    @property
    def value_range(self) -> tuple[float, float]: ...

    @property
    def decoding(self) -> Decoding: ...

    @property
    def law(self) -> Law: ...

    @property
    def entropy(self) -> float: ...


def plausibility_of(recipe: Tested, reports: AnyArray) -> Plausibility:
    """Return whether valid reports can come from a mechanism."""
    n = len(reports)
    if not n:
        raise ValueError("reports must be at least 1, got none")
    kinds, entropy = recipe.law.kinds_of(reports), recipe.entropy
    multiplicities = equal_reports(recipe.report.pack(reports))
    tests = {
        "kinds": None if kinds is None else kinds.test(n),
        "shares": None,
        "codes": None,
        "repeats": repeat_test(multiplicities, entropy) if entropy else None,
    }
    if isinstance(recipe.report, CountFormat):
        state = recipe.report.tallied(reports)
        tests["shares"] = _shares(recipe, state, n)
        tests["codes"] = _codes(recipe, state, n)
    return Plausibility.of(n, tests, 0 if kinds is None else kinds.improbable(n), n - len(multiplicities), entropy)


def entropy_of(recipe: Tested) -> float:
    """Return the smallest entropy of a report in bits: no report has a larger probability than 2^-entropy."""
    channel = _channel(recipe)
    largest = recipe.law.largest_probability() if channel is None else float(channel.max())
    return max(-math.log2(max(largest, LEAST)), float(recipe.report.seed_bits)) + 0.0  # not -0


def equal_reports(packed: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return how many reports are equal to each different one, shape (different reports,)."""
    rows = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1])))[:, 0]
    counts: NDArray[np.intp] = np.unique(rows, return_counts=True)[1]
    return counts


def _channel(recipe: Tested) -> Floats | None:
    """Return the probabilities of all reports for all records; None if records are no categories, or there are too many."""
    domain = recipe.domain if recipe.inner is None else recipe.inner
    rows = recipe.law.rows() if isinstance(domain, Categories) else None
    if rows is None:
        return None
    channel = np.array([[float(entry) for entry in row] for row in rows])
    return np.asarray(channel / channel.sum(axis=1, keepdims=True))


def _shares(recipe: Tested, state: AnyArray, n: int) -> TestResult | None:
    """Test the numbers of hits, whose probabilities lie between those for both ends of the range; None without such numbers."""
    rule: Any = recipe.report.mean(recipe.decoding, state, n).rule
    rule = rule.rule if isinstance(rule, WithGaps) else rule
    if not isinstance(rule, Binomial):
        return None
    low, high = ((end - rule.debiasing.zero) / (rule.debiasing.one - rule.debiasing.zero) for end in recipe.value_range)
    return tail_test(np.asarray(rule.hits), rule.n, np.asarray(low), np.asarray(high))


def _codes(recipe: Tested, state: AnyArray, n: int) -> TestResult | None:
    """Test the number of each code, where it is not a number of hits, by its smallest and largest probability."""
    if not recipe.report.is_code or (isinstance(recipe.debiasing, Debiasing) and recipe.value_range == (0.0, 1.0)):
        return None
    channel = _channel(recipe)
    return (
        None if channel is None else tail_test(recipe.report.counts(state), n, channel.min(axis=0), channel.max(axis=0))
    )
