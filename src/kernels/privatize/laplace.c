#include "privatize/laplace.h"

#include "check/ranges.h"
#include "simd/branchless.h"

/* Limits the l1 norm of a row of integers, for every record and rounding. The distances of the indices from the center are
 * subtracted from `budget` in order, and a distance that exceeds the rest of the budget is truncated. */
static void limit_l1(const laplace *p, double *index, size_t n, int64_t *budget)
{
    const int32_t center = (int32_t)(p->span / 2);
    int64_t norm = 0;
    for (size_t j = 0; j < n; j++) {
        int32_t distance = (int32_t)index[j] - center;
        norm += distance < 0 ? -distance : distance;
    }
    if (norm <= *budget) { /* the common case */
        *budget -= norm;
        return;
    }
    for (size_t j = 0; j < n; j++) {
        int64_t distance = (int64_t)index[j] - center, size = distance < 0 ? -distance : distance;
        size = size < *budget ? size : *budget;
        *budget -= size;
        index[j] = (double)(center + (distance < 0 ? -size : size));
    }
}

#define TWO_TO_36 0x4230000000000000 /* the bits of this double */

#define KERNEL_REALS
#define KERNEL_BODY "privatize/laplace_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(laplace_f32)
DEFINE_PRIVATIZE(laplace_f64)
