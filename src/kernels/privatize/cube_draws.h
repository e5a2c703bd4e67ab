/* What the kernels of the sampled cube draw, whatever their records are: coordinates, and the disagreements of signs. */
#ifndef LDP_CUBE_DRAWS_H
#define LDP_CUBE_DRAWS_H

#include "privatize/packed_bits.h"
#include "privatize/sampled_cube.h"
#include "random/indices.h"
#include "random/uniform.h"
#include "simd/branchless.h"

/* Streams of the signs of one block: the coins and what draws the patterns, and the coordinates that disagree. */
typedef struct {
    reader signs;
    index_reader members;
} cube_streams;

/* A uniform set of `size` of the first bits of a word. */
static uint64_t draw_set(index_reader *members, uint32_t size)
{
    uint64_t set = 0;
    for (uint32_t count = 0; count < size;) {
        const uint64_t bit = (uint64_t)1 << next_index(members);
        count += (set & bit) == 0;
        set |= bit;
    }
    return set;
}

enum { CUBE_TOGETHER = 32 }; /* people whose coordinates are drawn together */

/* Draws positions again where they are not below the bound or repeat an earlier one, and fetches the numbers of `size` bytes
 * at all of them. */
LDP_INLINE void make_different(index_reader *others, uint32_t *at, size_t k, const void *row, size_t size)
{
    for (size_t i = 0; i < k;) {
        int seen = at[i] >= others->n;
        for (size_t j = 0; j < i; j++)
            seen |= at[j] == at[i];
        if (seen)
            at[i] = next_index(others);
        else
            __builtin_prefetch((const char *)row + at[i++] * size);
    }
}

/* The disagreements of the reported signs with those of the record, for at most CUBE_SAMPLED signs. */
static inline uint64_t draw_disagreements(const sampled_cube *p, cube_streams *s)
{
    const uint32_t most = p->sampled - p->threshold;
    if (reader_word(&s->signs) < p->heads) {
        if (most == 0)
            return 0;
        const uint64_t drawn = word_below(&s->signs, p->patterns);
        uint32_t size = 0;
        while (drawn >= p->up_to[size])
            size++;
        return draw_set(&s->members, size);
    }
    if (most == 0)
        return 1 + word_below(&s->signs, ((uint64_t)1 << p->sampled) - 1);
    for (;;) {
        const uint64_t drawn = reader_word(&s->signs) & word_mask(p->sampled);
        if (count_ones(drawn) > most || s->signs.source.key->exhausted)
            return drawn;
    }
}

#endif
