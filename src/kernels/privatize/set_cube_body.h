/* Bottleneck: comparisons of all positions of a record for each sampled option. */

#include "privatize/cube_draws_body.h"

/* Whether a coordinate of a record is plus: an option of the set, or the last one for a missing set. */
LDP_INLINE uint64_t NAME(is_plus)(const set_cube *p, const uint16_t *x, uint32_t coordinate)
{
    const uint32_t position = coordinate < p->k ? coordinate : p->k + p->own;
    uint16_t found = 0;
    for (uint32_t i = 0; i < p->own; i++)
        found |= (uint16_t)(x[i] == position);
    return found;
}

/* The signs of at most 64 coordinates from number `first` on. */
LDP_INLINE uint64_t NAME(signs_from)(const set_cube *p, const uint16_t *x, uint32_t first)
{
    uint64_t signs = 0;
    for (uint32_t i = 0; i < p->own; i++)
        signs |= (uint64_t)(x[i] / 64 == first / 64) << x[i] % 64;
    signs &= first < p->k ? word_mask(p->k - first) : 0;
    if (p->cube.dim > p->k && p->k / 64 == first / 64)
        signs |= NAME(is_plus)(p, x, p->k) << p->k % 64;
    return signs;
}

#define DEFINE_BODY(type, report_type)                                                                                   \
    static int NAME2(privatize_set_cube, type)(const void *params, stream_key *key, uint64_t block, const void *records, \
                                               size_t n, void *reports)                                                  \
    {                                                                                                                    \
        const set_cube *p = params;                                                                                      \
        const size_t sampled = p->cube.sampled;                                                                          \
        uint32_t at[CUBE_TOGETHER * CUBE_SAMPLED + 4] LDP_ALIGNED;                                                       \
        int invalid = 0;                                                                                                 \
        stream drawn = stream_open(key, STREAM_SET_CUBE_COORDINATES, block);                                             \
        index_reader others;                                                                                             \
        cube_streams s;                                                                                                  \
        indices_open(&others, key, STREAM_SET_CUBE_OTHERS, block, 8, p->cube.dim);                                       \
        indices_open(&s.members, key, STREAM_SET_CUBE_MEMBERS, block, 8, p->cube.sampled);                               \
        reader_open(&s.signs, key, STREAM_SET_CUBE_SIGNS, block, 2 * n);                                                 \
        for (size_t first = 0; first < n; first += CUBE_TOGETHER) {                                                      \
            const size_t now = n - first < CUBE_TOGETHER ? n - first : CUBE_TOGETHER;                                    \
            stream_draw(&drawn, at, blocks_for(now * sampled, 4));                                                       \
            NAME(uniform)(p->cube.dim, at, now * sampled);                                                               \
            for (size_t i = 0; i < now; i++) {                                                                           \
                const uint16_t *x = (const uint16_t *)records + (first + i) * p->own;                                    \
                report_type *out = (report_type *)reports + (first + i) * sampled;                                       \
                uint32_t *mine = at + i * sampled;                                                                       \
                make_different(&others, mine, sampled, x, 0);                                                            \
                uint64_t differ = draw_disagreements(&p->cube, &s);                                                      \
                for (size_t j = 0; j < sampled; j++) {                                                                   \
                    const uint64_t sign = NAME(is_plus)(p, x, mine[j]) ^ (differ >> j & 1);                              \
                    out[j] = (report_type)(2 * mine[j] + sign);                                                          \
                }                                                                                                        \
                invalid |= is_no_set(p, x);                                                                              \
            }                                                                                                            \
        }                                                                                                                \
        return invalid;                                                                                                  \
    }

#define NAME2(stem, type) PER_ISA(LDP_PASTE(stem, type))
DEFINE_BODY(u8, uint8_t)
DEFINE_BODY(u16, uint16_t)
DEFINE_BODY(u32, uint32_t)
#undef DEFINE_BODY
#undef NAME2

static int NAME(privatize_set_cap_cube)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                        void *reports)
{
    const set_cube *p = params;
    const size_t dim = p->cube.dim, bytes = (dim + 7) / 8;
    uint8_t record[CUBE_DIM / 8] LDP_ALIGNED;
    int invalid = 0;
    cube_streams s;
    indices_open(&s.members, key, STREAM_SET_CUBE_MEMBERS, block, 8, p->cube.sampled);
    reader_open(&s.signs, key, STREAM_SET_CUBE_SIGNS, block, READER_WORDS);
    for (size_t i = 0; i < n; i++) {
        const uint16_t *x = (const uint16_t *)records + i * p->own;
        uint8_t *row = (uint8_t *)reports + i * bytes;
        for (size_t j = 0; j < dim; j += 64)
            store_bytes(record + j / 8, NAME(signs_from)(p, x, (uint32_t)j), word_bytes(dim - j));
        if (dim <= CUBE_SAMPLED)
            store_bytes(row, load_bytes(record, bytes) ^ draw_disagreements(&p->cube, &s), bytes);
        else
            NAME(draw_side)(&p->cube, &s.signs, record, row);
        invalid |= is_no_set(p, x);
    }
    return invalid;
}
