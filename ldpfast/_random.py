"""Randomness: one ChaCha20 key per call.

``rng=None`` takes a fresh key from the operating system for every call, the only choice that is private. An int or a
`SeedSequence` gives the same key on every call; a `Generator` or `BitGenerator` is advanced by 32 bytes per call. Both
are reproducible: for simulation and tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _check
from ._core.stream import Stream, raw
from ._core.stream import normals as _normals

if TYPE_CHECKING:
    from numpy.random import Generator

    from ._typing import RNGLike

# Stream ids of words for Python: STREAM_CENTRAL_WORDS of src/kernels/random/stream.h and the three after it,
# STREAM_PYTHON.
SMOOTH, M_ESTIMATE, ROUNDING, IDEAL = 33, 34, 35, 36
PYTHON = 37


def open_stream(rng: RNGLike | Stream) -> Stream:
    """A stream with the key that `rng` stands for; an open stream is returned as it is."""
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
    """A NumPy generator with the key that `rng` stands for: for simulated records and counts, never for a mechanism."""
    return np.random.default_rng(int.from_bytes(cast(Any, open_stream(rng)), "little"))


def words(stream: Stream, stream_id: int, n: int, block: int | None = None) -> NDArray[np.uint64]:
    """n uniform words of 64 bits, from a given record block or from one that is reserved for them."""
    found = np.empty(-(-max(n, 1) // 128) * 128, np.uint64)
    raw(stream, stream_id, stream.take(1) if block is None else block, found)
    return found[:n]


def normals(stream: Stream, n: int) -> NDArray[np.float64]:
    """n standard normal numbers in doubles, for releases that are ideal only. From a key of their own, drawn from the stream."""
    found = np.empty(max(n, 1) + max(n, 1) % 2)
    _normals(words(stream, IDEAL, 4).tobytes(), found)
    return found[:n]


class Words:
    """Uniform random words of one record block, for mechanisms that are written in Python.

    Each word is given out once. Words of different blocks and calls are independent.
    """

    def __init__(self, stream: Stream, block: int) -> None:
        self._stream, self._block, self._used = stream, block, 0

    def uint64(self, n: int) -> NDArray[np.uint64]:
        """The next n uniform words of 64 bits.

        Parameters
        ----------
        n : int

        Returns
        -------
        words : ndarray of uint64, shape (n,)
        """
        start, self._used = self._used, self._used + n
        return words(self._stream, PYTHON, self._used, self._block)[start:]

    def below(self, bound: int, n: int) -> NDArray[np.uint64]:
        """n exactly uniform integers in [0, bound), by rejection.

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
        limit = np.uint64((1 << 64) // bound * bound - 1)  # the largest word of a whole interval of `bound` words
        found = self.uint64(n)
        while (rejected := found > limit).any():
            found[rejected] = self.uint64(int(rejected.sum()))
        return np.asarray(found % np.uint64(bound))


class Randomness:
    """The randomness of an object with state.

    A fresh key for every call where `rng` is None. Otherwise one key from first use on, whose record blocks are taken
    in turn, so that no two calls share a coin.
    """

    def __init__(self) -> None:
        self._rng: RNGLike = None
        self._stream: Stream | None = None

    def stream(self, rng: RNGLike) -> Stream:
        """The stream that belongs to `rng`; a new one has to be passed to `keep`."""
        if self._stream is None:
            return open_stream(rng)
        if not _same(rng, self._rng):
            raise ValueError("rng must stay what it was when it was first given to this object")
        return self._stream

    def keep(self, rng: RNGLike, stream: Stream) -> None:
        """Keep the stream of a call that has succeeded."""
        if rng is not None:
            self._rng, self._stream = rng, stream

    def __reduce__(self) -> tuple[Any, ...]:
        """Keys are never stored or copied. A key that can be derived again continues; a generator gives another one."""
        if self._stream is None or _seed(self._rng) is None:
            return Randomness, ()
        return _restored, (self._rng, self._stream.take(0))


def _restored(rng: RNGLike, used: int) -> Randomness:
    randomness, stream = Randomness(), open_stream(rng)
    stream.take(used)
    randomness.keep(rng, stream)
    return randomness


def _seed(rng: RNGLike) -> object:
    """Equal for arguments that give the same key on every call; None for all others."""
    if isinstance(rng, int | np.integer):
        return int(rng)
    return rng.generate_state(8).tolist() if isinstance(rng, np.random.SeedSequence) else None


def _same(rng: RNGLike, other: RNGLike) -> bool:
    return rng is other or (_seed(rng) is not None and _seed(rng) == _seed(other))
