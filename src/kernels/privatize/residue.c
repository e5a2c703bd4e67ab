#include "privatize/residue.h"

#include "simd/branchless.h"

#define MIDDLE 0x4338000000000000 /* the bits of 3 2^51, as an integer */

#define KERNEL_REALS
#define KERNEL_BODY "privatize/residue_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(residue_f32)
DEFINE_PRIVATIZE(residue_f64)
