"""Exact, order-free sums of real-valued reports."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer

from blocks cimport tally_reports
from kernels cimport first_off_grid, grid_format, tally_grid, tally_vectors_f32, tally_vectors_f64, vector_format

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
