"""Populations whose mean and median are estimated: a stand-in for the salaries of the papers, and real records.

Duchi, Jordan and Wainwright (JASA 2018, section 6.1) used the salaries of 252,540 employees of the state of California,
which cannot be distributed. The stand-in has the properties stated in the paper: the number of people, the mean, the
median, 14 salaries above a million, and two of them above two million. The other salaries follow a mixture of two
log-normal distributions, for part-time and full-time work.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from ldpfast._typing import Floats

from ..demo.surveys import RAND, records

PEOPLE, MEAN, MEDIAN = 252_540, 39_531, 24_968
TOP = (*np.linspace(1.02e6, 1.9e6, 12), 2.2e6, 2.7e6)  # the 14 salaries above a million
HIGHEST_OTHER = 999_999.0
PART_TIME, PART_TIME_SPREAD, FULL_TIME_SPREAD = 11_000.0, 1.15, 0.62  # a median, and standard deviations of logarithms
UNIT = 25_000.0  # intervals are [0, radius UNIT]


@dataclass(frozen=True)
class Population:
    """The number of each person, in increasing order; `unit` is the scale of the intervals, in `unit_name`."""

    name: str
    values: Floats
    unit: float
    unit_name: str = "unit of the records"

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def median(self) -> float:
        return float(np.median(self.values))

    def moment(self, k: float) -> float:
        """Return the k-th root of the mean k-th power: the smallest valid `radius` for moment k."""
        largest = self.values[-1]
        return float(largest * np.mean((self.values / largest) ** k) ** (1 / k))

    def risk(self, guess: Floats) -> Floats:
        """Return the mean distance E|guess - X|, which is smallest at the median."""
        below = np.searchsorted(self.values, guess)
        total = np.concatenate([[0.0], np.cumsum(self.values)])
        distances = guess * (2 * below - len(self.values)) + total[-1] - 2 * total[below]
        return np.asarray(distances / len(self.values))

    def gap(self, guess: Floats) -> Floats:
        """Return the excess of the mean distance over its minimum."""
        return self.risk(guess) - self.risk(np.array(self.median))


@cache
def salaries() -> Population:
    """Return the stand-in, the same in every run: quantiles of the mixture, and the 14 largest salaries.

    The location of full-time salaries is determined by the median, the share of part-time work by the mean.
    """
    from scipy.optimize import brentq

    share = brentq(lambda share: _mixture(share).mean() - MEAN, 0.3, 0.64)
    return Population("Salaries (stand-in)", _mixture(share), UNIT, "dollars")


def _mixture(share: float) -> Floats:
    """Return all values in increasing order, for a share of part-time work."""
    from scipy.special import ndtr, ndtri

    others = PEOPLE - len(TOP)
    below = ndtr(np.log(MEDIAN / PART_TIME) / PART_TIME_SPREAD)
    half = PEOPLE / 2 / others  # probability whose quantile in the mixture is the median of the population
    location = np.log(MEDIAN) - FULL_TIME_SPREAD * ndtri((half - share * below) / (1 - share))
    grid = np.linspace(0.0, np.log(HIGHEST_OTHER), 100_001)
    part, full = (grid - np.log(PART_TIME)) / PART_TIME_SPREAD, (grid - location) / FULL_TIME_SPREAD
    probabilities = (np.arange(others) + 0.5) / others
    # np.interp returns at most the end of the grid, HIGHEST_OTHER
    quantiles = np.interp(probabilities, share * ndtr(part) + (1 - share) * ndtr(full), grid)
    return np.concatenate([np.exp(quantiles), TOP])


@cache
def visits() -> Population:
    """Return real data: visits to a doctor in a year (20,190 records of the RAND health insurance experiment)."""
    return _real("Visits to a doctor (RAND, real)", "mdvis", 5.0, "visits per year")


@cache
def diseases() -> Population:
    """Return real data: index of chronic diseases, in [0, 60], for the same records."""
    return _real("Index of chronic diseases (RAND, real)", "disea", 10.0, "points of the index")


def _real(name: str, column: str, unit: float, unit_name: str) -> Population:
    return Population(name, np.sort(records(RAND)[column].to_numpy().astype(np.float64)), unit, unit_name)
