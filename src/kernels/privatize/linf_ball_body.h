/* Vertex rounding in integers: with t = 2^30 x / radius, a coordinate is plus iff 2^23 b + low - 2^30 < t, where b is a random
 * byte of its own and `low` are 23 random bits of the row. So P(plus) = (2^30 + t) / 2^31 for every t in [-2^30, 2^30]. The
 * coordinates of a row are dependent given the record, which changes neither privacy nor the mean (docs/proofs/linf_ball.md).
 * Bottleneck: memory, then the key stream, one byte per coordinate. */
typedef REAL NAME(reals) __attribute__((vector_size(V_BYTES)));
typedef REAL_BITS NAME(bits) __attribute__((vector_size(V_BYTES)));

/* The numbers nearest to v in [-radius, radius] times per_unit, and 0 for NaN. Sets bits of `seen` for others than v. */
LDP_INLINE NAME(reals) NAME(scaled)(NAME(reals) v, REAL radius, REAL per_unit, NAME(bits) * seen)
{
#if REAL_IS_DOUBLE
    const NAME(reals) inside = PER_ISA(limit_doubles)(v, radius);
    *seen |= (NAME(bits))(inside - v);
    return PER_ISA(unless_nan)(v, inside * per_unit, 0);
#else
    const NAME(reals) inside = PER_ISA(limit_floats)(v, radius);
    *seen |= (NAME(bits))(inside - v);
    return PER_ISA(floats_of_numbers)(v, inside * per_unit);
#endif
}

LDP_INLINE PER_ISA(int32s) NAME(truncated)(const NAME(reals) * v)
{
#if REAL_IS_DOUBLE
    return PER_ISA(truncate)(v[0], v[1]);
#else
    return __builtin_convertvector(v[0], PER_ISA(int32s));
#endif
}

/* Signs of n <= 64 coordinates; whole vectors are read. Sets bits of `seen` if a coordinate is outside of the cube: all those of
 * an exponent if it is not finite. */
LDP_INLINE uint64_t NAME(vertex)(const REAL *x, const uint8_t *b, size_t n, REAL radius, REAL per_unit, int32_t low,
                                 NAME(bits) * seen)
{
    enum { LANES = V_BYTES / 4, PARTS = sizeof(REAL) / 4 };
    uint64_t plus = 0;
#pragma GCC unroll 16
    for (size_t i = 0; i < 64 && i < n; i += LANES) {
        NAME(reals) v[PARTS];
        for (size_t part = 0; part < PARTS; part++) {
            memcpy(&v[part], x + i + LANES / PARTS * part, sizeof *v);
            read_soon(x + i + LANES / PARTS * part);
            v[part] = NAME(scaled)(v[part], radius, per_unit, seen);
        }
        const PER_ISA(int32s) word = (PER_ISA(bytes_as_int32)(b + i) << 23) + low;
        plus |= PER_ISA(less)(word, NAME(truncated)(v)) << i;
    }
    return plus;
}

/* Draws V and returns the number of signs of U, in `row`, that agree. `readable` is the number of coordinates from x on. */
static size_t NAME(agreements)(const linf_ball *p, const REAL *x, size_t readable, const uint8_t *row, uint64_t low_word,
                               byte_reader *bytes, NAME(bits) * seen)
{
    const REAL per_unit = (REAL)p->per_unit, radius = (REAL)p->radius;
    const int32_t low = (int32_t)(low_word >> 41) - (1 << 30);
    REAL last[64] = {0};
    size_t agree = 0, j = 0;
    for (; j + 64 <= p->dim; j += 64) {
        const uint64_t v = NAME(vertex)(x + j, bytes_take(bytes, 64), 64, radius, per_unit, low, seen);
        uint64_t u;
        memcpy(&u, row + j / 8, 8);
        agree += PER_ISA(ones)(~(u ^ v));
    }
    if (j < p->dim) {
        const size_t n = p->dim - j;
        const REAL *rest = readable - j >= 64 ? x + j : memcpy(last, x + j, n * sizeof *x);
        const uint64_t v = NAME(vertex)(rest, bytes_take(bytes, n), n, radius, per_unit, low, seen);
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
    NAME(bits) seen = {0};
    linf_ball_streams s = {.direction = stream_open(key, STREAM_LINF_DIRECTION, block)};
    bytes_open(&s.vertex, key, STREAM_LINF_VERTEX, block, n * p->dim);
    reader_open(&s.sign, key, STREAM_LINF_SIGN, block, 2 * n);
    reader_open(&s.tie, key, STREAM_LINF_TIE, block, 2 * n);
    draw_directions(&s.direction, out, n * bytes);
    for (size_t i = 0; i < n; i++) {
        uint8_t *row = out + i * bytes;
        const REAL *record = x + i * p->dim;
        const size_t readable = (n - i) * p->dim;
        size_t agree = NAME(agreements)(p, record, readable, row, reader_word(&s.sign), &s.vertex, &seen);
        /* "thin": U and V are redrawn until they do not tie or the tie is kept. The probability of a tie does not depend on V,
         * so the distribution is that of a new U alone. The number of draws, and so the time, depends on record and coin. */
        while (p->keep_tie && 2 * agree == p->dim && reader_word(&s.tie) >= p->keep_tie && !key->exhausted) {
            draw_directions(&s.direction, row, bytes);
            agree = NAME(agreements)(p, record, readable, row, reader_word(&s.tie), &s.vertex, &seen);
        }
        finish_row(p, agree, reader_word(&s.sign), row);
    }
    const REAL_BITS infinite = (REAL_BITS)(REAL_IS_DOUBLE ? LDP_INFINITY_F64 : LDP_INFINITY_F32);
    REAL_BITS bits = 0;
    for (size_t l = 0; l < V_BYTES / sizeof(REAL); l++)
        bits |= seen[l];
    return LDP_OUTSIDE * (bits != 0) | LDP_FAR * ((bits & infinite) == infinite);
}
