"""Extern declarations of the C kernels; one block per header."""
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t


cdef extern from "platform.h" nogil:
    int LDP_ISA_COUNT
    int ldp_isa()
    int ldp_isa_set(int isa)
    int ldp_isa_supported(int isa)
    const char *ldp_isa_name(int isa)


cdef extern from "chacha.h" nogil:
    int GROUP_BYTES
    ctypedef struct stream_key:
        uint32_t word[8]
    ctypedef struct stream:
        uint32_t exhausted
        uint64_t next
    enum purpose:
        PURPOSE_RAW
        PURPOSE_WARNER
        PURPOSE_RANDOMIZED_RESPONSE
        PURPOSE_RESIDUE
        PURPOSE_BINS
        PURPOSE_LAPLACE
        PURPOSE_LAPLACE_VECTOR
        PURPOSE_L2_DIRECTION
        PURPOSE_L2_SIGN
        PURPOSE_MEDIAN
        PURPOSE_LAPLACE_ONE_HOT
        PURPOSE_LAPLACE_RESIDUE
        PURPOSE_LAPLACE_CENTRAL
    stream stream_open(const stream_key *key, purpose use, uint64_t block)
    void stream_groups(stream *s, void *out, size_t groups)
    int key_from_system(stream_key *key)
    void key_wipe(stream_key *key)


cdef extern from "<float.h>" nogil:
    float FLT_MIN, FLT_MAX
    double DBL_MIN


cdef extern from "kernel.h" nogil:
    ctypedef int (*privatize_fn "privatize_fn *")(
        const void *params, const stream_key *key, uint64_t block, const void *x, size_t n, void *out) noexcept nogil
    ctypedef void (*tally_fn "tally_fn *")(const void *format, const void *reports, size_t n, void *state) noexcept nogil
    enum report_form:
        REPORT_BITS
        REPORT_FLOATS
        REPORT_DOUBLES
    ctypedef struct kernel_handle:
        privatize_fn privatize
        const void *params
        size_t dim
        report_form form


cdef extern from "codes.h" nogil:
    int CODE_ROWS
    ctypedef struct response:
        uint64_t k, keep, share, reciprocal
        uint32_t bits, purpose
    ctypedef struct symbol_rule:
        response answer
        double width, offset
        double cuts[255]
    ctypedef struct sign_bit:
        double lower, per_range, tiny
        uint64_t low, span
    privatize_fn privatize_response_u8, privatize_response_u16, privatize_response_u32, privatize_response_u64
    privatize_fn privatize_residue_f32, privatize_residue_f64, privatize_bins_f32, privatize_bins_f64
    privatize_fn privatize_sign_bit_f32, privatize_sign_bit_f64
    tally_fn tally_codes_u8, tally_codes_u16, tally_codes_u32, tally_codes_u64


cdef extern from "unary.h" nogil:
    ctypedef struct unary:
        size_t k
        uint64_t other
        int optimized
    size_t unary_rows(size_t k)
    privatize_fn privatize_unary_u8, privatize_unary_u16, privatize_unary_u32, privatize_unary_u64


cdef extern from "coins.h" nogil:
    ctypedef struct coin:
        uint64_t high, low
    ctypedef struct reader:
        stream source
    void reader_open(reader *r, const stream_key *key, purpose use, uint64_t block)
    size_t coin_words(size_t lanes)
    uint64_t reader_word(reader *r)
    void coins_direct(reader *r, uint64_t heads, uint64_t *out, size_t lanes)
    void coins_fill(reader *r, coin c, uint64_t *out, size_t lanes)


cdef extern from "popcount.h" nogil:
    tally_fn tally_bits


cdef extern from "linf.h" nogil:
    ctypedef struct linf_ball:
        size_t dim
        double per_unit, tiny
        uint64_t heads, keep_tie
    size_t linf_rows(size_t dim)
    privatize_fn privatize_linf_f32, privatize_linf_f64


cdef extern from "normal.h" nogil:
    void normals_f32(stream *s, float *out, size_t n)
    void normals_f64(stream *s, double *out, size_t n)


cdef extern from "l2.h" nogil:
    ctypedef struct l2_ball:
        size_t dim
        double per_radius, tiny, far, scale
        uint64_t heads
    size_t l2_rows(size_t dim)
    privatize_fn privatize_l2_f32, privatize_l2_f64
    void l2_products_f32(const float *u, const float *y, size_t n, double *sum)
    double l2_factor(const l2_ball *p, const double *sum, double multiple, uint64_t rounding, uint64_t coin)


cdef extern from "laplace.h" nogil:
    int MOST_DIGITS
    ctypedef struct geometric_noise:
        uint32_t digits, purpose
        coin digit[45]
        coin carry
    ctypedef struct laplace:
        geometric_noise noise
        size_t dim
        double lower, grid, per_grid, span, l1_limit, radius, far
    size_t laplace_rows(size_t dim)
    privatize_fn privatize_laplace_f32, privatize_laplace_f64


cdef extern from "sums.h" nogil:
    ctypedef struct grid_format:
        size_t dim
        double lower, grid
    ctypedef struct vector_format:
        size_t dim
        double bound
    tally_fn tally_grid, tally_vectors_f32, tally_vectors_f64
    size_t first_off_grid(const grid_format *p, const double *reports, size_t n)


cdef extern from "domain.h" nogil:
    size_t first_outside_f32(const float *x, size_t n, double lower, double upper)
    size_t first_outside_f64(const double *x, size_t n, double lower, double upper)
    size_t first_code_outside(const void *x, int size, int is_signed, size_t n, uint64_t k)
    size_t first_norm_outside_f32(const float *x, size_t n, size_t dim, double least, double most)
    size_t first_norm_outside_f64(const double *x, size_t n, size_t dim, double least, double most)


cdef extern from "series.h" nogil:
    ctypedef struct series:
        size_t terms
        double lower, per_range
        const double *harmonic
        const double *phase
    void series_terms_f32(const series *p, const float *x, size_t n, float *out)
    void series_terms_f64(const series *p, const double *x, size_t n, float *out)
    void series_values(const series *p, const double *coefficient, const double *x, size_t n, double *out)


cdef extern from "median.h" nogil:
    ctypedef struct median_sgd:
        double lower, upper, up, down
        uint64_t keep
        int bits, any_time
    ctypedef struct median_state:
        double position, count, origin
        double moments[4]
        double ones[3]
    void median_steps_f32(const median_sgd *p, const void *words, const float *x, size_t n, median_state *state)
    void median_steps_f64(const median_sgd *p, const void *words, const double *x, size_t n, median_state *state)
    void median_answer(const median_sgd *p, int bit, median_state *state)


cdef extern from "descent.h" nogil:
    int DESCENT_PAD, DESCENT_SUMS
    ctypedef struct descent:
        size_t features, dim, padded
        double radius, column, residual, projection
        int family, max_norm
    void descent_rows_f32(const descent *p, const float *x, const int64_t *index, size_t n, float *rows)
    void descent_rows_f64(const descent *p, const double *x, const int64_t *index, size_t n, float *rows)
    double descent_slope(const descent *p, const double *position, const float *row, double y)
    void descent_move_f32(const descent *p, const double *position, const float *report, double factor, double *moved)
    void descent_move_f64(const descent *p, const double *position, const double *report, double factor, double *moved)
    void descent_add(const descent *p, const double *positions, size_t n, double size, double *sums)
    void descent_square(const descent *p, const double *sums, double *matrix)


cdef extern from "clipped.h" nogil:
    ctypedef struct clipping:
        size_t dim
        double radius
    size_t add_clipped_f32(const clipping *p, const void *x, size_t n, double *scratch, void *state)
    size_t add_clipped_f64(const clipping *p, const void *x, size_t n, double *scratch, void *state)


cdef extern from "gaussian.h" nogil:
    uint64_t MOST_VARIANCE
    int draw_gaussian(const stream_key *key, uint64_t block, uint64_t variance, size_t n, int64_t *out)


cdef extern from "order.h" nogil:
    ctypedef unsigned long long big "unsigned __int128"
    big big_below(const stream_key *key, uint64_t block, big n)
