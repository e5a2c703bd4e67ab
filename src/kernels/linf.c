#include "linf.h"
#include "select.h"

LDP_INLINE uint64_t word_mask(size_t bits) { return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1; }
LDP_INLINE size_t word_bytes(size_t bits) { return bits >= 64 ? 8 : (bits + 7) / 8; }

#define KERNEL_REALS
#define KERNEL_BODY "linf_body.h"
#include "each_isa.h"

/* The builds of one real type: one instruction set's are in use. */
typedef struct {
    void (*vertices)(const linf_ball *, const void *, size_t, stream *, reader *, uint64_t *);
    size_t (*agreements)(const uint8_t *, size_t, const uint64_t *, size_t);
    size_t item; /* bytes of a coordinate */
} linf_builds;

/* What one block draws from. Coins of privacy: one 64-bit word per row. */
typedef struct {
    stream direction, vertex;
    reader patch, sign, tie;
} linf_streams;

/* All signs of the row flipped where flip is ones; the padding becomes zeros. */
static void flip_signs(uint8_t *row, size_t n, uint64_t flip)
{
    for (size_t j = 0; j < n; j += 64) {
        uint64_t u = 0;
        memcpy(&u, row + j / 8, word_bytes(n - j));
        u = (u ^ flip) & word_mask(n - j);
        memcpy(row + j / 8, &u, word_bytes(n - j));
    }
}

/* `bytes` bytes of packed directions, written in place. */
static void draw_directions(stream *s, uint8_t *out, size_t bytes)
{
    uint8_t piece[4 * GROUP_BYTES] LDP_ALIGNED;
    for (size_t done = 0; done < bytes; done += sizeof piece) {
        size_t size = bytes - done < sizeof piece ? bytes - done : sizeof piece;
        stream_groups(s, piece, groups_for(size, 1));
        memcpy(out + done, piece, size);
    }
}

/* Draws U into `row` and V, piece by piece, and counts where they agree. */
static size_t draw_row(const linf_ball *p, const linf_builds *use, const char *x, linf_streams *s, uint8_t *row)
{
    uint64_t vertex[LINF_PIECE / 64 + 2] = {0};
    size_t agree = 0;
    draw_directions(&s->direction, row, (p->dim + 7) / 8);
    for (size_t j = 0; j < p->dim; j += LINF_PIECE) {
        size_t n = p->dim - j < LINF_PIECE ? p->dim - j : LINF_PIECE;
        use->vertices(p, x + j * use->item, n, &s->vertex, &s->patch, vertex);
        agree += use->agreements(row + j / 8, n, vertex, 0);
    }
    return agree;
}

/* Turns the row to the side of the vertex (a tie keeps U), then flips it where the private coin is tails. */
static void finish_row(const linf_ball *p, size_t agree, reader *sign, uint8_t *row)
{
    uint64_t minus = -(uint64_t)(2 * agree < p->dim), tails = -(uint64_t)(reader_word(sign) >= p->heads);
    flip_signs(row, p->dim, minus ^ tails);
}

static int privatize_linf(const linf_ball *p, const linf_builds *use, const stream_key *key, uint64_t block, const char *x,
                          size_t n, uint8_t *out)
{
    const size_t bytes = (p->dim + 7) / 8;
    uint64_t vertex[LINF_PIECE / 64 + 2] = {0};
    linf_streams s = {.direction = stream_open(key, PURPOSE_LINF_DIRECTION, block),
                      .vertex = stream_open(key, PURPOSE_LINF_VERTEX, block)};
    reader_open(&s.patch, key, PURPOSE_LINF_PATCH, block);
    reader_open(&s.sign, key, PURPOSE_LINF_SIGN, block);
    reader_open(&s.tie, key, PURPOSE_LINF_TIE, block);
    if (p->dim <= LINF_PIECE) { /* the rows of a block together */
        draw_directions(&s.direction, out, n * bytes);
        use->vertices(p, x, n * p->dim, &s.vertex, &s.patch, vertex);
    }
    for (size_t i = 0; i < n; i++) {
        uint8_t *row = out + i * bytes;
        const char *record = x + i * p->dim * use->item;
        size_t agree = p->dim <= LINF_PIECE ? use->agreements(row, p->dim, vertex, i * p->dim)
                                            : draw_row(p, use, record, &s, row);
        /* "thin": U and V anew until they do not tie, or the tie is kept. Whether they tie does not depend on V, so the
         * law is that of a new U alone. How often, hence the time, says something about record and coin. */
        while (p->keep_tie && 2 * agree == p->dim && reader_word(&s.tie) >= p->keep_tie && !s.direction.exhausted)
            agree = draw_row(p, use, record, &s, row);
        finish_row(p, agree, &s.sign, row);
    }
    return (int)(s.direction.exhausted | s.vertex.exhausted | s.patch.source.exhausted | s.sign.source.exhausted |
                 s.tie.source.exhausted);
}

#define BUILDS(dtype, real, isa) {vertices_##dtype##_##isa, agreements_##dtype##_##isa, sizeof(real)}

#define PRIVATIZE_LINF(dtype, real)                                                                               \
    int privatize_linf_##dtype(const void *params, const stream_key *key, uint64_t block, const void *x, size_t n, \
                               void *out)                                                                         \
    {                                                                                                             \
        static const linf_builds builds[LDP_ISA_COUNT] = LDP_EACH_BUILD(BUILDS, dtype, real);                     \
        return privatize_linf(params, &builds[ldp_isa()], key, block, x, n, out);                                 \
    }

PRIVATIZE_LINF(f32, float)
PRIVATIZE_LINF(f64, double)
