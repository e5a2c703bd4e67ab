"""Buffers, keys and the loop over record blocks, shared by every extension module.

Arrays arrive as contiguous buffers that Python has checked for dtype and shape; sizes are checked again here, because a
kernel trusts them.
"""
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from kernels cimport key_wipe, privatize_fn, stream_key, tally_fn


cdef inline int load_key(object source, stream_key *key) except -1:
    """Copies the 32 bytes of a stream's key; the caller wipes the copy."""
    cdef Py_buffer view
    PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)
    if view.len != sizeof(stream_key):
        PyBuffer_Release(&view)
        raise ValueError("a key has 32 bytes")
    memcpy(key, view.buf, sizeof(stream_key))
    PyBuffer_Release(&view)
    return 0


cdef inline int size_index(Py_ssize_t itemsize) except -1:
    """0, 1, 2, 3 for items of 1, 2, 4, 8 bytes: the order of every table of kernels by dtype."""
    if itemsize == 1:
        return 0
    if itemsize == 2:
        return 1
    if itemsize == 4:
        return 2
    if itemsize == 8:
        return 3
    raise ValueError(f"items must have 1, 2, 4 or 8 bytes, got {itemsize}")


cdef inline int privatize_blocks(privatize_fn kernel, const void *params, const stream_key *key, uint64_t block, size_t rows,
                                 const char *x, size_t record_bytes, size_t n, char *out, size_t report_bytes) noexcept nogil:
    """n records from block number `block` on, `rows` to a block. Returns 1 where a stream was exhausted."""
    cdef size_t i = 0, now
    cdef int exhausted = 0
    while i < n:
        now = min(rows, n - i)
        exhausted |= kernel(params, key, block, x + i * record_bytes, now, out + i * report_bytes)
        block += 1
        i += now
    return exhausted


cdef inline int run_blocks(privatize_fn kernel, const void *params, const stream_key *key, uint64_t block, size_t rows,
                           const char *x, size_t record_bytes, size_t n, char *scratch, size_t scratch_rows,
                           size_t report_bytes, tally_fn tally, const void *format, void *state) noexcept nogil:
    """The same, with reports that only live in `scratch` until they are counted; scratch_rows is a multiple of rows."""
    cdef size_t i = 0, now
    cdef int exhausted = 0
    while i < n:
        now = min(scratch_rows, n - i)
        exhausted |= privatize_blocks(kernel, params, key, block, rows, x + i * record_bytes, record_bytes, now,
                                      scratch, report_bytes)
        tally(format, scratch, now, state)
        block += scratch_rows // rows
        i += now
    return exhausted


cdef inline int tally_reports(tally_fn tally, const void *format, size_t items, reports, state,
                              size_t state_bytes) except -1:
    """Adds reports of so many items each to a state of the format's layout, which has so many bytes."""
    cdef Py_buffer rows, counts
    cdef size_t n
    PyObject_GetBuffer(reports, &rows, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(state, &counts, PyBUF_WRITABLE)
        try:
            n = rows.len // (items * rows.itemsize)
            if rows.len % (items * rows.itemsize) or counts.len != <Py_ssize_t>state_bytes:
                raise ValueError("reports and state do not fit together")
            with nogil:
                tally(format, rows.buf, n, counts.buf)
        finally:
            PyBuffer_Release(&counts)
    finally:
        PyBuffer_Release(&rows)
    return 0
