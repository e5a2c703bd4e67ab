"""Tables of the classes that saved bytes and descriptions name. The package itself fills them, so that no module names one
that imports it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Module that defines the classes of a kind of description, by the kind.
DESCRIBED: dict[str, str] = {}
# Module and class that opens a saved state, by the first 7 bytes of the state.
SAVED: dict[bytes, tuple[str, str]] = {}


def load_kind(kind: str) -> None:
    """Import the module that defines the classes of a kind."""
    import_module(DESCRIBED[kind])


def class_of_state(start: bytes) -> Any:
    """Return the class whose `from_bytes` opens a saved state that starts with these 7 bytes; None if there is none."""
    if start not in SAVED:
        return None
    module, name = SAVED[start]
    return getattr(import_module(module), name)
