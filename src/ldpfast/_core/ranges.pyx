"""Range checks of contiguous arrays, and the positions of the ones of rows."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint8_t, uint16_t, uint64_t

from ldpfast._core.kernels cimport (
    first_code_outside, first_norm_outside_f32, first_norm_outside_f64, first_outside_f32, first_outside_f64,
    INVALID_POSITION, MISSING_POSITION, first_set_of_other_size, row_norm_f64, set_positions,
)

# Last positions of rows that are not valid: of a missing set where one is needed, and of any other.
NO_SET, INVALID_SET = MISSING_POSITION, INVALID_POSITION


def first_invalid_number(x: NDArray[Any], double lower, double upper) -> int:
    """Return the index of the first number outside [lower, upper], or -1. NaN is outside."""
    cdef Py_buffer view
    cdef size_t n, first
    PyObject_GetBuffer(x, &view, PyBUF_SIMPLE)
    n = view.len // view.itemsize
    with nogil:
        if view.itemsize == 4:
            first = first_outside_f32(<const float *>view.buf, n, lower, upper)
        else:
            first = first_outside_f64(<const double *>view.buf, n, lower, upper)
    PyBuffer_Release(&view)
    return -1 if first == n else first


def first_invalid_row(x: NDArray[Any], size_t dim, double least, double most) -> int:
    """Return the index of the first row with a Euclidean norm outside [least, most], or -1. NaN is outside."""
    cdef Py_buffer view
    cdef size_t n, first
    PyObject_GetBuffer(x, &view, PyBUF_SIMPLE)
    n = view.len // (dim * view.itemsize)
    with nogil:
        if view.itemsize == 4:
            first = first_norm_outside_f32(<const float *>view.buf, n, dim, least, most)
        else:
            first = first_norm_outside_f64(<const double *>view.buf, n, dim, least, most)
    PyBuffer_Release(&view)
    return -1 if first == n else first


def row_norms(const double[:, ::1] x, double[::1] norms) -> None:
    """Write the Euclidean norms of rows to `norms`. The order of the additions is the same for all instruction sets."""
    cdef Py_ssize_t i
    if norms.shape[0] != x.shape[0]:
        raise ValueError("rows and norms do not fit together")
    with nogil:
        for i in range(x.shape[0]):
            norms[i] = row_norm_f64(&x[i, 0], x.shape[1]) if x.shape[1] else 0.0


def first_invalid_code(x: NDArray[Any], bint is_signed, uint64_t k) -> int:
    """Return the index of the first integer outside [0, k), or -1."""
    cdef Py_buffer view
    cdef size_t n, first
    PyObject_GetBuffer(x, &view, PyBUF_SIMPLE)
    n = view.len // view.itemsize
    with nogil:
        first = first_code_outside(view.buf, view.itemsize, is_signed, n, k)
    PyBuffer_Release(&view)
    return -1 if first == n else first


def first_invalid_set(const uint8_t[:, ::1] rows, size_t size) -> int:
    """Return the index of the first row of packed bits that does not have `size` ones, or -1."""
    cdef size_t n = rows.shape[0], first = n
    if n:
        with nogil:
            first = first_set_of_other_size(&rows[0, 0], n, rows.shape[1], size)
    return -1 if first == n else first


def fill_positions(const uint8_t[:, ::1] rows, size_t k, uint16_t[:, ::1] out) -> None:
    """Write the positions of the ones of rows of k numbers, or of k packed bits, to `out`, and fillers from k on behind them.

    The last position of a row with other numbers than 0 and 1, or with too many ones, is 65535. The time does not depend on the rows.
    """
    cdef size_t n = rows.shape[0], width = rows.shape[1]
    if n != <size_t>out.shape[0] or not 1 <= k <= 65536 or not out.shape[1] or (width != k and width != (k + 7) // 8):
        raise ValueError("rows and positions do not fit together")
    if n:
        with nogil:
            set_positions(&rows[0, 0], n, k, out.shape[1], width != k, &out[0, 0])
