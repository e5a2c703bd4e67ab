/* Subset selection: a set of `size` categories, which holds the person's own with the probability of the private coin.
 * docs/proofs/subset_selection.md.
 *
 * Privacy: a uniform set of `size` of the k - 1 other categories is drawn without the record. With heads, a uniform member is
 * removed and the true category is added, by masks over all words. No branch and no address depends on the record or the coin. */
#ifndef LDP_SUBSET_SELECTION_H
#define LDP_SUBSET_SELECTION_H

#include "privatize/kernel.h"
#include "random/uniform_sets.h"

typedef struct {
    uint64_t heads; /* of 2^64 words: the set holds the true category */
    uint32_t k, size;
    uint32_t density; /* of 2^SET_DIGITS: probability that a category is in the first draw */
} subset_selection;

LDP_INLINE size_t subset_row_words(size_t k) { return (k + 63) / 64; }
LDP_INLINE size_t subset_selection_rows(size_t k) { return SET_WORDS / subset_row_words(k); }

/* Records: categories in the smallest unsigned type that holds k - 1, k <= 65536. Reports: k packed bits. */
privatize_fn privatize_subset_selection_u8, privatize_subset_selection_u16;

#endif
