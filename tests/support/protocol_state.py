"""Internal state of protocols, for comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np

from .internals.kernels import sgd
from .internals.shared import envelope

MAGIC = b"LDPSEQU\x01"  # the first bytes of a saved sequential protocol


def state_of(thing: Any) -> Any:
    """Return all attributes of an object as comparable values, without kernels, locks and sources of randomness."""
    if isinstance(thing, np.ndarray):
        return thing.dtype.str, thing.shape, thing.tobytes()
    if isinstance(thing, sgd.QuantileState):
        return thing.position, thing.count, thing.origin, thing.moments, thing.ones
    if isinstance(thing, list | tuple):
        return [state_of(part) for part in thing]
    if type(thing).__module__.startswith("ldpfast.estimation"):
        parts = {name: part for name, part in vars(thing).items() if name not in ("_kernel", "_lock", "_randomness")}
        return {name: state_of(part) for name, part in parts.items()}
    return thing


def opened(server: Any) -> tuple[dict[str, Any], bytes]:
    """Return the header and the numbers of the saved state of a sequential protocol."""
    return envelope.unseal(MAGIC, "a sequential protocol", server.to_bytes())


def sealed(header: dict[str, Any], numbers: bytes) -> bytes:
    """Return the saved state of a sequential protocol with a valid digest, whatever it says."""
    return envelope.seal(MAGIC, header, numbers)
