"""Reports that are valid, and what becomes of them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any

from ._server_plan import SurveyOccasion

DIGEST_BYTES = 8
WITHDRAWN = bytes(DIGEST_BYTES)  # in the place of the digest of a report that was withdrawn: no report has it


class Status(IntEnum):
    """What became of a report."""

    ACCEPTED = 0
    DUPLICATE = 1
    CONFLICT = 2
    CLOSED = 3


@dataclass(frozen=True)
class Reports:
    """Valid reports, in order.

    Attributes
    ----------
    occasions : list of SurveyOccasion
    ids, messages : list of bytes
    labels : list of str
        Group of each person.
    """

    occasions: list[SurveyOccasion]
    ids: list[bytes]
    labels: list[str]
    messages: list[bytes]

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def joined(cls, parts: Sequence[Reports]) -> Reports:
        """Return the reports of several parts, one part after the other."""
        lists = ([one for part in parts for one in getattr(part, column.name)] for column in fields(cls))
        return cls(*lists)

    def digests(self) -> list[bytes]:
        """Return the digests of what must be the same if reports are sent again."""
        return digests_of(self.labels, self.messages)


def digests_of(labels: Sequence[str], messages: Sequence[bytes]) -> list[bytes]:
    """Return the digests of messages with the labels of their groups."""
    starts = {label: label.encode() + b"\0" for label in set(labels)}
    texts = [starts[label] + message for label, message in zip(labels, messages, strict=True)]
    return [hashlib.blake2b(text, digest_size=DIGEST_BYTES).digest() for text in texts]


def places_of(values: Sequence[Hashable]) -> dict[Any, list[int]]:
    """Return the places of each value. The time is linear, because a client chooses the number of values."""
    if len(set(values)) == 1:
        return {values[0]: list(range(len(values)))}
    found: defaultdict[Any, list[int]] = defaultdict(list)
    for place, value in enumerate(values):
        found[value].append(place)
    return found
