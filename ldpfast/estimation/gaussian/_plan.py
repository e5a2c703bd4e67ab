"""Who answers what: a public rule that looks at the number of a person and nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _check, _threads
from ..._core.stream import Stream
from ...aggregation import Aggregator
from ...mechanisms import Bins, Mechanism, Residue
from ...mechanisms._domains import Reals
from ._law import Law

PIECE, DRAWN = 1 << 17, 1 << 20  # records at a time: that are asked; that are drawn, where messages are no counts
COARSE = 16
LONGEST, LEAST_PERIODS = 32, 1024  # slots of a group, and periods, where there are many people
MOST_SLOTS = 16  # of one group in a period, for the smaller part: how fine the shares are


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

    As few slots as come near to that; the last choice, a period that is as long as all of the least groups, always does if n is
    at least twice that.
    """
    plans = []
    for slots in (*range(1, MOST_SLOTS + 1), least):
        ideal = slots * searchers * (1 - share) / share / others
        for rest in (max(1, math.floor(ideal)), max(1, math.ceil(ideal))):
            if rest > 4 * COARSE:
                rest -= rest % COARSE  # few periods fill whole blocks: pieces stay in cache
            search = Part(0, searchers, slots)
            second = Part(search.stop, others, rest)
            if min(search.sizes(n, second.stop)) >= least and n > search.stop:
                plans.append((abs(search.stop / second.stop - share) + slots * 1e-3, search, second))
    _, search, second = min(plans, key=lambda found: found[0])
    # Many people come in longer runs, which are quicker to gather; there are still many periods.
    longer = max(1, min(LONGEST // search.slots, n // (LEAST_PERIODS * second.stop)))
    search = Part(0, searchers, longer * search.slots)
    return search, Part(search.stop, others, longer * second.slots)


def ask(
    plan: Plan, part: Part, questions: tuple[Mechanism, ...], x: NDArray[np.generic], stream: Stream
) -> tuple[Aggregator, ...]:
    """The answers of all people of a part, counted and not stored."""
    domain, period, groups = Reals(), plan.second.stop, [question.aggregator() for question in questions]
    kernels = [question._kernel for question in questions]
    rows = kernels[0].rows
    full = len(x) // period
    table = x[: full * period].reshape(full, period)[:, part.first : part.stop]
    sizes = part.sizes(len(x), period)
    blocks = [stream.take(-(-full * part.slots // rows) + 1) for _ in questions]
    unit = rows // math.gcd(rows, part.slots)  # periods that fill whole blocks of each group
    unit *= max(1, PIECE // (unit * part.slots * part.groups))

    def checked(records: NDArray[np.generic]) -> NDArray[np.generic]:
        piece = domain.convert(records)
        if domain.offender(piece.ravel()) >= 0:
            raise domain.refuse(x)
        return piece

    def work(start: int, stop: int) -> list[NDArray[np.generic]]:
        states = [group._zeros() for group in groups]
        for at in range(start, stop, unit):
            piece = table[at : min(stop, at + unit)]
            columns = checked(piece.reshape(len(piece), part.groups, part.slots).swapaxes(0, 1))
            for kernel, block, column, state in zip(kernels, blocks, columns, states, strict=True):
                kernel.run(stream, block + at * part.slots // rows, column.ravel(), state)
        return states

    parts = _threads.deal(work, full, unit, x.size) if full else []
    tail = checked(x[full * period :])
    for number, group in enumerate(groups):
        state, first = group._zeros(), part.first + number * part.slots
        block = blocks[number] - (-full * part.slots // rows)
        kernels[number].run(stream, block, tail[first : first + part.slots], state)
        group._add([state, *(states[number] for states in parts)], sizes[number])
    return tuple(groups)


def simulate(
    plan: Plan,
    part: Part,
    questions: tuple[Mechanism, ...],
    mu: float,
    sigma: float,
    generator: np.random.Generator,
) -> tuple[Aggregator, ...]:
    """The answers of all people of a part, had they normal records: counts are drawn from their law."""
    groups = []
    for question, size in zip(questions, part.sizes(plan.n, plan.second.stop), strict=True):
        group = question.aggregator()
        if isinstance(question, Residue | Bins):
            chances = Law([question]).reports(mu, sigma).value[0]
            group._add([generator.multinomial(size, chances / chances.sum())], size)
        else:
            for start in range(0, size, DRAWN):
                records = generator.normal(mu, sigma, min(DRAWN, size - start))
                group.update(question.privatize(records, rng=generator, clip=True))
        groups.append(group)
    return tuple(groups)
