/* The instructions that an x86 processor has and the operating system lets programs use, by the instruction CPUID.
 *
 * __builtin_cpu_supports would do, but it takes its answer from the compiler's run-time library, which is not linked on Windows
 * with clang-cl, and reports no instructions with zig. */
#ifndef LDP_PROCESSOR_H
#define LDP_PROCESSOR_H

#include "simd/platform.h"

#if LDP_X86
#include <cpuid.h>

/* Bits of CPUID leaf 1 (ecx) and leaf 7 (ebx, ecx), and registers that the operating system saves (XCR0). */
enum {
    ONE_AES = 1 << 25,
    ONE_POPCNT = 1 << 23,
    ONE_OSXSAVE = 1 << 27,
    SEVEN_BMI1 = 1 << 3,
    SEVEN_AVX2 = 1 << 5,
    SEVEN_BMI2 = 1 << 8,
    SEVEN_AVX512F = 1 << 16,
    SEVEN_AVX512DQ = 1 << 17,
    SEVEN_AVX512BW = 1 << 30,
    SEVEN_C_VAES = 1 << 9,
    SAVED_256 = 0x06,
    SAVED_512 = 0xe6
};
#define SEVEN_AVX512VL (1u << 31)

/* What the library asks for. */
typedef struct {
    int aes, vaes; /* AES-NI, and AES of wide registers */
    int avx2;      /* with BMI1, BMI2 and POPCNT */
    int avx512;    /* F, BW, DQ and VL, with all of avx2 */
} processor_features;

static inline int has_all(unsigned found, unsigned wanted) { return (found & wanted) == wanted; }

static inline processor_features processor_read(void)
{
    processor_features found = {0, 0, 0, 0};
    unsigned a, b, c, d, one, saved = 0, seven = 0, seven_c = 0;
    if (!__get_cpuid(1, &a, &b, &one, &d))
        return found;
    if (one & ONE_OSXSAVE)
        __asm__ volatile("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
#if defined(__APPLE__)
    if (has_all(saved, SAVED_256))
        saved |= SAVED_512; /* macOS enables the 512-bit registers of a thread at their first use */
#endif
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        seven = b;
        seven_c = c;
    }
    found.aes = has_all(one, ONE_AES);
    found.avx2 = has_all(saved, SAVED_256) && has_all(one, ONE_POPCNT) && has_all(seven, SEVEN_AVX2 | SEVEN_BMI1 | SEVEN_BMI2);
    found.avx512 = found.avx2 && has_all(saved, SAVED_512) &&
                   has_all(seven, SEVEN_AVX512F | SEVEN_AVX512DQ | SEVEN_AVX512BW | SEVEN_AVX512VL);
    found.vaes = found.aes && found.avx2 && has_all(seven_c, SEVEN_C_VAES);
    return found;
}
#endif

#endif
