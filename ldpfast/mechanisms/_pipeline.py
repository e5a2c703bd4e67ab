"""From records to reports, piece by piece: check, encode, privatize, count. The only loop over large arrays of records."""

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

PIECE_BYTES = 1 << 20  # of records that are checked, encoded and privatized while they are in cache


class Kernel(Protocol):
    """What a kernel offers, compiled or in Python."""

    @property
    def rows(self) -> int:
        """Number of records in a block, which has random words of its own."""

    def privatize(self, key: Stream, block: int, x: AnyArray, out: AnyArray) -> None: ...
    def run(self, key: Stream, block: int, x: AnyArray, state: AnyArray) -> None: ...


@dataclass(frozen=True, eq=False)
class Pipeline:
    """Records of a domain, an encoding of each by itself, and the kernel that privatizes the encoded records.

    Attributes
    ----------
    domain : Domain
        Of the records.
    kernel : Kernel
    encode : callable or None
        Turns valid, converted records into those of the kernel, each row from its own record alone.
    width : int
        How many numbers an encoded record has.
    first_block : int
        Record blocks start here: kernels that serve two mechanisms share no random word.
    """

    domain: Domain
    kernel: Kernel
    encode: Callable[[AnyArray], AnyArray] | None = None
    width: int = 1
    first_block: int = 0

    def blocks(self, n: int) -> int:
        """Number of record blocks of n records."""
        return -(-n // self.kernel.rows)

    def piece_rows(self, records: AnyArray) -> int:
        """How many records to take at a time: whole blocks."""
        rows = self.kernel.rows
        record_bytes = max(records.dtype.itemsize * (records.size // max(1, len(records))), 8 * self.width)
        return rows * max(1, PIECE_BYTES // (rows * record_bytes))

    def prepared(self, records: AnyArray, clip: bool) -> AnyArray:
        """Records as the kernel takes them; raises if one is invalid and `clip` is false."""
        converted = self.domain.convert(records)
        if not clip and self.domain.first_invalid(converted) >= 0:
            raise self.domain.invalid_error(records)
        return converted if self.encode is None else self.encode(converted)

    def privatize(self, records: AnyArray, rng: RNGLike | Stream, out: AnyArray, *, clip: bool) -> None:
        """Write the reports of records to `out`. Raises before anything is written; all threads work."""
        kernel = self.kernel
        if records.size * self.width < _threads.SMALL:  # one piece, and no time to lose
            ready = self.prepared(records, clip)
            stream = open_stream(rng)
            kernel.privatize(stream, self.first_block + stream.take(self.blocks(len(records))), ready, out)
            return
        if not clip:
            self._check(records)
        stream, step = open_stream(rng), self.piece_rows(records)
        first = self.first_block + stream.take(self.blocks(len(records)))

        def work(start: int, stop: int) -> None:
            for at in range(start, stop, step):
                end = min(stop, at + step)
                ready = self.prepared(records[at:end], True)
                kernel.privatize(stream, first + at // kernel.rows, ready, out[at:end])

        _threads.parallel_map(work, len(records), kernel.rows, records.size * self.width)

    def _check(self, records: AnyArray) -> None:
        """Raise if a record is invalid; all threads look."""
        domain, step = self.domain, self.piece_rows(records)

        def is_invalid(start: int, stop: int) -> bool:
            pieces = (records[at : min(stop, at + step)] for at in range(start, stop, step))
            return any(domain.first_invalid(domain.convert(piece)) >= 0 for piece in pieces)

        if any(_threads.parallel_map(is_invalid, len(records), 1, records.size // 8)):
            raise domain.invalid_error(records)

    def count(self, records: AnyArray, stream: Stream, block: int, state: AnyArray) -> None:
        """Privatize valid records from block number `block` on, and add the reports to `state`."""
        if len(records):
            self.kernel.run(stream, self.first_block + block, self.prepared(records, True), state)

    def run(
        self, records: AnyArray, rng: RNGLike | Stream, new_state: Callable[[], AnyArray], *, clip: bool
    ) -> list[AnyArray]:
        """Check, privatize and count records; returns states that have to be added up. All threads work."""
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
