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

/* Pairs of doubles, for sequential chains: compilers turn choices between single doubles into jumps. */
typedef double pair __attribute__((vector_size(16)));
typedef int64_t pair_mask __attribute__((vector_size(16)));

LDP_INLINE pair pair_choose_plain(pair_mask m, pair a, pair b) { return (pair)((m & (pair_mask)a) | (~m & (pair_mask)b)); }

#if LDP_X86
LDP_INLINE pair pair_min_plain(pair a, pair b) { return (pair)_mm_min_pd((__m128d)a, (__m128d)b); }
LDP_INLINE pair pair_max_plain(pair a, pair b) { return (pair)_mm_max_pd((__m128d)a, (__m128d)b); }
#else
LDP_INLINE pair pair_min_plain(pair a, pair b) { return pair_choose_plain((pair_mask)(a < b), a, b); }
LDP_INLINE pair pair_max_plain(pair a, pair b) { return pair_choose_plain((pair_mask)(a > b), a, b); }
#endif

/* floor for |v| <= 2^52, without the jumps of a library function. */
LDP_INLINE double floor_plain(double v)
{
    const double big = __builtin_copysign(0x1p52, v), nearest = (v + big) - big;
    const double missing = (v - nearest) + 0.0; /* not -0 */
    return nearest - double_of(bits_f64(1) & -(bits_f64(missing) >> 63));
}

/* Population count by arithmetic, because a library function may look up a table. */
LDP_INLINE size_t ones_plain(uint64_t v)
{
    v -= v >> 1 & 0x5555555555555555u;
    v = (v & 0x3333333333333333u) + (v >> 2 & 0x3333333333333333u);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (size_t)(v * 0x0101010101010101u >> 56);
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

/* Bit i is a[i] <= b[i], for 64 bytes. One multiplication gathers eight bytes, each 0 or 1, into bits. */
LDP_INLINE uint64_t bytes_at_most_plain(const uint8_t *a, const uint8_t *b)
{
    uint8_t le[64];
    for (int i = 0; i < 64; i++)
        le[i] = a[i] <= b[i];
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t word;
        memcpy(&word, le + 8 * i, 8);
        mask |= (word * 0x0102040810204080u >> 56) << (8 * i);
    }
    return mask;
}
#endif
