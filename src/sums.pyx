"""Exact, order-free sums of real-valued reports."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer

from blocks cimport size_index
from kernels cimport first_off_grid, grid_format, tally_fn, tally_grid, tally_vectors_f32, tally_vectors_f64, vector_format

include "isa.pxi"


cdef int add(tally_fn tally, const void *format, size_t dim, reports, state) except -1:
    cdef Py_buffer rows, sums
    cdef size_t n
    PyObject_GetBuffer(reports, &rows, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(state, &sums, PyBUF_WRITABLE)
        try:
            n = rows.len // (dim * rows.itemsize)
            with nogil:
                tally(format, rows.buf, n, sums.buf)
        finally:
            PyBuffer_Release(&sums)
    finally:
        PyBuffer_Release(&rows)
    return 0


def add_grid(reports, size_t dim, double lower, double grid, state):
    """Add rows of `dim` reports lower + grid (j + 1/2) to `state`: 128-bit sums of j, then of j^2."""
    cdef grid_format format = grid_format(dim, lower, grid)
    add(tally_grid, &format, dim, reports, state)


def add_vectors(reports, size_t dim, double bound, state):
    """Add rows of `dim` numbers in [-bound, bound] to `state`: 128-bit sums in steps of bound 2^-40."""
    cdef vector_format format = vector_format(dim, bound)
    add(tally_vectors_f32 if reports.itemsize == 4 else tally_vectors_f64, &format, dim, reports, state)


def off_grid(reports, double lower, double grid):
    """Position of the first report that is not on the grid; -1 if all are."""
    cdef Py_buffer rows
    cdef grid_format format = grid_format(1, lower, grid)
    cdef size_t n, first
    PyObject_GetBuffer(reports, &rows, PyBUF_SIMPLE)
    n = rows.len // 8
    with nogil:
        first = first_off_grid(&format, <const double *>rows.buf, n)
    PyBuffer_Release(&rows)
    return -1 if first == n else first
