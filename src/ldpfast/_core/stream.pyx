"""Keys, stream ids, and raw words of key streams."""
from enum import IntEnum, unique

from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_FillInfo, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from ldpfast._core.blocks cimport close_key, copy_key, load_key, take_key
from ldpfast._core.kernels cimport (
    AES_BLOCK, READER_WORDS, STREAM_RAW, aes_counter, aes_expand, aes_input, aes_schedule, coin, coin_words, coins_direct,
    coins_fill, key_wipe, normals_f32, normals_f64, normals_room, reader, reader_open, stream, stream_draw,
    stream_id, stream_key, stream_open,
)

cdef extern from "random/stream.h":
    """
    typedef struct { const char *name; uint32_t number; } named_stream_id;
    #define NAMED_STREAM_ID(name, number) {#name, number},
    static const named_stream_id named_stream_ids[] = {STREAM_IDS(NAMED_STREAM_ID)};
    enum { NAMED_STREAM_IDS = sizeof(named_stream_ids) / sizeof(named_stream_id) };
    """
    ctypedef struct named_stream_id:
        const char *name
        uint32_t number
    const named_stream_id *named_stream_ids
    int NAMED_STREAM_IDS


def _stream_ids() -> dict:
    return {named_stream_ids[i].name.decode().removeprefix("STREAM_"): named_stream_ids[i].number
            for i in range(NAMED_STREAM_IDS)}


# The list of random/stream.h. All names and numbers are different: otherwise this module cannot be imported.
StreamId = unique(IntEnum("StreamId", _stream_ids(), module=__name__))


cdef class Stream:
    """A key and the number of its next unused record block.

    ``Stream()`` takes the key from the operating system, ``Stream(key)`` takes 32 given bytes. Kernels read the key through
    the buffer protocol. It is wiped on deallocation and cannot be pickled. No block is returned twice.
    """
    cdef uint8_t key[32]
    cdef uint64_t next_block

    def __cinit__(self, key: bytes | None = None):
        if key is None:
            take_key(self.key)
        else:
            copy_key(key, self.key)

    def __dealloc__(self):
        key_wipe(self.key, sizeof(self.key))

    def __getbuffer__(self, Py_buffer *view, int flags):
        PyBuffer_FillInfo(view, self, self.key, sizeof(self.key), 1, flags)

    def __reduce__(self):
        raise TypeError("a stream holds a secret key and cannot be pickled or copied")

    def take(self, uint64_t blocks) -> int:
        """Reserve `blocks` record blocks and return the number of the first."""
        cdef uint64_t first = self.next_block
        if blocks > ~first:
            raise OverflowError("the record blocks of this key are used up")
        self.next_block = first + blocks
        return first


def raw(key: Stream | bytes, unsigned int stream_number: StreamId, uint64_t block, out: NDArray[Any], uint64_t counter=0) -> None:
    """Fill `out`, a multiple of 16 bytes, with the stream (key, stream id, block) that kernels use, from a counter on."""
    cdef Py_buffer view
    cdef stream_key k
    cdef stream s
    load_key(key, &k)
    PyObject_GetBuffer(out, &view, PyBUF_WRITABLE)
    s = stream_open(&k, <stream_id>stream_number, block)
    s.next = counter
    with nogil:
        stream_draw(&s, view.buf, view.len // AES_BLOCK)
    PyBuffer_Release(&view)
    close_key(&k)


def encrypt(key: bytes, bytes first_input, size_t blocks) -> bytes:
    """Return `blocks` encrypted inputs of 16 bytes; the first word of the input counts up. For tests."""
    cdef uint8_t k[32]
    cdef aes_input first
    cdef aes_schedule schedule
    cdef bytes out = bytes(AES_BLOCK * blocks)
    copy_key(key, k)
    if len(first_input) != AES_BLOCK:
        raise ValueError("an input has 16 bytes")
    memcpy(&first, <const char *>first_input, AES_BLOCK)
    aes_expand(k, &schedule)
    aes_counter(&schedule, first, <char *>out, blocks)
    return out


def exhausts(key: Stream | bytes, uint64_t used_blocks) -> bool:
    """Return whether a stream is exhausted after `used_blocks` AES blocks, for tests."""
    cdef stream_key k
    cdef unsigned char block[16]
    load_key(key, &k)
    cdef stream s = stream_open(&k, STREAM_RAW, 0)
    s.next = used_blocks
    stream_draw(&s, block, 1)
    cdef bint exhausted = k.exhausted
    key_wipe(&k, sizeof(k))
    return exhausted


def coins(key: Stream | bytes, uint64_t high, uint64_t low, size_t lanes, bint direct, out: NDArray[Any]) -> None:
    """Fill `out` with packed coins, P(heads) = (high, low) / 2^128, drawn one by one (`direct`, 64 bits) or by bit planes."""
    cdef Py_buffer view
    cdef stream_key k
    cdef reader r
    load_key(key, &k)
    PyObject_GetBuffer(out, &view, PyBUF_WRITABLE)
    try:
        if view.len != <Py_ssize_t>(8 * coin_words(lanes)):
            raise ValueError("out must hold whole vectors of 64 bytes")
        reader_open(&r, &k, STREAM_RAW, 0, READER_WORDS)
        if direct:
            coins_direct(&r, high, <uint64_t *>view.buf, lanes)
        else:
            coins_fill(&r, coin(high, low), <uint64_t *>view.buf, lanes)
    finally:
        PyBuffer_Release(&view)
        close_key(&k)


def normals(key: Stream | bytes, out: NDArray[Any]) -> None:
    """Fill `out` (float or double) with the normal numbers of random directions."""
    cdef Py_buffer view
    cdef stream_key k
    cdef void *drawn
    load_key(key, &k)
    cdef stream s = stream_open(&k, STREAM_RAW, 0)
    PyObject_GetBuffer(out, &view, PyBUF_WRITABLE)
    drawn = malloc(normals_room(view.len // view.itemsize) * view.itemsize + 1)  # `normals_*` round up
    if drawn is not NULL:
        if view.itemsize == 4:
            normals_f32(&s, <float *>drawn, view.len // 4)
        else:
            normals_f64(&s, <double *>drawn, view.len // 8)
        memcpy(view.buf, drawn, view.len)
        free(drawn)
    PyBuffer_Release(&view)
    close_key(&k)
    if drawn is NULL:
        raise MemoryError()
