"""Distributions of reports, as far as formulas know them: channel, variance, counts of many people, levels for shuffling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import AnyArray, Floats
from ..domains import Categories
from ..privacy._two_level import TwoLevel
from ..reports import Codes
from ..results import line_of
from ._draws import Counts, multinomial, shares_of
from ._python import integer_weights

if TYPE_CHECKING:
    from numpy.random import Generator

    from ._recipe import RecordRecipe

CHANNEL_ENTRIES = 1 << 17  # channels with more entries are too large to enumerate


class Law:
    """The distribution of the reports of a recipe. Everything follows from the rows of a small channel unless overridden."""

    def rows(self) -> Any:
        """Return the rows of the channel over the extreme inputs, up to a common factor; None if there are too many."""
        return None

    def variance(self, recipe: RecordRecipe, records: AnyArray) -> Floats:
        """Return the variance of one decoded report of each record, per coordinate."""
        rows = self.rows()
        if rows is None or not isinstance(recipe.domain, Categories):
            raise NotImplementedError(f"{recipe.label.text} must have report_variance, or channel_rows")
        probability = np.array([[float(Fraction(entry) / sum(map(Fraction, row))) for entry in row] for row in rows])
        codes = np.arange(probability.shape[1], dtype=recipe.report.dtype(records.dtype))
        decoded = recipe.report.decode(codes, recipe.decoding.debiasing)
        mean = np.tensordot(probability, decoded, 1)
        return np.asarray((np.tensordot(probability, decoded**2, 1) - mean**2)[records])

    def draw(self, recipe: RecordRecipe, records: AnyArray, people: Counts, generator: Generator) -> AnyArray:
        """Return the counts of the reports of many people, as `RecordRecipe.draw`."""
        rows = self.rows()
        if rows is None or not isinstance(recipe.domain, Categories) or not isinstance(recipe.report, Codes):
            raise no_exact_state(recipe, "its reports have too many values")
        weights = integer_weights(rows, recipe.domain.k, recipe.report.k)
        codes = multinomial(generator, people, np.array([shares_of(weights[record]) for record in records.tolist()]))
        return np.asarray(codes.sum(axis=0))

    def two_level(self) -> TwoLevel | None:
        """Return the parameters for `privacy.shuffled`, from the integers of the coins; None unless there are two levels."""
        rows = self.rows()
        return None if rows is None else TwoLevel.of_rows(rows)

    def worst_variance(self, recipe: RecordRecipe) -> float:
        """Return the largest variance of a coordinate of one decoded report, from noise and sampling, over all populations."""
        low, high = recipe.decoding.value_range
        line = line_of(recipe.decoding.debiasing)
        if line is not None:  # a decoded bit has two values
            return float(line.variance(min(max((line.zero + line.one) / 2, low), high)))
        if not isinstance(recipe.domain, Categories):
            raise NotImplementedError(f"{recipe.label.text} must have worst_variance")
        variance = self.variance(recipe, np.arange(recipe.domain.k))
        if variance.ndim < 2:
            return float(variance.max()) + 0.25
        # A share s has the variance s a + (1 - s) b - s^2, where a is the second moment of its number in the reports of its
        # own category and b the largest one in those of another category.
        own, other = variance.diagonal() + 1, np.where(np.eye(len(variance)), 0, variance).max(axis=0)
        share = np.clip((own - other) / 2, 0, 1)
        return float((share * own + (1 - share) * other - share**2).max())


class Fused(Law):
    """The law of a problem whose kernel encodes and privatizes at once, which is not known."""

    def draw(self, recipe: RecordRecipe, records: AnyArray, people: Counts, generator: Generator) -> AnyArray:
        raise ValueError(
            f"mechanism must encode records before it privatizes them, got {recipe.label.text}: it does both at once. "
            "Privatize and count a sample of records instead"
        )


def no_exact_state(recipe: RecordRecipe, reason: str) -> ValueError:
    """Return the error for a mechanism whose reports cannot be simulated by counts."""
    return ValueError(
        f"mechanism must have reports that can be simulated by exact counts, got {recipe.label.text}: {reason}. Privatize and "
        "count a sample of records instead"
    )


@dataclass(frozen=True)
class RowsLaw(Law):
    """A distribution that is given by the rows of its channel, up to a common factor."""

    channel: Sequence[Sequence[Any]]

    def rows(self) -> Sequence[Sequence[Any]]:
        return self.channel
