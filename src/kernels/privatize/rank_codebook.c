#include "privatize/rank_codebook.h"

#include "random/uniform.h"
#include "simd/branchless.h"

/* The candidate of number r among those in the top set (inside = 1) or outside of it. plus[j] is 1 if +U_j is ranked before -U_j. */
static uint64_t choose(const rank_codebook *p, const uint32_t *rank, const uint32_t *plus, uint64_t inside, uint64_t r)
{
    uint64_t count = 0, chosen = 0;
    for (uint32_t c = 0; c < 2 * p->vectors; c++) {
        const uint64_t in_top = (uint64_t)(rank[c / 2] < p->top) & (uint64_t)((c & 1) == plus[c / 2]);
        const uint64_t counts = 1 ^ in_top ^ inside;
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
