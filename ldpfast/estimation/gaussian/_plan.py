"""Assignment of people to questions: a public rule that depends only on the number of a person."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _check

COARSE = 16  # slots: longer groups are multiples of this, so that few periods fill whole blocks
LONGEST, MIN_PERIODS = 32, 1024  # for many people: most slots of a group of the search, least number of periods
MAX_SLOTS = 16  # of a group of the search that are tried; limits the resolution of the shares


@dataclass(frozen=True)
class Part:
    """Groups of equal size.

    People are numbered in periods. In each period, every group has `slots` consecutive numbers; the first group starts
    at `first`.
    """

    first: int
    groups: int
    slots: int

    @property
    def stop(self) -> int:
        """First number of a period after these groups."""
        return self.first + self.groups * self.slots

    def sizes(self, n: int, period: int) -> tuple[int, ...]:
        """Return the number of people in each group, out of n."""
        full, rest = divmod(n, period)
        starts = [self.first + g * self.slots for g in range(self.groups)]
        return tuple(full * self.slots + min(max(rest - start, 0), self.slots) for start in starts)


def smallest(n: int, period: int, stop: int, slots: int) -> int:
    """Return how many of n people are in the last group of a part, the smallest; `stop` is the end of the part."""
    full, rest = divmod(n, period)
    return full * slots + min(max(rest - (stop - slots), 0), slots)


@dataclass(frozen=True)
class Plan:
    """Assignment of people to rounds and groups.

    Attributes
    ----------
    n : int
        Number of people.
    rounds : tuple of tuple of int
        Number of people in each group of each round: ``rounds[0][g]`` of them answer ``query(g)`` in the first round.
    kappa, safe_kappa : float
        Effective noise-free sample size of the smallest group of the search, and the value from which the search seldom
        fails.
    search, second : Part
        People who answer the search, and people who answer the second questions.

    Examples
    --------
    >>> from ldpfast.estimation import GaussianMean
    >>> plan = GaussianMean(1.0, sigma=1.0, mu_bound=10).plan(10_000)
    >>> sum(map(sum, plan.rounds))
    10000
    >>> rounds, groups = plan.place([0, 1, 9_999])  # of three people
    >>> rounds.shape
    (3,)
    """

    n: int
    rounds: tuple[tuple[int, ...], ...]
    kappa: float
    safe_kappa: float
    search: Part
    second: Part

    def place(self, person: ArrayLike) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return round and group of a person, which depend only on their number.

        Parameters
        ----------
        person : int or array_like of int
            Number in [0, n). Any numbering that does not depend on the records is allowed.

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

    def numbers_of(self, words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return numbers for `place` that depend on random words of the persons, and not on how many people there are.

        If a few people join or leave, all others keep round and group, except where the plan divides people in other shares.
        """
        period = np.uint64(min(self.second.stop, self.n))
        half = np.uint64(32)
        return np.asarray((words >> half) * period >> half, np.int64)

    def __str__(self) -> str:
        weak = "" if self.kappa >= self.safe_kappa else f" (below {self.safe_kappa:g}: the search may fail)"
        lines = [f"{self.n} people, kappa = {self.kappa:.1f}{weak}"]
        for number, groups in enumerate(self.rounds, 1):
            lines.append(
                f"round {number}: {sum(groups)} people"
                + (f" in {len(groups)} groups of {min(groups)} to {max(groups)}" if len(groups) > 1 else "")
            )
        return "\n".join(lines)


def parts(n: int, share: float, search_groups: int, second_groups: int, least: int) -> tuple[Part, Part]:
    """Divide n people between the search and the second questions.

    About `share` <= 1/2 of the people are in the groups of the search, which have at least `least` people each. The
    result balances the error of the share against the number of slots. The last candidate, `least` slots for each group
    of the search, is always feasible if n is at least twice `least` times `search_groups`.
    """
    best, found = math.inf, None
    for slots in (*range(1, MAX_SLOTS + 1), least):
        first, ideal = slots * search_groups, slots * search_groups * (1 - share) / share / second_groups
        for rest in (max(1, math.floor(ideal)), max(1, math.ceil(ideal))):
            if rest > 4 * COARSE:
                rest -= rest % COARSE
            period = first + second_groups * rest
            error = abs(first / period - share) + slots * 1e-3
            if error < best and n > first and smallest(n, period, first, slots) >= least:
                best, found = error, (slots, rest)
    assert found is not None
    slots, rest = found
    search = Part(0, search_groups, slots)
    second = Part(search.stop, second_groups, rest)
    # Longer runs are faster to gather; with many people there are still many periods.
    longer = max(1, min(LONGEST // search.slots, n // (MIN_PERIODS * second.stop)))
    search = Part(0, search_groups, longer * search.slots)
    return search, Part(search.stop, second_groups, longer * second.slots)
