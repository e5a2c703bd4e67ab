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
LDP_INLINE uint64_t nan_mask(double v) { return -(uint64_t)((bits_f64(v) & ~((uint64_t)1 << 63)) > LDP_INFINITY_F64); }

/* v, or `instead` if x is NaN. */
LDP_INLINE float unless_nan_f32(float x, float v, float instead)
{
    uint32_t nan = -(uint32_t)((bits_f32(x) & 0x7fffffffu) > LDP_INFINITY_F32);
    return float_of((bits_f32(v) & ~nan) | (bits_f32(instead) & nan));
}

LDP_INLINE double unless_nan_f64(double x, double v, double instead)
{
    uint64_t nan = nan_mask(x);
    return double_of((bits_f64(v) & ~nan) | (bits_f64(instead) & nan));
}

/* v clamped to [0, most]. NaN gives some number in this range. The float version is left to the compiler, which uses min and
 * max instructions. */
LDP_INLINE float clamp_f32(float v, float most)
{
    v = v > 0 ? v : 0;
    return v < most ? v : most;
}

LDP_INLINE double clamp_f64(double v, double most)
{
    uint64_t bits = bits_f64(v);
    bits &= ~-(bits >> 63);
    uint64_t over = -(uint64_t)(bits > bits_f64(most));
    return double_of((bits & ~over) | (bits_f64(most) & over));
}

/* v clamped to [0, 1], or `instead` if v is NaN. */
LDP_INLINE double clamp_unit(double v, double instead) { return unless_nan_f64(v, clamp_f64(v, 1), instead); }

/* Sets magnitudes below `tiny` to 0, before the first multiplication, because arithmetic on subnormal numbers is slower. */
LDP_INLINE float flush_f32(float v, float tiny)
{
    uint32_t bits = bits_f32(v);
    return float_of(bits & -(uint32_t)((bits & 0x7fffffffu) >= bits_f32(tiny)));
}

LDP_INLINE double flush_f64(double v, double tiny)
{
    uint64_t bits = bits_f64(v);
    return double_of(bits & -(uint64_t)((bits & ~((uint64_t)1 << 63)) >= bits_f64(tiny)));
}

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
