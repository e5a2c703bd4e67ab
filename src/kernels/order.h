/* What the sweeps over sorted data in order.pyx need of C: integers of 128 bits, and a uniform one. */
#ifndef LDP_ORDER_H
#define LDP_ORDER_H

#include "coins.h"

typedef unsigned __int128 big;

/* In [0, n), n > 0: exact, by rejection. */
LDP_INLINE big big_below(const stream_key *key, uint64_t block, big n)
{
    reader r;
    reader_open(&r, key, PURPOSE_SELECTION, block);
    const big most = -n / n; /* of values above are as many too many as make n equal parts */
    for (;;) {
        uint64_t high = reader_word(&r), low = reader_word(&r);
        big value = (big)high << 64 | low;
        if (value / n <= most)
            return value % n;
    }
}

#endif
