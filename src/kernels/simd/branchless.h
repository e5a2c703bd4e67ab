/* Branch-free choices. Compilers may turn a comparison of doubles into a jump, so choices that depend on a record use masks
 * over the bits. Positive doubles are ordered like their bits. */
#ifndef LDP_BRANCHLESS_H
#define LDP_BRANCHLESS_H

#include "simd/platform.h"

#define LDP_INFINITY_F64 0x7ff0000000000000u
#define LDP_INFINITY_F32 0x7f800000u

LDP_INLINE uint64_t bits_f64(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    return bits;
}

LDP_INLINE double double_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, 8);
    return v;
}

LDP_INLINE uint32_t bits_f32(float v)
{
    uint32_t bits;
    memcpy(&bits, &v, 4);
    return bits;
}

LDP_INLINE float float_of(uint32_t bits)
{
    float v;
    memcpy(&v, &bits, 4);
    return v;
}

/* All ones if v is NaN, else 0. */
LDP_INLINE uint32_t nan_mask_f32(float v) { return -(uint32_t)((bits_f32(v) & 0x7fffffffu) > LDP_INFINITY_F32); }
LDP_INLINE uint64_t nan_mask_f64(double v) { return -(uint64_t)((bits_f64(v) & ~((uint64_t)1 << 63)) > LDP_INFINITY_F64); }

/* a where the mask is all ones, b where it is 0. */
LDP_INLINE uint32_t choose_u32(uint32_t mask, uint32_t a, uint32_t b) { return (a & mask) | (b & ~mask); }

/* v where the mask is all ones, 0 where it is 0. */
LDP_INLINE float masked_f32(float v, uint32_t mask) { return float_of(bits_f32(v) & mask); }
LDP_INLINE double masked_f64(double v, uint64_t mask) { return double_of(bits_f64(v) & mask); }

/* v, or `instead` if x is NaN. */
LDP_INLINE float unless_nan_f32(float x, float v, float instead)
{
    const uint32_t nan = nan_mask_f32(x);
    return float_of((bits_f32(v) & ~nan) | (bits_f32(instead) & nan));
}

LDP_INLINE double unless_nan_f64(double x, double v, double instead)
{
    const uint64_t nan = nan_mask_f64(x);
    return double_of((bits_f64(v) & ~nan) | (bits_f64(instead) & nan));
}

/* Population count by arithmetic, because a library function may look up a table. */
LDP_INLINE size_t count_ones(uint64_t v)
{
    v -= v >> 1 & 0x5555555555555555u;
    v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (size_t)(v * 0x0101010101010101u >> 56);
}

/* High half of the product of two words. */
#if defined(__LP64__)
LDP_INLINE uint64_t high_product_u64(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }
#else
LDP_INLINE uint64_t high_product_u64(uint64_t a, uint64_t b)
{
    const uint64_t low_a = (uint32_t)a, high_a = a >> 32, low_b = (uint32_t)b, high_b = b >> 32;
    uint64_t one = high_a * low_b + (low_a * low_b >> 32);
    __asm__("" : "+r"(one)); /* otherwise Clang makes a call of a library function out of all this */
    const uint64_t other = low_a * high_b + (uint32_t)one;
    return high_a * high_b + (one >> 32) + (other >> 32);
}
#endif

/* The smaller and the larger of two integers, and a where `sign` is negative, else b. Compilers may turn these into jumps, so they
 * are written out where there are conditional moves. */
#if LDP_X86
LDP_INLINE int64_t smaller_i64(int64_t a, int64_t b)
{
    __asm__("cmp %[b], %[a]\n\tcmovg %[b], %[a]" : [a] "+r"(a) : [b] "r"(b) : "cc");
    return a;
}

LDP_INLINE int64_t larger_i64(int64_t a, int64_t b)
{
    __asm__("cmp %[b], %[a]\n\tcmovl %[b], %[a]" : [a] "+r"(a) : [b] "r"(b) : "cc");
    return a;
}

LDP_INLINE int64_t choose_i64(int64_t sign, int64_t a, int64_t b)
{
    __asm__("test %[sign], %[sign]\n\tcmovs %[a], %[b]" : [b] "+r"(b) : [sign] "r"(sign), [a] "r"(a) : "cc");
    return b;
}
#else
LDP_INLINE int64_t choose_i64(int64_t sign, int64_t a, int64_t b) { return b ^ ((a ^ b) & sign >> 63); }
LDP_INLINE int64_t smaller_i64(int64_t a, int64_t b) { return choose_i64(a - b, a, b); }
LDP_INLINE int64_t larger_i64(int64_t a, int64_t b) { return choose_i64(b - a, a, b); }
#endif

/* v clamped to [0, 1], or `instead` if v is NaN. */
LDP_INLINE double clamp_unit(double v, double instead)
{
    uint64_t bits = bits_f64(v);
    bits &= ~-(bits >> 63);
    const uint64_t over = -(uint64_t)(bits > bits_f64(1));
    return unless_nan_f64(v, double_of((bits & ~over) | (bits_f64(1) & over)), instead);
}

/* Integers below 2^51 as doubles and back. The sum of an integer and 3 2^51 has the integer in the low bits of its mantissa. Not
 * all instruction sets have a conversion of 64-bit integers. */
#define LDP_MIDDLE 0x1.8p52
LDP_INLINE int64_t integer_of(double v) { return (int64_t)(bits_f64(v + LDP_MIDDLE) - bits_f64(LDP_MIDDLE)); }
LDP_INLINE double double_of_integer(int64_t v) { return double_of((uint64_t)v + bits_f64(LDP_MIDDLE)) - LDP_MIDDLE; }

/* Reduces magnitudes above `far` to `far`, so that no square overflows. NaN stays NaN. */
LDP_INLINE float limit_f32(float v, float far)
{
    uint32_t bits = bits_f32(v), sign = bits & 0x80000000u, size = bits ^ sign;
    uint32_t over = -(uint32_t)(size > bits_f32(far)) & -(uint32_t)(size <= LDP_INFINITY_F32);
    return float_of(sign | (size & ~over) | (bits_f32(far) & over));
}

LDP_INLINE double limit_f64(double v, double far)
{
    uint64_t bits = bits_f64(v), sign = bits & (uint64_t)1 << 63, size = bits ^ sign;
    uint64_t over = -(uint64_t)(size > bits_f64(far)) & -(uint64_t)(size <= LDP_INFINITY_F64);
    return double_of(sign | (size & ~over) | (bits_f64(far) & over));
}

#endif
