#include "privatize/bins.h"

#include <float.h>

#include "check/ranges.h"

#define KERNEL_REALS
#define KERNEL_BODY "privatize/bins_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(bins_f32)
DEFINE_PRIVATIZE(bins_f64)
