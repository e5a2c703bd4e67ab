"""Decoded numbers of all codes of a level of a tree."""

from __future__ import annotations

import numpy as np

from .internals.mechanisms import tree_sets


def decoded_codes(level):
    """Return the numbers that each code of a level is decoded as, shape (codes, nodes)."""
    if not isinstance(level, tree_sets.SetLevel):
        return np.array([level.decode(one) for one in np.eye(level.codes, dtype=np.int64)])
    decoded = (level.matches(np.arange(level.nodes)).T - float(level.moments.support)) / float(level.gap)
    for code in {0, level.codes // 2, level.codes - 1}:  # by the method of the level
        one = np.zeros(level.codes, np.int64)
        one[code] = 1
        np.testing.assert_allclose(level.decode(one), decoded[code], rtol=1e-9, atol=1e-12)
    return decoded
