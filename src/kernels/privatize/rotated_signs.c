#include "privatize/rotated_signs.h"

typedef float number;
#define OF_NUMBER PER_ISA
#define KERNEL_REALS
#define KERNEL_BODY "privatize/rotated_signs_body.h"
#include "simd/each_isa.h"

DEFINE_PRIVATIZE(rotated_signs_f32)
DEFINE_PRIVATIZE(rotated_signs_f64)
