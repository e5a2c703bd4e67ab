"""Strings in rows of bytes: their hash functions, the kernel of sketches, and the search in decoded sketches."""
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

import numpy as np

from ldpfast._core.kernel cimport Kernel
from ldpfast._core.kernels cimport (
    CODE_ROWS, COEFFICIENTS, FIELD_PRIME, MAX_FUNCTIONS, MAX_SKETCH_PARTS, MAX_STRING_BYTES, bucket_of, decoded_sketch,
    field_product, fingerprint, privatize_sketch_response, score_without_largest, search_continuations, sketch_response,
    siphash, string_hashes, tally_codes_u8, tally_codes_u16, tally_codes_u32,
)
from ldpfast._core.privatize cimport CodeKernel


cdef class Hashes:
    """Hash functions of rows of bytes.

    Parameters
    ----------
    key : array of uint64, shape (2,)
        Key of the fingerprint.
    coefficients : array of uint64, shape (functions, 3)
        Below 2^61 - 1.
    buckets : int
        At most 2^24.
    bytes : int
        Number of bytes of a row that are hashed.
    """
    cdef string_hashes h
    cdef const uint64_t[:, ::1] numbers

    def __init__(self, const uint64_t[::1] key, const uint64_t[:, ::1] coefficients, uint32_t buckets, uint32_t bytes):
        cdef Py_ssize_t i, j
        if key.shape[0] != 2 or coefficients.shape[1] != COEFFICIENTS or not 1 <= coefficients.shape[0] <= MAX_FUNCTIONS:
            raise ValueError("the key must have two words, and each function three coefficients")
        if not 1 <= buckets <= 1 << 24 or not 1 <= bytes <= <uint32_t>MAX_STRING_BYTES:
            raise ValueError("buckets must be in [1, 2^24], and bytes in [1, 256]")
        for i in range(coefficients.shape[0]):
            for j in range(COEFFICIENTS):
                if coefficients[i, j] >= FIELD_PRIME:
                    raise ValueError("coefficients must be below 2^61 - 1")
        self.numbers = coefficients
        self.h.key = [key[0], key[1]]
        self.h.coefficient = &coefficients[0, 0]
        self.h.functions, self.h.buckets, self.h.bytes = <uint32_t>coefficients.shape[0], buckets, bytes

    @property
    def key(self) -> tuple[int, int]:
        """Two words."""
        return self.h.key[0], self.h.key[1]

    @property
    def bytes(self) -> int:
        """Number of bytes of a row that are hashed."""
        return self.h.bytes

    @property
    def coefficients(self) -> NDArray[np.uint64]:
        """Coefficients of the functions, shape (functions, 3)."""
        return np.array(self.numbers)

    def buckets(self, const uint8_t[:, ::1] rows) -> NDArray[np.uint32]:
        """Return the buckets of rows, shape (n, functions)."""
        cdef Py_ssize_t i, n = rows.shape[0]
        cdef uint32_t j
        cdef uint64_t x
        if rows.shape[1] < self.h.bytes:
            raise ValueError("rows are too short")
        found = np.empty((n, self.h.functions), np.uint32)
        cdef uint32_t[:, ::1] to = found
        with nogil:
            for i in range(n):
                x = fingerprint(&self.h, &rows[i, 0])
                for j in range(self.h.functions):
                    to[i, j] = bucket_of(&self.h, j, x)
        return found

    def scores(self, const float[:, ::1] table, const uint8_t[:, ::1] rows) -> NDArray[np.float32]:
        """Return the sums of the numbers of rows in a decoded sketch, each without its largest number."""
        cdef Py_ssize_t i, n = rows.shape[0]
        cdef decoded_sketch sketch = self.sketch_of(table)
        if rows.shape[1] < self.h.bytes:
            raise ValueError("rows are too short")
        found = np.empty(n, np.float32)
        cdef float[::1] to = found
        with nogil:
            for i in range(n):
                to[i] = score_without_largest(&sketch, &rows[i, 0])
        return found

    def search(self, const float[:, ::1] table, const uint8_t[:, ::1] rows, size_t start, uint32_t alphabet, float least,
               size_t capacity) -> tuple[NDArray[np.uint8], NDArray[np.float32], int]:
        """Return the continuations of rows of `start` symbols that score at least `least`, and their scores.

        Parameters
        ----------
        table : array of float32, shape (functions, buckets)
            Decoded sketch.
        rows : array of uint8, shape (n, start) or longer
        start : int
        alphabet : int
            Number of symbols besides zero, which ends a string.
        least : float
        capacity : int
            Largest number of continuations that are returned.

        Returns
        -------
        found : ndarray of uint8, shape (m, bytes)
        scores : ndarray of float32, shape (m,)
        count : int
            How many there are, m or more.
        """
        cdef Py_ssize_t i, n = rows.shape[0]
        cdef size_t kept = 0, count = 0, more
        cdef decoded_sketch sketch = self.sketch_of(table)
        if start > self.h.bytes or <size_t>rows.shape[1] < start or alphabet > 255 or alphabet < 1 or capacity < 1:
            raise ValueError("rows, start, alphabet or capacity do not fit")
        found, scores = np.empty((capacity, self.h.bytes), np.uint8), np.empty(capacity, np.float32)
        padded = np.zeros((n, max(start, 1)), np.uint8)
        padded[:, :start] = np.asarray(rows)[:, :start]
        cdef const uint8_t[:, ::1] parents = padded
        cdef uint8_t[:, ::1] to = found
        cdef float[::1] numbers = scores
        cdef uint8_t nothing[1]
        cdef float none[1]
        with nogil:
            for i in range(n):
                if kept < capacity:
                    more = search_continuations(&sketch, &parents[i, 0], start, alphabet, least, capacity - kept, &to[kept, 0],
                                                &numbers[kept])
                else:
                    more = search_continuations(&sketch, &parents[i, 0], start, alphabet, least, 0, nothing, none)
                count += more
                kept = min(capacity, kept + more)
        return found[:kept], scores[:kept], count

    cdef decoded_sketch sketch_of(self, const float[:, ::1] table) except *:
        cdef decoded_sketch sketch
        if <uint32_t>table.shape[0] != self.h.functions or <uint32_t>table.shape[1] != self.h.buckets:
            raise ValueError("the table must have the shape (functions, buckets)")
        sketch.hashes, sketch.table = self.h, &table[0, 0]
        return sketch


cdef class SketchResponse(Kernel):
    """Kernel of sketches.

    Parameters
    ----------
    parts : list of Hashes
        Of whole strings, and of prefixes.
    mechanism : CodeKernel
        Kernel whose records are buckets.
    bytes : int
        Number of bytes of a record, with the last one, which is not hashed.
    """
    cdef sketch_response p
    cdef list kept
    cdef CodeKernel mechanism
    cdef size_t k

    def __init__(self, list parts: list[Hashes], CodeKernel mechanism, uint32_t bytes):
        cdef Hashes hashes
        cdef int size = 0
        cdef uint32_t i
        if not 1 <= len(parts) <= MAX_SKETCH_PARTS:
            raise ValueError("there must be 1 to 64 parts")
        self.kept, self.mechanism = parts, mechanism
        for i, part in enumerate(parts):
            hashes = part
            self.p.part[i] = hashes.h
            if hashes.h.bytes >= bytes or hashes.h.functions != (<Hashes>parts[0]).h.functions:
                raise ValueError("parts must have as many functions, and fit the records")
            if hashes.h.buckets != (<Hashes>parts[0]).h.buckets:
                raise ValueError("parts must have as many buckets")
        while size < 3 and (mechanism.by_size[size] is NULL or self.p.part[0].buckets > <uint64_t>1 << (8 << size)):
            size += 1
        if size == 3:
            raise ValueError("buckets must fit 32 bits")
        self.p.parts, self.p.functions, self.p.row_bytes = len(parts), self.p.part[0].functions, bytes
        self.p.codes, self.p.mechanism, self.p.respond = <uint32_t>mechanism.k, mechanism.params, mechanism.by_size[size]
        self.p.bucket_bytes = 1 << size
        self.p.code_bytes = <uint32_t>(mechanism.report_size or <size_t>1 << size)
        self.k = <size_t>self.p.parts * self.p.functions * mechanism.k
        if self.k > <size_t>1 << 32:
            raise ValueError("too many codes")
        self.p.report_bytes = 1 if self.k <= 1 << 8 else 2 if self.k <= 1 << 16 else 4
        self.params, self.format = &self.p, &self.k
        self.state_bytes, self.items, self.report_items, self.rows = 8 * self.k, bytes, 1, CODE_ROWS
        self.report_size = self.p.report_bytes
        self.by_size = [privatize_sketch_response, NULL, NULL, NULL]
        self.tally_by_size = [tally_codes_u32, NULL, NULL, NULL]
        if self.k <= 1 << 16:
            self.tally_by_size[0] = tally_codes_u16
        if self.k <= 1 << 8:
            self.tally_by_size[0] = tally_codes_u8


def sip_hash(const uint64_t[::1] key, bytes data) -> int:
    """Return SipHash-2-4 of a message."""
    cdef const uint8_t *start = data
    return siphash(&key[0], start, len(data))


def product(uint64_t a, uint64_t b) -> int:
    """Return a product modulo 2^61 - 1 of two numbers below it."""
    return field_product(a, b)


def fill_rows(const uint8_t[::1] data, const int64_t[::1] ends, const uint8_t[::1] table: NDArray[np.uint8] | None,
              bint padded, uint8_t[:, ::1] out) -> None:
    """Write byte strings as symbols to rows that are padded with zeros, and whether each is invalid to the last byte of its row.

    Parameters
    ----------
    data : array of uint8
        The strings, one after another.
    ends : array of int64, shape (n + 1,)
        String i is from ends[i] to ends[i + 1].
    table : array of uint8, shape (256,), or None
        Symbols of bytes. An unknown byte (255) becomes the symbol 1; a continuation (254) is skipped. Both mark the row invalid.
        None: a byte is its own symbol.
    padded : bool
        Whether zeros at the end of a string are not part of it.
    out : ndarray of uint8, shape (n, bytes + 1)
        A string that is too long is cut, and one with the symbol zero ends there. They are invalid, as those with unknown symbols.
    """
    cdef Py_ssize_t i, n = ends.shape[0] - 1
    cdef int64_t at, to, end, bytes = out.shape[1] - 1
    cdef uint8_t symbol, invalid
    cdef bint has_table = table is not None
    if out.shape[0] != n or ends[0] < 0 or (has_table and table.shape[0] != 256):
        raise ValueError("strings and rows do not fit together")
    for i in range(n):
        if ends[i] > ends[i + 1] or ends[i + 1] > data.shape[0]:
            raise ValueError("the ends of strings must be ascending and inside of the data")
    with nogil:
        for i in range(n):
            at, end, to, invalid = ends[i], ends[i + 1], 0, 0
            while padded and end > at and data[end - 1] == 0:
                end -= 1
            while at < end:
                symbol = table[data[at]] if has_table else data[at]
                if symbol == 0:
                    break
                if has_table and symbol >= 254:
                    invalid = 1
                    if symbol == 254:
                        at += 1
                        continue
                    symbol = 1
                if to == bytes:
                    break
                out[i, to] = symbol
                to += 1
                at += 1
            out[i, bytes] = invalid or at < end
            for to in range(to, bytes):
                out[i, to] = 0
