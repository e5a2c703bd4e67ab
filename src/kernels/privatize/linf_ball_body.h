/* Vertex rounding in integers: with t = 2^30 x / radius, a coordinate is plus iff 2^23 b + low - 2^30 < t, where b is a random
 * byte of its own and `low` are 23 random bits of the row. So P(plus) = (2^30 + t) / 2^31 for every t in [-2^30, 2^30]. The
 * coordinates of a row are dependent given the record, which changes neither privacy nor the mean (docs/proofs/linf_ball.md).
 * Bottleneck: memory, then the key stream, one byte per coordinate. */
typedef REAL NAME(reals) __attribute__((vector_size(V_BYTES)));
typedef REAL_BITS NAME(bits) __attribute__((vector_size(V_BYTES)));

LDP_INLINE PER_ISA(int32s) NAME(truncated)(const NAME(reals) * v)
{
#if REAL_IS_DOUBLE
    return PER_ISA(truncate)(v[0], v[1]);
#else
    return __builtin_convertvector(v[0], PER_ISA(int32s));
#endif
}

/* Signs of n <= 64 coordinates; whole vectors are read. Sets the top bits of `beyond` if a coordinate is outside the cube. */
LDP_INLINE uint64_t NAME(vertex)(const REAL *x, const uint8_t *b, size_t n, REAL per_unit, int32_t low, REAL_BITS bound,
                                 NAME(bits) * beyond)
{
    enum { LANES = V_BYTES / 4, PARTS = sizeof(REAL) / 4 };
    uint64_t plus = 0;
#pragma GCC unroll 16
    for (size_t i = 0; i < 64 && i < n; i += LANES) {
        NAME(reals) v[PARTS];
        for (size_t part = 0; part < PARTS; part++) {
            memcpy(&v[part], x + i + LANES / PARTS * part, sizeof *v);
            read_soon(x + i + LANES / PARTS * part);
            *beyond |= bound - ((NAME(bits))v[part] & ~((REAL_BITS)1 << (8 * sizeof(REAL) - 1)));
            v[part] *= per_unit;
        }
        const PER_ISA(int32s) word = (PER_ISA(bytes_as_int32)(b + i) << 23) + low;
        plus |= PER_ISA(less)(word, NAME(truncated)(v)) << i;
    }
    return plus;
}

/* Draws V and returns the number of signs of U, in `row`, that agree. `readable` is the number of coordinates from x on. */
static size_t NAME(agreements)(const linf_ball *p, const REAL *x, size_t readable, const uint8_t *row, uint64_t low_word,
                               byte_reader *bytes, NAME(bits) * beyond)
{
    const REAL per_unit = (REAL)p->per_unit, radius = (REAL)p->radius;
    const int32_t low = (int32_t)(low_word >> 41) - (1 << 30);
    REAL last[64] = {0};
    REAL_BITS bound;
    size_t agree = 0, j = 0;
    memcpy(&bound, &radius, sizeof bound);
    for (; j + 64 <= p->dim; j += 64) {
        const uint64_t v = NAME(vertex)(x + j, bytes_take(bytes, 64), 64, per_unit, low, bound, beyond);
        uint64_t u;
        memcpy(&u, row + j / 8, 8);
        agree += PER_ISA(ones)(~(u ^ v));
    }
    if (j < p->dim) {
        const size_t n = p->dim - j;
        const REAL *rest = readable - j >= 64 ? x + j : memcpy(last, x + j, n * sizeof *x);
        const uint64_t v = NAME(vertex)(rest, bytes_take(bytes, n), n, per_unit, low, bound, beyond);
        agree += PER_ISA(ones)(~(load_bytes(row + j / 8, word_bytes(n)) ^ v) & word_mask(n));
    }
    return agree;
}

static int NAME(privatize_linf_ball)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                     void *reports)
{
    const linf_ball *p = params;
    const REAL *x = records;
    uint8_t *out = reports;
    const size_t bytes = (p->dim + 7) / 8;
    NAME(bits) beyond = {0};
    linf_ball_streams s = {.direction = stream_open(key, STREAM_LINF_DIRECTION, block)};
    bytes_open(&s.vertex, key, STREAM_LINF_VERTEX, block, n * p->dim);
    reader_open(&s.sign, key, STREAM_LINF_SIGN, block, 2 * n);
    reader_open(&s.tie, key, STREAM_LINF_TIE, block, 2 * n);
    draw_directions(&s.direction, out, n * bytes);
    for (size_t i = 0; i < n; i++) {
        uint8_t *row = out + i * bytes;
        const REAL *record = x + i * p->dim;
        const size_t readable = (n - i) * p->dim;
        size_t agree = NAME(agreements)(p, record, readable, row, reader_word(&s.sign), &s.vertex, &beyond);
        /* "thin": U and V are redrawn until they do not tie or the tie is kept. The probability of a tie does not depend on V,
         * so the distribution is that of a new U alone. The number of draws, and so the time, depends on record and coin. */
        while (p->keep_tie && 2 * agree == p->dim && reader_word(&s.tie) >= p->keep_tie && !key->exhausted) {
            draw_directions(&s.direction, row, bytes);
            agree = NAME(agreements)(p, record, readable, row, reader_word(&s.tie), &s.vertex, &beyond);
        }
        finish_row(p, agree, reader_word(&s.sign), row);
    }
    int invalid = 0;
    for (size_t l = 0; l < V_BYTES / sizeof(REAL); l++)
        invalid |= (int)(beyond[l] >> (8 * sizeof(REAL) - 1));
    return invalid;
}
