"""The loop over large arrays of records: check, encode, privatize and count them piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from .. import _threads
from .._core.stream import Stream
from .._random import open_stream
from .._typing import AnyArray
from ..domains import Domain

if TYPE_CHECKING:
    from .._typing import RNGLike

PIECE_BYTES = 1 << 20  # bytes of records per piece, so that a piece stays in cache for all steps


class Kernel(Protocol):
    """Interface of kernels, compiled or in Python."""

    @property
    def rows(self) -> int:
        """Number of records per block. Blocks share no random words."""

    def privatize(self, key: Stream, block: int, x: AnyArray, out: AnyArray) -> None: ...
    def run(self, key: Stream, block: int, x: AnyArray, state: AnyArray) -> None: ...


@dataclass(frozen=True, eq=False)
class Pipeline:
    """A domain, an encoding of its records, and the kernel that privatizes the encoded records.

    Attributes
    ----------
    domain : Domain
        Domain of the records.
    kernel : Kernel
        Kernel for encoded records.
    encode : callable or None
        Function from converted records to input of the kernel, where row i depends on record i alone.
    width : int
        Numbers per encoded record.
    first_block : int
        Number of the first record block. With different numbers, two mechanisms with the same kernel share no random
        word.
    """

    domain: Domain
    kernel: Kernel
    encode: Callable[[AnyArray], AnyArray] | None = None
    width: int = 1
    first_block: int = 0

    def blocks(self, n: int) -> int:
        """Return the number of record blocks of n records."""
        return -(-n // self.kernel.rows)

    def piece_rows(self, records: AnyArray) -> int:
        """Return the number of records per piece, a multiple of the block size."""
        rows = self.kernel.rows
        record_bytes = max(records.dtype.itemsize * (records.size // max(1, len(records))), 8 * self.width)
        return rows * max(1, PIECE_BYTES // (rows * record_bytes))

    def prepared(self, records: AnyArray, clip: bool) -> AnyArray:
        """Return the input of the kernel for records; raise if one is invalid and `clip` is false."""
        converted = self.domain.convert(records)
        if not clip and self.domain.first_invalid(converted) >= 0:
            raise self.domain.invalid_error(records)
        return converted if self.encode is None else self.encode(converted)

    def privatize(self, records: AnyArray, rng: RNGLike | Stream, out: AnyArray, *, clip: bool) -> None:
        """Write the reports of records to `out`, on all threads. Raise before anything is written."""
        kernel = self.kernel
        if records.size * self.width < _threads.SMALL:  # one piece, without the cost of threads
            prepared = self.prepared(records, clip)
            stream = open_stream(rng)
            kernel.privatize(stream, self.first_block + stream.take(self.blocks(len(records))), prepared, out)
            return
        if not clip:
            self._check(records)
        stream, step = open_stream(rng), self.piece_rows(records)
        first = self.first_block + stream.take(self.blocks(len(records)))

        def work(start: int, stop: int) -> None:
            for at in range(start, stop, step):
                end = min(stop, at + step)
                prepared = self.prepared(records[at:end], True)
                kernel.privatize(stream, first + at // kernel.rows, prepared, out[at:end])

        _threads.parallel_map(work, len(records), kernel.rows, records.size * self.width)

    def _check(self, records: AnyArray) -> None:
        """Raise if a record is invalid. The check uses all threads."""
        domain, step = self.domain, self.piece_rows(records)

        def is_invalid(start: int, stop: int) -> bool:
            pieces = (records[at : min(stop, at + step)] for at in range(start, stop, step))
            return any(domain.first_invalid(domain.convert(piece)) >= 0 for piece in pieces)

        if any(_threads.parallel_map(is_invalid, len(records), 1, records.size // 8)):
            raise domain.invalid_error(records)

    def count(self, records: AnyArray, stream: Stream, block: int, state: AnyArray) -> None:
        """Privatize valid records, starting at block number `block`, and add the reports to `state`."""
        if len(records):
            self.kernel.run(stream, self.first_block + block, self.prepared(records, True), state)

    def run(
        self, records: AnyArray, rng: RNGLike | Stream, new_state: Callable[[], AnyArray], *, clip: bool
    ) -> list[AnyArray]:
        """Check, privatize and count records on all threads. Return states whose sum is the result."""
        domain, rows, step = self.domain, self.kernel.rows, self.piece_rows(records)
        stream = open_stream(rng)
        first = stream.take(self.blocks(len(records)))

        def work(start: int, stop: int) -> AnyArray:
            state = new_state()
            for at in range(start, stop, step):
                piece = domain.convert(records[at : min(stop, at + step)])
                if not clip and domain.first_invalid(piece) >= 0:
                    raise domain.invalid_error(records)
                self.count(piece, stream, first + at // rows, state)
            return state

        return _threads.parallel_map(work, len(records), rows, records.size * self.width)
