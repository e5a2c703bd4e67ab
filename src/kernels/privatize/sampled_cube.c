#include "privatize/cube_draws.h"

#include "simd/branchless.h"

#define KERNEL_REALS
#define KERNEL_BODY "privatize/sampled_cube_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(sampled_cube_f32_u8)
DEFINE_PRIVATIZE(sampled_cube_f32_u16)
DEFINE_PRIVATIZE(sampled_cube_f32_u32)
DEFINE_PRIVATIZE(sampled_cube_f64_u8)
DEFINE_PRIVATIZE(sampled_cube_f64_u16)
DEFINE_PRIVATIZE(sampled_cube_f64_u32)
DEFINE_PRIVATIZE(cap_cube_f32)
DEFINE_PRIVATIZE(cap_cube_f64)
