#include "privatize/series.h"

#include "privatize/packed_bits.h"
#include "random/byte_reader.h"
#include "simd/branchless.h"

/* Terms of a step: one bit per term in a word of 32 bits. */
enum { WORD_TERMS = 32 };

/* Harmonics that are computed independently, which hides the latency of a rotation. */
enum { CHAINS = 4 };

/* Random words of a group of people. The directions follow, for each word of terms one word per person. */
typedef struct {
    uint32_t rounding[SERIES_PEOPLE];
    uint64_t coin[SERIES_PEOPLE]; /* private coin */
} person_words;

enum { DIRECTION_BYTES = 4 * SERIES_PEOPLE };

/* Flips the words that are written, and writes the last word of each row. The padding becomes zeros. */
LDP_INLINE void finish_rows(const series *p, const uint32_t *flip, const uint32_t *last, size_t n, uint8_t *out)
{
    const size_t bytes = (p->terms + 7) / 8, before = (p->terms - 1) / WORD_TERMS * 4, rest = bytes - before;
    const uint32_t inside = (uint32_t)word_mask(p->terms - 8 * before);
    for (size_t i = 0; i < n; i++) {
        uint8_t *row = out + i * bytes;
        for (size_t j = 0; j < before; j += 4) {
            uint32_t word;
            memcpy(&word, row + j, 4);
            word ^= flip[i];
            memcpy(row + j, &word, 4);
        }
        store_bytes(row + before, (last[i] ^ flip[i]) & inside, rest);
    }
}

/* Bytes of the stream for n people. */
LDP_INLINE size_t series_bytes(const series *p, size_t n)
{
    const size_t words = (p->terms + WORD_TERMS - 1) / WORD_TERMS, groups = (n + SERIES_PEOPLE - 1) / SERIES_PEOPLE;
    return groups * (sizeof(person_words) + words * DIRECTION_BYTES);
}

#define KERNEL_REALS
#define KERNEL_BODY "privatize/series_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(series_terms_f32)
DEFINE_PRIVATIZE(series_terms_f64)
