/* Vertex rounding at one random byte b per coordinate: with t = 256 P(plus) in [0, 256], T = min(floor(t), 255), plus iff
 * b <= T where b > 0; where b = 0 (which says nothing about the record) a fine coin with probability t - T decides.
 * Bottleneck: the conversions, about half a vector operation per coordinate and instruction width. */
LDP_INLINE uint64_t NAME(vertex_bits)(const linf_ball *p, const REAL *x, const uint8_t *b, reader *patch)
{
    const REAL scale = (REAL)p->per_unit, tiny = (REAL)p->tiny;
    REAL t[64];
    uint8_t level[64];
    static const uint8_t zero[64] = {0};
    for (int i = 0; i < 64; i++) { /* vector loop */
        REAL v = 128 + FLUSH(x[i], tiny) * scale; /* what becomes 0 is far below a rounding of the sum */
        v = UNLESS_NAN(x[i], CLAMP(v, 256), 128); /* NaN goes to the centre */
        t[i] = v;
        int32_t whole = (int32_t)v;
        level[i] = (uint8_t)(whole < 255 ? whole : 255);
    }
    uint64_t plus = PER_ISA(bytes_at_most)(b, level);
    for (uint64_t zeros = PER_ISA(bytes_at_most)(b, zero); zeros; zeros &= zeros - 1) {
        int i = __builtin_ctzll(zeros);
        uint64_t heads = unit_interval(reader_word(patch)) < (double)t[i] - level[i];
        plus = (plus & ~((uint64_t)1 << i)) | heads << i;
    }
    return plus;
}

/* n <= LINF_PIECE coordinates, one after the other whatever the rows; out has one word more than they fill. */
static void NAME(vertices)(const linf_ball *p, const void *coordinates, size_t n, stream *bytes, reader *patch, uint64_t *out)
{
    const REAL *x = coordinates;
    enum { BUFFER = 4 * GROUP_BYTES };
    uint8_t b[BUFFER] LDP_ALIGNED;
    for (size_t i = 0; i < n; i += 64) {
        if (i % BUFFER == 0)
            stream_groups(bytes, b, n - i < BUFFER ? groups_for(n - i, 1) : 4);
        const uint8_t *at = b + i % BUFFER;
        if (n - i >= 64) {
            out[i / 64] = NAME(vertex_bits)(p, x + i, at, patch);
        } else {
            REAL last[64] = {0};
            memcpy(last, x + i, (n - i) * sizeof *x);
            out[i / 64] = NAME(vertex_bits)(p, last, at, patch);
        }
    }
}

/* Signs of U that agree with the vertex bits from bit `at` on. `row` holds U packed, n signs. */
static size_t NAME(agreements)(const uint8_t *row, size_t n, const uint64_t *vertex, size_t at)
{
    size_t agree = 0;
    for (size_t j = 0; j < n; j += 64) {
        uint64_t u = 0;
        memcpy(&u, row + j / 8, word_bytes(n - j));
        agree += PER_ISA(ones)(~(u ^ bits_at(vertex, at + j)) & word_mask(n - j));
    }
    return agree;
}
