/* Bottleneck: the normal numbers and their key stream, J rows for each record. */
#if !REAL_IS_DOUBLE
#include "simd/row_products_body.h"

/* Marks the `top` of a few numbers by comparing each with all. */
static void PER_ISA(mark_top_of_few)(const float *v, uint8_t *in_top, uint32_t n, uint32_t top)
{
    uint32_t size[FEW_VECTORS], rank[FEW_VECTORS];
    for (uint32_t i = 0; i < n; i++)
        size[i] = bits_f32(v[i]) & 0x7fffffffu;
    for (uint32_t i = 0; i < n; i++) { /* vector loop */
        const uint32_t own = size[i];
        uint32_t larger = 0;
        for (uint32_t j = 0; j < n; j++)
            larger += (size[j] > own) | ((size[j] == own) & (j < i));
        rank[i] = larger;
    }
    for (uint32_t i = 0; i < n; i++)
        in_top[i] = rank[i] < top;
}

/* Marks the `top` of many numbers. The smallest of their magnitudes is found bit by bit. */
static void PER_ISA(mark_top_of_many)(const float *v, uint8_t *in_top, uint32_t n, uint32_t top)
{
    uint32_t least = 0, larger = 0, equal = 0;
    for (uint32_t bit = 1u << 30; bit; bit >>= 1) {
        const uint32_t tried = least | bit;
        uint32_t count = 0;
        for (uint32_t i = 0; i < n; i++) /* vector loop */
            count += (bits_f32(v[i]) & 0x7fffffffu) >= tried;
        least |= bit & -(uint32_t)(count >= top);
    }
    for (uint32_t i = 0; i < n; i++) /* vector loop */
        larger += (bits_f32(v[i]) & 0x7fffffffu) > least;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t size = bits_f32(v[i]) & 0x7fffffffu, same = size == least;
        in_top[i] = (uint8_t)((size > least) | (same & (equal < top - larger)));
        equal += same;
    }
}

/* Marks the `top` numbers of largest magnitude; among equal ones, those of smaller index. They are exactly `top` for all bits, also
 * of NaN. */
LDP_INLINE void PER_ISA(mark_top)(const float *v, uint8_t *in_top, uint32_t n, uint32_t top)
{
    if (n <= FEW_VECTORS)
        PER_ISA(mark_top_of_few)(v, in_top, n, top);
    else
        PER_ISA(mark_top_of_many)(v, in_top, n, top);
}
#endif

#include "privatize/unit_row_body.h"

static int NAME(privatize_rank_codebook)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                         void *reports)
{
    const rank_codebook *p = params;
    const double limit = 1 + p->tolerance * (REAL_IS_DOUBLE ? 0x1p-53 : 0x1p-24);
    float y[MAX_DIRECTION] LDP_ALIGNED, u[MAX_DIRECTION] LDP_ALIGNED, cosine[MAX_VECTORS];
    uint8_t in_top[MAX_VECTORS];
    uint64_t seed[CODEBOOK_ROWS] LDP_ALIGNED;
    int invalid = 0;
    stream seeds = stream_open(key, STREAM_CODEBOOK_SEEDS, block);
    reader coins;
    stream_key public_key;
    directions_open(&public_key);
    stream_draw(&seeds, seed, blocks_for(n, 8));
    reader_open(&coins, key, STREAM_CODEBOOK_COINS, block, 4 * n);
    for (size_t i = 0; i < n; i++) {
        const double square = NAME(load_row)(p->per_radius, (const REAL *)records + i * p->dim, p->dim, y);
        const double norm = clamp_unit(__builtin_sqrt(square), 0); /* with a NaN anywhere: the center */
        const uint32_t flip = unit_interval(reader_word(&coins)) >= (1 + norm) / 2;
        direction_rows rows = directions_of(&public_key, seed[i] >> p->bits, p->dim, (size_t)1 << (p->bits - 1));
        for (uint32_t j = 0; j < p->vectors; j++) {
            double sum[3] = {0};
            PER_ISA(add_products_f32)(direction_row(&rows, j, u), y, 1, p->dim, sum);
            cosine[j] = (float)sum[1] / __builtin_sqrtf((float)sum[0]);
        }
        PER_ISA(mark_top)(cosine, in_top, p->vectors, p->top);
        const uint64_t inside = reader_word(&coins) < p->heads;
        const uint64_t own = word_below(&coins, p->top), other = word_below(&coins, 2 * p->vectors - p->top);
        const uint64_t index = choose(p, in_top, cosine, flip, inside, (own & -inside) | (other & (inside - 1)));
        ((uint64_t *)reports)[i] = seed[i] >> p->bits << p->bits | index;
        invalid |= outside_of_ball(square, limit * limit);
    }
    return invalid;
}
