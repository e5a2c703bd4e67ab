#include "tally/vectors.h"

#include "tally/wide.h"

enum { TILE = 256, MAX_ROWS = 4096 };

#define KERNEL_REALS
#define KERNEL_BODY "tally/vectors_body.h"
#include "simd/each_isa.h"

#define DEFINE_TALLY_VECTORS(dtype)                                                            \
    void tally_vectors_##dtype(const void *format, const void *reports, size_t n, void *state) \
    {                                                                                          \
        LDP_BEST(tally_vectors_##dtype)(format, reports, n, state);                            \
    }

DEFINE_TALLY_VECTORS(f32)
DEFINE_TALLY_VECTORS(f64)
