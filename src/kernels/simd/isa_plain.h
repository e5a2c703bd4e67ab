/* Plain C with 16-byte vectors, which all x86-64 and 64-bit Arm machines have (SSE2, NEON). */
#define ISA plain
#define V_BYTES 16

#ifndef LDP_ISA_PLAIN
#define LDP_ISA_PLAIN
#include "simd/branchless.h"

#if LDP_X86
#include <emmintrin.h>
#endif

/* Places the low bits of `bits`, in order, at the positions of the ones of `mask`. */
LDP_INLINE uint64_t deposit_plain(uint64_t bits, uint64_t mask)
{
    uint64_t out = 0;
    for (; mask; mask &= mask - 1, bits >>= 1)
        out |= (mask & -mask) & -(bits & 1);
    return out;
}

LDP_INLINE size_t ones_plain(uint64_t v) { return count_ones(v); }

typedef uint64_t words_plain __attribute__((vector_size(16)));

/* Number of ones of each byte. */
LDP_INLINE words_plain byte_ones_plain(words_plain v)
{
    v -= v >> 1 & 0x5555555555555555u;
    v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
    return (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

/* Sum of the bytes of each lane. */
LDP_INLINE words_plain byte_sums_plain(words_plain v)
{
    v = (v & 0x00ff00ff00ff00ffu) + (v >> 8 & 0x00ff00ff00ff00ffu);
    v += v >> 16;
    return (v + (v >> 32)) & 0xffff;
}

LDP_INLINE uint64_t sum_words_plain(words_plain v) { return v[0] + v[1]; }

/* The sum of both lanes of a pair, in both of them. */
LDP_INLINE words_plain pair_sums_plain(words_plain v) { return v + (words_plain){v[1], v[0]}; }

typedef int32_t int32s_plain __attribute__((vector_size(16)));

/* The next bytes, one per lane. */
LDP_INLINE int32s_plain bytes_as_int32_plain(const uint8_t *b) { return (int32s_plain){b[0], b[1], b[2], b[3]}; }

typedef float floats_plain __attribute__((vector_size(16)));

/* Entries of a table of 16, whose halves are equal, by the low three bits of the indices. */
LDP_INLINE floats_plain lookup_plain(const float *table, int32s_plain index)
{
    return (floats_plain){table[index[0] & 7], table[index[1] & 7], table[index[2] & 7], table[index[3] & 7]};
}

LDP_INLINE floats_plain at_least_plain(floats_plain v, float least)
{
    const floats_plain limit = {least, least, least, least};
    const int32s_plain above = (int32s_plain)(v > limit);
    return (floats_plain)(((int32s_plain)v & above) | ((int32s_plain)limit & ~above));
}

LDP_INLINE floats_plain root_plain(floats_plain v)
{
    return (floats_plain){__builtin_sqrtf(v[0]), __builtin_sqrtf(v[1]), __builtin_sqrtf(v[2]), __builtin_sqrtf(v[3])};
}

typedef double doubles_plain __attribute__((vector_size(16)));
typedef int64_t int64s_plain __attribute__((vector_size(16)));

/* The next numbers, at most n of them, and zeros. Nothing after them is read. */
LDP_INLINE floats_plain load_first_f32_plain(const float *x, size_t n)
{
    if (n > 4)
        n = 4;
    floats_plain v = {0};
    for (size_t l = 0; l < n; l++)
        v[l] = x[l];
    return v;
}

LDP_INLINE doubles_plain load_first_f64_plain(const double *x, size_t n)
{
    return (doubles_plain){n > 0 ? x[0] : 0, n > 1 ? x[1] : 0};
}

/* Bit i is a[i] < b[i]. */
#if LDP_X86
LDP_INLINE uint64_t less_plain(int32s_plain a, int32s_plain b)
{
    return (uint64_t)(uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmplt_epi32((__m128i)a, (__m128i)b)));
}
#else
LDP_INLINE uint64_t less_plain(int32s_plain a, int32s_plain b)
{
    const int32s_plain bit = (a < b) & (int32s_plain){1, 2, 4, 8};
    return (uint64_t)(bit[0] | bit[1] | bit[2] | bit[3]);
}
#endif

LDP_INLINE int32s_plain clamp_int32_plain(int32s_plain v, int32_t least, int32_t most)
{
    const int32s_plain low = {least, least, least, least}, high = {most, most, most, most};
    const int32s_plain below = v<low, above = v> high;
    return (v & ~below & ~above) | (low & below) | (high & above);
}

/* The numbers nearest to v in [-most, most]; any of them for NaN. */
LDP_INLINE floats_plain limit_floats_plain(floats_plain v, float most)
{
    const floats_plain high = {most, most, most, most};
    const int32s_plain less = v<high, more = v> - high;
    const int32s_plain upper = ((int32s_plain)v & less) | ((int32s_plain)high & ~less);
    return (floats_plain)((upper & more) | ((int32s_plain)-high & ~more));
}

/* v, or 0 where x is NaN. */
LDP_INLINE floats_plain floats_of_numbers_plain(floats_plain x, floats_plain v)
{
    return (floats_plain)((int32s_plain)v & (int32s_plain)(x == x));
}

/* v with the ones of `bit` in the lanes where a < b. */
LDP_INLINE int32s_plain mark_less_plain(int32s_plain v, floats_plain a, floats_plain b, int32s_plain bit)
{
    return v | ((a < b) & bit);
}

/* Sums of all lanes: the upper half of the lanes is added to the lower half, until one lane is left. */
LDP_INLINE float sum_floats_plain(floats_plain v) { return (v[0] + v[2]) + (v[1] + v[3]); }
LDP_INLINE double sum_doubles_plain(doubles_plain v) { return v[0] + v[1]; }

/* The sum of all lanes, in every lane. */
LDP_INLINE doubles_plain spread_sum_plain(doubles_plain v) { return v + (doubles_plain){v[1], v[0]}; }

/* Two vectors of doubles, rounded toward zero. */
#if LDP_X86
LDP_INLINE int32s_plain truncate_plain(doubles_plain a, doubles_plain b)
{
    return (int32s_plain)_mm_unpacklo_epi64(_mm_cvttpd_epi32((__m128d)a), _mm_cvttpd_epi32((__m128d)b));
}
#else
LDP_INLINE int32s_plain truncate_plain(doubles_plain a, doubles_plain b)
{
    return (int32s_plain){(int32_t)a[0], (int32_t)a[1], (int32_t)b[0], (int32_t)b[1]};
}
#endif

/* floor for |v| <= 2^52, without the jumps of a library function. */
LDP_INLINE double floor_plain(double v)
{
    const double big = __builtin_copysign(0x1p52, v), nearest = (v + big) - big;
    const double missing = (v - nearest) + 0.0; /* not -0 */
    return nearest - double_of(bits_f64(1) & -(bits_f64(missing) >> 63));
}

/* Low halves of 64-bit integers. */
LDP_INLINE int32s_plain low_halves_plain(int64s_plain a, int64s_plain b)
{
    return (int32s_plain){(int32_t)a[0], (int32_t)a[1], (int32_t)b[0], (int32_t)b[1]};
}

/* v clamped to [low, high]. NaN becomes low. */
LDP_INLINE doubles_plain between_plain(doubles_plain v, double low, double high)
{
    const doubles_plain least = {low, low}, most = {high, high};
    const int64s_plain above = v > least;
    const doubles_plain lower = (doubles_plain)(((int64s_plain)v & above) | ((int64s_plain)least & ~above));
    const int64s_plain below = lower < most;
    return (doubles_plain)(((int64s_plain)lower & below) | ((int64s_plain)most & ~below));
}

/* v, or `instead` where x is NaN. */
LDP_INLINE doubles_plain unless_nan_plain(doubles_plain x, doubles_plain v, double instead)
{
    const int64s_plain number = x == x;
    const doubles_plain other = {instead, instead};
    return (doubles_plain)(((int64s_plain)v & number) | ((int64s_plain)other & ~number));
}

/* The numbers nearest to v in [-most, most]; any of them for NaN. */
LDP_INLINE doubles_plain limit_doubles_plain(doubles_plain v, double most) { return between_plain(v, -most, most); }

/* floor for |v| <= 2^52. */
LDP_INLINE doubles_plain floors_plain(doubles_plain v) { return (doubles_plain){floor_plain(v[0]), floor_plain(v[1])}; }

typedef uint16_t uint16s_plain __attribute__((vector_size(16)));

/* Entries of a table of 32, by the low five bits of the indices. */
LDP_INLINE uint16s_plain lookup_16_plain(const uint16_t *table, uint16s_plain index)
{
    uint16s_plain found;
    for (int l = 0; l < 8; l++)
        found[l] = table[index[l] & 31];
    return found;
}

/* The next numbers as 64-bit integers. */
LDP_INLINE int64s_plain widen_16_plain(const uint16_t *v) { return (int64s_plain){v[0], v[1]}; }

/* High halves of the products of unsigned 32-bit numbers. */
LDP_INLINE int32s_plain high_products_plain(int32s_plain a, int32s_plain b)
{
    int32s_plain high;
    for (int l = 0; l < 4; l++)
        high[l] = (int32_t)((uint64_t)(uint32_t)a[l] * (uint32_t)b[l] >> 32);
    return high;
}

LDP_INLINE int32s_plain high_product_plain(int32s_plain a, uint32_t b)
{
    const int32_t factor = (int32_t)b;
    return high_products_plain(a, (int32s_plain){factor, factor, factor, factor});
}

/* Writes 64 bits as bytes, 0 or 1. */
LDP_INLINE void store_bits_plain(uint8_t *out, uint64_t bits)
{
    for (int i = 0; i < 8; i++) {
        const uint64_t repeated = (bits >> 8 * i & 255) * 0x0101010101010101u; /* byte j keeps bit j */
        const uint64_t bytes = ((repeated & 0x8040201008040201u) + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
        memcpy(out + 8 * i, &bytes, 8);
    }
}

/* Bit i is word[i] < top (words_below) or word[i] == top (words_equal), for 32 words. */
LDP_INLINE uint64_t words_below_plain(const uint32_t *word, uint32_t top)
{
    uint64_t mask = 0;
    for (int i = 0; i < 32; i++)
        mask |= (uint64_t)(word[i] < top) << i;
    return mask;
}

LDP_INLINE uint64_t words_equal_plain(const uint32_t *word, uint32_t top)
{
    uint64_t mask = 0;
    for (int i = 0; i < 32; i++)
        mask |= (uint64_t)(word[i] == top) << i;
    return mask;
}
#endif
