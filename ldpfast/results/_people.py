"""Whose reports an estimate is made of, as far as it is known."""

from __future__ import annotations

import os
from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any, Self


def new_count() -> bytes:
    """Return a name for the counts of one aggregator."""
    return os.urandom(8)


@dataclass(frozen=True)
class Occasion:
    """When people were asked, in what the same people answer again and again.

    Attributes
    ----------
    name : str
        Name of the series of surveys, or of permanent answers.
    turns : bytes
        Digest of what decides who answers when; empty if everybody answers.
    place : int or None
        Which turn of these it is, if each person has one of them only.
    """

    name: str
    turns: bytes = b""
    place: int | None = None

    def can_share(self, other: Occasion) -> bool:
        """Return whether the same people can be asked on both."""
        if self.name != other.name:
            return False
        return self.turns != other.turns or None in (self.place, other.place) or self.place == other.place


@dataclass(frozen=True)
class People:
    """The people behind an estimate. Estimates of the same people have a covariance, which their standard errors do not tell.

    Attributes
    ----------
    counts : frozenset of pairs
        Names of the counts that hold the reports, each with the group of people in a tuple, or with an empty one.
    occasions : frozenset of Occasion
        When they were asked, in series of surveys whose people answer again and again; empty for reports of other questions.
    asked : frozenset of str or None
        Questions that these people were asked if each person answers one; else None.
    """

    counts: frozenset[tuple[bytes, tuple[Hashable, ...]]]
    occasions: frozenset[Occasion] = frozenset()
    asked: frozenset[str] | None = None

    @classmethod
    def of(cls, counts: bytes) -> Self:
        """Return the people of one aggregator."""
        return cls(frozenset([(counts, ())]))

    def group(self, value: Any) -> Self:
        """Return the people of a group."""
        return replace(self, counts=frozenset((name, (value,)) for name, _ in self.counts))

    def joined(self, other: People) -> Self:
        """Return the people of both."""
        return replace(self, counts=self.counts | other.counts, occasions=self.occasions | other.occasions)

    def on(self, occasion: Occasion | None) -> Self:
        """Return the people, asked on an occasion."""
        return self if occasion is None else replace(self, occasions=self.occasions | {occasion})

    def in_common(self, other: People) -> bool:
        """Return whether people are known to be in both."""
        if self.asked is not None and other.asked is not None and not self.asked & other.asked:
            return False
        groups: dict[bytes, set[tuple[Hashable, ...]]] = {}
        for name, group in other.counts:
            groups.setdefault(name, set()).add(group)
        return any(
            name in groups and (not group or () in groups[name] or group in groups[name]) for name, group in self.counts
        )

    def are_disjoint(self, other: People) -> bool:
        """Return whether nobody is known to be in both, and surveys of the same people do not make it likely."""
        if self.in_common(other):
            return False
        from_one_count = {name for name, _ in self.counts} == {name for name, _ in other.counts}
        return from_one_count or not any(a.can_share(b) for a in self.occasions for b in other.occasions)
