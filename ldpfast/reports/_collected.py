"""Counts of groups of people: what is collected in one pass, and the aggregators of the groups."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from .. import _schema
from .._envelope import seal, unseal
from .._frames import By, Groups, read_by
from .._table import Table
from .._typing import AnyArray
from .._warnings import warn
from ..results import People, SmallSampleWarning, new_count
from ._aggregator import (
    MAX_REPORTS,
    Aggregator,
    packed_states,
    read_question,
    require_equal,
    unpacked_states,
)
from ._batches import new_names, read_batches
from ._grouped_results import GroupedResults, in_order

if TYPE_CHECKING:
    from ._question import Question

MAX_BYTES = 1 << 30  # of the counts of all groups
MAGIC = b"LDPGRUP\x01"  # the last byte is the version of the layout


class Collected:
    """The counts of one pass over people, and how many of their records were clipped.

    Attributes
    ----------
    question : Question
    groups : Groups or None
        The groups of people; None for one group of all.
    states : list of ndarray
        The arrays of `Question.state_layouts`, each with one row per group.
    n : ndarray of int64
        Number of people of each group.
    clipped : dict of str to int
        Number of clipped records by their kind or question.
    """

    def __init__(self, question: Question[Any], groups: Groups | None) -> None:
        self.question, self.groups = question, groups
        self.clipped: dict[str, int] = {}
        self.n = np.zeros(1 if groups is None else 0, np.int64)
        self.states: list[AnyArray] = [
            np.zeros((len(self.n), *shape), dtype) for shape, dtype in question.state_layouts
        ]

    def members(self, column: Any) -> tuple[NDArray[np.uint32] | None, int]:
        """Return the number of the group of each row, and the number of groups, for which there are then rows of counts."""
        if self.groups is None:
            return None, 1
        numbers = self.groups.numbers(column)
        new = len(self.groups.values) - len(self.n)
        if new:
            require_room(self.question, len(self.groups.values))
            self.n, *self.states = (_with_empty_groups(counts, new) for counts in (self.n, *self.states))
        return numbers, len(self.n)

    def add_clipped(self, counts: Mapping[str, int]) -> None:
        """Add numbers of clipped records."""
        for name, count in counts.items():
            self.clipped[name] = self.clipped.get(name, 0) + count

    def aggregator(self) -> Aggregator | GroupedAggregator:
        """Return the aggregator of all people, or the aggregators of the groups."""
        if self.groups is None:
            return Aggregator.of_states(self.question, [state[0] for state in self.states], int(self.n[0]))
        return GroupedAggregator(self.question, self.groups.values, self.states, self.n, by=self.groups.by)


def require_room(question: Question[Any], groups: int) -> None:
    """Raise if the counts of so many groups would have more than `MAX_BYTES`."""
    each = sum(math.prod(shape) * np.dtype(dtype).itemsize for shape, dtype in question.state_layouts)
    if groups > 1 and groups * each > MAX_BYTES:
        raise ValueError(
            f"by must divide people into at most {max(1, MAX_BYTES // each)} groups, because the counts of a group have "
            f"{each / 1e6:.3g} MB and those of all groups at most {MAX_BYTES / 1e9:.3g} GB, got {groups}"
        )


def _with_empty_groups(counts: AnyArray, new: int) -> AnyArray:
    """Return counts with one row per group, and rows of zeros for new groups."""
    return np.concatenate([counts, np.zeros((new, *counts.shape[1:]), counts.dtype)])


class GroupedAggregator(Mapping[Any, Aggregator]):
    """Aggregators of groups of people who answered the same question, by the public values that divide people.

    The method `collect` of a question makes one with ``by=``. It counts each group like an `Aggregator`, and holds all
    groups in one array, so that thousands of groups are fast.

    Attributes
    ----------
    question : Question
        What the reports answer.
    n : int
        Number of people in all groups.
    by : str, tuple of str or None
        The columns that divide people; None for arrays, which have no name. With a tuple, the groups are tuples of values.

    Examples
    --------
    >>> import ldpfast as ldp
    >>> mechanism = ldp.RandomizedResponse(3, 2.0)
    >>> monday = mechanism.collect([0, 1, 1, 2], by=["N", "N", "S", "S"], rng=1)
    >>> tuesday = mechanism.collect([2, 2], by=["S", "W"], rng=2)
    >>> {region: aggregator.n for region, aggregator in monday.merge(tuesday).items()}
    {'N': 2, 'S': 3, 'W': 1}
    """

    def __init__(
        self,
        question: Question[Any],
        values: Sequence[Any],
        states: list[AnyArray],
        n: NDArray[np.int64],
        *,
        by: By | None = None,
    ) -> None:
        self.question, self.by = question, by
        self._numbers = {value: i for i, value in enumerate(values)}
        self._states, self._n = states, n
        self._batches: set[str] = set()
        self._people = People.of(new_count())

    @classmethod
    def of(cls, aggregators: Mapping[Any, Aggregator], *, by: By | None = None) -> Self:
        """Return the aggregators of groups that were counted one by one, such as messages of clients by region.

        Parameters
        ----------
        aggregators : mapping
            Aggregators of the same question by the public values that divide people. That nobody is in two of them is for the
            caller to know. They stay unchanged.
        by : str or list of str, optional
            Name of the column that divides people; several, if the values are tuples.

        Returns
        -------
        aggregators : GroupedAggregator

        Raises
        ------
        TypeError, ValueError
            If there are no aggregators; if they answer different questions; if two hold a batch of the same name; if values are
            not tuples as long as `by`; if the counts of all groups would have more than 2^30 bytes.

        Examples
        --------
        >>> import ldpfast as ldp
        >>> from ldpfast.reports import GroupedAggregator
        >>> survey = ldp.Survey({"smokes": ldp.survey.YesNo(optional=True)}, 2.0)
        >>> messages = {"N": [survey.client().answer({"smokes": True})], "S": [survey.client().answer({"smokes": None})]}
        >>> counted = {region: survey.aggregator().update(sent) for region, sent in messages.items()}
        >>> GroupedAggregator.of(counted, by="region").n
        2
        """
        if not isinstance(aggregators, Mapping) or not all(isinstance(one, Aggregator) for one in aggregators.values()):
            raise TypeError(f"aggregators must be a mapping to aggregators, got {type(aggregators).__name__}")
        if not aggregators:
            raise ValueError("aggregators must be at least one, got none")
        names, counted = read_by(by), list(aggregators.values())
        if isinstance(names, tuple) and not all(isinstance(v, tuple) and len(v) == len(names) for v in aggregators):
            raise ValueError(
                f"aggregators must be by tuples of {len(names)} values, those of {', '.join(map(repr, names))}"
            )
        for one in counted[1:]:
            require_equal(counted[0].question, one.question)
        require_room(counted[0].question, len(counted))
        states = [np.stack(parts) for parts in zip(*(one._states for one in counted), strict=True)]
        n = np.array([one.n for one in counted], np.int64)
        if sum(n.tolist()) >= MAX_REPORTS:
            raise ValueError(f"aggregators must hold fewer than 2^62 reports, got {sum(n.tolist())}")
        found = cls(counted[0].question, list(aggregators), states, n, by=names)
        found._people = counted[0]._people
        for one in counted:
            if found._batches & one._batches:
                raise ValueError(
                    "aggregators must hold no batch that another one holds: give the parts of a batch other names"
                )
            found._batches |= one._batches
            found._people = found._people.joined(one._people)
        return found

    @property
    def n(self) -> int:
        """Number of people in all groups."""
        return int(self._n.sum())

    def __getitem__(self, value: Any) -> Aggregator:
        number = self._numbers[value]
        found = Aggregator.of_states(self.question, [s[number].copy() for s in self._states], int(self._n[number]))
        found._batches, found._people = set(self._batches), self._people.group(value)
        return found

    def __iter__(self) -> Iterator[Any]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def ordered(self, values: Sequence[Any]) -> GroupedAggregator:
        """Return the aggregators with the groups in another order."""
        places = [self._numbers[value] for value in values]
        ordered = type(self)(
            self.question, values, [state[places] for state in self._states], self._n[places], by=self.by
        )
        ordered._batches, ordered._people = set(self._batches), self._people
        return ordered

    def merge(self, other: GroupedAggregator, *, batch: str | None = None) -> Self:
        """Add the people of other groups of the same question. Groups of the same value are joined.

        Parameters
        ----------
        other : GroupedAggregator
            It stays unchanged.
        batch : str, optional
            Name of the batch that `other` holds, which is accepted once; see `Aggregator.update`.

        Returns
        -------
        self : GroupedAggregator

        Raises
        ------
        TypeError, ValueError
            If `other` is not a GroupedAggregator, or its reports answer another question; if people are divided by other
            columns; if a batch was counted in both; if the counts of all groups would have more than 2^30 bytes. Nothing is
            changed then.
        """
        if not isinstance(other, GroupedAggregator):
            raise TypeError(f"other must be a GroupedAggregator, got {type(other).__name__}")
        if other is self:
            raise ValueError("other must be another aggregator: its reports would count twice")
        require_equal(self.question, other.question)
        if self.by is not None and other.by is not None and self.by != other.by:
            raise ValueError(f"other must divide people by the same columns, {self.by!r}, got {other.by!r}")
        names = other._batches | new_names(self._batches | other._batches, batch)
        if names & self._batches:
            raise ValueError(
                f"other must hold no batch that was already counted, got {len(names & self._batches)} of them"
            )
        if self.n + other.n >= MAX_REPORTS:
            raise ValueError(f"an aggregator must hold fewer than 2^62 reports, got {self.n + other.n}")
        numbers = dict(self._numbers)
        places = np.array([numbers.setdefault(value, len(numbers)) for value in other], np.intp)
        new = len(numbers) - len(self)
        if new:
            require_room(self.question, len(numbers))
        n, *states = (_with_empty_groups(counts, new) for counts in (self._n, *self._states))
        joined = [state[places] for state in states]
        self.question.combine(joined, other._states)
        for state, part in zip(states, joined, strict=True):
            state[places] = part
        n[places] += other._n
        self._numbers, self._states, self._n = numbers, states, n
        self.by = other.by if self.by is None else self.by
        self._batches |= names
        self._people = self._people.joined(other._people)
        return self

    def name_batch(self, batch: str) -> Self:
        """Remember the name of the batch that all groups hold; see `Aggregator.update`."""
        self._batches |= new_names(self._batches, batch)
        return self

    def estimate(self, **options: Any) -> GroupedResults:
        """Return the results of all groups.

        Parameters
        ----------
        **options
            As for `Aggregator.estimate`.

        Returns
        -------
        results : GroupedResults

        Warns
        -----
        SmallSampleWarning
            If groups are left out because nobody is in them.
        """
        empty = {value for value, n in zip(self, self._n.tolist(), strict=True) if not n}
        if empty:
            listed = ", ".join(map(repr, in_order(empty)[:20])) + (", ..." if len(empty) > 20 else "")
            warn(f"groups are left out because nobody is in them: {listed}", SmallSampleWarning)
        # Later calls of `merge` do not change these results: they replace the arrays.
        counted = type(self)(self.question, list(self), self._states, self._n, by=self.by)
        counted._people = self._people
        return GroupedResults(in_order(value for value in self if value not in empty), counted, options)

    def stacked_table(self, values: Sequence[Any], confidence: float, simultaneous: bool) -> Table | None:
        """Return the table of the results of some groups, computed for all of them at once; None if the question cannot."""
        places = [self._numbers[value] for value in values]
        counted = Aggregator.of_states(self.question, [state[places] for state in self._states], self._n[places])
        return self.question.table_of_groups(values, counted, confidence, simultaneous)

    def to_bytes(self) -> bytes:
        """Return the schema of the question, the groups and their counts as bytes, with a checksum.

        Returns
        -------
        data : bytes
            `ldpfast.load` opens it.

        Raises
        ------
        TypeError
            If a value of a group has no form in JSON.
        """
        header = {
            "by": _schema.pack(self.by),
            "groups": [_schema.pack(value) for value in self],
            "n": self._n.tolist(),
            "schema": self.question.schema(),
            "batches": sorted(self._batches),
        }
        return seal(MAGIC, header, packed_states(self._states))

    @classmethod
    def from_bytes(cls, data: bytes) -> GroupedAggregator:
        """Return the aggregators that `to_bytes` saved.

        Parameters
        ----------
        data : bytes
            Result of `to_bytes`.

        Returns
        -------
        aggregator : GroupedAggregator

        Raises
        ------
        TypeError, ValueError
            If `data` is not bytes; if it is damaged, of another object, or of another version; if no reports can have these
            counts.
        """
        header, payload = unseal(MAGIC, "the aggregators of groups", data)
        if set(header) != {"by", "groups", "n", "schema", "batches"} or not isinstance(header["groups"], list):
            raise ValueError("data must be the bytes of the aggregators of groups: the header is not that of them")
        try:
            by = read_by(_schema.unpack(header["by"]))
            values = [_schema.unpack(value) for value in header["groups"]]
            if isinstance(by, tuple) and not all(isinstance(v, tuple) and len(v) == len(by) for v in values):
                raise ValueError("groups without a value for every column")
            n = [_schema.read_integer(count) for count in header["n"]]
            batches = read_batches(header["batches"])
            if len(set(values)) != len(values) or len(n) != len(values):
                raise ValueError("groups that are not different, or numbers of people that do not fit")
            if not all(0 <= count < MAX_REPORTS for count in n) or sum(n) >= MAX_REPORTS:
                raise ValueError("numbers of people out of range")
        except (TypeError, ValueError) as error:
            raise ValueError(f"data must be the bytes of the aggregators of groups: {error}") from error
        question = read_question(header["schema"])
        states = unpacked_states(question, (len(values),), payload)
        for number, count in enumerate(n):
            if not question.is_possible([state[number] for state in states], count):
                raise ValueError(f"data must hold states that groups can have; group {values[number]!r} has another")
        found = cls(question, values, states, np.array(n, np.int64), by=by)
        found._batches = batches
        return found

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupedAggregator):
            return NotImplemented
        same = (
            (self.question, self.by) == (other.question, other.by)
            and self._batches == other._batches
            and set(self) == set(other)
        )
        return same and all(self[value] == other[value] for value in self)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<GroupedAggregator of {self.question!r}: {len(self)} groups, n = {self.n}>"
