"""Names of batches that an aggregator has counted."""

from __future__ import annotations

import hashlib
import re
from typing import Any

_BATCH = re.compile("[0-9a-f]{32}")  # result of `hash_of_batch`


def hash_of_batch(name: str) -> str:
    """Return what is stored of the name of a batch."""
    if not isinstance(name, str):
        raise TypeError(f"batch must be a str, got {type(name).__name__}")
    return hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:32]


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
