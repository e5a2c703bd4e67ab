#include "privatize/rank_codebook.h"

#include "random/uniform.h"
#include "simd/branchless.h"

enum { FEW_VECTORS = 128 };

/* The candidate of number r among those in the top set (inside = 1) or outside of it. in_top[j] is 1 if one of +U_j and -U_j is in
 * it: the one whose inner product with the direction of the record, or with its negative if flip is 1, is positive. */
static uint64_t choose(const rank_codebook *p, const uint8_t *in_top, const float *cosine, uint32_t flip, uint64_t inside,
                       uint64_t r)
{
    uint64_t count = 0, chosen = 0;
    for (uint32_t c = 0; c < 2 * p->vectors; c++) {
        const uint32_t plus = flip ^ 1 ^ bits_f32(cosine[c / 2]) >> 31;
        const uint64_t counts = 1 ^ (in_top[c / 2] & (uint64_t)((c & 1) == plus)) ^ inside;
        chosen |= c & -(counts & (uint64_t)(count == r));
        count += counts;
    }
    return chosen;
}

#define KERNEL_REALS
#define KERNEL_BODY "privatize/rank_codebook_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(rank_codebook_f32)
DEFINE_PRIVATIZE(rank_codebook_f64)
