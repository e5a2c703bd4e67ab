"""Counts and exact sums of reports, and of records held by a trusted curator."""
from cpython.buffer cimport PyBUF_SIMPLE, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer

from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from ldpfast._core.blocks cimport size_index
from ldpfast._core.kernels cimport *

cdef tally_fn tally_codes[4]
tally_codes[:] = [tally_codes_u8, tally_codes_u16, tally_codes_u32, tally_codes_u64]


cdef int add(tally_fn tally, const void *format, size_t items, reports, state, size_t state_bytes) except -1:
    """Add reports of `items` items each to a state of `state_bytes` bytes."""
    cdef Py_buffer rows, sums
    cdef size_t n
    PyObject_GetBuffer(reports, &rows, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(state, &sums, PyBUF_WRITABLE)
        try:
            n = rows.len // (items * rows.itemsize)
            if rows.len % (items * rows.itemsize) or sums.len != <Py_ssize_t>state_bytes:
                raise ValueError("reports and state do not fit together")
            with nogil:
                tally(format, rows.buf, n, sums.buf)
        finally:
            PyBuffer_Release(&sums)
    finally:
        PyBuffer_Release(&rows)
    return 0


def add_codes(reports: NDArray[Any], counts: NDArray[Any]) -> None:
    """Add the histogram of `reports` (unsigned codes below len(counts)) to `counts` (int64)."""
    cdef size_t k = len(counts)
    add(tally_codes[size_index(reports.itemsize)], &k, 1, reports, counts, 8 * k)


def add_bits(reports: NDArray[Any], counts: NDArray[Any]) -> None:
    """Add to `counts` (int64, one per bit) the number of packed rows in `reports` with that bit set."""
    cdef size_t k = len(counts)
    add(tally_bits, &k, (k + 7) // 8, reports, counts, 8 * k)


def add_sets(const uint8_t[:, ::1] reports, size_t size, int64_t[::1] counts) -> bool:
    """Do as `add_bits`, and return whether all rows have `size` ones. If not, the counts have no meaning."""
    cdef size_t n = reports.shape[0], k = counts.shape[0]
    cdef bint valid = True
    if reports.shape[1] != <Py_ssize_t>((k + 7) // 8):
        raise ValueError("reports and counts do not fit together")
    if n:
        with nogil:
            valid = tally_sets(k, size, &reports[0, 0], n, &counts[0])
    return valid


cdef view_format format_of_views(const uint32_t[::1] answers, uint32_t plain, uint32_t flip, reports) except *:
    cdef view_format format
    if answers.shape[0] > MAX_QUESTIONS or view_format_open(&format, answers.shape[0], &answers[0], plain, flip):
        raise ValueError("the views do not fit the kernel")
    if reports.shape[1] != <Py_ssize_t>view_report_bytes(&format):
        raise ValueError("reports do not fit the views")
    return format


def add_views(const uint8_t[:, ::1] reports, const uint32_t[::1] answers, uint32_t plain, uint32_t flip,
              int64_t[::1] state) -> bool:
    """Add reports about views of `plain` questions, or of `flip` ones up to a flip, to a state, and return whether all are valid.

    `answers` holds the number of answers to each question. The state is that of tally/views.h.
    """
    cdef view_format format = format_of_views(answers, plain, flip, reports)
    cdef size_t n = reports.shape[0], all = format.first[format.questions]
    cdef bint valid = True
    if state.shape[0] != <Py_ssize_t>(all * all + format.questions * format.questions):
        raise ValueError("reports and state do not fit together")
    if n:
        with nogil:
            valid = count_views(&format, &reports[0, 0], n, &state[0])
    return valid


def first_invalid_view(const uint8_t[:, ::1] reports, const uint32_t[::1] answers, uint32_t plain, uint32_t flip) -> int:
    """Return the index of the first report that is not valid, or -1."""
    cdef view_format format = format_of_views(answers, plain, flip, reports)
    cdef size_t n = reports.shape[0], first
    if n == 0:
        return -1
    with nogil:
        first = invalid_view(&format, &reports[0, 0], n)
    return -1 if first == n else <Py_ssize_t>first


def add_grid(reports: NDArray[Any], size_t dim, double lower, double grid, state: NDArray[Any]) -> None:
    """Add rows of `dim` reports lower + grid (j + 1/2) to `state`, which holds 128-bit sums of j, then of j^2."""
    cdef grid_format format = grid_format(dim, lower, grid)
    add(tally_grid, &format, dim, reports, state, 32 * dim)


def add_vectors(reports: NDArray[Any], size_t dim, double bound, state: NDArray[Any]) -> None:
    """Add rows of `dim` numbers in [-bound, bound] to `state`, which holds 128-bit sums in steps of bound 2^-40."""
    cdef vector_format format = vector_format(dim, bound)
    add(tally_vectors_f32 if reports.itemsize == 4 else tally_vectors_f64, &format, dim, reports, state, 16 * dim)


cdef direction_format format_of_directions(size_t dim, double bound, int bits) except *:
    cdef direction_format format
    if not 1 <= dim <= <size_t>MAX_DIRECTION or not 1 <= bits < 64:
        raise ValueError("the directions do not fit the kernel")
    format.dim, format.bound, format.bits = dim, bound, bits
    return format


def add_directions(reports: NDArray[np.uint64], size_t dim, double bound, int bits, state: NDArray[Any]) -> None:
    """Add the public directions of reports (uint64: a seed, then an index of `bits` bits) to a state as that of `add_frames`."""
    cdef direction_format format = format_of_directions(dim, bound, bits)
    add(tally_directions, &format, 1, reports, state, 32 * dim)


def directions(const uint64_t[::1] reports, size_t dim, double bound, int bits, float[:, ::1] out) -> None:
    """Write the public directions of reports, of norm `bound`, to the rows of `out`."""
    cdef direction_format format = format_of_directions(dim, bound, bits)
    if out.shape[0] != reports.shape[0] or out.shape[1] != <Py_ssize_t>dim:
        raise ValueError("reports and rows do not fit together")
    if reports.shape[0]:
        with nogil:
            expand_directions(&format, &reports[0], reports.shape[0], &out[0, 0])


cdef frame_format format_of_frames(size_t dim, uint32_t signs, double unit, double bound) except *:
    cdef frame_format format
    if not 1 <= signs <= <uint32_t>MAX_SIGNS or not signs <= dim < 1 << 32:
        raise ValueError("the signs do not fit the kernel")
    format.frame.dim, format.frame.signs, format.unit, format.bound = dim, signs, unit, bound
    return format


def add_frames(reports: NDArray[np.uint64], size_t dim, uint32_t signs, double unit, double bound,
               state: NDArray[Any]) -> None:
    """Add the vectors of reports (uint64: a seed, then signs) to a state of sums in steps of bound 2^-40, then of their squares."""
    cdef frame_format format = format_of_frames(dim, signs, unit, bound)
    add(tally_frames, &format, 1 + sign_words(&format.frame), reports, state, 32 * dim)


def frames(const uint64_t[:, ::1] reports, size_t dim, uint32_t signs, double unit, double bound, float[:, ::1] out) -> None:
    """Write the vectors of reports to the rows of `out`."""
    cdef frame_format format = format_of_frames(dim, signs, unit, bound)
    if (out.shape[0] != reports.shape[0] or out.shape[1] != <Py_ssize_t>dim
            or reports.shape[1] != <Py_ssize_t>(1 + sign_words(&format.frame))):
        raise ValueError("reports and rows do not fit together")
    if reports.shape[0]:
        with nogil:
            expand_frames(&format, &reports[0, 0], reports.shape[0], &out[0, 0])


def add_rotated(reports: NDArray[np.uint64], uint32_t bits, uint32_t signs, int64_t[::1] state) -> None:
    """Add the signs of reports (uint64: a seed, then signs) to their rows of a rotation of 2^bits rows."""
    cdef rotated_format format = rotated_format(bits, signs)
    if not BLOCK_BITS <= bits <= <uint32_t>MAX_ROTATION_BITS or not 1 <= signs <= <uint32_t>MAX_SIGNS or signs & (signs - 1):
        raise ValueError("the rotation does not fit the kernel")
    add(tally_rotated, &format, 1 + words_of_signs(signs), reports, state, <size_t>8 << bits)


def off_grid(reports: NDArray[Any], double lower, double grid) -> int:
    """Return the index of the first report that is not on the grid, or -1."""
    cdef Py_buffer rows
    cdef grid_format format = grid_format(1, lower, grid)
    cdef size_t n, first
    PyObject_GetBuffer(reports, &rows, PyBUF_SIMPLE)
    n = rows.len // 8
    with nogil:
        first = first_off_grid(&format, <const double *>rows.buf, n)
    PyBuffer_Release(&rows)
    return -1 if first == n else first


def add_clipped(x: NDArray[Any], size_t dim, double radius, scratch: NDArray[np.float64], state: NDArray[np.uint64]) -> int:
    """Add rows of `dim` numbers, clipped to the ball of that radius, to `state`: 128-bit sums in steps of radius 2^-40.

    Return the number of rows with a number that is not finite; they count as zero. `scratch` has room for 2 dim doubles.
    """
    cdef Py_buffer rows, room, sums
    cdef clipping p = clipping(dim, radius)
    cdef size_t n, bad = 0
    PyObject_GetBuffer(x, &rows, PyBUF_SIMPLE)
    try:
        PyObject_GetBuffer(scratch, &room, PyBUF_WRITABLE)
        try:
            PyObject_GetBuffer(state, &sums, PyBUF_WRITABLE)
            try:
                n = rows.len // (dim * rows.itemsize)
                if (rows.len != <Py_ssize_t>(n * dim * rows.itemsize) or sums.len != <Py_ssize_t>(16 * dim)
                        or room.len != <Py_ssize_t>(16 * dim)):
                    raise ValueError("records and state do not fit together")
                with nogil:
                    if rows.itemsize == 4:
                        bad = add_clipped_f32(&p, <const float *>rows.buf, n, <double *>room.buf, sums.buf)
                    else:
                        bad = add_clipped_f64(&p, <const double *>rows.buf, n, <double *>room.buf, sums.buf)
            finally:
                PyBuffer_Release(&sums)
        finally:
            PyBuffer_Release(&room)
    finally:
        PyBuffer_Release(&rows)
    return bad
