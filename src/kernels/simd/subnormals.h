/* Arithmetic on subnormal numbers takes longer on many machines, so the time would depend on the record. Between `flush` and
 * `restore` subnormal operands and results count as zero. */
#ifndef LDP_SUBNORMALS_H
#define LDP_SUBNORMALS_H

#include "simd/platform.h"

#if !defined(LDP_FREESTANDING)
#if LDP_X86
#include <xmmintrin.h>

#define LDP_FLUSH_SUBNORMALS 0x8040u /* results, operands */
LDP_INLINE uint64_t float_mode(void) { return _mm_getcsr(); }
LDP_INLINE void set_float_mode(uint64_t mode) { _mm_setcsr((unsigned)mode); }
#elif defined(__wasm__) /* has no such mode, so nothing is claimed about the time of subnormal records */
#define LDP_FLUSH_SUBNORMALS 0u
LDP_INLINE uint64_t float_mode(void) { return 0; }
LDP_INLINE void set_float_mode(uint64_t mode) { (void)mode; }
#else
#define LDP_FLUSH_SUBNORMALS (1u << 24) /* both */
LDP_INLINE uint64_t float_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}
LDP_INLINE void set_float_mode(uint64_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#endif

LDP_INLINE uint64_t subnormals_flush(void)
{
    const uint64_t before = float_mode();
    set_float_mode(before | LDP_FLUSH_SUBNORMALS);
    __asm__ volatile("" : : : "memory"); /* no load or store moves across */
    return before;
}

LDP_INLINE void subnormals_restore(uint64_t before)
{
    __asm__ volatile("" : : : "memory");
    set_float_mode(before);
}
#endif

#endif
