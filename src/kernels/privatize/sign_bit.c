#include "privatize/sign_bit.h"

#include "check/ranges.h"
#include "simd/branchless.h"

#define KERNEL_REALS
#define KERNEL_BODY "privatize/sign_bit_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(sign_bit_f32)
DEFINE_PRIVATIZE(sign_bit_f64)
