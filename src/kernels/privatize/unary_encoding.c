#include "privatize/unary_encoding.h"

#include "random/coins.h"

enum { PIECE_BYTES = 8192 };

/* Clears bit `truth` of a row if `clear` is all ones, then flips it if `flip` is all ones. The mask is applied to all words, so
 * that no address depends on the record. `piece` holds bits first .. first + n - 1 of the row, where first is a multiple of 64.
 * The padding of the last, shorter word becomes zeros. */
LDP_INLINE void set_own_bit(uint64_t truth, uint64_t clear, uint64_t flip, size_t first, size_t n, uint8_t *piece)
{
    const uint64_t bit = (uint64_t)1 << truth % 64, at = truth / 64;
    for (size_t w = 0; 64 * w < n; w++) {
        size_t left = n - 64 * w, size = left >= 64 ? 8 : (left + 7) / 8;
        uint64_t own = bit & -(uint64_t)(first / 64 + w == at);
        uint64_t inside = left >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << left) - 1, word = 0;
        memcpy(&word, piece + 8 * w, size);
        word = ((word & ~(own & clear)) ^ (own & flip)) & inside;
        memcpy(piece + 8 * w, &word, size);
    }
}

/* Bottleneck: the bit deposits of coins_fill (one pdep and five scalar operations per 64 lanes and recursion step), then the
 * key stream. A single row compares 64 bits of every lane, which takes the same time for every outcome. Rows are finished in
 * `piece` before they are copied to `out`, so that `out` never holds coins without the person's own bit. `truth` holds clamped
 * records. */
static void encode(const unary_encoding *p, stream_key *key, uint64_t block, const uint64_t *truth, size_t n, uint8_t *out)
{
    const size_t bytes = (p->k + 7) / 8;
    const uint64_t clear = -(uint64_t)(p->optimized != 0);
    uint64_t fair[128] LDP_ALIGNED; /* 8192 rows */
    uint64_t piece[PIECE_BYTES / 8] LDP_ALIGNED;
    reader r;
    reader_open(&r, key, STREAM_UNARY_BITS, block,
                n == 1 ? (8 * bytes + CHUNK_WORDS - 1) / CHUNK_WORDS * CHUNK_WORDS : READER_WORDS);
    stream own = stream_open(key, STREAM_UNARY_OWN, block);
    stream_draw(&own, fair, blocks_for((n + 7) / 8, 1));
    for (size_t done = 0, total = n * bytes; done < total; done += PIECE_BYTES) { /* whole rows, or parts of one */
        size_t size = total - done < PIECE_BYTES ? total - done : PIECE_BYTES;
        if (n == 1)
            coins_direct(&r, p->other, piece, size * 8);
        else
            coins_fill(&r, (coin){p->other, 0}, piece, size * 8);
        for (size_t i = 0; i < n; i++) {
            uint64_t heads = -(fair[i / 64] >> i % 64 & 1);
            size_t left = p->k - 8 * done;
            set_own_bit(truth[i], clear, ~clear | heads, 8 * done, left < 8 * size ? left : 8 * size,
                        (uint8_t *)piece + i * bytes);
        }
        memcpy(out + done, piece, size);
    }
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
        encode(p, key, block, truth, n, out);                                                                                \
        return most >= p->k;                                                                                                 \
    }

DEFINE_UNARY_ENCODING(8)
DEFINE_UNARY_ENCODING(16)
DEFINE_UNARY_ENCODING(32)
DEFINE_UNARY_ENCODING(64)
