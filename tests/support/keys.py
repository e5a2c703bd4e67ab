"""Known keys and seeds."""

from __future__ import annotations

import numpy as np

FIXED_KEY = bytes(range(32))


def key_of_seed(seed: int) -> bytes:
    """Return the key for ``rng=seed``."""
    return np.random.SeedSequence(seed).generate_state(8, np.uint32).astype("<u4").tobytes()


SEED, STATISTICS_SEED = 20261121, 20240611
KEY = key_of_seed(SEED)


def rng_name(rng: object) -> str:
    """Return a test id for an argument `rng`."""
    return f"{type(rng).__name__} {rng}" if isinstance(rng, int | float) else type(rng).__name__
