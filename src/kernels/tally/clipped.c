#include "tally/clipped.h"

#include <math.h>

#include "simd/branchless.h"
#include "tally/wide.h"

enum { LANES = 32, ROW_LANES = 16, MAX_ROWS = 4096 };

#define KERNEL_REALS
#define KERNEL_BODY "tally/clipped_body.h"
#include "simd/each_isa.h"

#define DEFINE_ADD_CLIPPED(dtype, real)                                                                  \
    size_t add_clipped_##dtype(const clipping *p, const real *x, size_t n, double *scratch, void *state) \
    {                                                                                                    \
        return LDP_BEST(add_clipped_##dtype)(p, x, n, scratch, state);                                   \
    }

DEFINE_ADD_CLIPPED(f32, float)
DEFINE_ADD_CLIPPED(f64, double)
