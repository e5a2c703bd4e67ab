#include "privatize/ranked_signs.h"

#define KERNEL_REALS
#define KERNEL_BODY "privatize/ranked_signs_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(ranked_signs_f32)
DEFINE_PRIVATIZE(ranked_signs_f64)
