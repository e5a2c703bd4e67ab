"""Private stochastic gradient descent, one step per person, for quantiles and generalized linear models."""
from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from ldpfast._core.blocks cimport close_key, load_key
from ldpfast._core.kernel cimport Kernel
from ldpfast._core.kernels cimport *
from ldpfast._core.privatize cimport L2Ball, RankCodebook, RankedSigns

ctypedef fused real:
    float
    double

cdef enum:
    BATCH_ROWS = 2048  # people whose coins are drawn together


# Quantiles ------------------------------------------------------------------------------------------------------------


cdef class QuantileState:
    """Position of a quantile protocol, number of answers, and the running sums of the open segment.

    With u the distance of a position from `origin`, `moments` holds the sums of u, u^2, u^3, u^4 over the positions of the
    segment, and `ones` the sums of 1, u, u^2 over the positions with answer 1.
    """
    cdef quantile_state s

    def __init__(self, double position, double count=0, origin: float | None = None, moments: Sequence[float] = (0.0,) * 4,
                 ones: Sequence[float] = (0.0,) * 3):
        self.s.position, self.s.count = position, count
        self.s.origin = position if origin is None else origin
        self.s.moments[0], self.s.moments[1], self.s.moments[2], self.s.moments[3] = moments
        self.s.ones[0], self.s.ones[1], self.s.ones[2] = ones

    @property
    def position(self) -> float:
        return self.s.position

    @property
    def count(self) -> int:
        return <int64_t>self.s.count

    @property
    def origin(self) -> float:
        return self.s.origin

    @property
    def moments(self) -> tuple[float, ...]:
        return tuple([self.s.moments[i] for i in range(4)])

    @property
    def ones(self) -> tuple[float, ...]:
        return tuple([self.s.ones[i] for i in range(3)])

    def open_segment(self) -> None:
        """Start a segment at the current position."""
        cdef quantile_state opened
        memset(&opened, 0, sizeof(opened))
        opened.position, opened.count, opened.origin = self.s.position, self.s.count, self.s.position
        self.s = opened

    def __reduce__(self):
        return QuantileState, (self.position, float(self.count), self.origin, self.moments, self.ones)


cdef class MedianSGD:
    """Stochastic gradient descent for a quantile.

    The steps after the bits 1 and 0 are `up` and `down`. A bit is kept if a random word of `bits` bits is below `keep`.
    """
    cdef quantile_sgd p

    def __init__(self, double lower, double upper, double up, double down, uint64_t keep, int bits, bint any_time):
        if bits != 32 and bits != 64:
            raise ValueError("words must have 32 or 64 bits")
        quantile_open(&self.p, lower, upper, up, down, keep, bits, any_time)

    def position(self, double number) -> float:
        """Return the position next to a number. Positions are multiples of a power of two."""
        return quantile_position(&self.p, number)

    def run(self, key: Stream, uint64_t block, const real[::1] x, QuantileState state not None) -> bool:
        """Take one step per person, in order, with the coins of one record block.

        Returns whether all records are certainly finite.
        """
        cdef int invalid = 0
        cdef stream_key k
        cdef stream s
        cdef uint64_t word[BATCH_ROWS]
        cdef size_t i = 0, now, n = x.shape[0]
        load_key(key, &k)
        s = stream_open(&k, STREAM_MEDIAN, block)
        with nogil:
            while i < n:
                now = min(<size_t>BATCH_ROWS, n - i)
                stream_draw(&s, word, blocks_for(now, self.p.bits // 8))
                if real is float:
                    invalid |= quantile_steps_f32(&self.p, word, &x[i], now, &state.s)
                else:
                    invalid |= quantile_steps_f64(&self.p, word, &x[i], now, &state.s)
                i += now
        close_key(&k)
        return not invalid

    def answer(self, bint bit, QuantileState state not None) -> None:
        """Take the step after one reported bit."""
        quantile_answer(&self.p, bit, &state.s)


# Generalized linear models --------------------------------------------------------------------------------------------


cdef struct workspace:
    void *memory
    double *positions  # one more than there are people
    double *responses
    double *report
    float *rows
    float *squares  # of the rows
    l2_ball_reports reports
    glm_steps steps


cdef class GradientDescent:
    """Gradients of a generalized linear model, privatized by the kernel of a ball mechanism, and the steps after them.

    `position` holds `padded` doubles. `size` is the number s of positions in the segment so far, and S is their sum. `sums`
    has shape (4, padded) and holds S and the running sums of S, S^2 and s S. `matrix` is None, or the running sum of S S^T,
    shape (dim, dim).
    """
    cdef glm p
    cdef Kernel kernel
    cdef const l2_ball *ball                # NULL unless the kernel is that of L2Ball
    cdef const direction_format *directions # NULL unless the kernel is that of RankCodebook
    cdef const frame_format *frames         # NULL unless the kernel is that of RankedSigns
    cdef double scale                       # magnitude of packed signs
    cdef readonly Py_ssize_t rows

    def __init__(self, size_t features, double radius, double column, double residual, double projection, int family,
                 bint max_norm, Kernel kernel not None, double scale):
        cdef size_t dim = features + (column != 0)
        if kernel.items != dim:
            raise ValueError("the kernel must be for as many numbers as there are coefficients")
        self.p = glm(features, dim, (dim + GLM_PAD - 1) // GLM_PAD * GLM_PAD, radius, column, residual, projection, family,
                     max_norm)
        self.kernel = kernel
        self.ball = &(<L2Ball>kernel).p if isinstance(kernel, L2Ball) else NULL
        self.directions = &(<RankCodebook>kernel).sums if isinstance(kernel, RankCodebook) else NULL
        self.frames = &(<RankedSigns>kernel).sums if isinstance(kernel, RankedSigns) else NULL
        self.scale = scale
        self.rows = l2_ball_rows(self.p.padded) if self.ball is not NULL else 1

    @property
    def padded(self) -> int:
        return self.p.padded

    cdef int check(self, const double[::1] position, double[:, ::1] sums, double[:, ::1] matrix) except -1:
        if (sums.shape[0] != GLM_SUMS or not sums.shape[1] == position.shape[0] == <Py_ssize_t>self.p.padded
                or (matrix is not None and not matrix.shape[0] == matrix.shape[1] == <Py_ssize_t>self.p.dim)):
            raise ValueError("position, sums and matrix do not fit the model")
        return 0

    cdef void add(self, const double *position, size_t n, double size, double *sums, double *matrix) noexcept nogil:
        """Add positions to the sums."""
        cdef size_t i
        if matrix is NULL:
            glm_add(&self.p, position, n, size, sums)
            return
        for i in range(n):
            glm_add(&self.p, position + i * self.p.padded, 1, size + i, sums)
            glm_square(&self.p, sums, matrix)

    cdef bint copy(self, const real *x, const int64_t *index, size_t n, float *rows, float *squares) noexcept nogil:
        """Copy rows to the padded layout of the C functions. Return nonzero if a number is not finite."""
        if real is float:
            return glm_rows_f32(&self.p, x, index, n, rows, squares)
        else:
            return glm_rows_f64(&self.p, x, index, n, rows, squares)

    def gradients(self, const double[::1] position, const real[:, ::1] x, const double[::1] y, float[:, ::1] out) -> None:
        """Write the gradients at a position to `out`, as rows of `dim` floats."""
        cdef size_t i, j, n = x.shape[0]
        cdef double slope
        cdef float square
        cdef float *row
        if (position.shape[0] != <Py_ssize_t>self.p.padded or x.shape[1] != <Py_ssize_t>self.p.features
                or not y.shape[0] == out.shape[0] == x.shape[0] or out.shape[1] != <Py_ssize_t>self.p.dim):
            raise ValueError("position, rows and gradients do not fit together")
        row = <float *>malloc(self.p.padded * sizeof(float))
        if row is NULL:
            raise MemoryError()
        with nogil:
            for i in range(n):
                self.copy(&x[i, 0], NULL, 1, row, &square)
                slope = glm_slope(&self.p, &position[0], row, y[i])
                for j in range(self.p.dim):
                    out[i, j] = <float>(slope * row[j])
        free(row)

    def step(self, const double[::1] report, double rate, double size, double[::1] position, double[:, ::1] sums,
             double[:, ::1] matrix=None) -> None:
        """Take the step after one decoded report of `padded` numbers."""
        self.check(position, sums, matrix)
        if report.shape[0] != <Py_ssize_t>self.p.padded:
            raise ValueError("report and position do not fit together")
        glm_move(&self.p, &position[0], &report[0], rate, &position[0])
        self.add(&position[0], 1, size, &sums[0, 0], NULL if matrix is None else &matrix[0, 0])

    def run(self, key: Stream, uint64_t block, const real[:, ::1] x, const double[::1] y,
            const int64_t[::1] order: NDArray[np.int64] | None, const double[::1] rates, double size, double[::1] position,
            double[:, ::1] sums, double[:, ::1] matrix=None) -> None:
        """Take one step per person, in the order of the indices `order` (None: the order of `x`).

        rates[i] is the i-th step size. Every `rows` people use one record block. Returns whether all records are valid.
        """
        cdef bint invalid = False, last
        cdef const char *next_row
        cdef stream_key k
        cdef workspace s
        cdef size_t i, now, at = 0, n = rates.shape[0]
        cdef const int64_t *index = NULL
        cdef double *square = NULL if matrix is None else &matrix[0, 0]
        self.check(position, sums, matrix)
        if (x.shape[1] != <Py_ssize_t>self.p.features or y.shape[0] != x.shape[0]
                or (rates.shape[0] != x.shape[0] if order is None else rates.shape[0] != order.shape[0])):
            raise ValueError("rows, responses and rates do not fit together")
        if n == 0:
            return True
        load_key(key, &k)
        if workspace_open(&s, self.rows, self.p.padded):
            key_wipe(&k, sizeof(k))
            raise MemoryError()
        with nogil:
            memcpy(s.positions, &position[0], self.p.padded * sizeof(double))
            while at < n:
                now = min(<size_t>self.rows, n - at)
                if order is not None:
                    index = &order[at]
                invalid |= self.copy(&x[0 if index is not NULL else at, 0], index, now, s.rows, s.squares)
                for i in range(now):
                    s.responses[i] = y[index[i] if index is not NULL else at + i]
                invalid |= glm_responses(&self.p, s.responses, now)
                if self.ball is not NULL:
                    last = index is not NULL or at + 2 * now > n
                    next_row = <const char *>&x[0 if last else at + now, 0]
                    self.descend_together(&k, block + at // self.rows, now, &rates[at], &s, next_row,
                                          0 if last else self.p.features * sizeof(real))
                else:
                    self.descend_alone(&k, block + at, rates[at], &s)
                self.add(s.positions + self.p.padded, now, size + at, &sums[0, 0], square)
                memcpy(s.positions, s.positions + now * self.p.padded, self.p.padded * sizeof(double))
                at += now
            memcpy(&position[0], s.positions, self.p.padded * sizeof(double))
        free(s.memory)
        close_key(&k)
        return not invalid

    cdef void descend_alone(self, stream_key *k, uint64_t block, double rate, workspace *s) noexcept nogil:
        """Take the step of one person with a separate record block, for any mechanism."""
        cdef size_t j, padded = self.p.padded, dim = self.p.dim
        cdef double slope = glm_slope(&self.p, s.positions, s.rows, s.responses[0])
        for j in range(padded):
            s.rows[j] = <float>(slope * s.rows[j])
        self.kernel.by_size[2](self.kernel.params, k, block, s.rows, 1, s.reports.direction)
        if self.directions is not NULL or self.frames is not NULL:
            if self.directions is not NULL:
                expand_directions(self.directions, <const uint64_t *>s.reports.direction, 1, s.rows)
            else:
                expand_frames(self.frames, <const uint64_t *>s.reports.direction, 1, s.rows)
            for j in range(dim):
                s.report[j] = s.rows[j]
        elif self.kernel.report_size == 1:
            unpack_signs(<const uint8_t *>s.reports.direction, dim, self.scale, s.report)
        else:
            memcpy(s.report, s.reports.direction, dim * sizeof(double))
        glm_move(&self.p, s.positions, s.report, rate, s.positions + padded)

    cdef void descend_together(self, stream_key *k, uint64_t block, size_t n, const double *rates, workspace *s,
                               const void *next, size_t next_size) noexcept nogil:
        """Take the steps of n people with the l2 mechanism.

        Everything that does not depend on the positions is computed before the first step. Meanwhile the next rows are
        fetched, of which each has `next_size` bytes.
        """
        cdef size_t i
        l2_ball_parts(self.ball, k, block, s.rows, s.squares, n, self.p.padded, &s.reports)
        glm_limits(&self.p, s.responses, s.reports.level, n, &s.steps)
        for i in range(n):
            s.steps.size[i] = rates[i] * s.reports.size[i]
        glm_descend(&self.p, &s.steps, s.rows, s.reports.direction, n, s.positions, next, next_size)


cdef int workspace_open(workspace *s, size_t people, size_t padded) noexcept nogil:
    """Allocate one zeroed piece of memory, aligned to a cache line, with room for reports of doubles; return -1 on failure."""
    cdef size_t vector = 8 * padded, numbers = (people + 15) // 16 * 16
    cdef size_t bytes = (people + 2) * vector + (7 * 8 + 4) * numbers + 5 * people * vector // 2
    s.memory = malloc(bytes + 63)  # Windows has no aligned_alloc
    if s.memory is NULL:
        return -1
    s.positions = <double *>((<size_t>s.memory + 63) // 64 * 64)
    memset(s.positions, 0, bytes)
    s.report = s.positions + (people + 1) * padded
    s.responses = s.report + padded
    s.reports.size = s.responses + numbers
    s.reports.level = s.reports.size + numbers
    s.steps.size = s.reports.level + numbers
    s.steps.low = s.steps.size + numbers
    s.steps.middle = s.steps.low + numbers
    s.steps.high = s.steps.middle + numbers
    s.squares = <float *>(s.steps.high + numbers)
    s.rows = s.squares + numbers
    s.reports.normals = s.rows + people * padded
    s.reports.direction = s.reports.normals + 2 * people * padded
    return 0


cdef inline void unpack_signs(const uint8_t *signs, size_t n, double scale, double *out) noexcept nogil:
    """Write packed signs to `out` as numbers +-scale."""
    cdef size_t j
    for j in range(n):
        out[j] = scale * (2 * <int>(signs[j // 8] >> j % 8 & 1) - 1)
