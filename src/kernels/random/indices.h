/* Uniform integers below a bound of at most 2^32 - 1, two from each word, by multiplication and rejection (D. Lemire, 2019). */
#ifndef LDP_INDICES_H
#define LDP_INDICES_H

#include "random/coins.h"

typedef struct {
    reader words;
    uint64_t word;
    uint32_t n, incomplete; /* low halves below this belong to the incomplete last interval of n words */
    int left;
} index_reader;

/* `words` is the number of words that will probably be read. */
LDP_INLINE void indices_open(index_reader *r, stream_key *key, enum stream_id id, uint64_t block, size_t words, uint32_t n)
{
    r->word = 0;
    r->n = n;
    r->incomplete = -n % n;
    r->left = 0;
    reader_open(&r->words, key, id, block, words);
}

LDP_INLINE uint32_t next_index(index_reader *r)
{
    for (;;) {
        if (r->left == 0)
            r->word = reader_word(&r->words);
        else
            r->word >>= 32;
        r->left ^= 1;
        const uint64_t product = (r->word & 0xffffffffu) * r->n;
        if ((uint32_t)product >= r->incomplete || r->words.source.key->exhausted)
            return (uint32_t)(product >> 32);
    }
}

#endif
