"""What the tasks of an engine return, and its sum."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypedDict

from ._load import load
from .estimation import NewtonStep


class TaskCounts(TypedDict):
    """What a task returns: built-in types only, so that every version of the package can read it.

    An error is a result, too. A task that raised it would be repeated, and engines write the input of failed tasks, which
    are records, to their logs.
    """

    partitions: list[int]
    state: bytes | None  # result of `to_bytes`; None without people
    groups: dict[Any, tuple[int, int]]  # partition and place in it where each group is first seen
    clipped: dict[str, int]
    secret: str  # hash of the secret of the personal keys, which must be the same in all tasks; "" without them
    error: tuple[int, str, str] | None  # partition, "TypeError" or "ValueError", and the message


def no_counts(partitions: list[int]) -> TaskCounts:
    """Return the counts of some partitions without people."""
    return {"partitions": partitions, "state": None, "groups": {}, "clipped": {}, "secret": "", "error": None}


def merge(parts: Iterable[TaskCounts]) -> TaskCounts:
    """Return the sum of the counts of different partitions.

    Raises
    ------
    ValueError
        If a partition was counted twice, or tasks had different secrets.
    """
    ordered = sorted(parts, key=lambda part: part["partitions"][:1])
    partitions = sorted(number for part in ordered for number in part["partitions"])
    if len(set(partitions)) != len(partitions):
        raise ValueError("every partition must be counted once, got one twice")
    merged = no_counts(partitions)
    errors = [part["error"] for part in ordered if part["error"] is not None]
    if errors:
        return {**merged, "error": min(errors)}
    secrets = {part["secret"] for part in ordered if part["secret"]}
    if len(secrets) > 1:
        raise ValueError("key must return the same secret in every task, got different ones")
    merged["secret"] = max(secrets, default="")
    for part in ordered:
        for name, count in part["clipped"].items():
            merged["clipped"][name] = merged["clipped"].get(name, 0) + count
        for value, place in part["groups"].items():
            merged["groups"][value] = min(place, merged["groups"].get(value, place))
    states = [part["state"] for part in ordered if part["state"] is not None]
    if states:
        total = load(states[0])
        for state in states[1:]:
            part = load(state)
            if isinstance(total, NewtonStep):
                total._merge_part(part)
            else:
                total.merge(part)
        merged["state"] = total.to_bytes() if len(states) > 1 else states[0]
    return merged
