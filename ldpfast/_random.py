"""Where randomness comes from: one ChaCha20 key per call.

``rng=None`` takes a fresh key from the operating system for every call, the only choice that is private. An int or a
`SeedSequence` gives the same key on every call; a `Generator` or `BitGenerator` is advanced by 32 bytes per call. Both are
reproducible: for simulation and tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ._core.stream import Stream

if TYPE_CHECKING:
    from numpy.random import BitGenerator, Generator, SeedSequence

    RNGLike: TypeAlias = int | np.integer | SeedSequence | Generator | BitGenerator | None


def open_stream(rng: RNGLike) -> Stream:
    """A stream with the key that `rng` stands for."""
    if rng is None:
        return Stream()
    if isinstance(rng, np.random.Generator):
        return Stream(rng.bytes(32))
    if isinstance(rng, np.random.BitGenerator):
        return Stream(np.random.Generator(rng).bytes(32))
    if isinstance(rng, int | np.integer) and not isinstance(rng, bool | np.bool_):
        if rng < 0:
            raise ValueError(f"rng must be >= 0 where it is an int, got {rng}")
        rng = np.random.SeedSequence(int(rng))
    if isinstance(rng, np.random.SeedSequence):
        return Stream(rng.generate_state(8, np.uint32).astype("<u4").tobytes())
    raise TypeError(
        f"rng must be None, an int, a SeedSequence, a Generator or a BitGenerator, got {type(rng).__name__}"
    )
