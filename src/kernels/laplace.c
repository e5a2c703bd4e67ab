#include "laplace.h"
#include "select.h"

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

/* Spends `budget` on the distances of the indices from the centre, one after the other; what it does not reach is cut. So
 * the l1 norm of a row of integers is within its limit whatever the record and the rounding were. */
static void limit_l1(const laplace *p, double *index, size_t n, int64_t *budget)
{
    const int32_t centre = (int32_t)(p->span / 2);
    int64_t norm = 0;
    for (size_t j = 0; j < n; j++) {
        int32_t distance = (int32_t)index[j] - centre;
        norm += distance < 0 ? -distance : distance;
    }
    if (norm <= *budget) { /* as good as always */
        *budget -= norm;
        return;
    }
    for (size_t j = 0; j < n; j++) {
        int64_t distance = (int64_t)index[j] - centre, size = distance < 0 ? -distance : distance;
        size = size < *budget ? size : *budget;
        *budget -= size;
        index[j] = (double)(centre + (distance < 0 ? -size : size));
    }
}

/* The builds of one real type. */
typedef struct {
    void (*round)(const laplace *, const void *, double, const uint32_t *, size_t, double *);
    double (*norm)(const laplace *, const void *);
    void (*add_noise)(const laplace *, const double *, const double *, size_t, double *);
    size_t item; /* bytes of a number */
} laplace_builds;

/* What a row is multiplied by to be in the l2 ball; 0 where it holds NaN. Privacy rests on limit_l1 alone. */
static double projection(const laplace *p, const laplace_builds *use, const char *row)
{
    double norm = use->norm(p, row);
    return norm <= p->radius ? 1 : norm > p->radius ? p->radius / norm : 0;
}

/* Rounds, limits and adds noise in buffers of its own: no unprotected number is ever seen in `out`. */
static int privatize_laplace(const laplace *p, const laplace_builds *use, const stream_key *key, uint64_t block, const char *x,
                             size_t rows, double *out)
{
    uint32_t word[LAPLACE_PIECE] LDP_ALIGNED;
    double index[LAPLACE_PIECE] LDP_ALIGNED, noise[LAPLACE_PIECE] LDP_ALIGNED;
    const size_t total = rows * p->dim, row = p->l1_limit > 0 ? p->dim : total; /* numbers that are rounded together */
    double factor = 1;
    int64_t budget = 0;
    laplace_streams s = {.rounding = stream_open(key, p->noise.purpose + 2, block)};
    reader_open(&s.digits, key, p->noise.purpose, block);
    s.digits.ahead = total == 1 ? 2 : READER_GROUPS; /* one number has 16 chunks of coins */
    reader_open(&s.carries, key, p->noise.purpose + 1, block);
    for (size_t at = 0; at < total; at += LAPLACE_PIECE) { /* whole rows, or parts of one */
        size_t n = total - at < LAPLACE_PIECE ? total - at : LAPLACE_PIECE;
        stream_groups(&s.rounding, word, groups_for(n, 4));
        for (size_t j = 0, now; j < n; j += now) {
            now = row - (at + j) % row < n - j ? row - (at + j) % row : n - j;
            if (p->l1_limit > 0 && (at + j) % row == 0) {
                factor = projection(p, use, x + (at + j) * use->item);
                budget = (int64_t)p->l1_limit;
            }
            use->round(p, x + (at + j) * use->item, factor, word + j, now, index + j);
            if (p->l1_limit > 0)
                limit_l1(p, index + j, now, &budget);
        }
        draw_noise(&p->noise, &s, n, noise);
        use->add_noise(p, index, noise, n, out + at);
    }
    return (int)(s.rounding.exhausted | s.digits.source.exhausted | s.carries.source.exhausted);
}

#define BUILDS(dtype, real, isa) {round_##dtype##_##isa, norm_##dtype##_##isa, add_noise_##isa, sizeof(real)}

#define PRIVATIZE_LAPLACE(dtype, real)                                                                            \
    int privatize_laplace_##dtype(const void *params, const stream_key *key, uint64_t block, const void *x,       \
                                  size_t n, void *out)                                                            \
    {                                                                                                             \
        static const laplace_builds builds[LDP_ISA_COUNT] = LDP_EACH_BUILD(BUILDS, dtype, real);                     \
        return privatize_laplace(params, &builds[ldp_isa()], key, block, x, n, out);                              \
    }

PRIVATIZE_LAPLACE(f32, float)
PRIVATIZE_LAPLACE(f64, double)
