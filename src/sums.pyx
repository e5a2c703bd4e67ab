"""Exact, order-free sums: of real-valued reports, and of the records that a trusted curator has."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer

from blocks cimport tally_reports
from kernels cimport (
    add_clipped_f32, add_clipped_f64, clipping, first_off_grid, grid_format, tally_grid, tally_vectors_f32, tally_vectors_f64,
    vector_format,
)

include "isa.pxi"


def add_grid(reports, size_t dim, double lower, double grid, state):
    """Add rows of `dim` reports lower + grid (j + 1/2) to `state`: 128-bit sums of j, then of j^2."""
    cdef grid_format format = grid_format(dim, lower, grid)
    tally_reports(tally_grid, &format, dim, reports, state, 32 * dim)


def add_vectors(reports, size_t dim, double bound, state):
    """Add rows of `dim` numbers in [-bound, bound] to `state`: 128-bit sums in steps of bound 2^-40."""
    cdef vector_format format = vector_format(dim, bound)
    tally_reports(tally_vectors_f32 if reports.itemsize == 4 else tally_vectors_f64, &format, dim, reports, state,
                  16 * dim)


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


def add_clipped(x, size_t dim, double radius, double[::1] scratch, state):
    """Add rows of `dim` numbers, moved into the ball of that radius, to `state`: 128-bit sums in steps of radius 2^-40.

    Rows with a number that is not finite count as zero; returns how many there were. `scratch`: 2 dim doubles."""
    cdef Py_buffer rows, sums
    cdef clipping p = clipping(dim, radius)
    cdef size_t n, bad = 0
    PyObject_GetBuffer(x, &rows, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(state, &sums, PyBUF_WRITABLE)
        try:
            n = rows.len // (dim * rows.itemsize)
            if (rows.len != <Py_ssize_t>(n * dim * rows.itemsize) or sums.len != <Py_ssize_t>(16 * dim)
                    or scratch.shape[0] != <Py_ssize_t>(2 * dim)):
                raise ValueError("records and state do not fit together")
            with nogil:
                if rows.itemsize == 4:
                    bad = add_clipped_f32(&p, rows.buf, n, &scratch[0], sums.buf)
                else:
                    bad = add_clipped_f64(&p, rows.buf, n, &scratch[0], sums.buf)
        finally:
            PyBuffer_Release(&sums)
    finally:
        PyBuffer_Release(&rows)
    return bad
