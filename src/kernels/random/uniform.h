/* Exact uniform integers below a bound, by rejection sampling. */
#ifndef LDP_UNIFORM_H
#define LDP_UNIFORM_H

#include "random/coins.h"
#include "simd/branchless.h"

#if !defined(LDP_FREESTANDING)
typedef unsigned __int128 big;

/* An integer of 128 bits in [0, n), n > 0, from its own stream. */
LDP_INLINE big big_below(stream_key *key, uint64_t block, big n)
{
    reader r;
    reader_open(&r, key, STREAM_SELECTION, block, 2);
    const big most = -n / n; /* quotients above this belong to the incomplete last interval of n values */
    for (;;) {
        uint64_t high = reader_word(&r), low = reader_word(&r);
        big value = (big)high << 64 | low;
        if (value / n <= most)
            return value % n;
    }
}
#endif

/* An integer in [0, n), n > 0, by multiplication and rejection (D. Lemire, 2019). */
LDP_INLINE uint64_t word_below(reader *r, uint64_t n)
{
    uint64_t word = reader_word(r);
    if (word * n < n) {
        const uint64_t incomplete = -n % n; /* low halves below this belong to the incomplete last interval of n words */
        while (word * n < incomplete && !r->source.key->exhausted)
            word = reader_word(r);
    }
    return high_product_u64(word, n);
}

#endif
