#include "privatize/unary_encoding.h"

#include "privatize/unary_row.h"

enum { PIECE_BYTES = 8192 };

/* Bottleneck: the bit deposits of coins_fill (one pdep and five scalar operations per 64 lanes and recursion step), then the
 * key stream. Rows are finished in `piece` before they are copied to `out`, so that `out` never holds coins without the person's
 * own bit. `truth` holds clamped records. Times and addresses depend on them. */
static void encode_rows(const unary_encoding *p, stream_key *key, uint64_t block, const uint64_t *truth, size_t n, uint8_t *out)
{
    const size_t bytes = (p->k + 7) / 8;
    const uint64_t clear = -(uint64_t)(p->optimized != 0);
    const uint8_t last = (uint8_t)(255 >> (8 * bytes - p->k)); /* without the padding */
    uint64_t fair[128] LDP_ALIGNED; /* 8192 rows */
    uint64_t piece[PIECE_BYTES / 8] LDP_ALIGNED;
    reader r;
    reader_open(&r, key, STREAM_UNARY_BITS, block, READER_WORDS);
    stream own = stream_open(key, STREAM_UNARY_OWN, block);
    stream_draw(&own, fair, blocks_for((n + 7) / 8, 1));
    coins_fill(&r, (coin){p->other, 0}, piece, n * bytes * 8);
    for (size_t i = 0; i < n; i++) {
        uint8_t *row = (uint8_t *)piece + i * bytes, *own_byte = row + truth[i] / 8;
        const uint64_t bit = (uint64_t)1 << truth[i] % 8, heads = -(fair[i / 64] >> i % 64 & 1);
        row[bytes - 1] &= last;
        *own_byte = (uint8_t)((*own_byte & ~(bit & clear)) ^ (bit & (~clear | heads)));
    }
    memcpy(out, piece, n * bytes);
}

#define DEFINE_UNARY_ENCODING(type)                                                                                          \
    int privatize_unary_encoding_u##type(const void *params, stream_key *key, uint64_t block, const void *records, size_t n, \
                                         void *out)                                                                          \
    {                                                                                                                        \
        const unary_encoding *p = params;                                                                                    \
        const uint##type##_t *x = records;                                                                                   \
        uint64_t truth[PIECE_BYTES], most = 0;                                                                               \
        for (size_t i = 0; i < n; i++) {                                                                                     \
            const uint64_t record = x[i];                                                                                    \
            truth[i] = record < p->k - 1 ? record : p->k - 1;                                                                \
            most = record > most ? record : most;                                                                            \
        }                                                                                                                    \
        if (n == 1)                                                                                                          \
            encode_row(p, key, block, truth[0], out);                                                                        \
        else                                                                                                                 \
            encode_rows(p, key, block, truth, n, out);                                                                       \
        return most >= p->k;                                                                                                 \
    }

DEFINE_UNARY_ENCODING(8)
DEFINE_UNARY_ENCODING(16)
DEFINE_UNARY_ENCODING(32)
DEFINE_UNARY_ENCODING(64)
