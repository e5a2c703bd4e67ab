"""Saved states of the protocol."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ... import _check
from ..._envelope import seal, unseal
from ...reports import Aggregator
from ._group import AnswerGroups, Group

MAGIC = b"LDPNORM\x02"  # the last byte is the version of the layout
WHAT = "a GaussianMean"


def save(header: dict[str, Any], rounds: list[AnswerGroups]) -> bytes:
    """Return the bytes of a protocol: a header, and the answers of all groups of all rounds.

    Parameters
    ----------
    header : dict
        Description of the protocol, in types that JSON supports.
    rounds : list of tuple of Group
        Groups of each round.

    Returns
    -------
    data : bytes
    """
    stored = [[group.answers.to_bytes() for group in groups] for groups in rounds]
    sizes = [[len(group) for group in groups] for groups in stored]
    return seal(MAGIC, {**header, "sizes": sizes}, b"".join(group for groups in stored for group in groups))


def load(data: bytes) -> tuple[dict[str, Any], list[AnswerGroups]]:
    """Return the header and the rounds that were stored by `save`.

    Parameters
    ----------
    data : bytes
        Result of `save`.

    Returns
    -------
    header : dict
    rounds : list of tuple of Group

    Raises
    ------
    TypeError, ValueError
        If `data` are not bytes; if they are damaged, foreign, or of another version.
    """
    header, payload = unseal(MAGIC, WHAT, data)
    try:
        rounds, start = [], 0
        for sizes in header["sizes"]:
            stops = [start, *(start := start + _check.integer("size", size, 1) for size in sizes)]
            rounds.append(tuple(_group(payload[a:b]) for a, b in pairwise(stops)))
        if start != len(payload):
            raise ValueError("groups of another size")
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(f"data must be the bytes of {WHAT}: {error}") from error
    return header, rounds


def _group(data: bytes) -> Group:
    answers = Aggregator.from_bytes(data)
    question: Any = answers.question
    return Group(question, answers)
