#include "random/coins.h"

void coins_direct(reader *r, uint64_t heads, uint64_t *out, size_t lanes)
{
    memset(out, 0, coin_words(lanes) * 8);
    for (size_t lane = 0; lane < lanes; lane += CHUNK_WORDS) {
        const uint64_t *word = reader_chunk(r);
        uint64_t less = 0;
        for (int i = 0; i < CHUNK_WORDS; i++)
            less |= (uint64_t)(word[i] < heads) << i;
        out[lane / 64] |= less << lane % 64;
    }
    if (lanes % 64)
        out[lanes / 64] &= ((uint64_t)1 << lanes % 64) - 1;
}
