#include "privatize/clip.h"

#include "simd/branchless.h"

#define KERNEL_REALS
#define KERNEL_BODY "privatize/clip_body.h"
#include "simd/each_isa.h"

#define DEFINE_CLIP(name) \
    void clip_##name(const void *params, const void *x, size_t n, void *out) { LDP_BEST(clip_##name)(params, x, n, out); }

DEFINE_CLIP(rows_f32)
DEFINE_CLIP(rows_f64)
