"""Which person answers which question: a public rule that depends on the number of the person only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _check

COARSE = 16  # slots: longer groups are multiples of this, so that few periods fill whole blocks
LONGEST, LEAST_PERIODS = 32, 1024  # slots of a group, and number of periods, where there are many people
MOST_SLOTS = 16  # of a group of the smaller part, which limits how fine the shares are


@dataclass(frozen=True)
class Part:
    """Groups of one size: in each period of people, `slots` in a row from `first` on for each group."""

    first: int
    groups: int
    slots: int

    @property
    def stop(self) -> int:
        return self.first + self.groups * self.slots

    def sizes(self, n: int, period: int) -> tuple[int, ...]:
        """People in each group, of n."""
        full, rest = divmod(n, period)
        starts = [self.first + g * self.slots for g in range(self.groups)]
        return tuple(full * self.slots + min(max(rest - start, 0), self.slots) for start in starts)


@dataclass(frozen=True)
class Plan:
    """How many people answer what.

    Attributes
    ----------
    n : int
        Number of people.
    rounds : tuple of tuple of int
        People in each group of each round: ``rounds[0][g]`` of them answer ``query(g)`` in the first.
    kappa, safe_kappa : float
        How well the search is answered, and from where on it seldom fails.
    search, second : Part
        Which people answer the search, which the second questions.
    """

    n: int
    rounds: tuple[tuple[int, ...], ...]
    kappa: float
    safe_kappa: float
    search: Part
    second: Part

    def place(self, person: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Round and group of a person, by their number alone.

        Parameters
        ----------
        person : int or array_like of int
            In [0, n): any numbering that does not depend on the records.

        Returns
        -------
        round, group : ndarray of int

        Raises
        ------
        TypeError, ValueError
            If a number is not an integer in [0, n).
        """
        number = _check.integers("person", _check.array("person", person))
        if number.size and (int(number.min()) < 0 or int(number.max()) >= self.n):
            raise ValueError(f"person must be in [0, n) with n={self.n}")
        slot = np.asarray(number % self.second.stop, np.intp)
        late = slot >= self.search.stop
        group = np.where(late, (slot - self.search.stop) // self.second.slots, slot // self.search.slots)
        if len(self.rounds) == 1:
            return np.zeros_like(slot), group + self.search.groups * late
        return late.astype(np.intp), group

    def __str__(self) -> str:
        weak = "" if self.kappa >= self.safe_kappa else f" (below {self.safe_kappa:g}: the search may fail)"
        lines = [f"{self.n} people, kappa = {self.kappa:.1f}{weak}"]
        for number, groups in enumerate(self.rounds, 1):
            lines.append(
                f"round {number}: {sum(groups)} people"
                + (f" in {len(groups)} groups of {min(groups)} to {max(groups)}" if len(groups) > 1 else "")
            )
        return "\n".join(lines)


def parts(n: int, share: float, searchers: int, others: int, least: int) -> tuple[Part, Part]:
    """About `share` <= 1/2 of n people in `searchers` groups, of `least` people or more, and the rest in `others`.

    As few slots as come near to that; the last choice, a period that is as long as all of the least groups, always does
    if n is at least twice that.
    """
    plans = []
    for slots in (*range(1, MOST_SLOTS + 1), least):
        ideal = slots * searchers * (1 - share) / share / others
        for rest in (max(1, math.floor(ideal)), max(1, math.ceil(ideal))):
            if rest > 4 * COARSE:
                rest -= rest % COARSE
            search = Part(0, searchers, slots)
            second = Part(search.stop, others, rest)
            if min(search.sizes(n, second.stop)) >= least and n > search.stop:
                plans.append((abs(search.stop / second.stop - share) + slots * 1e-3, search, second))
    _, search, second = min(plans, key=lambda found: found[0])
    # Many people come in longer runs, which are quicker to gather; there are still many periods.
    longer = max(1, min(LONGEST // search.slots, n // (LEAST_PERIODS * second.stop)))
    search = Part(0, searchers, longer * search.slots)
    return search, Part(search.stop, others, longer * second.slots)
