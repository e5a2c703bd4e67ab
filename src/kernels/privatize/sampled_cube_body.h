/* Bottleneck: access to memory at the sampled coordinates, which are fetched for many people at once. */

#include "privatize/cube_draws_body.h"

/* What a coordinate tells of its record. */
LDP_INLINE int NAME(found_in)(const sampled_cube *p, REAL v)
{
    const REAL radius = (REAL)p->radius;
    return LDP_OUTSIDE * (!(v <= radius) | !(v >= -radius)) | (LDP_FAR & (int)OF_REAL(nan_mask)(v));
}

/* The random sign of a coordinate: 1 (plus) with probability (1 + v / radius) / 2, in steps of 2^-32; NaN counts as 0. */
LDP_INLINE uint64_t NAME(round_sign)(const sampled_cube *p, REAL v, uint32_t word)
{
    return (double)(int32_t)word < (double)OF_REAL(unless_nan)(v, v, 0) * p->per_unit;
}

/* Signs of n <= 64 coordinates at the given positions. */
LDP_INLINE uint64_t NAME(signs_at)(const sampled_cube *p, const REAL *x, const uint32_t *at, size_t n, reader *rounding,
                                   int *found)
{
    uint64_t signs = 0, word = 0;
    for (size_t i = 0; i < n; i++) {
        const REAL v = x[at ? at[i] : i];
        word = i % 2 ? word >> 32 : reader_word(rounding);
        signs |= NAME(round_sign)(p, v, (uint32_t)word) << i;
        *found |= NAME(found_in)(p, v);
    }
    return signs;
}

#define DEFINE_BODY(type, report_type)                                                                                       \
    static int NAME2(privatize_sampled_cube, type)(const void *params, stream_key *key, uint64_t block, const void *records, \
                                                   size_t n, void *reports)                                                  \
    {                                                                                                                        \
        const sampled_cube *p = params;                                                                                      \
        const size_t k = p->sampled;                                                                                         \
        uint32_t at[CUBE_TOGETHER * CUBE_SAMPLED + 4] LDP_ALIGNED;                                                           \
        int found = 0;                                                                                                       \
        stream drawn = stream_open(key, STREAM_CUBE_COORDINATES, block);                                                     \
        index_reader others;                                                                                                 \
        reader rounding;                                                                                                     \
        cube_streams s;                                                                                                      \
        indices_open(&others, key, STREAM_CUBE_OTHERS, block, 8, p->dim);                                                    \
        indices_open(&s.members, key, STREAM_CUBE_MEMBERS, block, 8, p->sampled);                                            \
        reader_open(&rounding, key, STREAM_CUBE_ROUNDING, block, n * ((k + 1) / 2));                                         \
        reader_open(&s.signs, key, STREAM_CUBE_SIGNS, block, 2 * n);                                                         \
        for (size_t first = 0; first < n; first += CUBE_TOGETHER) {                                                          \
            const size_t now = n - first < CUBE_TOGETHER ? n - first : CUBE_TOGETHER;                                        \
            stream_draw(&drawn, at, blocks_for(now * k, 4));                                                                 \
            NAME(uniform)(p->dim, at, now * k);                                                                              \
            for (size_t i = 0; i < now; i++)                                                                                 \
                make_different(&others, at + i * k, k, (const REAL *)records + (first + i) * p->dim, sizeof(REAL));          \
            for (size_t i = 0; i < now; i++) {                                                                               \
                const REAL *x = (const REAL *)records + (first + i) * p->dim;                                                \
                report_type *out = (report_type *)reports + (first + i) * k;                                                 \
                const uint64_t signs = NAME(signs_at)(p, x, at + i * k, k, &rounding, &found) ^ draw_disagreements(p, &s);   \
                for (size_t j = 0; j < k; j++)                                                                               \
                    out[j] = (report_type)(2 * at[i * k + j] + (signs >> j & 1));                                            \
            }                                                                                                                \
        }                                                                                                                    \
        return found;                                                                                                        \
    }

#define NAME2(stem, type) PER_ISA(LDP_PASTE(LDP_PASTE(stem, DTYPE), type))
DEFINE_BODY(u8, uint8_t)
DEFINE_BODY(u16, uint16_t)
DEFINE_BODY(u32, uint32_t)
#undef DEFINE_BODY
#undef NAME2

static int NAME(privatize_cap_cube)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                    void *reports)
{
    const sampled_cube *p = params;
    const size_t bytes = (p->dim + 7) / 8;
    uint8_t record[CUBE_DIM / 8] LDP_ALIGNED;
    int found = 0;
    reader rounding;
    cube_streams s;
    indices_open(&s.members, key, STREAM_CUBE_MEMBERS, block, 8, p->sampled);
    reader_open(&rounding, key, STREAM_CUBE_ROUNDING, block, n * ((p->dim + 1) / 2));
    reader_open(&s.signs, key, STREAM_CUBE_SIGNS, block, READER_WORDS);
    for (size_t i = 0; i < n; i++) {
        const REAL *x = (const REAL *)records + i * p->dim;
        uint8_t *row = (uint8_t *)reports + i * bytes;
        for (size_t j = 0; j < p->dim; j += 64) {
            const size_t now = p->dim - j < 64 ? p->dim - j : 64;
            store_bytes(record + j / 8, NAME(signs_at)(p, x + j, NULL, now, &rounding, &found), word_bytes(now));
        }
        if (p->dim <= CUBE_SAMPLED)
            store_bytes(row, load_bytes(record, bytes) ^ draw_disagreements(p, &s), bytes);
        else
            NAME(draw_side)(p, &s.signs, record, row);
    }
    return found;
}
