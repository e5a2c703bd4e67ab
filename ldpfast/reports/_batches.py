"""Names of batches that an aggregator has counted."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from .._schema import read_json
from .._warnings import warn
from ..results import DoubtfulWarning

BATCHES_KEY = b"ldpfast_batches"  # of the metadata of tables of messages: the names of batches, by group
GROUP = "group"  # column with the group of each person

_BATCH = re.compile("[0-9a-f]{32}")  # result of `hash_of_batch`


def hash_of_batch(name: str) -> str:
    """Return what is stored of the name of a batch."""
    if not isinstance(name, str):
        raise TypeError(f"batch must be a str, got {type(name).__name__}")
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:32]


# A mark among the names, and no name: the exports of a server have it, whose reports clients have sent.
FROM_CLIENTS = hash_of_batch("ldpfast serve")


def counted_twice(counted: set[str], others: set[str]) -> int:
    """Return the number of batches that both have."""
    return len((counted & others) - {FROM_CLIENTS})


def warn_of_two_sources(counted: set[str], others: set[str]) -> None:
    """Warn if of two counts of people one is from the clients of a server, and the other one is not."""
    if (FROM_CLIENTS in counted) != (FROM_CLIENTS in others):
        warn(
            "the reports that clients have sent to a server and other reports are added: whoever is in both counts twice, and "
            "loses epsilon twice. Give a survey of records that you already have another series",
            DoubtfulWarning,
        )


def read_batches(value: Any) -> set[str]:
    """Return what a saved state holds of the names of batches."""
    if not isinstance(value, list) or not all(isinstance(name, str) and _BATCH.fullmatch(name) for name in value):
        raise ValueError("the batches are not a list of 32 hexadecimal digits each")
    return set(value)


def new_names(counted: set[str], batch: str | None) -> set[str]:
    """Return what is stored of the name of a new batch, or nothing if there is no name.

    Raises
    ------
    TypeError, ValueError
        If it is no text, or the batch was counted.
    """
    names = set() if batch is None else {hash_of_batch(batch)}
    if names & counted:
        raise ValueError(f"batch must be new, got {batch!r}, which was already counted")
    return names


def carried_names(reports: Any) -> set[str]:
    """Return what is stored of the names of batches that an Arrow table carries, for the groups that it has rows of.

    Raises
    ------
    ValueError
        If the names are damaged.
    """
    metadata = getattr(getattr(reports, "schema", None), "metadata", None)
    if not isinstance(metadata, Mapping) or BATCHES_KEY not in metadata or not hasattr(reports, "column_names"):
        return set()
    try:
        by_group = {group: read_batches(names) for group, names in read_json(metadata[BATCHES_KEY]).items()}
        has_groups = GROUP in reports.column_names
        groups = reports.column(GROUP).unique().to_pylist() if has_groups else [""] * bool(len(reports))
        return set().union(*(by_group[group] for group in groups))
    except (AttributeError, LookupError, TypeError, ValueError):
        raise ValueError("reports must have names of batches for all of their groups in the metadata") from None
