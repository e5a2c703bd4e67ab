/* The instruction set in use: chosen when the library is loaded, and by tests before threads start. */
#ifndef LDP_DISPATCH_H
#define LDP_DISPATCH_H

#include "simd/platform.h"

/* From the plainest to the widest. NEON comes from the plain C. */
enum ldp_isa { LDP_PLAIN, LDP_AVX2, LDP_AVX512, LDP_ISA_COUNT };

int ldp_isa_supported(int isa);
int ldp_isa(void);
int ldp_isa_set(int isa); /* 0, or -1 where the machine lacks it */
const char *ldp_isa_name(int isa);

/* Of the builds of a function by each_isa.h, the one for the instruction set in use. */
#if LDP_X86
#define LDP_BEST(stem) (ldp_isa() == LDP_AVX512 ? stem##_avx512 : ldp_isa() == LDP_AVX2 ? stem##_avx2 : stem##_plain)
#else
#define LDP_BEST(stem) stem##_plain
#endif

#endif
