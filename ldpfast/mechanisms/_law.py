"""Distributions of reports, as far as formulas know them: channel, variance, counts of many people, levels for shuffling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .._typing import AnyArray, Floats
from ..privacy import ReportLaw, TwoLevel, laws_of_rows
from ..reports import Decoding, Format
from ..results import AnyDebiasing, Kinds
from ._draws import PeopleCounts, multinomial, shares_of

if TYPE_CHECKING:
    from numpy.random import Generator

CHANNEL_ENTRIES = 1 << 17  # channels with more entries are too large to enumerate


class NoExactFormError(ValueError):
    """The reports of many people cannot be drawn by their counts. The message says why."""


class Law:
    """The distribution of reports. Everything is unknown unless overridden; a recipe derives what it can from the rows."""

    def rows(self) -> Any:
        """Return the rows of the channel over the extreme inputs, up to a common factor; None if there are too many."""
        return None

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats | None:
        """Return the variance of one decoded report of each record, per coordinate; None if it is not known."""
        return None

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray | None:
        """Return the counts of the reports of many people, as `RecordRecipe.draw`; None if they are not known.

        Raises
        ------
        NoExactFormError
            If there is none at a cost that does not grow with the people.
        """
        return None

    def two_level(self) -> TwoLevel | None:
        """Return the two levels of probability, from the integers of the coins; None unless there are two levels."""
        rows = self.rows()
        return None if rows is None else TwoLevel.of_rows(rows)

    def report_laws(self) -> Sequence[ReportLaw] | None:
        """Return the laws of one report for `privacy.shuffled`: of all pairs of records that can be the worst one.

        None if they are not known.
        """
        levels = self.two_level()
        return None if levels is None else [ReportLaw.of_two_level(levels)]

    def worst_variance(self, decoding: Decoding) -> float | None:
        """Return the largest variance of a coordinate of one decoded report, from noise and sampling, over all populations.

        None if it is not known.
        """
        return None

    def largest_probability(self) -> float:
        """Return an upper bound of the probability of any report, for all records; 1 if it does not follow from a formula."""
        return 1.0

    def kinds_of(self, reports: AnyArray) -> Kinds | None:
        """Return the numbers of reports of kinds whose probabilities are the same for all records; None without such kinds."""
        return None


class Fused(Law):
    """The distribution of the reports of a kernel that encodes and privatizes at once, which is not known."""

    def draw(self, records: AnyArray, people: PeopleCounts, generator: Generator) -> AnyArray | None:
        raise NoExactFormError("it encodes records and privatizes them at once")


@dataclass(frozen=True)
class RowsLaw(Law):
    """A distribution that is given by the rows of its channel, up to a common factor."""

    channel: Sequence[Sequence[Any]]

    def rows(self) -> Sequence[Sequence[Any]]:
        return self.channel

    def report_laws(self) -> Sequence[ReportLaw] | None:
        found = laws_of_rows(self.channel)
        return super().report_laws() if found is None else found


def variances_of_rows(report: Format, debiasing: AnyDebiasing | None, rows: Any) -> Floats:
    """Return the variances of the decoded codes of each row of a channel, per coordinate."""
    probability = np.array([[float(Fraction(entry) / sum(map(Fraction, row))) for entry in row] for row in rows])
    codes = np.arange(probability.shape[1], dtype=report.dtype(np.dtype(np.float64)))
    decoded = report.decode(codes, debiasing)
    mean = np.tensordot(probability, decoded, 1)
    return np.asarray(np.tensordot(probability, decoded**2, 1) - mean**2)


def worst_variance_of(variance: Floats) -> float:
    """Return the largest variance over all populations, from those of the decoded report of each category."""
    if variance.ndim < 2:
        return float(variance.max()) + 0.25
    # A share s has the variance s a + (1 - s) b - s^2, where a is the second moment of its number in the reports of its own
    # category and b the largest one in those of another category.
    own, other = variance.diagonal() + 1, np.where(np.eye(len(variance)), 0, variance).max(axis=0)
    share = np.clip((own - other) / 2, 0, 1)
    return float((share * own + (1 - share) * other - share**2).max())


def drawn_codes(
    weights: Sequence[Sequence[int]], records: AnyArray, people: PeopleCounts, generator: Generator
) -> AnyArray:
    """Return the counts of the codes of many people, from the integers of the rows of a channel."""
    codes = multinomial(generator, people, np.array([shares_of(weights[record]) for record in records.tolist()]))
    return np.asarray(codes.sum(axis=0))
