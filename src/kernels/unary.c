#include "unary.h"

enum { PIECE_BYTES = 8192 };

/* Bit `truth` of a row is cleared where clear is ones, then flipped where flip is ones: by a mask over all words, never at
 * an address that depends on the record. `piece` holds bits first .. first + n - 1 of the row, first a multiple of 64; the
 * last, shorter word also loses its padding. */
LDP_INLINE void own_bit(uint64_t truth, uint64_t clear, uint64_t flip, size_t first, size_t n, uint8_t *piece)
{
    const uint64_t bit = (uint64_t)1 << truth % 64, at = truth / 64;
    for (size_t w = 0; 64 * w < n; w++) {
        size_t left = n - 64 * w, size = left >= 64 ? 8 : (left + 7) / 8;
        uint64_t mine = bit & -(uint64_t)(first / 64 + w == at);
        uint64_t inside = left >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1, word = 0;
        memcpy(&word, piece + 8 * w, size);
        word = ((word & ~(mine & clear)) ^ (mine & flip)) & inside;
        memcpy(piece + 8 * w, &word, size);
    }
}

/* Bottleneck: the bit deposits of coins_fill (one pdep and five scalar operations per 64 lanes and level), then the key
 * stream. One row alone compares 64 bits of every lane and takes the same time whatever comes. Rows are finished in
 * `piece` before they are copied out: nobody sees coins without the own bit. `truth` holds clamped records. */
static int encode(const unary *p, const stream_key *key, uint64_t block, const uint64_t *truth, size_t n, uint8_t *out)
{
    const size_t bytes = (p->k + 7) / 8;
    const uint64_t clear = -(uint64_t)(p->optimized != 0);
    uint64_t fair[GROUP_BYTES / 8] LDP_ALIGNED; /* 8192 rows */
    uint64_t piece[PIECE_BYTES / 8] LDP_ALIGNED;
    reader r;
    reader_open(&r, key, PURPOSE_UNARY_BITS, block);
    stream own = stream_open(key, PURPOSE_UNARY_OWN, block);
    stream_groups(&own, fair, 1);
    for (size_t done = 0, total = n * bytes; done < total; done += PIECE_BYTES) { /* whole rows, or parts of one */
        size_t size = total - done < PIECE_BYTES ? total - done : PIECE_BYTES;
        if (n == 1)
            coins_direct(&r, p->other, piece, size * 8);
        else
            coins_fill(&r, (coin){p->other, 0}, piece, size * 8);
        for (size_t i = 0; i < n; i++) {
            uint64_t heads = -(fair[i / 64] >> i % 64 & 1);
            size_t left = p->k - 8 * done;
            own_bit(truth[i], clear, ~clear | heads, 8 * done, left < 8 * size ? left : 8 * size,
                    (uint8_t *)piece + i * bytes);
        }
        memcpy(out + done, piece, size);
    }
    return (int)(r.source.exhausted | own.exhausted);
}

#define PRIVATIZE_UNARY(type)                                                                                     \
    int privatize_unary_u##type(const void *params, const stream_key *key, uint64_t block, const void *records,   \
                                size_t n, void *out)                                                              \
    {                                                                                                             \
        const unary *p = params;                                                                                  \
        const uint##type##_t *x = records;                                                                        \
        uint64_t truth[PIECE_BYTES];                                                                              \
        for (size_t i = 0; i < n; i++)                                                                            \
            truth[i] = x[i] < p->k - 1 ? x[i] : p->k - 1;                                                         \
        return encode(p, key, block, truth, n, out);                                                              \
    }

PRIVATIZE_UNARY(8)
PRIVATIZE_UNARY(16)
PRIVATIZE_UNARY(32)
PRIVATIZE_UNARY(64)
