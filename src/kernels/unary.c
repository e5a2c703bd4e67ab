#include "unary.h"

enum { PIECE_BYTES = 8192 };

/* Bottleneck: the bit deposits of coins_fill (one pdep and five scalar operations per 64 lanes and level), then the key
 * stream. One row alone compares 64 bits of every lane and takes the same time whatever comes. */
static void coins_of_rows(reader *r, uint64_t heads, size_t n, size_t bytes, uint8_t *out)
{
    uint64_t piece[PIECE_BYTES / 8];
    for (size_t done = 0, total = n * bytes; done < total; done += PIECE_BYTES) {
        size_t size = total - done < PIECE_BYTES ? total - done : PIECE_BYTES;
        if (n == 1)
            coins_direct(r, heads, piece, size * 8);
        else
            coins_fill(r, (coin){heads, 0}, piece, size * 8);
        memcpy(out + done, piece, size);
    }
}

/* Bit `truth` is cleared where clear is ones, then flipped where flip is ones: by a mask over all words of the row, never
 * at an address that depends on the record. The last, shorter word also loses its padding. */
LDP_INLINE void own_bit(uint64_t truth, uint64_t clear, uint64_t flip, size_t k, uint8_t *row)
{
    const uint64_t bit = (uint64_t)1 << truth % 64, at = truth / 64;
    for (size_t w = 0; 64 * w < k; w++) {
        size_t left = k - 64 * w, size = left >= 64 ? 8 : (left + 7) / 8;
        uint64_t mine = bit & -(uint64_t)(w == at), inside = left >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1, word = 0;
        memcpy(&word, row + 8 * w, size);
        word = ((word & ~(mine & clear)) ^ (mine & flip)) & inside;
        memcpy(row + 8 * w, &word, size);
    }
}

#define PRIVATIZE_UNARY(type)                                                                                     \
    int privatize_unary_u##type(const void *params, const stream_key *key, uint64_t block, const void *records,   \
                                size_t n, void *reports)                                                          \
    {                                                                                                             \
        const unary *p = params;                                                                                  \
        const uint##type##_t *x = records;                                                                        \
        const size_t bytes = (p->k + 7) / 8;                                                                      \
        const uint64_t last = p->k - 1, optimized = -(uint64_t)(p->optimized != 0);                               \
        uint8_t *out = reports;                                                                                   \
        uint64_t fair[GROUP_BYTES / 8] LDP_ALIGNED; /* 8192 rows */                                               \
        reader r;                                                                                                 \
        reader_open(&r, key, PURPOSE_UNARY_BITS, block);                                                          \
        stream own = stream_open(key, PURPOSE_UNARY_OWN, block);                                                  \
        stream_groups(&own, fair, 1);                                                                             \
        coins_of_rows(&r, p->other, n, bytes, out);                                                               \
        for (size_t i = 0; i < n; i++) {                                                                          \
            uint64_t heads = -(fair[i / 64] >> i % 64 & 1);                                                       \
            own_bit(x[i] < last ? x[i] : last, optimized, ~optimized | heads, p->k, out + i * bytes);             \
        }                                                                                                         \
        return (int)(r.source.exhausted | own.exhausted);                                                         \
    }

PRIVATIZE_UNARY(8)
PRIVATIZE_UNARY(16)
PRIVATIZE_UNARY(32)
PRIVATIZE_UNARY(64)
