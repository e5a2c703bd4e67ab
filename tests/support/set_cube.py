"""Reference implementation of the sampled cube for sets: the signs of sets, for the draws of the cube of numbers."""

from __future__ import annotations

import numpy as np

from .reference import cap_signs, cube_items

USES = "SET_CUBE"


def signs(domain, record: list[int]) -> np.ndarray:
    """Return one number for each option, and one more if sets may be missing: 1 for what the record has."""
    plus = [option in record for option in range(domain.k)]
    if domain.optional:
        plus.append(domain.k + domain.most in record)
    return np.array(plus, np.uint8)


def sampled_options(law, key: bytes, block: int, records: list[list[int]], heads: int | None = None) -> np.ndarray:
    """Return the reports of a block of records, rows of ascending positions, for sampled options."""
    own = [signs(law.domain, record) for record in records]
    heads = law.cube.coin.heads if heads is None else heads
    return cube_items(law.cube, heads, key, block, len(own), lambda i, places: own[i][places].tolist(), USES)


def all_options(law, key: bytes, block: int, records: list[list[int]], heads: int | None = None) -> np.ndarray:
    """Return the same for the signs (0 or 1) of all options."""
    own = [signs(law.domain, record) for record in records]
    return cap_signs(law.cube, law.cube.coin.heads if heads is None else heads, key, block, own, USES)
