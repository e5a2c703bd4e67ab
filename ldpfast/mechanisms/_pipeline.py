"""The loop over large arrays of records: check, encode, privatize and count them piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from .. import _check, _threads
from .._core.stream import Stream
from .._person_keys import PIECE_ROWS, QuestionKeys, value_fields
from .._random import keeps_state, open_stream
from .._typing import AnyArray
from .._warnings import warn
from ..domains import FLOAT32, FLOAT64, Categories, Domain, Strings
from ..reports import Format
from ..results import ClippedWarning

if TYPE_CHECKING:
    from .._typing import RNGLike

EXACT = 1 << 53  # integers up to this size are exact in doubles
BOOLEANS, DOUBLES = frozenset([bool, np.bool_]), frozenset([float, np.float64])
INTEGERS = frozenset([int, *(np.dtype(code).type for code in "bBhHiIlLqQ")])  # not numpy.timedelta64, an np.integer
FRESH: Any = None  # key of a single record: the kernel takes one from the operating system
NUMBER, CATEGORY, VECTOR, TEXT = "number", "category", "vector", "text"  # forms of a single record
PIECE_BYTES = 1 << 20  # bytes of records per piece, so that a piece stays in cache for all steps


class Kernel(Protocol):
    """Interface of kernels, compiled or in Python."""

    @property
    def rows(self) -> int:
        """Number of records per block. Blocks share no random words."""

    @property
    def checks(self) -> bool:
        """Whether the kernel checks and clips records: the results of `privatize` and `run` tell that all are valid."""

    def privatize(self, key: Stream, block: int, x: AnyArray, out: AnyArray, clip: bool = False) -> bool: ...
    def run(self, key: Stream, block: int, x: AnyArray, state: AnyArray, clip: bool = False) -> bool: ...
    def privatize_each(self, keys: AnyArray, x: AnyArray, out: AnyArray) -> bool: ...


@dataclass(frozen=True, eq=False)
class Pipeline:
    """A domain, the encoding of its records, and the kernel that privatizes the encoded records.

    A problem translates its records to records of a mechanism. A mechanism encodes its records for its kernel.

    Attributes
    ----------
    domain : Domain
        Domain of the records.
    kernel : Kernel
        Kernel for encoded records.
    encode : callable or None
        Function from converted records of the mechanism to input of the kernel, where row i depends on record i alone.
    width : int
        Numbers per encoded record.
    first_block : int
        Number of the first record block. With different numbers, two mechanisms with the same kernel share no random
        word.
    translate : callable or None
        Function from converted records to records of the mechanism, which reads invalid ones, too.
    mechanism_domain : Domain or None
        Domain of the records of the mechanism, if it is another one.
    always_clip : bool
        Whether translated records can be outside of `mechanism_domain`, and are clipped to it.
    """

    domain: Domain
    kernel: Kernel
    encode: Callable[[AnyArray], AnyArray] | None = None
    width: int = 1
    first_block: int = 0
    translate: Callable[[AnyArray], AnyArray] | None = None
    mechanism_domain: Domain | None = None
    always_clip: bool = False

    def blocks(self, n: int) -> int:
        """Return the number of record blocks of n records."""
        return -(-n // self.kernel.rows)

    def single(self, x: Any, report: Format, clip: bool) -> AnyArray | None:
        """Return the report of one record under a fresh key, without the cost of the general case.

        Return None if `x` is not a number, a text or an array that the kernel reads, or if it may be invalid.
        """
        form, kind = self._single_form, type(x)
        record: Any
        number: Any = None
        dtype: np.dtype[Any]
        if form is NUMBER:
            if kind in DOUBLES or (kind in INTEGERS and -EXACT <= int(x) <= EXACT):
                number, dtype = x, FLOAT64
            elif kind is np.float32:
                number, dtype = x, FLOAT32
            elif kind is np.ndarray and not x.shape and self._can_read(x):
                record = x
            else:
                return None
        elif form is CATEGORY:
            kinds, k, dtype = self._single_codes
            if kind not in kinds:
                return None
            number = int(x)  # comparisons of NumPy's scalars are slow
            if not 0 <= number < k:
                return None
        elif form is VECTOR:
            if kind is not np.ndarray or x.shape != (self.domain.width,) or not self._can_read(x):
                return None
            record = x
        elif form is TEXT and kind is str:
            strings: Any = self.domain
            row = strings.row_of(x)
            if row is None:
                return None
            record = np.frombuffer(row, np.uint8)
        else:
            return None
        kernel: Any = self.kernel  # a compiled one, because it checks records
        if number is not None:
            if report.number is not None:
                to, to_code = report.number
                made = kernel.privatize_number(
                    FRESH, self.first_block, number, dtype.itemsize, form is CATEGORY, to_code, clip
                )
                return None if made is None else to(made)
            record = dtype.type(number)
        out = np.empty(report.shape, report.dtype(record.dtype))
        valid = kernel.privatize(FRESH, self.first_block, record, out, clip)
        return (out if out.ndim else out[()]) if valid or clip else None

    def piece_rows(self, records: AnyArray) -> int:
        """Return the number of records per piece, a multiple of the block size."""
        rows = self.kernel.rows
        record_bytes = max(records.dtype.itemsize * (records.size // max(1, len(records))), 8 * self.width)
        return rows * max(1, PIECE_BYTES // (rows * record_bytes))

    @cached_property
    def _single_form(self) -> str | None:
        """Form of a single record that the kernel reads, or None. The code of a label is not a label."""
        domain = self.domain
        if not self.checks or (domain.reads_columns and not isinstance(domain, Strings)):
            return None
        if isinstance(domain, Strings):
            return TEXT
        if isinstance(domain, Categories):
            return CATEGORY
        return NUMBER if domain.width is None else VECTOR

    @cached_property
    def _single_codes(self) -> tuple[frozenset[type], int, np.dtype[Any]]:
        """Types of a single code, number of codes, and the dtype that the kernel reads."""
        domain = self.domain
        assert isinstance(domain, Categories)
        return INTEGERS | BOOLEANS if domain.booleans else INTEGERS, domain.k, domain.dtype

    @staticmethod
    def _can_read(x: AnyArray) -> bool:
        """Return whether a kernel reads the numbers of an array where they are."""
        return (x.dtype is FLOAT64 or x.dtype is FLOAT32) and x.flags.c_contiguous and x.flags.aligned

    @cached_property
    def checks(self) -> bool:
        """Whether the kernel checks the records while it reads them, so that no other pass is needed."""
        return self.translate is None and self.encode is None and self.kernel.checks and not self.always_clip

    def prepared(self, converted: AnyArray, clip: bool = False) -> AnyArray:
        """Return the input of the kernel for results of ``domain.convert``, which may have been left where they were.

        With `clip`, functions of a mechanism in Python get valid records only. Compiled kernels clip what they read.
        """
        if clip and not self.kernel.checks:
            converted = self.domain.clip(converted)
        if self.translate is not None:
            assert self.mechanism_domain is not None
            converted = self.mechanism_domain.convert(self.translate(converted))
        encoded = converted if self.encode is None else self.encode(converted)
        return encoded if encoded.flags.aligned else encoded.copy()

    def privatize(
        self, records: AnyArray, rng: RNGLike | Stream, out: AnyArray, *, clip: bool, check_first: bool
    ) -> None:
        """Write the reports of records to `out`, on all threads. Raise if a record is invalid and `clip` is false.

        With `check_first` nothing is written to `out` in this case. Otherwise `out` then holds reports of a part of the
        records. `rng` is never changed in this case.
        """
        kernel = self.kernel
        check_first = not clip and (check_first or not self.checks or keeps_state(rng))

        def piece(converted: AnyArray, stream: Stream, block: int, reports: AnyArray) -> None:
            valid = kernel.privatize(stream, block, self.prepared(converted, clip), reports, clip or self.always_clip)
            if not (clip or check_first or valid):
                self._check_piece(converted, records)

        if records.size * self.width < _threads.SMALL:  # one piece, without the cost of threads
            converted = self._converted(records, records, clip)
            if check_first:
                self._check_piece(converted, records)
            stream = open_stream(rng)
            piece(converted, stream, self.first_block + stream.take(self.blocks(len(records))), out)
            return
        if check_first:
            self._check(records)
        stream, step = open_stream(rng), self.piece_rows(records)
        first = self.first_block + stream.take(self.blocks(len(records)))

        def work(start: int, stop: int) -> None:
            for at in range(start, stop, step):
                end = min(stop, at + step)
                piece(self._converted(records[at:end], records, clip), stream, first + at // kernel.rows, out[at:end])

        _threads.parallel_map(work, len(records), kernel.rows, records.size * self.width)

    def privatize_persons(self, records: AnyArray, keys: QuestionKeys, out: AnyArray, *, clip: bool) -> None:
        """Write the reports of records to `out`, each from a key of its own. Nothing is written if a record is invalid.

        `out` has the dtype of reports in double precision: equal values have equal reports, in whatever dtype they come.
        """
        if not clip:
            self._check(records)
        integers = records.dtype.kind in "iu" and not isinstance(self.domain, Categories) and records.size
        if integers and max(-int(records.min()), int(records.max())) > EXACT:
            raise ValueError("x must be integers within 2^53 of zero with PersonKeys")

        def work(start: int, stop: int) -> None:
            for at in range(start, stop, PIECE_ROWS):
                values, encoded = self._canonical(records[at : min(stop, at + PIECE_ROWS)])
                own = keys.derive(at, value_fields(values))
                self.kernel.privatize_each(own, encoded, out[at : at + len(encoded)])

        _threads.parallel_map(work, len(records), PIECE_ROWS, 64 * len(records))

    def _canonical(self, records: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Return the values that identify the coins of records, and the input of the kernel, in double precision.

        The values are the nearest valid records, or the codes that they are translated to. Other translations and encodings
        are not used, because the last digits of their functions can depend on the machine.
        """
        if records.dtype.kind == "f":
            records = records.astype(FLOAT64, copy=False)
        converted, inner = self.domain.convert(records), self.mechanism_domain or self.domain
        if self.translate is None:
            values = translated = inner.clip(converted)
        else:
            values = self.domain.clip(converted)  # rounding can tell an end from what is clipped to it
            translated = inner.clip(inner.convert(self.translate(values)))
            values = translated if isinstance(inner, Categories) else values
        encoded = translated if self.encode is None else self.encode(translated)
        return values, np.require(encoded, requirements=["C", "A"])

    def _converted(self, piece: AnyArray, records: AnyArray, clip: bool) -> AnyArray:
        """Return ``domain.convert(piece)``, or `piece` if the kernel can read it. Raise if a record cannot be converted."""
        dtype = self.domain.kernel_dtype(piece)
        if self.checks and _check.is_readable(piece, dtype):
            return piece
        converted = self.domain.convert(piece)
        if not clip and converted.dtype != dtype:
            self._check_piece(converted, records)
        return converted

    def _check_piece(self, converted: AnyArray, records: AnyArray) -> None:
        if self.domain.first_invalid(self.domain.convert(converted)) >= 0:
            raise self.domain.invalid_error(records, can_clip=True)

    def _check(self, records: AnyArray) -> None:
        """Raise if a record is invalid. The check uses all threads."""
        domain, step = self.domain, self.piece_rows(records)

        def is_invalid(start: int, stop: int) -> bool:
            pieces = (records[at : min(stop, at + step)] for at in range(start, stop, step))
            return any(domain.first_invalid(domain.convert(piece)) >= 0 for piece in pieces)

        if any(_threads.parallel_map(is_invalid, len(records), 1, records.size // 8)):
            raise domain.invalid_error(records, can_clip=True)

    def count(
        self,
        converted: AnyArray,
        stream: Stream,
        block: int,
        state: AnyArray,
        check: Callable[[AnyArray], object] | None,
    ) -> None:
        """Privatize results of ``domain.convert``, starting at block number `block`, and add the reports to `state`.

        `check` raises if a record is invalid. It is called only where the kernel cannot tell that all records are valid.
        With None, records are clipped instead.
        """
        if not len(converted):
            return
        if check is not None and not self.checks:
            check(converted)
        clip = check is None or self.always_clip
        valid = self.kernel.run(stream, self.first_block + block, self.prepared(converted, clip), state, clip)
        if check is not None and self.checks and not valid:
            check(converted)

    def run(
        self, records: AnyArray, rng: RNGLike | Stream, new_state: Callable[[], AnyArray], *, clip: bool
    ) -> tuple[list[AnyArray], Clipped]:
        """Check, privatize and count records on all threads.

        Return states whose sum is the result, and how many records were clipped.
        """
        rows, step = self.kernel.rows, self.piece_rows(records)
        check = None if clip else lambda piece: self._check_piece(piece, records)
        stream = open_stream(rng)
        first = stream.take(self.blocks(len(records)))

        def work(start: int, stop: int) -> tuple[AnyArray, Clipped]:
            state, clipped = new_state(), Clipped(0, 0)
            for at in range(start, stop, step):
                converted = self._converted(records[at : min(stop, at + step)], records, clip)
                self.count(converted, stream, first + at // rows, state, check)
                if clip:
                    clipped = clipped.plus(self.domain.clipped(self.domain.convert(converted)))
            return state, clipped

        results = _threads.parallel_map(work, len(records), rows, records.size * self.width)
        return [state for state, _ in results], reduce(Clipped.plus, (found for _, found in results), Clipped(0, 0))

    def clipped(self, records: AnyArray) -> Clipped:
        """Return how many records are not in the domain."""
        step = self.piece_rows(records)
        pieces = (self.domain.convert(records[at : at + step]) for at in range(0, len(records), step))
        return reduce(Clipped.plus, map(self.domain.clipped, pieces), Clipped(0, 0))


class Clipped(NamedTuple):
    """How many records had NaN, which counts as the center, and how many others were outside of the domain."""

    missing: int
    outside: int

    def plus(self, other: tuple[int, int]) -> Clipped:
        """Return the sums of both numbers."""
        return Clipped(self.missing + other[0], self.outside + other[1])


def warn_clipped(n: int, clipped: Clipped) -> None:
    """Warn if some of n records were clipped."""
    parts = [
        f"{count} of {n} records ({count / n:.2g} of all) {what}"
        for count, what in zip(
            clipped, ("had NaN, which counts as the center", "were clipped to the domain"), strict=True
        )
        if count
    ]
    if parts:
        warn(", and ".join(parts) + ": the estimate is for the changed records", ClippedWarning)
