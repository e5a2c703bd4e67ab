"""Private stochastic gradient descent, person by person: quantiles, and generalised linear models."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from blocks cimport load_key
from kernels cimport (
    DESCENT_PAD, DESCENT_SUMS, GROUP_BYTES, PURPOSE_L2_DIRECTION, PURPOSE_L2_SIGN, PURPOSE_MEDIAN, REPORT_BITS,
    REPORT_FLOATS, descent, descent_add, descent_move_f32, descent_move_f64, descent_rows_f32, descent_rows_f64,
    descent_slope, descent_square, kernel_handle, key_wipe, l2_ball, l2_factor, l2_products_f32, l2_rows, median_answer,
    median_sgd, median_state, median_steps_f32, median_steps_f64, normals_f32, reader, reader_open, reader_word, stream,
    stream_groups, stream_key, stream_open,
)

include "isa.pxi"

cdef extern from "<stdlib.h>" nogil:
    void *aligned_alloc(size_t alignment, size_t size)

ctypedef fused real:
    float
    double

cdef enum:
    PEOPLE = 2048  # whose coins are drawn together


cdef class MedianSGD:
    """Steps `up` and `down` after the bits 1 and 0; a bit is kept where a word of so many bits is below `keep`. A state is a `median_state`: ten doubles."""
    cdef median_sgd p

    def __init__(self, double lower, double upper, double up, double down, uint64_t keep, int bits, bint any_time):
        if bits != 32 and bits != 64:
            raise ValueError("words must have 32 or 64 bits")
        self.p = median_sgd(lower, upper, up, down, keep, bits, any_time)

    def run(self, key, uint64_t block, const real[::1] x, double[::1] state):
        """Ask everybody, in order. The coins are those of one record block."""
        cdef stream_key k
        cdef stream s
        cdef uint64_t word[PEOPLE]
        cdef size_t i = 0, now, n = x.shape[0]
        if state.shape[0] * sizeof(double) != sizeof(median_state):
            raise ValueError("a state has ten numbers")
        load_key(key, &k)
        s = stream_open(&k, PURPOSE_MEDIAN, block)
        with nogil:
            while i < n:
                now = min(<size_t>PEOPLE, n - i)
                stream_groups(&s, word, (self.p.bits // 8 * now + GROUP_BYTES - 1) // GROUP_BYTES)
                if real is float:
                    median_steps_f32(&self.p, word, &x[i], now, <median_state *>&state[0])
                else:
                    median_steps_f64(&self.p, word, &x[i], now, <median_state *>&state[0])
                i += now
        key_wipe(&k)
        if s.exhausted:
            raise OverflowError("a stream of random words is exhausted")

    def answer(self, bint bit, double[::1] state):
        """The step after one reported bit."""
        if state.shape[0] * sizeof(double) != sizeof(median_state):
            raise ValueError("a state has ten numbers")
        median_answer(&self.p, bit, <median_state *>&state[0])


cdef struct scratch:
    void *memory
    double *positions  # one more than people
    double *report
    double *products
    double *responses
    float *rows
    float *normals
    float *directions


cdef class Descent:
    """Gradients of a generalised linear model, privatized by the kernel of a ball mechanism, and the steps after them.

    `position`: `padded` doubles. `sums`: an array (4, padded) over a segment: S (sum of its positions so far), sum of S, of
    S^2, of s S. `matrix`: None, or (dim, dim), the sum of S S^T. `size`: positions of the segment so far.
    """
    cdef descent p
    cdef object kernel           # keeps the handle valid
    cdef kernel_handle *handle
    cdef double scale            # of packed signs
    cdef readonly Py_ssize_t rows

    def __init__(self, size_t features, double radius, double column, double residual, double projection, int family,
                 bint max_norm, kernel, double scale):
        cdef size_t dim = features + (column != 0)
        self.p = descent(features, dim, (dim + DESCENT_PAD - 1) // DESCENT_PAD * DESCENT_PAD, radius, column, residual,
                         projection, family, max_norm)
        self.kernel = kernel
        self.handle = <kernel_handle *>PyCapsule_GetPointer(kernel.handle(), "ldpfast.kernel")
        if self.handle.dim != dim:
            raise ValueError("the kernel must be for as many numbers as there are coefficients")
        self.scale = scale
        self.rows = l2_rows(self.p.padded) if self.handle.form == REPORT_FLOATS else 1

    @property
    def padded(self):
        return self.p.padded

    cdef int check(self, const double[::1] position, double[:, ::1] sums, double[:, ::1] matrix) except -1:
        if (sums.shape[0] != DESCENT_SUMS or not sums.shape[1] == position.shape[0] == <Py_ssize_t>self.p.padded
                or (matrix is not None and not matrix.shape[0] == matrix.shape[1] == <Py_ssize_t>self.p.dim)):
            raise ValueError("position, sums and matrix do not fit the model")
        return 0

    cdef void add(self, const double *position, size_t n, double size, double *sums, double *matrix) noexcept nogil:
        """Add positions to the sums."""
        cdef size_t i
        if matrix is NULL:
            descent_add(&self.p, position, n, size, sums)
            return
        for i in range(n):
            descent_add(&self.p, position + i * self.p.padded, 1, size + i, sums)
            descent_square(&self.p, sums, matrix)

    cdef void copy(self, const real *x, const int64_t *index, size_t n, float *rows) noexcept nogil:
        """Rows as the C functions take them."""
        if real is float:
            descent_rows_f32(&self.p, x, index, n, rows)
        else:
            descent_rows_f64(&self.p, x, index, n, rows)

    def gradients(self, const double[::1] position, const real[:, ::1] x, const double[::1] y, float[:, ::1] out):
        """Gradients at a position, as rows of `dim` floats."""
        cdef size_t i, j, n = x.shape[0]
        cdef double slope
        cdef float *row
        if (position.shape[0] != <Py_ssize_t>self.p.padded or x.shape[1] != <Py_ssize_t>self.p.features
                or not y.shape[0] == out.shape[0] == x.shape[0] or out.shape[1] != <Py_ssize_t>self.p.dim):
            raise ValueError("position, rows and gradients do not fit together")
        row = <float *>malloc(self.p.padded * sizeof(float))
        if row is NULL:
            raise MemoryError()
        with nogil:
            for i in range(n):
                self.copy(&x[i, 0], NULL, 1, row)
                slope = descent_slope(&self.p, &position[0], row, y[i])
                for j in range(self.p.dim):
                    out[i, j] = <float>(slope * row[j])
        free(row)

    def step(self, const double[::1] report, double rate, double size, double[::1] position, double[:, ::1] sums,
             double[:, ::1] matrix=None):
        """The step after one decoded report of `padded` numbers."""
        self.check(position, sums, matrix)
        if report.shape[0] != <Py_ssize_t>self.p.padded:
            raise ValueError("report and position do not fit together")
        descent_move_f64(&self.p, &position[0], &report[0], rate, &position[0])
        self.add(&position[0], 1, size, &sums[0, 0], NULL if matrix is None else &matrix[0, 0])

    def run(self, key, uint64_t block, const real[:, ::1] x, const double[::1] y, const int64_t[::1] order,
            const double[::1] rates, double size, double[::1] position, double[:, ::1] sums, double[:, ::1] matrix=None):
        """Everybody in turn, `order` (None: as they come) by index; rates[i] is the step size of the i-th of them. Takes one
        record block for every `rows` people."""
        cdef stream_key k
        cdef scratch s
        cdef size_t i, now, at = 0, n = rates.shape[0]
        cdef int exhausted = 0
        cdef const int64_t *index = NULL
        cdef double *square = NULL if matrix is None else &matrix[0, 0]
        self.check(position, sums, matrix)
        if (x.shape[1] != <Py_ssize_t>self.p.features or y.shape[0] != x.shape[0]
                or (rates.shape[0] != x.shape[0] if order is None else rates.shape[0] != order.shape[0])):
            raise ValueError("rows, responses and rates do not fit together")
        if n == 0:
            return
        if scratch_open(&s, self.rows, self.p.padded):
            raise MemoryError()
        load_key(key, &k)
        with nogil:
            memcpy(s.positions, &position[0], self.p.padded * sizeof(double))
            while at < n:
                now = min(<size_t>self.rows, n - at)
                if order is not None:
                    index = &order[at]
                self.copy(&x[0 if index is not NULL else at, 0], index, now, s.rows)
                for i in range(now):
                    s.responses[i] = y[index[i] if index is not NULL else at + i]
                if self.handle.form == REPORT_FLOATS:
                    self.descend_together(&k, block + at // self.rows, now, &rates[at], &s)
                else:
                    exhausted |= self.descend_alone(&k, block + at, rates[at], &s)
                self.add(s.positions + self.p.padded, now, size + at, &sums[0, 0], square)
                memcpy(s.positions, s.positions + now * self.p.padded, self.p.padded * sizeof(double))
                at += now
            memcpy(&position[0], s.positions, self.p.padded * sizeof(double))
        key_wipe(&k)
        free(s.memory)
        if exhausted:
            raise OverflowError("a stream of random words is exhausted")

    cdef int descend_alone(self, const stream_key *k, uint64_t block, double rate, scratch *s) noexcept nogil:
        """One person, any mechanism, a record block of its own."""
        cdef size_t j, padded = self.p.padded
        cdef double slope = descent_slope(&self.p, s.positions, s.rows, s.responses[0])
        cdef int exhausted
        for j in range(padded):
            s.rows[j] = <float>(slope * s.rows[j])
        exhausted = self.handle.privatize(self.handle.params, k, block, s.rows, 1, s.directions)
        if self.handle.form == REPORT_BITS:
            spread(<const uint8_t *>s.directions, self.p.dim, self.scale, s.report)
        else:
            memcpy(s.report, s.directions, self.p.dim * sizeof(double))
        descent_move_f64(&self.p, s.positions, s.report, rate, s.positions + padded)
        return exhausted

    cdef void descend_together(self, const stream_key *k, uint64_t block, size_t n, const double *rates,
                               scratch *s) noexcept nogil:
        """The l2 mechanism: the directions of n people, and their inner products with the rows, before the first step."""
        cdef size_t i, dim = self.p.dim, padded = self.p.padded
        cdef const l2_ball *ball = <const l2_ball *>self.handle.params
        cdef stream directions = stream_open(k, PURPOSE_L2_DIRECTION, block)
        cdef reader signs
        cdef uint64_t rounding, coin
        cdef double slope, factor
        reader_open(&signs, k, PURPOSE_L2_SIGN, block)
        normals_f32(&directions, s.normals, n * dim)
        for i in range(n):
            memcpy(s.directions + i * padded, s.normals + i * dim, dim * sizeof(float))
        for i in range(n):
            s.products[3 * i] = s.products[3 * i + 1] = s.products[3 * i + 2] = 0
            l2_products_f32(s.directions + i * padded, s.rows + i * padded, padded, s.products + 3 * i)
        for i in range(n):
            slope = descent_slope(&self.p, s.positions + i * padded, s.rows + i * padded, s.responses[i])
            rounding = reader_word(&signs)
            coin = reader_word(&signs)
            factor = l2_factor(ball, s.products + 3 * i, slope * ball.per_radius, rounding, coin)
            descent_move_f32(&self.p, s.positions + i * padded, s.directions + i * padded, rates[i] * factor,
                             s.positions + (i + 1) * padded)


cdef int scratch_open(scratch *s, size_t people, size_t padded) noexcept nogil:
    """Zeros, in one piece that starts on a cache line; -1 where there is no memory. For reports of doubles too."""
    cdef size_t vector = 8 * padded, bytes = (people + 2) * vector + 32 * people + 64 + 3 * people * vector
    s.memory = aligned_alloc(64, (bytes + 63) // 64 * 64)
    if s.memory is NULL:
        return -1
    memset(s.memory, 0, bytes)
    s.positions = <double *>s.memory
    s.report = s.positions + (people + 1) * padded
    s.rows = <float *>(s.report + padded)
    s.normals = s.rows + 2 * people * padded
    s.directions = s.normals + 2 * people * padded
    s.products = <double *>(s.directions + 2 * people * padded)
    s.responses = s.products + 3 * people
    return 0


cdef inline void spread(const uint8_t *signs, size_t n, double scale, double *out) noexcept nogil:
    """Packed signs as numbers."""
    cdef size_t j
    for j in range(n):
        out[j] = scale * (2 * <int>(signs[j // 8] >> j % 8 & 1) - 1)
