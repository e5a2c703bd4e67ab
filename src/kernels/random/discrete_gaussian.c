#include "random/discrete_gaussian.h"

#include "simd/branchless.h"

#define PER_LOG2 1.4426950408889634
#define LOG2_HIGH 6.93147180369123816490e-01 /* the low 32 bits are zero: products with small integers are exact */
#define LOG2_LOW 1.90821492927058770002e-10
#define FARTHEST 690.0 /* exp(-FARTHEST) is a normal double */

#define KERNEL_BODY "random/discrete_gaussian_body.h"
#include "simd/each_isa.h"

gaussian_steps gaussian_open(uint64_t variance, double margin)
{
    /* width^2 >= 2 log(2) variance, so that no probability is above 1. The factor is rounded up by more than all errors. */
    const double least = 1.1774100225154747 * (1 + 0x1p-40) * __builtin_sqrt((double)variance);
    const uint64_t width = (uint64_t)least + 1;
    return (gaussian_steps){width, ((uint64_t)1 << 32) % width, 0.5 / (double)variance, margin};
}

int gaussian_propose(const gaussian_steps *p, stream *s, gaussian_proposals *out)
{
    uint64_t words[2 * GAUSSIAN_PROPOSALS] LDP_ALIGNED;
    stream_draw(s, words, blocks_for(2 * GAUSSIAN_PROPOSALS, 8));
    return gaussian_compare(p, words, out);
}

int gaussian_compare(const gaussian_steps *p, const uint64_t *words, gaussian_proposals *out)
{
    LDP_BEST(gaussian_propose)(p, words, out);
    int64_t all = 0;
    for (size_t i = 0; i < GAUSSIAN_PROPOSALS; i++)
        all |= out->decision[i];
    return (all & UNDECIDED) != 0;
}
