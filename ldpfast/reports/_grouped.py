"""The server's state for groups of people who answered the same question."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from .. import _schema
from .._frames import By, group_value, read_by
from .._warnings import warn
from ..results import SmallSampleWarning
from ._aggregator import Aggregator
from ._batches import counted_twice, read_batches
from ._counts import MAX_REPORTS, Counts, read_question, require_equal, require_room
from ._grouped_results import GroupedResults, in_order
from ._saved_counts import Magic, seal_counts, unseal_counts

MAGIC = Magic(b"LDPGRUP\x01", b"LDPGRUP\x02")


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

    def __init__(self, counts: Counts, *, by: By | None = None) -> None:
        self._counts, self.by = counts, by

    @property
    def question(self) -> Any:
        """What the reports answer."""
        return self._counts.question

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
        values = [group_value(value) for value in aggregators]
        if len(set(values)) < len(values):
            raise ValueError("aggregators must be by different values, got more than one for missing values")
        if isinstance(names, tuple) and not all(isinstance(v, tuple) and len(v) == len(names) for v in values):
            raise ValueError(
                f"aggregators must be by tuples of {len(names)} values, those of {', '.join(map(repr, names))}"
            )
        for one in counted[1:]:
            require_equal(counted[0].question, one.question)
        require_room(counted[0].question, len(counted))
        # The states of the groups become one array for each kind of count, whose first axis is the group.
        parts = [one._counts for one in counted]
        if (total := sum(one.n for one in counted)) >= MAX_REPORTS:
            raise ValueError(f"aggregators must hold fewer than 2^62 reports, got {total}")
        states = [np.concatenate(rows) for rows in zip(*(part.states for part in parts), strict=True)]
        n = np.concatenate([part.n for part in parts])
        found = Counts.of(counted[0].question, values, states, n)
        found.people = parts[0].people
        for part in parts:
            if counted_twice(found.batches, part.batches):
                raise ValueError(
                    "aggregators must hold no batch that another one holds: give the parts of a batch other names"
                )
            found.batches |= part.batches
            found.people = found.people.joined(part.people)
        return cls(found, by=names)

    @property
    def n(self) -> int:
        """Number of people in all groups."""
        return self._counts.total

    def __getitem__(self, value: Any) -> Aggregator:
        return Aggregator._of(self._counts.only(value))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._counts.places)

    def __len__(self) -> int:
        return len(self._counts.places)

    def ordered(self, values: Sequence[Any]) -> GroupedAggregator:
        """Return the aggregators with the groups in another order."""
        return type(self)(self._counts.taken(values), by=self.by)

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
        if self.question == other.question and None not in (self.by, other.by) and self.by != other.by:
            raise ValueError(f"other must divide people by the same columns, {self.by!r}, got {other.by!r}")
        self._counts.merge(other._counts, batch)
        self.by = other.by if self.by is None else self.by
        return self

    def name_batch(self, batch: str) -> Self:
        """Remember the name of the batch that all groups hold; see `Aggregator.update`."""
        self._counts.name_batch(batch)
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
        # a copy, which later calls of `merge` do not change
        return results_of(self._counts.taken(list(self)), self.by, options)

    def to_bytes(self) -> bytes:
        """Return the schema of the question, the groups and their counts as bytes, with a checksum.

        Equal groups, of values of the same types, give equal bytes, in whatever order they were seen or merged. They are in
        ascending order, and values keep their types: text, integers, floats, booleans, decimals, dates and times.

        Returns
        -------
        data : bytes
            `ldpfast.load` opens it.

        Raises
        ------
        TypeError
            If a value of a group has no form in JSON.
        """
        packed = {value: _schema.pack_group(value) for value in self}
        values = in_order(sorted(self, key=lambda value: _schema.canonical_json(packed[value])))
        counts = self._counts if values == list(self) else self._counts.taken(values)
        header = {
            "by": _schema.pack(self.by),
            "groups": [packed[value] for value in values],
            "n": counts.n.tolist(),
            "schema": self.question.schema(),
            "batches": sorted(self._counts.batches),
        }
        return seal_counts(MAGIC, header, counts.states)

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
        header, saved = unseal_counts(MAGIC, "the aggregators of groups", data)
        if set(header) != {"by", "groups", "n", "schema", "batches"} or not isinstance(header["groups"], list):
            raise ValueError("data must be the bytes of the aggregators of groups: the header is not that of them")
        try:
            by = read_by(_schema.unpack(header["by"]))
            values = [group_value(_schema.unpack(value)) for value in header["groups"]]
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
        counts = Counts.read(question, values, n, saved)
        for number, value in enumerate(values):
            if not counts.is_possible(number):
                raise ValueError(f"data must hold states that groups can have; group {value!r} has another")
        counts.batches = batches
        return cls(counts, by=by)

    def __copy__(self) -> Self:
        return copy.deepcopy(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GroupedAggregator):
            return NotImplemented
        return self.by == other.by and self._counts == other._counts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<GroupedAggregator of {self.question!r}: {len(self)} groups, n = {self.n}>"


def aggregator_of(counts: Counts) -> Aggregator | GroupedAggregator:
    """Return the aggregator of all people, or the aggregators of the groups, that keeps counts."""
    if counts.groups is None:
        return Aggregator._of(counts)
    return GroupedAggregator(counts, by=counts.groups.by)


def results_of(counts: Counts, by: By | None, options: Mapping[str, Any]) -> GroupedResults:
    """Return the results of all groups of counts, which are kept, and must not change later."""
    empty = {value for value, place in counts.places.items() if not counts.n[place]}
    if empty:
        listed = ", ".join(map(repr, in_order(empty)[:20])) + (", ..." if len(empty) > 20 else "")
        warn(f"groups are left out because nobody is in them: {listed}", SmallSampleWarning)
    return GroupedResults(in_order(value for value in counts.places if value not in empty), counts, by, options)
