"""What mechanisms for sets of options have in common: from counts of reports to shares of options."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import AnyArray, Floats
from ..domains import Sets
from ..reports import Decoding, recipe_of
from ..reports._recipe import HoldsRecipe
from ..results import Debiasing
from ._law import Law


class SetsLaw(Law, ABC):
    """The distribution of the report of a set of options, in which each option is a hit or not.

    Attributes
    ----------
    domain : Sets
    """

    domain: Sets

    @property
    def asked(self) -> float:
        """Share of people whose report tells about an option."""
        return 1.0

    @property
    @abstractmethod
    def line(self) -> Debiasing:
        """Debiasing of the share of hits among the trials.

        Its numbers are arrays, one for each entry of `hits`, where a missing set differs from an option.
        """

    @abstractmethod
    def hits(self, counts: AnyArray, n: Any) -> tuple[AnyArray, AnyArray]:
        """Return the numbers of hits and of trials of each option, and of the missing sets if the domain is optional.

        Parameters
        ----------
        counts : ndarray of int64, shape (..., reports)
            State of the format, of n people; with an axis for groups, of n people each.
        n : int, or ndarray of int64, shape (...)

        Returns
        -------
        hits, trials : ndarray of int64, shape (..., k) or (..., k + 1)
            ``line(hits / trials)`` are unbiased shares. The number of trials of an option is that of people whose report
            tells about it; 0 is possible.
        """

    @abstractmethod
    def covariance(
        self, first: Floats, second: Floats, both: Floats, *, with_missing: bool | NDArray[np.bool_] = False
    ) -> Floats:
        """Return the covariance of two estimated shares, times the number of people.

        Parameters
        ----------
        first, second, both : ndarray of float64
            Shares of people with each, and with both.
        with_missing : bool, or ndarray of bool
            Whether `second` is the share of missing sets, which nobody has together with an option.
        """

    @abstractmethod
    def sizes(self, counts: AnyArray, n: int) -> tuple[Floats, Floats]:
        """Return the shares of people with 0, 1, ... `most` options, and their covariance matrix.

        They are shares of the people whose set is not missing.

        Parameters
        ----------
        counts : ndarray of int64
            State of the format, of n people.
        n : int

        Raises
        ------
        ValueError
            If the reports do not tell how many options a set has.
        """

    @property
    def worst_mean_variance(self) -> float:
        """Largest mean over the options of the variances of their shares from noise alone, times the number of people.

        The largest over all records of the people. It is linear in the number of options of a set.
        """
        k, most = self.domain.k, self.domain.most
        own, other = (np.ravel(self.line.variance(mean))[0] for mean in (1.0, 0.0))
        return float(max(other, (most * own + (k - most) * other) / k))

    def variance(self, decoding: Decoding, records: AnyArray) -> Floats:
        return np.asarray(decoding.line.variance(self.domain.ticks(records).astype(np.float64)))

    def records(self) -> Iterator[list[int]]:
        """Yield the positions of all records, in the order of the bits of the options; the missing one last."""
        options = range(self.domain.k)
        sets: list[Any] = [
            set(chosen) for size in range(self.domain.most + 1) for chosen in combinations(options, size)
        ]
        sets.sort(key=lambda chosen: sum(1 << option for option in chosen))
        records, _ = self.domain.records([*sets, *([None] if self.domain.optional else [])])
        yield from records.tolist()


def law_of_sets(mechanism: HoldsRecipe[Any]) -> SetsLaw:
    """Return the distribution of the reports of a mechanism for sets."""
    law = recipe_of(mechanism).law
    assert isinstance(law, SetsLaw)
    return law


def among_answers(value: Floats, step: Floats, missing: float) -> tuple[Floats, Floats]:
    """Return shares among the people whose set is not missing, and their derivatives.

    Parameters
    ----------
    value : ndarray of float64, shape (m,)
        Shares among all people.
    step : ndarray of float64, shape (m, shares)
        Their derivatives with respect to estimated shares, of which the last one is that of the missing sets.
    missing : float
        Share of the missing sets.
    """
    answered = 1 - missing
    step = step / answered
    step[:, -1] += value / answered**2
    return value / answered, step
