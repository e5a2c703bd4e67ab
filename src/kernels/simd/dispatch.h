/* The instruction set in use. It is chosen when the library is loaded, or by tests before threads start. */
#ifndef LDP_DISPATCH_H
#define LDP_DISPATCH_H

#include "simd/platform.h"

/* In order of vector width. NEON is compiled from the plain C. */
enum ldp_isa { LDP_PLAIN, LDP_AVX2, LDP_AVX512, LDP_ISA_COUNT };

int ldp_isa_supported(int isa);
int ldp_isa(void);
int ldp_isa_set(int isa); /* returns 0, or -1 if the machine does not support it */
const char *ldp_isa_name(int isa);

/* The version of a function from each_isa.h for the instruction set in use. */
#if LDP_X86
#define LDP_BEST(stem) (ldp_isa() == LDP_AVX512 ? stem##_avx512 : ldp_isa() == LDP_AVX2 ? stem##_avx2 : stem##_plain)
#else
#define LDP_BEST(stem) stem##_plain
#endif

#endif
