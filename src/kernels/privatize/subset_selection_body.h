/* A uniform set of the other categories, and the person's own by masks. */
#include "random/uniform_sets_body.h"

/* Writes the report: the set without the member of the given rank where `own` is all ones, and with the indices from `truth` on
 * moved by one, which leaves the place of the bit of the true category. */
LDP_INLINE void NAME(insert_own)(const subset_selection *p, const uint64_t *set, uint64_t truth, uint64_t own, uint64_t rank,
                                 uint8_t *out)
{
    const size_t words = subset_row_words(p->k), others = (p->k + 62) / 64; /* words with bits of others */
    uint64_t carry = 0;
    for (size_t w = 0; w < words; w++) {
        uint64_t bits = w < others ? set[w] : 0;
        const uint64_t count = PER_ISA(ones)(bits), here = -(uint64_t)(rank < count);
        bits &= ~(PER_ISA(deposit)((uint64_t)1 << (rank & 63), bits) & here & own);
        rank = (rank - count) | here; /* stays above every count once the member is found */
        const uint64_t before = 64 * w, at = (uint64_t)1 << truth % 64;
        const uint64_t earlier = -(uint64_t)(before / 64 < truth / 64), in_word = -(uint64_t)(before / 64 == truth / 64);
        const uint64_t low = earlier | (in_word & (at - 1)), moved = bits << 1 | carry;
        carry = bits >> 63;
        const uint64_t report = (bits & low) | (moved & ~low & ~(at & in_word)) | (at & in_word & own);
        store_bytes(out + 8 * w, report & word_mask(p->k - 64 * w), word_bytes(p->k - 64 * w));
    }
}

#define DEFINE_BODY(type, record_type)                                                                                 \
    static int NAME(subset_selection_##type)(const void *params, stream_key *key, uint64_t block, const void *records, \
                                             size_t n, void *reports)                                                  \
    {                                                                                                                  \
        const subset_selection *p = params;                                                                            \
        const record_type *x = records;                                                                                \
        const size_t words = subset_row_words(p->k);                                                                   \
        uint64_t set[SET_WORDS] LDP_ALIGNED, most = 0;                                                                 \
        stream bits = stream_open(key, STREAM_SUBSET_BITS, block);                                                     \
        reader coins;                                                                                                  \
        index_reader indices;                                                                                          \
        reader_open(&coins, key, STREAM_SUBSET_COINS, block, 2 * n);                                                   \
        indices_open(&indices, key, STREAM_SUBSET_INDICES, block, READER_WORDS, p->k - 1);                             \
        NAME(draw_bits)(p->density, &bits, set, n * words);                                                            \
        for (size_t i = 0; i < n; i++) {                                                                               \
            const uint64_t record = x[i], truth = record < p->k - 1 ? record : p->k - 1;                               \
            const uint64_t own = -(uint64_t)(reader_word(&coins) < p->heads), rank = word_below(&coins, p->size);      \
            NAME(adjust)(p->size, &indices, set + i * words, p->k - 1);                                                \
            NAME(insert_own)(p, set + i * words, truth, own, rank, (uint8_t *)reports + i * ((p->k + 7) / 8));         \
            most = record > most ? record : most;                                                                      \
        }                                                                                                              \
        return most >= p->k;                                                                                           \
    }

DEFINE_BODY(u8, uint8_t)
DEFINE_BODY(u16, uint16_t)
#undef DEFINE_BODY
