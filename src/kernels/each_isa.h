/* Compiles the file named by KERNEL_BODY once per instruction set, and per real type where KERNEL_REALS is defined.
 *
 * In a body, PER_ISA(f) is f_plain, f_avx2 or f_avx512, and NAME(f) is the same, or f_f32_plain, f_f64_plain, ... where
 * the body is compiled for REAL = float and double. V_BYTES is the natural vector width. What compilers cannot express
 * in plain C comes from isa_<name>.h under one set of names. The entry points of a kernel stand below the include of
 * this file and choose a build by ldp_isa(). Loops marked "vector loop" are checked to have been vectorised. */
#include "platform.h"

#define LDP_PASTE_(a, b) a##_##b
#define LDP_PASTE(a, b) LDP_PASTE_(a, b)
#define PER_ISA(stem) LDP_PASTE(stem, ISA)
#if defined(KERNEL_REALS)
#define NAME(stem) PER_ISA(LDP_PASTE(stem, DTYPE))
#else
#define NAME(stem) PER_ISA(stem)
#endif

#include "isa_plain.h"
#include "each_real.h"
#include "isa_end.h"

#if LDP_X86
#include <immintrin.h>

#define LDP_AVX2_FEATURES "avx2,bmi,bmi2,popcnt"
#define LDP_AVX512_FEATURES LDP_AVX2_FEATURES ",avx512f,avx512bw,avx512dq,avx512vl"

LDP_TARGET_BEGIN(LDP_AVX2_FEATURES)
#include "isa_avx2.h"
#include "each_real.h"
#include "isa_end.h"
LDP_TARGET_END

#if defined(__clang__)
LDP_TARGET_BEGIN(LDP_AVX512_FEATURES)
#else /* GCC vectorises with 256 bits unless told */
LDP_TARGET_BEGIN(LDP_AVX512_FEATURES ",prefer-vector-width=512")
#endif
#include "isa_avx512.h"
#include "each_real.h"
#include "isa_end.h"
LDP_TARGET_END

/* The builds of one function, or of a struct of them for a real type, indexed by enum ldp_isa. */
#define LDP_DISPATCH(stem) {stem##_plain, stem##_avx2, stem##_avx512}
#define LDP_EACH_BUILD(builds, dtype, real) \
    {builds(dtype, real, plain), builds(dtype, real, avx2), builds(dtype, real, avx512)}
#else
#define LDP_DISPATCH(stem) {stem##_plain, NULL, NULL}
#define LDP_EACH_BUILD(builds, dtype, real) {builds(dtype, real, plain)}
#endif
