"""Buffers and keys, shared by all compiled modules.

Arrays arrive as contiguous buffers whose dtype and shape Python has checked. Sizes are checked again here, because kernels
trust them.
"""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.string cimport memcpy

from ldpfast._core.kernels cimport stream_key


cdef inline int load_key(object source, stream_key *key) except -1:
    """Copy the 32 bytes of a stream's key; the caller wipes the copy."""
    cdef Py_buffer view
    PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)
    if view.len != sizeof(stream_key):
        PyBuffer_Release(&view)
        raise ValueError("a key has 32 bytes")
    memcpy(key, view.buf, sizeof(stream_key))
    PyBuffer_Release(&view)
    return 0


cdef inline int size_index(Py_ssize_t itemsize) except -1:
    """Index of items of 1, 2, 4 or 8 bytes in every table of kernels by dtype: 0, 1, 2, 3."""
    if itemsize == 1:
        return 0
    if itemsize == 2:
        return 1
    if itemsize == 4:
        return 2
    if itemsize == 8:
        return 3
    raise ValueError(f"items must have 1, 2, 4 or 8 bytes, got {itemsize}")


cdef inline int exhaustion(int exhausted) except -1:
    """Raise if a stream of random words came to its end."""
    if exhausted:
        raise OverflowError("a stream of random words is exhausted")
    return 0
