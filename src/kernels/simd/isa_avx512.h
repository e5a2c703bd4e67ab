/* AVX-512 F, BW, DQ, VL (Skylake-X, Zen 4 and later): 32 registers, compare to mask. */
#define ISA avx512
#define V_BYTES 64

#ifndef LDP_ISA_AVX512
#define LDP_ISA_AVX512
LDP_INLINE uint64_t deposit_avx512(uint64_t bits, uint64_t mask) { return _pdep_u64(bits, mask); }

LDP_INLINE double floor_avx512(double v) { return __builtin_floor(v); }

LDP_INLINE pair pair_min_avx512(pair a, pair b) { return pair_min_plain(a, b); }
LDP_INLINE pair pair_max_avx512(pair a, pair b) { return pair_max_plain(a, b); }

LDP_INLINE pair pair_choose_avx512(pair_mask m, pair a, pair b)
{
    return (pair)_mm_ternarylogic_epi64((__m128i)m, (__m128i)a, (__m128i)b,
                                        0xca); /* with a blend, compilers convert the mask, which takes three more cycles */
}

LDP_INLINE size_t ones_avx512(uint64_t v) { return (size_t)__builtin_popcountll(v); }

LDP_INLINE uint64_t words_below_avx512(const uint32_t *word, uint32_t top)
{
    __m512i t = _mm512_set1_epi32((int)top);
    return _mm512_cmplt_epu32_mask(_mm512_loadu_si512(word), t) |
           (uint64_t)_mm512_cmplt_epu32_mask(_mm512_loadu_si512(word + 16), t) << 16;
}

LDP_INLINE uint64_t words_equal_avx512(const uint32_t *word, uint32_t top)
{
    __m512i t = _mm512_set1_epi32((int)top);
    return _mm512_cmpeq_epu32_mask(_mm512_loadu_si512(word), t) |
           (uint64_t)_mm512_cmpeq_epu32_mask(_mm512_loadu_si512(word + 16), t) << 16;
}

LDP_INLINE uint64_t bytes_at_most_avx512(const uint8_t *a, const uint8_t *b)
{
    return _mm512_cmple_epu8_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
}
#endif
