/* Choices without a branch: compilers turn a comparison of doubles into a jump where they like, so what depends on a
 * record is chosen by masks over the bits. Positive doubles are ordered like their bits. */
#ifndef LDP_SELECT_H
#define LDP_SELECT_H

#include "platform.h"

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

/* All ones where v is NaN. */
LDP_INLINE uint64_t nan_mask(double v) { return -(uint64_t)((bits_f64(v) & ~((uint64_t)1 << 63)) > LDP_INFINITY_F64); }

/* v in [0, 1]; below it 0, above it 1, NaN the given number. */
LDP_INLINE double clamp_unit(double v, double instead)
{
    const uint64_t one = bits_f64(1.0), nan = nan_mask(v);
    uint64_t bits = bits_f64(v);
    bits &= ~-(bits >> 63);
    uint64_t over = -(uint64_t)(bits > one);
    bits = (bits & ~over) | (one & over);
    return double_of((bits & ~nan) | (bits_f64(instead) & nan));
}

/* Coordinates of a ball before their first multiplication: magnitudes below `tiny` become 0, for arithmetic on subnormal
 * numbers takes longer, and those above `far` become `far`, for their squares must not overflow. NaN stays. */
LDP_INLINE float tame_f32(float v, float tiny, float far)
{
    uint32_t bits = bits_f32(v), sign = bits & 0x80000000u, size = bits ^ sign;
    size &= -(uint32_t)(size >= bits_f32(tiny));
    uint32_t over = -(uint32_t)(size > bits_f32(far)) & -(uint32_t)(size <= LDP_INFINITY_F32);
    return float_of(sign | (size & ~over) | (bits_f32(far) & over));
}

LDP_INLINE double tame_f64(double v, double tiny, double far)
{
    uint64_t bits = bits_f64(v), sign = bits & (uint64_t)1 << 63, size = bits ^ sign;
    size &= -(uint64_t)(size >= bits_f64(tiny));
    uint64_t over = -(uint64_t)(size > bits_f64(far)) & -(uint64_t)(size <= LDP_INFINITY_F64);
    return double_of(sign | (size & ~over) | (bits_f64(far) & over));
}

#endif
