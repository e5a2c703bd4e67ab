"""Extern declarations of the C kernels, one block per header."""
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t


cdef extern from "simd/dispatch.h" nogil:
    int LDP_ISA_COUNT
    int ldp_isa()
    int ldp_isa_set(int isa)
    int ldp_isa_supported(int isa)
    const char *ldp_isa_name(int isa)


cdef extern from "random/aes.h" nogil:
    int AES_FORM_COUNT
    int AES_BLOCK
    ctypedef struct aes_schedule:
        pass
    int aes_form_supported(int form)
    int aes_form()
    int aes_form_set(int form)
    const char *aes_form_name(int form)
    void aes_expand(const uint8_t *key, aes_schedule *schedule)
    ctypedef struct aes_input:
        uint64_t low, high
    void aes_counter(const aes_schedule *schedule, aes_input input, void *out, size_t blocks)

cdef extern from "random/stream.h" nogil:
    int KEY_BYTES
    ctypedef struct stream_key:
        uint32_t exhausted
    ctypedef struct stream:
        uint64_t next
    enum stream_id:
        STREAM_RAW
        STREAM_WARNER
        STREAM_RANDOMIZED_RESPONSE
        STREAM_RESIDUE
        STREAM_BINS
        STREAM_LAPLACE
        STREAM_LAPLACE_VECTOR
        STREAM_MEDIAN
        STREAM_DISCRETE_GAUSSIAN
        STREAM_GAUSSIAN_DIGITS
        STREAM_LAPLACE_ONE_HOT
        STREAM_LAPLACE_RESIDUE
        STREAM_LAPLACE_CENTRAL
        STREAM_SURVEY_KEYS
        STREAM_WHOLE_SETS
        STREAM_TREE
        STREAM_DISTRIBUTION
    stream stream_open(stream_key *key, stream_id id, uint64_t block)
    size_t blocks_for(size_t n, size_t bytes)
    void stream_draw(stream *s, void *out, size_t blocks)
    int key_from_system(uint8_t *bytes)
    void key_open(stream_key *key, const uint8_t *bytes)
    void key_wipe(void *secret, size_t bytes)


cdef extern from "random/coins.h" nogil:
    ctypedef struct coin:
        uint64_t high, low
    ctypedef struct reader:
        stream source
    int READER_WORDS
    void reader_open(reader *r, stream_key *key, stream_id id, uint64_t block, size_t words)
    size_t coin_words(size_t lanes)
    uint64_t reader_word(reader *r)
    void coins_direct(reader *r, uint64_t heads, uint64_t *out, size_t lanes)
    void coins_fill(reader *r, coin c, uint64_t *out, size_t lanes)


cdef extern from "random/normals.h" nogil:
    size_t normals_room(size_t n)
    void normals_f32(stream *s, float *out, size_t n)
    void normals_f64(stream *s, double *out, size_t n)


cdef extern from "random/geometric.h" nogil:
    int GROUP_DIGITS, GROUP_VALUES, MAX_GROUPS
    ctypedef struct digit_group:
        uint16_t threshold[32]
        uint16_t alias[32]
        coin rest[32]
        uint16_t mask
    ctypedef struct geometric_noise:
        uint32_t digits, groups, stream
        digit_group group[9]
        coin carry


cdef extern from "random/discrete_gaussian.h" nogil:
    uint64_t MAX_VARIANCE
    int GAUSSIAN_PROPOSALS, GAUSSIAN_DIGITS, ACCEPTED, REJECTED, UNDECIDED
    ctypedef struct gaussian_steps:
        pass
    ctypedef struct gaussian_proposals:
        int64_t value[64]
        int64_t step[64]
        int64_t digits[64]
        int64_t decision[64]
    gaussian_steps gaussian_open(uint64_t variance, double margin)
    int gaussian_propose(const gaussian_steps *p, stream *s, gaussian_proposals *out)
    int gaussian_compare(const gaussian_steps *p, const uint64_t *words, gaussian_proposals *out)


cdef extern from "random/uniform.h" nogil:
    ctypedef unsigned long long big "unsigned __int128"
    big big_below(stream_key *key, uint64_t block, big n)


cdef extern from "privatize/kernel.h" nogil:
    enum:
        LDP_FAR
    ctypedef int (*privatize_fn "privatize_fn *")(
        const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out) noexcept nogil
    ctypedef void (*clip_fn "clip_fn *")(const void *params, const void *x, size_t n, void *out) noexcept nogil
    ctypedef void (*tally_fn "tally_fn *")(const void *format, const void *reports, size_t n, void *state) noexcept nogil


cdef extern from "privatize/clip.h" nogil:
    ctypedef struct row_range:
        size_t dim
        double radius
    clip_fn clip_rows_f32, clip_rows_f64


cdef extern from "privatize/randomized_response.h" nogil:
    int CODE_ROWS
    ctypedef struct randomized_response:
        uint64_t k, direct, words_per_symbol, reciprocal
        uint32_t shift, bits, stream
    privatize_fn privatize_randomized_response_u8, privatize_randomized_response_u16
    privatize_fn privatize_randomized_response_u32, privatize_randomized_response_u64


cdef extern from "privatize/hadamard_response.h" nogil:
    ctypedef struct hadamard_response:
        uint64_t heads
        uint32_t k, mask
        int bits
    privatize_fn privatize_hadamard_response_u8_u8, privatize_hadamard_response_u8_u16, privatize_hadamard_response_u16_u16
    privatize_fn privatize_hadamard_response_u16_u32, privatize_hadamard_response_u32_u32


cdef extern from "privatize/projective_response.h" nogil:
    ctypedef struct projective_response:
        uint64_t heads
        uint32_t k, order, length, prime
        uint32_t power[33]
        uint32_t first[33]
        uint8_t sum[64][64]
        uint8_t product[64][64]
        uint8_t negative[64]
        uint8_t inverse[64]
    int projective_open(projective_response *p, uint32_t k, uint32_t order, uint32_t length, int has_tables)
    uint32_t projective_report(const projective_response *p, uint32_t truth, uint32_t product, uint32_t draw)
    privatize_fn privatize_projective_response_u8_u8, privatize_projective_response_u8_u16
    privatize_fn privatize_projective_response_u16_u16, privatize_projective_response_u16_u32
    privatize_fn privatize_projective_response_u32_u32


cdef extern from "privatize/coded_levels.h" nogil:
    int MAX_CODED_LEVELS, SPAN_SHIFT, WINDOW_CODES, TABLED_CODES, PARITY_CODES, POINT_CODES
    ctypedef struct coded_level:
        uint64_t heads, reciprocal
        uint32_t kind, first
        uint32_t codes[2]
        uint32_t row
        const uint32_t *table
        const projective_response *space
    ctypedef struct coded_levels:
        uint32_t k, slots, slot_bits, sign_bits, stream
        uint8_t slot[32]
        coded_level level[32]
    privatize_fn privatize_coded_levels_u8_u8, privatize_coded_levels_u8_u16, privatize_coded_levels_u8_u32
    privatize_fn privatize_coded_levels_u16_u16, privatize_coded_levels_u16_u32, privatize_coded_levels_u32_u32


cdef extern from "strings/hashes.h" nogil:
    const uint64_t FIELD_PRIME
    int MAX_FUNCTIONS, COEFFICIENTS, MAX_STRING_BYTES
    ctypedef struct string_hashes:
        uint64_t key[2]
        const uint64_t *coefficient
        uint32_t functions, buckets, bytes
    uint64_t siphash(const uint64_t *key, const uint8_t *data, size_t n)
    uint64_t field_product(uint64_t a, uint64_t b)
    uint64_t fingerprint(const string_hashes *h, const uint8_t *row)
    uint32_t bucket_of(const string_hashes *h, uint32_t function, uint64_t x)


cdef extern from "strings/sketch_response.h" nogil:
    int MAX_SKETCH_PARTS
    ctypedef struct sketch_response:
        string_hashes part[64]
        uint32_t parts, functions, row_bytes, codes
        const void *mechanism
        privatize_fn respond
        uint32_t bucket_bytes, code_bytes, report_bytes
    privatize_fn privatize_sketch_response


cdef extern from "strings/search.h" nogil:
    ctypedef struct decoded_sketch:
        string_hashes hashes
        const float *table
    float score_without_largest(const decoded_sketch *sketch, const uint8_t *row)
    size_t search_continuations(const decoded_sketch *sketch, const uint8_t *row, size_t start, uint32_t alphabet, float least,
                                size_t capacity, uint8_t *rows, float *scores)


cdef extern from "privatize/subset_selection.h" nogil:
    ctypedef struct subset_selection:
        uint64_t heads
        uint32_t k, size, density
    size_t subset_selection_rows(size_t k)
    privatize_fn privatize_subset_selection_u8, privatize_subset_selection_u16


cdef extern from "privatize/set_selection.h" nogil:
    int MAX_OWN
    ctypedef struct set_selection:
        uint64_t heads, reports
        uint64_t up_to[257]
        uint32_t positions, own, size, threshold, density
    void set_selection_plan(set_selection *p)
    size_t set_selection_rows(const set_selection *p)
    privatize_fn privatize_set_selection_u16, privatize_set_codes_u8, privatize_set_codes_u16


cdef extern from "tally/views.h" nogil:
    int MAX_VIEW, MAX_QUESTIONS
    ctypedef struct view_format:
        uint32_t questions, symbol_bytes
        uint32_t first[257]
    int view_format_open(view_format *p, uint32_t questions, const uint32_t *answers, uint32_t plain, uint32_t flip)
    size_t view_mask_bytes(const view_format *p)
    size_t view_report_bytes(const view_format *p)
    int count_views "add_views"(const view_format *p, const uint8_t *reports, size_t n, int64_t *state)
    size_t invalid_view "first_invalid_view"(const view_format *p, const uint8_t *reports, size_t n)
    tally_fn tally_views


cdef extern from "privatize/view_response.h" nogil:
    int MAX_ANSWER_NUMBERS, VIEW_ROWS
    ctypedef struct view_response:
        view_format format
        uint32_t plain, flips
        uint32_t number[256]
        uint64_t direct[64][64]
        uint64_t direct_flip
    ctypedef void (*view_fn "view_fn *")(
        const view_response *p, stream_key *key, uint64_t block, size_t n, uint8_t *reports) noexcept nogil
    void view_response_plan(view_response *p)
    privatize_fn privatize_view_response_u16
    view_fn draw_views, respond_views
    int encode_views(const view_response *p, const uint16_t *records, size_t n, uint8_t *reports)


cdef extern from "privatize/set_positions.h" nogil:
    int MISSING_POSITION, INVALID_POSITION
    void set_positions(const uint8_t *rows, size_t n, uint32_t k, uint32_t own, int packed, uint16_t *out)


cdef extern from "privatize/sampled_cube.h" nogil:
    int CUBE_ROWS, CUBE_SAMPLED, CUBE_DIM
    ctypedef struct sampled_cube:
        double radius, per_unit
        uint64_t heads, patterns
        uint64_t up_to[63]
        uint32_t dim, sampled, threshold
    privatize_fn privatize_sampled_cube_f32_u8, privatize_sampled_cube_f32_u16, privatize_sampled_cube_f32_u32
    privatize_fn privatize_sampled_cube_f64_u8, privatize_sampled_cube_f64_u16, privatize_sampled_cube_f64_u32
    privatize_fn privatize_cap_cube_f32, privatize_cap_cube_f64


cdef extern from "privatize/set_cube.h" nogil:
    ctypedef struct set_cube:
        sampled_cube cube
        uint32_t k, own
    privatize_fn privatize_set_cube_u8, privatize_set_cube_u16, privatize_set_cube_u32, privatize_set_cap_cube


cdef extern from "privatize/whole_sets.h" nogil:
    int MAX_WHOLE, MAX_RANKS, MAX_SETS
    ctypedef struct whole_sets:
        randomized_response response
        uint16_t smaller[16]
        uint16_t rank[384]
        uint32_t k, own, optional
    privatize_fn privatize_whole_sets_u8, privatize_whole_sets_u16


cdef extern from "privatize/rank_codebook.h" nogil:
    int CODEBOOK_ROWS, MAX_DIRECTION, MAX_VECTORS
    ctypedef struct rank_codebook:
        double per_radius, tolerance
        uint64_t heads
        uint32_t dim, vectors, top, bits
    privatize_fn privatize_rank_codebook_f32, privatize_rank_codebook_f64


cdef extern from "transform/line_sums.h" nogil:
    ctypedef struct line_space:
        uint32_t prime, length
        size_t points
    size_t line_sums_scratch(line_space s)
    void add_coordinate_u32(line_space s, const uint32_t *sums, uint32_t *wider, uint32_t *scratch)
    void hyperplane_sums_u32(line_space s, const uint32_t *sums, const uint32_t *below, uint32_t all, uint32_t *hits,
                             uint32_t *scratch)
    void add_hyperplane_i64(uint32_t prime, size_t code, int64_t people, size_t k, int64_t *hits)


cdef extern from "transform/walsh.h" nogil:
    void walsh_i64(int64_t *v, size_t n)


cdef extern from "privatize/residue.h" nogil:
    ctypedef struct residue:
        randomized_response answer
        double per_width, offset, per_modulus
        int power_of_two
    privatize_fn privatize_residue_f32, privatize_residue_f64


cdef extern from "privatize/bins.h" nogil:
    ctypedef struct bins:
        randomized_response answer
        double cuts[2][255]
    privatize_fn privatize_bins_f32, privatize_bins_f64


cdef extern from "privatize/sign_bit.h" nogil:
    ctypedef struct sign_bit:
        double lower, upper, per_range
        uint64_t low, span
        int bits
    privatize_fn privatize_sign_bit_f32, privatize_sign_bit_f64


cdef extern from "random/sign_patterns.h" nogil:
    int MAX_SIGNS
    ctypedef struct sign_patterns:
        uint64_t heads
        uint32_t signs
        uint32_t least[2]
        uint32_t size[512]
        uint32_t sum[512]
        uint32_t rank[512]
        uint32_t negative[512]
        const uint64_t *limit
    uint32_t words_of_signs(uint32_t signs)


cdef extern from "random/frames.h" nogil:
    ctypedef struct frame:
        uint32_t dim, signs
    uint32_t sign_words(const frame *f)


cdef extern from "tally/frames.h" nogil:
    ctypedef struct frame_format:
        frame frame
        double unit, bound
    tally_fn tally_frames
    void expand_frames(const frame_format *p, const uint64_t *reports, size_t n, float *rows)


cdef extern from "privatize/ranked_signs.h" nogil:
    int FRAME_ROWS
    ctypedef struct ranked_signs:
        double per_radius, tolerance
        frame frame
        sign_patterns patterns
    privatize_fn privatize_ranked_signs_f32, privatize_ranked_signs_f64


cdef extern from "transform/rotation.h" nogil:
    int BLOCK_BITS, BLOCK_ROWS, MAX_ROTATION_BITS
    void rotation_signs(uint64_t seed, uint32_t bits, uint64_t *signs)
    void rotate_back_i64(const uint64_t *signs, uint32_t bits, int64_t *v)


cdef extern from "tally/rotated.h" nogil:
    ctypedef struct rotated_format:
        uint32_t bits, signs
    tally_fn tally_rotated


cdef extern from "privatize/rotated_signs.h" nogil:
    ctypedef struct rotated_signs:
        double per_radius, tolerance
        uint32_t dim, bits
        const sign_patterns *patterns
        const uint64_t *signs
        float *workspace
    size_t rotated_workspace(uint32_t bits)
    size_t rotated_block(uint32_t bits)
    privatize_fn privatize_rotated_signs_f32, privatize_rotated_signs_f64


cdef extern from "privatize/window.h" nogil:
    int MAX_SEGMENTS
    ctypedef struct window_segment:
        uint32_t start, position, slope
    ctypedef struct window:
        double lower, upper, slope
        uint32_t fraction_bits, last, width, per, direct, per_factor, per_shift, each_factor, each_shift
        int divides
        uint32_t bit_words, bit_low, bit_slope, first_bit
        uint32_t segments, center, shift
        window_segment segment[128]
    privatize_fn privatize_window_f32, privatize_window_f64


cdef extern from "privatize/unary_encoding.h" nogil:
    ctypedef struct unary_encoding:
        size_t k
        uint64_t other
        int optimized
    size_t unary_encoding_rows(size_t k)
    privatize_fn privatize_unary_encoding_u8, privatize_unary_encoding_u16
    privatize_fn privatize_unary_encoding_u32, privatize_unary_encoding_u64


cdef extern from "privatize/laplace.h" nogil:
    ctypedef struct laplace:
        geometric_noise noise
        size_t dim
        double lower, upper, grid, per_grid, span, l1_limit, radius, tolerance
    size_t laplace_rows(size_t dim)
    privatize_fn privatize_laplace_f32, privatize_laplace_f64


cdef extern from "privatize/linf_ball.h" nogil:
    ctypedef struct linf_ball:
        size_t dim
        double radius, per_unit
        uint64_t heads, keep_tie
    size_t linf_ball_rows(size_t dim)
    privatize_fn privatize_linf_ball_f32, privatize_linf_ball_f64


cdef extern from "privatize/series.h" nogil:
    ctypedef struct series:
        size_t terms
        double lower, upper, per_range
        uint64_t heads
    size_t series_rows(size_t terms)
    privatize_fn privatize_series_terms_f32, privatize_series_terms_f64


cdef extern from "privatize/l2_ball.h" nogil:
    ctypedef struct l2_ball:
        size_t dim
        double per_radius, tolerance, scale
        uint64_t heads
    ctypedef struct l2_ball_reports:
        float *normals
        float *direction
        double *size
        double *level
    size_t l2_ball_rows(size_t dim)
    privatize_fn privatize_l2_ball_f32, privatize_l2_ball_f64
    void l2_ball_parts(const l2_ball *p, stream_key *key, uint64_t block, const float *rows, const float *row_squares,
                       size_t n, size_t padded, const l2_ball_reports *out)


cdef extern from "tally/codes.h" nogil:
    tally_fn tally_codes_u8, tally_codes_u16, tally_codes_u32, tally_codes_u64
    ctypedef struct code_rows:
        size_t k, items
    tally_fn tally_code_rows_u8, tally_code_rows_u16, tally_code_rows_u32


cdef extern from "tally/bits.h" nogil:
    tally_fn tally_bits
    int tally_sets(size_t k, size_t size, const uint8_t *rows, size_t n, int64_t *state)


cdef extern from "tally/grid.h" nogil:
    ctypedef struct grid_format:
        size_t dim
        double lower, grid
    tally_fn tally_grid
    size_t first_off_grid(const grid_format *p, const double *reports, size_t n)


cdef extern from "tally/vectors.h" nogil:
    ctypedef struct vector_format:
        size_t dim
        double bound
    tally_fn tally_vectors_f32, tally_vectors_f64


cdef extern from "tally/directions.h" nogil:
    ctypedef struct direction_format:
        size_t dim
        double bound
        uint32_t bits
    tally_fn tally_directions
    void expand_directions(const direction_format *p, const uint64_t *reports, size_t n, float *rows)


cdef extern from "tally/clipped.h" nogil:
    ctypedef struct clipping:
        size_t dim
        double radius
    size_t add_clipped_f32(const clipping *p, const float *x, size_t n, double *scratch, void *state)
    size_t add_clipped_f64(const clipping *p, const double *x, size_t n, double *scratch, void *state)


cdef extern from "check/ranges.h" nogil:
    size_t first_outside_f32(const float *x, size_t n, double lower, double upper)
    size_t first_outside_f64(const double *x, size_t n, double lower, double upper)
    size_t first_code_outside(const void *x, int size, int is_signed, size_t n, uint64_t k)
    double row_norm_f64(const double *x, size_t n)
    size_t first_norm_outside_f32(const float *x, size_t n, size_t dim, double least, double most)
    size_t first_norm_outside_f64(const double *x, size_t n, size_t dim, double least, double most)


cdef extern from "check/sets.h" nogil:
    size_t first_set_of_other_size(const uint8_t *rows, size_t n, size_t bytes, size_t size)


cdef extern from "sgd/quantile.h" nogil:
    ctypedef struct quantile_sgd:
        int bits
    ctypedef struct quantile_state:
        double position, count, origin
        double moments[4]
        double ones[3]
    void quantile_open(quantile_sgd *p, double lower, double upper, double up, double down, uint64_t keep, int bits,
                       int any_time)
    double quantile_position(const quantile_sgd *p, double number)
    int quantile_steps_f32(const quantile_sgd *p, const void *words, const float *x, size_t n, quantile_state *state)
    int quantile_steps_f64(const quantile_sgd *p, const void *words, const double *x, size_t n, quantile_state *state)
    void quantile_answer(const quantile_sgd *p, int bit, quantile_state *state)


cdef extern from "sgd/glm.h" nogil:
    int GLM_PAD, GLM_SUMS
    ctypedef struct glm_steps:
        double *size
        double *low
        double *middle
        double *high
    ctypedef struct glm:
        size_t features, dim, padded
        double radius, column, residual, projection
        int family, max_norm
    int glm_rows_f32(const glm *p, const float *x, const int64_t *index, size_t n, float *rows, float *squares)
    int glm_rows_f64(const glm *p, const double *x, const int64_t *index, size_t n, float *rows, float *squares)
    int glm_responses(const glm *p, const double *y, size_t n)
    double glm_slope(const glm *p, const double *position, const float *row, double y)
    void glm_move(const glm *p, const double *position, const double *report, double factor, double *moved)
    void glm_limits(const glm *p, const double *y, const double *level, size_t n, const glm_steps *steps)
    void glm_descend(const glm *p, const glm_steps *steps, const float *rows, const float *directions, size_t n,
                     double *positions, const void *next, size_t next_size)
    void glm_add(const glm *p, const double *positions, size_t n, double size, double *sums)
    void glm_square(const glm *p, const double *sums, double *matrix)


cdef extern from "series_values.h" nogil:
    ctypedef struct series_interval:
        size_t terms
        double lower, per_range
    void series_values(const series_interval *p, const double *coefficient, const double *x, size_t n, double *out)


cdef extern from "survey/columns.h" nogil:
    int COLUMN_BITS, COLUMN_INT8, COLUMN_INT16, COLUMN_INT32, COLUMN_INT64, COLUMN_UINT8, COLUMN_UINT16, COLUMN_UINT32
    int COLUMN_UINT64, COLUMN_FLOAT32, COLUMN_FLOAT64
    uint32_t SYMBOL_MISSING, SYMBOL_UNDECLARED
    ctypedef struct column:
        const void *values
        const uint8_t *valid
        size_t offset
        int kind
        int64_t base
        uint32_t size
        int declared
        const uint32_t *table
    int column_numbers_invalid(const column *c, size_t first, size_t n, double lower, double upper, int optional)
    int column_symbols_invalid(const column *c, size_t first, size_t n)
    void column_numbers(const column *c, size_t first, const uint16_t *row, size_t n, double *out)
    void column_symbols(const column *c, size_t first, const uint16_t *row, size_t n, uint32_t *out)


cdef extern from "survey/assign.h" nogil:
    int SURVEY_ROWS
    void assign_one(stream_key *key, uint64_t block, const uint32_t *threshold, size_t thresholds, size_t n, uint16_t *question)
    void assign_step(stream_key *key, uint64_t block, size_t step, uint32_t of, size_t n, uint16_t *left, uint8_t *picked)


cdef extern from "survey/encode.h" nogil:
    enum:
        SURVEY_PARTS, SURVEY_ROW_PARTS, SURVEY_ROW_BYTES
    stream rounding_stream(stream_key *key, uint32_t part, uint64_t block)
    void encode_low_high(const uint64_t *word, const double *x, size_t n, double lower, double per_range, uint32_t missing,
                         uint32_t *symbol)
    void encode_steps(double *x, size_t n, double lower, double upper, uint32_t steps)
    void encode_bins(const double *x, size_t n, const double *edge, size_t edges, uint32_t missing, uint32_t *symbol)


cdef extern from "random/cmac.h" nogil:
    ctypedef struct cmac_key:
        pass
    void cmac_open(cmac_key *key, const uint8_t *bytes)
    void cmac_finish(const cmac_key *key, const uint8_t *state, const uint8_t *data, size_t bytes, uint8_t *out)
    ctypedef struct key_prefix:
        pass
    void prefix_open(key_prefix *prefix, const uint8_t *bytes, const uint8_t *data, size_t blocks)
    void prefix_derive(const key_prefix *prefix, const uint8_t *data, size_t bytes, uint8_t *out)
    void prefix_derive_half(const key_prefix *prefix, const uint8_t *data, size_t bytes, uint8_t *out)
