/* Independent uniform digits with given bounds, several from each word: the word is multiplied by one bound after the other, the
 * high halves of the products are the digits, and the last low half decides whether the word is rejected (N. Brackett-Rozinsky and
 * D. Lemire, "Batched ranged random integer generation", 2024). */
#ifndef LDP_DIGITS_H
#define LDP_DIGITS_H

#include "random/coins.h"
#include "simd/branchless.h"

enum { MAX_DIGITS = 288 };

typedef struct {
    uint32_t digits, batches;
    uint64_t product[MAX_DIGITS]; /* of the bounds of a batch, below 2^63 */
    uint32_t bound[MAX_DIGITS];
    uint32_t stop[MAX_DIGITS]; /* end of the digits of a batch */
} digit_plan;

/* Appends a digit in [0, bound), bound >= 1. Returns nonzero if there is no room. */
LDP_INLINE int plan_digit(digit_plan *p, uint32_t bound)
{
    if (p->digits == MAX_DIGITS)
        return 1;
    if (p->batches == 0 || p->product[p->batches - 1] > ((uint64_t)1 << 62) / bound)
        p->product[p->batches++] = 1;
    p->product[p->batches - 1] *= bound;
    p->bound[p->digits++] = bound;
    p->stop[p->batches - 1] = p->digits;
    return 0;
}

LDP_INLINE void draw_digits(const digit_plan *p, reader *r, uint32_t *digit)
{
    size_t i = 0;
    for (size_t batch = 0; batch < p->batches; batch++) {
        const size_t first = i, stop = p->stop[batch];
        const uint64_t product = p->product[batch];
        for (;;) {
            uint64_t low = reader_word(r);
            for (i = first; i < stop; i++) {
                digit[i] = (uint32_t)high_product_u64(low, p->bound[i]);
                low *= p->bound[i];
            }
            if (low >= product || low >= -product % product || r->source.key->exhausted)
                break;
        }
    }
}

#endif
