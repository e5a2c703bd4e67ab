#include "laplace.h"

#define KERNEL_BODY "laplace_body.h"
#include "each_isa.h"

enum { PIECE_WORDS = LAPLACE_PIECE / 16, FEW_WORDS = 32 }; /* of 16 bits, in a plane */

typedef struct {
    reader digits, carries;
    stream rounding;
} laplace_streams;

/* Which number the bits of a lane belong to. Transposed planes spread neighbours over all lanes; a piece of one vector, as
 * single records have, uses its first lanes only and is put in order. */
LDP_INLINE size_t number_of_lane(size_t lane, size_t words)
{
    return words <= FEW_WORDS ? lane : lane % 16 * words + lane / 16;
}

static void carry(const geometric_noise *p, reader *r, const uint64_t *heads, size_t words, double *noise)
{
    for (size_t w = 0; w < words / 4; w++)
        for (uint64_t left = heads[w]; left; left &= left - 1) { /* chance below 4e-11 per number */
            size_t lane = 64 * w + (size_t)__builtin_ctzll(left);
            double *n = noise + number_of_lane(lane, words), times = 1;
            for (const uint64_t *u = reader_chunk(r, 1);
                 !r->source.exhausted && (u[0] < p->carry.high || (u[0] == p->carry.high && u[1] < p->carry.low));
                 u = reader_chunk(r, 1))
                times++;
            *n += (*n < 0 ? -times : times) * (double)((uint64_t)1 << p->digits);
        }
}

/* n <= LAPLACE_PIECE integers; noise has room for n rounded up to 512. */
static void draw_noise(const geometric_noise *p, laplace_streams *s, size_t n, double *noise)
{
    static void (*const transpose[LDP_ISA_COUNT])(const uint16_t *, size_t, uint16_t *) = LDP_DISPATCH(transpose);
    static void (*const append[LDP_ISA_COUNT])(const uint16_t *, size_t, int, double *) = LDP_DISPATCH(append);
    uint64_t plane[16 * PIECE_WORDS / 4] LDP_ALIGNED, sign[PIECE_WORDS / 4], heads[PIECE_WORDS / 4];
    uint16_t value[16 * PIECE_WORDS] LDP_ALIGNED;
    const size_t row = coin_words(n), words = 4 * row; /* a plane: 64-bit words, 16-bit words */
    const size_t lanes = words <= FEW_WORDS ? n : 64 * row;
    for (size_t w = 0; w < row; w += CHUNK_WORDS)
        memcpy(sign + w, reader_chunk(&s->digits, groups_for(row - w, 8)), 8 * (row - w < CHUNK_WORDS ? row - w : CHUNK_WORDS));
    /* From the top group down: digits xor sign, signs above: N in two's complement. */
    for (uint32_t group = p->digits / 16 + 1; group-- > 0;) {
        for (uint32_t k = 0; k < 16; k++) {
            uint64_t *bits = plane + k * row;
            if (16 * group + k < p->digits)
                coins_fill(&s->digits, p->digit[16 * group + k], bits, lanes);
            else
                memset(bits, 0, 8 * row);
            for (size_t w = 0; w < row; w++)
                bits[w] ^= sign[w];
        }
        transpose[ldp_isa()]((const uint16_t *)plane, words, value);
        if (words <= FEW_WORDS) {
            uint16_t transposed[16 * FEW_WORDS];
            memcpy(transposed, value, sizeof transposed);
            for (size_t i = 0; i < n; i++)
                value[i] = transposed[i % 16 * FEW_WORDS + i / 16];
        }
        append[ldp_isa()](value, n, group == p->digits / 16, noise);
    }
    coins_fill(&s->carries, p->carry, heads, lanes);
    carry(p, &s->carries, heads, words, noise);
}

/* Shrinks towards the centre, in integers, a row whose l1 norm is over the limit: no rounding and no oversize record can
 * break the sensitivity. */
static void limit_l1(const laplace *p, double *index)
{
    const int64_t centre = (int64_t)p->span / 2, limit = (int64_t)p->l1_limit;
    int64_t norm = 0;
    for (size_t j = 0; j < p->dim; j++) {
        int64_t d = (int64_t)index[j] - centre;
        norm += d < 0 ? -d : d;
    }
    if (norm > limit)
        for (size_t j = 0; j < p->dim; j++) {
            int64_t d = (int64_t)index[j] - centre;
            index[j] = (double)(centre + (int64_t)((__int128)d * limit / norm)); /* towards zero */
        }
}

typedef void round_fn(const laplace *, const void *, const uint32_t *, size_t, double *);

static int privatize_laplace(const laplace *p, round_fn *round, size_t item, const stream_key *key, uint64_t block,
                             const char *x, size_t rows, double *out)
{
    static void (*const add_noise[LDP_ISA_COUNT])(const laplace *, const double *, size_t, double *) = LDP_DISPATCH(add_noise);
    uint32_t word[4 * GROUP_WORDS] LDP_ALIGNED;
    double noise[LAPLACE_PIECE] LDP_ALIGNED;
    const size_t n = rows * p->dim;
    laplace_streams s = {.rounding = stream_open(key, p->noise.purpose + 2, block)};
    reader_open(&s.digits, key, p->noise.purpose, block);
    reader_open(&s.carries, key, p->noise.purpose + 1, block);
    for (size_t at = 0; at < n; at += sizeof word / 4) {
        size_t now = n - at < sizeof word / 4 ? n - at : sizeof word / 4;
        stream_groups(&s.rounding, word, groups_for(now, 4));
        round(p, x + at * item, word, now, out + at);
    }
    for (size_t i = 0; p->l1_limit > 0 && i < rows; i++)
        limit_l1(p, out + i * p->dim);
    for (size_t at = 0; at < n; at += LAPLACE_PIECE) {
        size_t now = n - at < LAPLACE_PIECE ? n - at : LAPLACE_PIECE;
        draw_noise(&p->noise, &s, now, noise);
        add_noise[ldp_isa()](p, noise, now, out + at);
    }
    return (int)(s.rounding.exhausted | s.digits.source.exhausted | s.carries.source.exhausted);
}

#define PRIVATIZE_LAPLACE(name, real, build)                                                                      \
    int name(const void *params, const stream_key *key, uint64_t block, const void *x, size_t n, void *out)       \
    {                                                                                                             \
        static round_fn *const round[LDP_ISA_COUNT] = LDP_DISPATCH(build);                                        \
        return privatize_laplace(params, round[ldp_isa()], sizeof(real), key, block, x, n, out);                  \
    }

PRIVATIZE_LAPLACE(privatize_laplace_f32, float, round_f32)
PRIVATIZE_LAPLACE(privatize_laplace_f64, double, round_f64)
