"""Randomness: one AES-256 key per call.

``rng=None`` takes a fresh key from the operating system for every call. Only this choice is private. An int or a
`SeedSequence` gives the same key on every call; a `Generator` or `BitGenerator` is advanced by 32 bytes per call. Both
are reproducible and meant for simulation and tests.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from . import _check
from ._core.stream import Stream, StreamId, raw

if TYPE_CHECKING:
    from numpy.random import BitGenerator, Generator, SeedSequence

    from ._person_keys import PersonKeys

    RNGLike: TypeAlias = PersonKeys | int | np.integer | SeedSequence | Generator | BitGenerator | None


def open_stream(rng: RNGLike | Stream) -> Stream:
    """Return a stream with the key of `rng`; an open stream is returned unchanged."""
    if rng is None:
        return Stream()
    if isinstance(rng, Stream):
        return rng
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


def open_generator(rng: RNGLike) -> Generator:
    """Return a NumPy generator with the key of `rng`, for simulated records and counts only, never for a mechanism."""
    return np.random.default_rng(int.from_bytes(cast(Any, open_stream(rng)), "little"))


def words(stream: Stream, stream_id: StreamId, n: int, block: int | None = None, start: int = 0) -> NDArray[np.uint64]:
    """Return n uniform words of 64 bits from number `start` on, from a given record block or from a newly reserved one."""
    counter, skipped = divmod(start, 2)  # two words per count
    result = np.empty(-(-(skipped + n) // 2) * 2, np.uint64)
    raw(stream, stream_id, stream.take(1) if block is None else block, result, counter)
    return result[skipped : skipped + n]


class Words:
    """Uniform random words of one record block, for mechanisms that are written in Python.

    Each word is returned once. Words of different blocks and calls are independent.
    """

    def __init__(self, stream: Stream, block: int) -> None:
        self._stream = stream
        self._block = block
        self._used = 0

    def uint64(self, n: int) -> NDArray[np.uint64]:
        """Return the next n uniform words of 64 bits.

        Parameters
        ----------
        n : int

        Returns
        -------
        words : ndarray of uint64, shape (n,)
        """
        start, self._used = self._used, self._used + n
        return words(self._stream, StreamId.PYTHON, n, self._block, start)

    def below(self, bound: int, n: int) -> NDArray[np.uint64]:
        """Return n exactly uniform integers in [0, bound), by rejection sampling.

        Parameters
        ----------
        bound : int
            In [1, 2^64].
        n : int

        Returns
        -------
        integers : ndarray of uint64, shape (n,)

        Raises
        ------
        TypeError, ValueError
            If `bound` is not an integer in [1, 2^64].
        """
        _check.integer("bound", bound, 1, 1 << 64)
        if bound == 1 << 64:
            return self.uint64(n)
        limit = np.uint64((1 << 64) // bound * bound - 1)  # the last word below the largest multiple of `bound`
        result = self.uint64(n)
        while (rejected := result > limit).any():
            result[rejected] = self.uint64(int(rejected.sum()))
        return np.asarray(result % np.uint64(bound))


class Randomness:
    """Random streams of an object with state.

    If `rng` is None, each call gets a fresh key. Otherwise all calls share one key and get different record blocks, so
    that no two calls use the same random numbers. A generator is refused after a fork, because both processes would use
    the same random numbers.
    """

    def __init__(self) -> None:
        self._rng: RNGLike = None
        self._stream: Stream | None = None
        self._process = 0

    def stream(self, rng: RNGLike) -> Stream:
        """Return the stream of `rng`; a new stream must be passed to `keep`."""
        if self._stream is None:
            return open_stream(rng)
        if not _same(rng, self._rng):
            raise ValueError("rng must stay what it was when it was first given to this object")
        if self._process != os.getpid() and keeps_state(rng):
            raise ValueError("rng must be None, an int or a SeedSequence in a forked process, got a generator")
        return self._stream

    def keep(self, rng: RNGLike, stream: Stream) -> None:
        """Keep the stream of a call that succeeded."""
        if rng is not None:
            self._rng = rng
            self._stream = stream
            self._process = os.getpid()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle no key: an int or a `SeedSequence` continues its stream after a copy, a generator starts a new one."""
        if self._stream is None or _seed(self._rng) is None:
            return Randomness, ()
        return _restored, (self._rng, self._stream.take(0))


def _restored(rng: RNGLike, used: int) -> Randomness:
    randomness, stream = Randomness(), open_stream(rng)
    stream.take(used)
    randomness.keep(rng, stream)
    return randomness


def keeps_state(rng: RNGLike | Stream) -> bool:
    """Return whether `rng` is an object that changes when random numbers are drawn."""
    return rng is not None and _seed(rng) is None


def _seed(rng: RNGLike | Stream) -> object:
    """Return a value that is equal for arguments with the same key on every call; None for other arguments."""
    if isinstance(rng, int | np.integer):
        return int(rng)
    return rng.generate_state(8).tolist() if isinstance(rng, np.random.SeedSequence) else None


def _same(rng: RNGLike, other: RNGLike) -> bool:
    return rng is other or (_seed(rng) is not None and _seed(rng) == _seed(other))
