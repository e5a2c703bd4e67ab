/* Exact uniform integers below a bound, by rejection sampling. */
#ifndef LDP_UNIFORM_H
#define LDP_UNIFORM_H

#include "random/coins.h"

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
