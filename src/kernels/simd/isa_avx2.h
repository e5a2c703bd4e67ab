/* AVX2 with BMI2: pdep (1 per cycle, latency 3) for deposits. */
#define ISA avx2
#define V_BYTES 32

#ifndef LDP_ISA_AVX2
#define LDP_ISA_AVX2
LDP_INLINE uint64_t deposit_avx2(uint64_t bits, uint64_t mask) { return _pdep_u64(bits, mask); }

LDP_INLINE double floor_avx2(double v) { return __builtin_floor(v); }

LDP_INLINE pair pair_min_avx2(pair a, pair b) { return pair_min_plain(a, b); }
LDP_INLINE pair pair_max_avx2(pair a, pair b) { return pair_max_plain(a, b); }

LDP_INLINE pair pair_choose_avx2(pair_mask m, pair a, pair b)
{
    return (pair)_mm_blendv_pd((__m128d)b, (__m128d)a, (__m128d)m);
}

LDP_INLINE size_t ones_avx2(uint64_t v) { return (size_t)__builtin_popcountll(v); }

/* Flipping the top bit turns unsigned comparisons into signed comparisons. */
LDP_INLINE uint64_t words_below_avx2(const uint32_t *word, uint32_t top)
{
    const __m256i turn = _mm256_set1_epi32((int)0x80000000u), t = _mm256_xor_si256(_mm256_set1_epi32((int)top), turn);
    uint64_t mask = 0;
    for (int i = 0; i < 32; i += 8) {
        __m256i w = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(word + i)), turn);
        mask |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(t, w))) << i;
    }
    return mask;
}

LDP_INLINE uint64_t words_equal_avx2(const uint32_t *word, uint32_t top)
{
    const __m256i t = _mm256_set1_epi32((int)top);
    uint64_t mask = 0;
    for (int i = 0; i < 32; i += 8) {
        __m256i w = _mm256_loadu_si256((const __m256i *)(word + i));
        mask |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(t, w))) << i;
    }
    return mask;
}

LDP_INLINE uint64_t bytes_at_most_avx2(const uint8_t *a, const uint8_t *b)
{
    uint64_t mask = 0;
    for (int half = 0; half < 2; half++) {
        __m256i x = _mm256_loadu_si256((const __m256i *)(a + 32 * half));
        __m256i y = _mm256_loadu_si256((const __m256i *)(b + 32 * half));
        uint32_t le = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_min_epu8(x, y), x));
        mask |= (uint64_t)le << (32 * half);
    }
    return mask;
}
#endif
