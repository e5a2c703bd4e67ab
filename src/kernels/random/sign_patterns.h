/* Patterns of signs from the coin and the sampler of ranked signs, and their places by the ranks of numbers.
 * docs/proofs/ranked_signs.md.
 *
 * A pattern is drawn without the record: a weighted sum of its signs reaches a limit with the probability of the private coin, and
 * all patterns on each side are equally probable. The record only decides which number has which sign, by the ranks of the numbers, a
 * permutation whatever the rounding. No branch and no address depends on the record, the coin or the pattern. */
#ifndef LDP_SIGN_PATTERNS_H
#define LDP_SIGN_PATTERNS_H

#include "random/coins.h"
#include "simd/branchless.h"

enum { MAX_SIGNS = 512, SIGN_WORDS = MAX_SIGNS / 64 };

/* Size i is the absolute weight of number rank[i] of the signs; the sizes ascend. `least` are the limits of the sums of the sizes that
 * are members: where the coin shows tails, of those that are not. A size is a member if a word is at most its limit, which depends on
 * the sum that must still be reached, at most sum[i]. */
typedef struct {
    uint64_t heads; /* of 2^64 words */
    uint32_t signs;
    uint32_t least[2]; /* tails, heads */
    uint32_t size[MAX_SIGNS], sum[MAX_SIGNS], rank[MAX_SIGNS], negative[MAX_SIGNS];
    const uint64_t *limit; /* sum[i] + 1 numbers for size i */
} sign_patterns;

/* Number of words of the signs. */
LDP_INLINE uint32_t words_of_signs(uint32_t signs) { return (signs + 63) / 64; }

/* Number of words of coins that `n` patterns and their directions take. */
LDP_INLINE size_t words_of_patterns(const sign_patterns *p, size_t n) { return (p->signs + 2) * n; }

#endif
