#include "privatize/window.h"

#include "check/ranges.h"
#include "simd/branchless.h"

#define KERNEL_REALS
#define KERNEL_BODY "privatize/window_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(window_f32)
DEFINE_PRIVATIZE(window_f64)
