/* Compiles the file named by KERNEL_BODY once per instruction set, and per real type where KERNEL_REALS is defined.
 *
 * Within a body
 *   PER_ISA(f)  is f_plain, f_avx2 or f_avx512;
 *   NAME(f)     is the same, or f_f32_plain, f_f64_plain, ... if the body is compiled for REAL = float and double;
 *   REAL        is double if the body is compiled once, and REAL_BITS the unsigned integer of its size;
 *   OF_REAL(f)  is f_f32 or f_f64, for functions of branchless.h;
 *   V_BYTES     is the natural width of a vector.
 * Operations that cannot be written in plain C are in isa_<name>.h, under the same names for all instruction sets. The entry
 * points of a kernel follow the include of this file and call LDP_BEST(f) (dispatch.h). A loop marked "vector loop" must be
 * vectorized by the compiler; otherwise `make check` fails. */
#include "simd/dispatch.h"

#define LDP_PASTE_(a, b) a##_##b
#define LDP_PASTE(a, b) LDP_PASTE_(a, b)
#define PER_ISA(stem) LDP_PASTE(stem, ISA)
#define OF_REAL(stem) LDP_PASTE(stem, DTYPE)
#if defined(KERNEL_REALS)
#define NAME(stem) PER_ISA(LDP_PASTE(stem, DTYPE))
#else
#define NAME(stem) PER_ISA(stem)
#endif

#include "simd/isa_plain.h"
#include "simd/each_real.h"
#include "simd/isa_end.h"

#if LDP_X86
#include <immintrin.h>

#define LDP_AVX2_FEATURES "avx2,bmi,bmi2,popcnt"
#define LDP_AVX512_FEATURES LDP_AVX2_FEATURES ",avx512f,avx512bw,avx512dq,avx512vl"

LDP_TARGET_BEGIN(LDP_AVX2_FEATURES)
#include "simd/isa_avx2.h"
#include "simd/each_real.h"
#include "simd/isa_end.h"
    LDP_TARGET_END

#if defined(__clang__)
    LDP_TARGET_BEGIN(LDP_AVX512_FEATURES)
#else /* GCC vectorizes with 256 bits unless told otherwise */
    LDP_TARGET_BEGIN(LDP_AVX512_FEATURES ",prefer-vector-width=512")
#endif
#include "simd/isa_avx512.h"
#include "simd/each_real.h"
#include "simd/isa_end.h"
        LDP_TARGET_END
#endif

/* A file may compile several bodies. */
#undef LDP_PASTE_
#undef LDP_PASTE
#undef PER_ISA
#undef NAME
#undef OF_REAL
#undef KERNEL_BODY
#undef KERNEL_REALS
