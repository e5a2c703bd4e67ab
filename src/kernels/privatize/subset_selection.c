#include "privatize/subset_selection.h"

#include "privatize/packed_bits.h"
#include "random/uniform.h"
#include "simd/branchless.h"

/* Uniform integers below n, two from each word of 64 bits, by multiplication and rejection. */
typedef struct {
    reader words;
    uint64_t word;
    uint32_t n, incomplete; /* low halves below this belong to the incomplete last interval of n words */
    int left;
} index_reader;

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

#define KERNEL_BODY "privatize/subset_selection_body.h"
#include "simd/each_isa.h"

#define DEFINE_SUBSET_SELECTION(type)                                                                                          \
    int privatize_subset_selection_##type(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out) \
    {                                                                                                                          \
        return LDP_BEST(subset_selection_##type)(params, key, block, x, n, out);                                               \
    }

DEFINE_SUBSET_SELECTION(u8)
DEFINE_SUBSET_SELECTION(u16)
