/* Vertex rounding with one random byte b per coordinate. Let t = 256 P(plus) in [0, 256] and T = min(floor(t), 255). If b > 0,
 * the sign is plus iff b <= T. If b = 0, which is independent of the record, it is plus with probability t - T, by a fine coin.
 * Bottleneck: the conversions, about half a vector operation per coordinate and instruction width. */
LDP_INLINE uint64_t NAME(vertex_bits)(const linf_ball *p, const REAL *x, size_t n, const uint8_t *b, reader *patch)
{
    const REAL scale = (REAL)p->per_unit, tiny = (REAL)p->tiny;
    REAL t[64];
    uint8_t level[64];
    static const uint8_t zero[64] = {0};
    for (int i = 0; i < 64; i++) { /* vector loop */
        REAL v = 128 + FLUSH(x[i], tiny) * scale; /* flushed numbers are far below the rounding error of the sum */
        v = UNLESS_NAN(x[i], CLAMP(v, 256), 128); /* NaN becomes the center */
        t[i] = v;
        int32_t whole = (int32_t)v;
        level[i] = (uint8_t)(whole < 255 ? whole : 255);
    }
    uint64_t plus = PER_ISA(bytes_at_most)(b, level);
    for (uint64_t zeros = PER_ISA(bytes_at_most)(b, zero) & word_mask(n); zeros; zeros &= zeros - 1) {
        int i = __builtin_ctzll(zeros);
        uint64_t heads = unit_interval(reader_word(patch)) < (double)t[i] - level[i];
        plus = (plus & ~((uint64_t)1 << i)) | heads << i;
    }
    return plus;
}

/* Rounds n <= LINF_PIECE consecutive coordinates of any number of rows. `out` has room for one more word than they fill. */
static void NAME(vertices)(const linf_ball *p, const REAL *x, size_t n, linf_ball_streams *s, uint64_t *out)
{
    enum { BUFFER = 4096 };
    uint8_t b[BUFFER] LDP_ALIGNED;
    for (size_t i = 0; i < n; i += 64) {
        if (i % BUFFER == 0)
            stream_draw(&s->vertex, b, blocks_for(n - i < BUFFER ? n - i : BUFFER, 1));
        const uint8_t *at = b + i % BUFFER;
        if (n - i >= 64) {
            out[i / 64] = NAME(vertex_bits)(p, x + i, 64, at, &s->patch);
        } else {
            REAL last[64] = {0};
            memcpy(last, x + i, (n - i) * sizeof *x);
            out[i / 64] = NAME(vertex_bits)(p, last, n - i, at, &s->patch);
        }
    }
}

/* Number of signs of U that agree with the vertex bits, starting at bit `at`. `row` holds n packed signs of U. */
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

/* Draws U into `row` and V, piece by piece, and returns the number of signs that agree. */
static size_t NAME(draw_row)(const linf_ball *p, const REAL *x, linf_ball_streams *s, uint8_t *row)
{
    uint64_t vertex[LINF_PIECE / 64 + 2] = {0};
    size_t agree = 0;
    draw_directions(&s->direction, row, (p->dim + 7) / 8);
    for (size_t j = 0; j < p->dim; j += LINF_PIECE) {
        size_t n = p->dim - j < LINF_PIECE ? p->dim - j : LINF_PIECE;
        NAME(vertices)(p, x + j, n, s, vertex);
        agree += NAME(agreements)(row + j / 8, n, vertex, 0);
    }
    return agree;
}

static void NAME(privatize_linf_ball)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                      void *reports)
{
    const linf_ball *p = params;
    const REAL *x = records;
    uint8_t *out = reports;
    const size_t bytes = (p->dim + 7) / 8;
    const int together = p->dim <= LINF_PIECE; /* the rows of a block are drawn together */
    uint64_t vertex[LINF_PIECE / 64 + 2] = {0};
    linf_ball_streams s = {.direction = stream_open(key, STREAM_LINF_DIRECTION, block),
                           .vertex = stream_open(key, STREAM_LINF_VERTEX, block)};
    reader_open(&s.patch, key, STREAM_LINF_PATCH, block, n * p->dim / 128 + 1);
    reader_open(&s.sign, key, STREAM_LINF_SIGN, block, n);
    reader_open(&s.tie, key, STREAM_LINF_TIE, block, n);
    if (together) {
        draw_directions(&s.direction, out, n * bytes);
        NAME(vertices)(p, x, n * p->dim, &s, vertex);
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t *row = out + i * bytes;
        const REAL *record = x + i * p->dim;
        size_t agree = together ? NAME(agreements)(row, p->dim, vertex, i * p->dim) : NAME(draw_row)(p, record, &s, row);
        /* "thin": U and V are redrawn until they do not tie or the tie is kept. The probability of a tie does not depend on V,
         * so the distribution is that of a new U alone. The number of draws, and so the time, depends on record and coin. */
        while (p->keep_tie && 2 * agree == p->dim && reader_word(&s.tie) >= p->keep_tie && !key->exhausted)
            agree = NAME(draw_row)(p, record, &s, row);
        finish_row(p, agree, &s.sign, row);
    }
}
