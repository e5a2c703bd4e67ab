"""Buffers and keys, shared by all compiled modules.

Arrays are contiguous buffers. Python has checked their dtype and shape. Sizes are checked again here, because kernels do not
check them.
"""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint8_t
from libc.string cimport memcpy

from ldpfast._core.kernels cimport KEY_BYTES, key_from_system, key_open, key_wipe, stream_key


cdef inline int copy_key(object source, uint8_t *key) except -1:
    """Copy the 32 bytes of a key."""
    cdef Py_buffer view
    PyObject_GetBuffer(source, &view, PyBUF_SIMPLE)
    if view.len != KEY_BYTES:
        PyBuffer_Release(&view)
        raise ValueError("a key has 32 bytes")
    memcpy(key, view.buf, KEY_BYTES)
    PyBuffer_Release(&view)
    return 0


cdef inline int take_key(uint8_t *key) except -1:
    """Take the 32 bytes of a key from the operating system."""
    if key_from_system(key):
        raise OSError("the operating system gave no random bytes")
    return 0


cdef inline int fresh_key(stream_key *key) except -1:
    """Expand a key of the operating system, which nobody else has. The caller closes `key`."""
    cdef uint8_t bytes[32]
    take_key(bytes)
    key_open(key, bytes)
    key_wipe(bytes, sizeof(bytes))
    return 0


cdef inline int load_key(object source, stream_key *key) except -1:
    """Expand the 32 bytes of a key. The caller closes `key`."""
    cdef uint8_t bytes[32]
    copy_key(source, bytes)
    key_open(key, bytes)
    key_wipe(bytes, sizeof(bytes))
    return 0


cdef inline int size_index(Py_ssize_t itemsize) except -1:
    """Return the index in tables of kernels by item size: 0, 1, 2, 3 for 1, 2, 4, 8 bytes."""
    if itemsize == 1:
        return 0
    if itemsize == 2:
        return 1
    if itemsize == 4:
        return 2
    if itemsize == 8:
        return 3
    raise ValueError(f"items must have 1, 2, 4 or 8 bytes, got {itemsize}")


cdef inline int close_key(stream_key *key) except -1:
    """Wipe a key. Raise if one of its streams was exhausted."""
    cdef int exhausted = key.exhausted
    key_wipe(key, sizeof(stream_key))
    if exhausted:
        raise OverflowError("a stream of random words is exhausted")
    return 0
