/* Exact dyadic coins: heads with probability m / 2^128, m = (high, low). A 64-bit coin has low = 0.
 *
 * There are two ways to draw them, with the same distribution. `coins_direct` compares 64 bits of every lane at once. It takes
 * the same time for every outcome and is used for privacy coins of single records. `coins_fill` compares two binary digits at
 * a time, by bit planes. About a quarter of the lanes is then undecided and gets its coins from a shorter array, recursively.
 * This takes 2.7 random bits per coin, but the time depends on the outcome. It is used for arrays of unary records, whose
 * time is not claimed to be independent of the record. */
#ifndef LDP_COINS_H
#define LDP_COINS_H

#include "random/stream.h"

typedef struct {
    uint64_t high, low;
} coin;

/* Reads a stream in chunks of 16 words or word by word; each reader does only one of the two. */
enum { CHUNK_WORDS = 16, CHUNK_BLOCKS = CHUNK_WORDS * 8 / AES_BLOCK, READER_WORDS = 512 };

typedef struct {
    stream source;
    size_t used, ahead; /* words already read; AES blocks of a refill */
    uint64_t word[READER_WORDS] LDP_ALIGNED;
} reader;

/* `words` is the number of words that will probably be read. A refill draws as many, so that a single record does not pay for a
 * whole buffer. */
LDP_INLINE void reader_open(reader *r, stream_key *key, enum stream_id id, uint64_t block, size_t words)
{
    r->source = stream_open(key, id, block);
    r->used = READER_WORDS;
    r->ahead = words < READER_WORDS ? (words + 1) / 2 : READER_WORDS / 2;
}

/* Fills the end of the buffer. */
LDP_INLINE void reader_refill(reader *r)
{
    r->used = READER_WORDS - 2 * r->ahead;
    stream_draw(&r->source, r->word + r->used, r->ahead);
}

/* The next chunk. Refills are whole chunks: `words` of reader_open was a multiple of CHUNK_WORDS. */
LDP_INLINE const uint64_t *reader_chunk(reader *r)
{
    if (r->used == READER_WORDS)
        reader_refill(r);
    r->used += CHUNK_WORDS;
    return r->word + r->used - CHUNK_WORDS;
}

LDP_INLINE uint64_t reader_word(reader *r)
{
    if (r->used == READER_WORDS)
        reader_refill(r);
    return r->word[r->used++];
}

/* Number of words of an output buffer for `lanes` coins: whole vectors of 8 words. */
LDP_INLINE size_t coin_words(size_t lanes) { return (lanes + 511) / 512 * 8; }

/* Lane i is bit i % 64 of out[i / 64]. Lanes past the last are tails. `out` has room for coin_words(lanes) words. */
void coins_direct(reader *r, uint64_t heads, uint64_t *out, size_t lanes);
void coins_fill(reader *r, coin c, uint64_t *out, size_t lanes);

/* 64 bits of a bit string, starting at bit `at`. Reads up to two words past the last. */
LDP_INLINE uint64_t bits_at(const uint64_t *string, size_t at)
{
    const uint64_t *w = string + at / 64;
    return w[0] >> (at % 64) | w[1] << 1 << (63 - at % 64);
}

/* Uniform on [0, 1) in steps of 2^-53: u < f has probability f rounded up to the grid, and 1 if f = 1. */
LDP_INLINE double unit_interval(uint64_t word) { return (double)(int64_t)(word >> 11) * 0x1p-53; }

#endif
