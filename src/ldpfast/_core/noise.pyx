"""Discrete Gaussian noise."""
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint64_t

from ldpfast._core.blocks cimport close_key, load_key
from ldpfast._core.kernels cimport MOST_VARIANCE, draw_gaussian, stream_key


def gaussian(key, uint64_t block, uint64_t variance, out):
    """Fill `out` (int64) with integers n drawn with probabilities proportional to exp(-n^2 / (2 variance))."""
    cdef stream_key k
    cdef Py_buffer view
    if not 1 <= variance <= MOST_VARIANCE:
        raise ValueError("variance must be in [1, 2^48]")
    load_key(key, &k)
    try:
        PyObject_GetBuffer(out, &view, PyBUF_WRITABLE)
        with nogil:
            draw_gaussian(&k, block, variance, view.len // 8, <int64_t *>view.buf)
        PyBuffer_Release(&view)
    finally:
        close_key(&k)
