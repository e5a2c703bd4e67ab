/* Bottleneck: the normal numbers and their key stream, then the reflections: one row of the frame for each sign. */
#if !REAL_IS_DOUBLE
#include "random/frames_body.h"

/* Draws a pattern: bit r is the sign of number r in the order of the weights. All limits of a size are read. */
static void PER_ISA(draw_pattern)(const ranked_signs *p, reader *coins, uint64_t *pattern)
{
    const uint32_t heads = reader_word(coins) < p->heads;
    const uint64_t *limit = p->limit;
    uint32_t left = (p->least[0] & (heads - 1)) | (p->least[1] & -heads);
    for (uint32_t i = 0; i < p->frame.signs; i++)
        limit += p->sum[i] + 1;
    for (uint32_t i = p->frame.signs; i-- > 0;) {
        uint64_t own = 0;
        limit -= p->sum[i] + 1;
        for (uint64_t k = 0; k <= p->sum[i]; k++) /* vector loop */
            own |= limit[k] & -(((k ^ left) - 1) >> 63); /* if k is left */
        const uint32_t member = reader_word(coins) <= own;
        left -= p->size[i] & -member;
        left &= ~-(left >> 31); /* not below 0 */
        pattern[p->rank[i] / 64] |= (uint64_t)(member ^ heads ^ 1 ^ p->negative[i]) << p->rank[i] % 64;
    }
}

/* Gives number j the sign at its rank among all numbers. Equal ones are ranked by their positions. */
static void PER_ISA(place_signs)(const frame *f, const uint64_t *pattern, const float *v, uint64_t *signs)
{
    int32_t order[MAX_SIGNS];
    uint32_t rank[MAX_SIGNS];
    for (uint32_t j = 0; j < f->signs; j++) { /* integers in the order of the numbers, also for NaN */
        const int32_t bits = (int32_t)bits_f32(v[j]);
        order[j] = bits ^ (bits >> 31 & 0x7fffffff);
    }
    for (uint32_t j = 0; j < f->signs; j++) { /* vector loop */
        const int32_t own = order[j];
        uint32_t smaller = 0;
        for (uint32_t i = 0; i < f->signs; i++)
            smaller += (order[i] < own) | ((order[i] == own) & (i < j));
        rank[j] = smaller;
    }
    for (uint32_t j = 0; j < f->signs; j++) {
        uint64_t word = 0;
        for (uint32_t i = 0; i < SIGN_WORDS; i++)
            word |= pattern[i] & -(uint64_t)(rank[j] / 64 == i);
        signs[j / 64] |= (word >> rank[j] % 64 & 1) << j % 64;
    }
}
#endif

#include "privatize/unit_row_body.h"

/* The inner products of a record with the vectors of the frame, up to a factor. Returns the square of its norm. */
LDP_INLINE double NAME(frame_products)(const ranked_signs *p, stream_key *public_key, uint64_t seed, const REAL *x,
                                       float *product)
{
    float v[MAX_DIRECTION] LDP_ALIGNED, row[MAX_DIRECTION] LDP_ALIGNED;
    const size_t dim = p->frame.dim;
    direction_rows rows = directions_of(public_key, seed, dim, p->frame.signs);
    if (dim <= MAX_DIRECTION) {
        const double square = NAME(load_row)(p->per_radius, x, dim, v);
        for (uint32_t j = 0; j < p->frame.signs; j++)
            product[j] = PER_ISA(reflect)(direction_row(&rows, j, row), v + j, dim - j);
        return square;
    }
    double square = 0, sum[MAX_SIGNS][3] = {0};
    for (size_t first = 0; first < dim; first += MAX_DIRECTION) {
        const size_t now = dim - first < MAX_DIRECTION ? dim - first : MAX_DIRECTION;
        square += NAME(load_row)(p->per_radius, x + first, now, v);
        for (uint32_t j = 0; j < p->frame.signs; j++)
            PER_ISA(add_products_f32)(direction_part(&rows, j, first, now, row), v, 1, now, sum[j]);
    }
    for (uint32_t j = 0; j < p->frame.signs; j++)
        product[j] = (float)sum[j][1];
    return square;
}

static int NAME(privatize_ranked_signs)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                        void *reports)
{
    const ranked_signs *p = params;
    const double limit = 1 + p->tolerance * (REAL_IS_DOUBLE ? 0x1p-53 : 0x1p-24);
    const size_t words = sign_words(&p->frame);
    uint64_t seed[FRAME_ROWS] LDP_ALIGNED;
    int invalid = 0;
    stream seeds = stream_open(key, STREAM_FRAME_SEEDS, block);
    reader coins;
    stream_key public_key;
    directions_open(&public_key);
    stream_draw(&seeds, seed, blocks_for(n, 8));
    reader_open(&coins, key, STREAM_FRAME_COINS, block, (p->frame.signs + 2) * n);
    for (size_t i = 0; i < n; i++) {
        uint64_t *report = (uint64_t *)reports + i * (words + 1), pattern[SIGN_WORDS] = {0};
        float product[MAX_SIGNS];
        const double square = NAME(frame_products)(p, &public_key, seed[i], (const REAL *)records + i * p->frame.dim, product);
        const double norm = clamp_unit(__builtin_sqrt(square), 0); /* with a NaN anywhere: the center */
        const uint32_t flip = unit_interval(reader_word(&coins)) >= (1 + norm) / 2;
        for (uint32_t j = 0; j < p->frame.signs; j++)
            product[j] = float_of(bits_f32(product[j]) ^ flip << 31);
        PER_ISA(draw_pattern)(p, &coins, pattern);
        memset(report, 0, 8 * (words + 1));
        report[0] = seed[i];
        PER_ISA(place_signs)(&p->frame, pattern, product, report + 1);
        invalid |= !(square <= limit * limit);
    }
    return invalid;
}
