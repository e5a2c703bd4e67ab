#include "privatize/residue.h"

#include <float.h>

#include "simd/branchless.h"

#define KERNEL_REALS
#define KERNEL_BODY "privatize/residue_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(residue_f32)
DEFINE_PRIVATIZE(residue_f64)
