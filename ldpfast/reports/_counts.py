"""The counts of groups of people: what is collected, merged, saved and estimated from."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._described import from_dict as described
from .._frames import Groups, preferred
from .._schema import first_difference
from .._table import Table
from .._typing import AnyArray
from ..results import People, new_count
from ._batches import counted_twice, new_names, warn_of_two_sources
from ._recipe import Asked
from ._saved_counts import SavedCounts, read_counts

MAX_REPORTS = 1 << 62  # so that 64-bit counts cannot overflow
MAX_BYTES = 1 << 30  # of the counts of all groups


class Counted(NamedTuple):
    """Arrays that count the reports of n people; or of several groups, with a first axis for them, where n is an array."""

    states: Sequence[AnyArray]
    n: Any


class Counts:
    """The counts of groups of people who answered a question: integers that merge in any order.

    All people are one group with the value None, unless `by` divides them.

    Attributes
    ----------
    question : Asked
    n : ndarray of int64, shape (groups,)
    states : list of ndarray
        The arrays of `Recipe.state_layouts`, each with one row per group.
    places : dict
        Row of each group by its value.
    batches : set of str
        Hashes of the names of the batches that were counted.
    people : People
    clipped : dict of str to int
        Numbers of records that were clipped in this pass, by their kind or question.
    refused : Counter of str
        Numbers of messages that were left out, by their fault.
    """

    def __init__(self, question: Asked, groups: Groups | None = None) -> None:
        self.question = question
        self.groups, values = groups, (None,) if groups is None else ()
        self.places: dict[Any, int] = {value: i for i, value in enumerate(values)}
        self.n: NDArray[np.int64] = np.zeros(len(values), np.int64)
        self.states: list[AnyArray] = [
            np.zeros((len(values), *shape), dtype) for shape, dtype in self.recipe.state_layouts
        ]
        self.batches: set[str] = set()
        self.people = People.of(new_count())
        self.clipped: dict[str, int] = {}
        self.refused: Counter[str] = Counter()

    @classmethod
    def of(cls, question: Asked, values: Sequence[Any], states: Sequence[AnyArray], n: Any) -> Counts:
        """Return counts with arrays that they keep."""
        found = cls.__new__(cls)
        found.question, found.groups = question, None
        found.places = {value: i for i, value in enumerate(values)}
        found.states, found.n = list(states), n
        found.batches = set()
        found.people = People.of(new_count())
        found.clipped = {}
        found.refused = Counter()
        return found

    @property
    def recipe(self) -> Any:
        """Recipe of the question; no field, because compiled kernels cannot be pickled."""
        return self.question._recipe

    @property
    def total(self) -> int:
        """Number of people in all groups."""
        return int(self.n.sum())

    def group(self, place: int = 0) -> Counted:
        """Return the counts of one group."""
        return Counted([state[place] for state in self.states], int(self.n[place]))

    def of_rows(self, places: Sequence[int]) -> Counted:
        """Return the counts of some groups, with a first axis for them."""
        return Counted([state[places] for state in self.states], self.n[places])

    def taken(self, values: Sequence[Any]) -> Counts:
        """Return a copy with some of the groups, in another order."""
        places = [self.places[value] for value in values]
        found = Counts.of(self.question, values, *self.of_rows(places))
        found.batches = set(self.batches)
        found.people = self.people
        found.clipped = dict(self.clipped)
        found.refused = Counter(self.refused)
        return found

    def conclude(self, **options: Any) -> Any:
        """Return the result of all people, with options of the question.

        Raises
        ------
        ValueError
            If there are no reports.
        """
        if self.n[0] == 0:
            raise ValueError("an estimate needs at least 1 report, got n = 0")
        return self.question._result(self, **options)

    def only(self, value: Any) -> Counts:
        """Return the counts of one group, as those of all people."""
        found = self.taken([value])
        found.places, found.people = {None: 0}, self.people.group(value)
        found.clipped = {}  # of all groups together
        return found

    def table(self, values: Sequence[Any], confidence: float, simultaneous: bool) -> Table | None:
        """Return the table of the results of some groups, computed for all of them at once; None if the question cannot."""
        counted = self.of_rows([self.places[value] for value in values])
        return self.question._table_of_groups(values, counted, confidence, simultaneous)

    # Adding -----------------------------------------------------------------------------------------------------------

    def members(self, column: Any) -> tuple[NDArray[np.uint32] | None, int]:
        """Return the number of the group of each row, and the number of groups, for which there are then rows of counts."""
        if self.groups is None:
            return None, 1
        numbers = self.groups.numbers(column)
        self.grow(self.groups.values)
        return numbers, len(self.n)

    def grow(self, values: Sequence[Any]) -> None:
        """Add rows of zeros for new groups. Of equal values, such as 1 and 1.0, the same one is kept in every order."""
        kept = {value: value for value in self.places}
        for value in values:
            kept[value] = preferred(kept.get(value, value), value)
        new = len(kept) - len(self.n)
        if new:
            require_room(self.question, len(kept))
            self.n, *self.states = (
                np.concatenate([counts, np.zeros((new, *counts.shape[1:]), counts.dtype)])
                for counts in (self.n, *self.states)
            )
        self.places = {value: row for row, value in enumerate(kept.values())}

    def merge_group(self, states: Sequence[AnyArray], n: int, place: int = 0) -> None:
        """Add the arrays that count the reports of n people to a group."""
        self.require_few(n)
        self.recipe.merge([state[place] for state in self.states], states)
        self.n[place] += n

    def add_clipped(self, counts: Mapping[str, int]) -> None:
        """Add numbers of clipped records."""
        for name, count in counts.items():
            self.clipped[name] = self.clipped.get(name, 0) + count

    def name_batch(self, batch: str | None) -> None:
        """Remember the name of a batch."""
        self.batches |= new_names(self.batches, batch)

    def merge(self, other: Counts, batch: str | None = None) -> None:
        """Add the people of other counts of the same question. Groups of the same value are joined."""
        require_equal(self.question, other.question)
        names = other.batches | new_names(self.batches | other.batches, batch)
        if twice := counted_twice(names, self.batches):
            raise ValueError(f"other must hold no batch that was already counted, got {twice} of them")
        self.require_few(other.total)
        if self.total and other.total:
            warn_of_two_sources(self.batches, other.batches)
        self.grow(list(other.places))
        if len(self.n) == len(other.n) == 1:  # in place
            self.recipe.merge(self.states, other.states)
            self.n += other.n
        else:
            places = np.array([self.places[value] for value in other.places], np.intp)
            self._merge_rows(places, other)
        self.batches |= names
        self.refused += other.refused
        self.people = self.people.joined(other.people)

    def _merge_rows(self, places: NDArray[np.intp], other: Counts) -> None:
        joined = [state[places] for state in self.states]
        self.recipe.merge(joined, other.states)
        for state, part in zip(self.states, joined, strict=True):
            state[places] = part
        self.n[places] += other.n

    def require_few(self, n: int) -> None:
        """Raise unless n people can be added."""
        if self.total + n >= MAX_REPORTS:
            raise ValueError(f"an aggregator must hold fewer than 2^62 reports, got {self.total + n}")

    # Bytes ------------------------------------------------------------------------------------------------------------

    @classmethod
    def read(cls, question: Asked, values: Sequence[Any], n: Sequence[int], saved: SavedCounts) -> Counts:
        """Return the counts of a saved state; `ValueError` as for `read_counts`."""
        layouts = [((len(values), *shape), np.dtype(dtype)) for shape, dtype in question._recipe.state_layouts]
        return cls.of(question, values, read_counts(saved, layouts), np.array(n, np.int64))

    def is_possible(self, place: int = 0) -> bool:
        """Return whether people can have the counts of a group."""
        return bool(self.recipe.is_possible(*self.group(place)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Counts):
            return NotImplemented
        if self.question != other.question or (self.batches, self.refused) != (other.batches, other.refused):
            return False
        if self.places.keys() != other.places.keys():
            return False
        pairs = [(self.group(self.places[v]), other.group(other.places[v])) for v in self.places]
        return all(a.n == b.n and all(map(np.array_equal, a.states, b.states)) for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]


def require_room(question: Asked, groups: int) -> None:
    """Raise if the counts of so many groups would have more than `MAX_BYTES`."""
    each = sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in question._recipe.state_layouts)
    if groups > 1 and groups * each > MAX_BYTES:
        raise ValueError(
            f"by must divide people into at most {max(1, MAX_BYTES // each)} groups, because the counts of a group have "
            f"{each / 1e6:.3g} MB and those of all groups at most {MAX_BYTES / 1e9:.3g} GB, got {groups}"
        )


def require_equal(question: Asked, other: Asked) -> None:
    """Raise unless two questions are equal, with the first difference; labels that cannot be saved can only be shown."""
    if other == question:
        return
    try:
        difference = first_difference(question.schema(), other.schema())
    except (TypeError, ValueError):
        difference = f"it is {question!r}, got {other!r}"
    if difference:
        raise ValueError(f"other must aggregate answers to the same question: {difference}")


def read_question(schema: Any) -> Any:
    """Return the question that a schema in a saved state describes.

    Raises
    ------
    ValueError
        If it is no question, or another one in this version of the package.
    """
    if not isinstance(schema, dict):
        raise ValueError("data must be the bytes of an aggregator: the header is not that of one")
    try:
        question = described(schema.get("asks"))
        difference = first_difference(question.schema(), schema)
    except (RecursionError, OverflowError, TypeError, ValueError, LookupError) as error:
        raise ValueError(f"data must describe a question of this version: {error}") from error
    if difference:
        raise ValueError(f"data must be of this version of {question!r}: {difference}")
    if not hasattr(question, "_conclude"):
        raise ValueError(f"data must describe a question of this version: got a {type(question).__name__}")
    return question
