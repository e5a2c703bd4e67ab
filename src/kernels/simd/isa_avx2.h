/* AVX2 with BMI2: pdep (1 per cycle, latency 3) for deposits. */
#define ISA avx2
#define V_BYTES 32

#ifndef LDP_ISA_AVX2
#define LDP_ISA_AVX2
LDP_INLINE uint64_t deposit_avx2(uint64_t bits, uint64_t mask) { return _pdep_u64(bits, mask); }

LDP_INLINE size_t ones_avx2(uint64_t v) { return (size_t)__builtin_popcountll(v); }

typedef uint64_t words_avx2 __attribute__((vector_size(32)));

/* Number of ones of half a byte. */
static const uint8_t ones_of_halves[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};

LDP_INLINE words_avx2 byte_ones_avx2(words_avx2 v)
{
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i table = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)ones_of_halves));
    const __m256i right = _mm256_shuffle_epi8(table, _mm256_and_si256((__m256i)v, low));
    const __m256i left = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16((__m256i)v, 4), low));
    return (words_avx2)_mm256_add_epi8(left, right);
}

LDP_INLINE words_avx2 byte_sums_avx2(words_avx2 v) { return (words_avx2)_mm256_sad_epu8((__m256i)v, _mm256_setzero_si256()); }

LDP_INLINE uint64_t sum_words_avx2(words_avx2 v)
{
    const __m128i pair = _mm_add_epi64(_mm256_castsi256_si128((__m256i)v), _mm256_extracti128_si256((__m256i)v, 1));
    return (uint64_t)_mm_cvtsi128_si64(pair) + (uint64_t)_mm_extract_epi64(pair, 1);
}

LDP_INLINE words_avx2 pair_sums_avx2(words_avx2 v)
{
    return (words_avx2)_mm256_add_epi64((__m256i)v, _mm256_shuffle_epi32((__m256i)v, 0x4e));
}

typedef int32_t int32s_avx2 __attribute__((vector_size(32)));

LDP_INLINE int32s_avx2 bytes_as_int32_avx2(const uint8_t *b)
{
    return (int32s_avx2)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)b));
}

typedef float floats_avx2 __attribute__((vector_size(32)));

LDP_INLINE floats_avx2 lookup_avx2(const float *table, int32s_avx2 index)
{
    return (floats_avx2)_mm256_permutevar8x32_ps(_mm256_load_ps(table), (__m256i)index);
}

LDP_INLINE floats_avx2 at_least_avx2(floats_avx2 v, float least)
{
    return (floats_avx2)_mm256_max_ps((__m256)v, _mm256_set1_ps(least));
}

LDP_INLINE floats_avx2 root_avx2(floats_avx2 v) { return (floats_avx2)_mm256_sqrt_ps((__m256)v); }

LDP_INLINE uint64_t less_avx2(int32s_avx2 a, int32s_avx2 b)
{
    return (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32((__m256i)b, (__m256i)a)));
}

LDP_INLINE int32s_avx2 clamp_int32_avx2(int32s_avx2 v, int32_t least, int32_t most)
{
    return (int32s_avx2)_mm256_min_epi32(_mm256_max_epi32((__m256i)v, _mm256_set1_epi32(least)), _mm256_set1_epi32(most));
}

LDP_INLINE floats_avx2 limit_floats_avx2(floats_avx2 v, float most)
{
    return (floats_avx2)_mm256_min_ps(_mm256_max_ps((__m256)v, _mm256_set1_ps(-most)), _mm256_set1_ps(most));
}

LDP_INLINE floats_avx2 floats_of_numbers_avx2(floats_avx2 x, floats_avx2 v)
{
    return (floats_avx2)_mm256_and_ps((__m256)v, _mm256_cmp_ps((__m256)x, (__m256)x, _CMP_ORD_Q));
}

typedef double doubles_avx2 __attribute__((vector_size(32)));
typedef int64_t int64s_avx2 __attribute__((vector_size(32)));

static const int64_t ones_then_zeros_avx2[8] = {-1, -1, -1, -1, 0, 0, 0, 0};

/* All ones in the first `bytes` bytes, which are whole numbers. */
LDP_INLINE __m256i first_bytes_avx2(size_t bytes)
{
    const char *after = (const char *)(ones_then_zeros_avx2 + 4);
    return _mm256_loadu_si256((const __m256i *)(after - (bytes < 32 ? bytes : 32)));
}

LDP_INLINE floats_avx2 load_first_f32_avx2(const float *x, size_t n)
{
    return (floats_avx2)_mm256_maskload_ps(x, first_bytes_avx2(4 * n));
}

LDP_INLINE doubles_avx2 load_first_f64_avx2(const double *x, size_t n)
{
    return (doubles_avx2)_mm256_maskload_pd(x, first_bytes_avx2(8 * n));
}

LDP_INLINE int32s_avx2 mark_less_avx2(int32s_avx2 v, floats_avx2 a, floats_avx2 b, int32s_avx2 bit)
{
    return v | ((a < b) & bit);
}

LDP_INLINE float sum_floats_avx2(floats_avx2 v)
{
    const __m128 half = _mm_add_ps(_mm256_castps256_ps128((__m256)v), _mm256_extractf128_ps((__m256)v, 1));
    const __m128 quarter = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(quarter, _mm_movehdup_ps(quarter)));
}

LDP_INLINE double sum_doubles_avx2(doubles_avx2 v)
{
    const __m128d half = _mm_add_pd(_mm256_castpd256_pd128((__m256d)v), _mm256_extractf128_pd((__m256d)v, 1));
    return _mm_cvtsd_f64(_mm_add_sd(half, _mm_unpackhi_pd(half, half)));
}

LDP_INLINE doubles_avx2 spread_sum_avx2(doubles_avx2 v)
{
    const __m256d half = _mm256_add_pd((__m256d)v, _mm256_permute2f128_pd((__m256d)v, (__m256d)v, 1));
    return (doubles_avx2)_mm256_add_pd(half, _mm256_permute_pd(half, 5));
}

LDP_INLINE int32s_avx2 truncate_avx2(doubles_avx2 a, doubles_avx2 b)
{
    return (int32s_avx2)_mm256_set_m128i(_mm256_cvttpd_epi32((__m256d)b), _mm256_cvttpd_epi32((__m256d)a));
}

LDP_INLINE int32s_avx2 low_halves_avx2(int64s_avx2 a, int64s_avx2 b)
{
    const __m256 mixed = _mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
    return (int32s_avx2)_mm256_permute4x64_epi64(_mm256_castps_si256(mixed), 0xd8);
}

LDP_INLINE doubles_avx2 between_avx2(doubles_avx2 v, double low, double high)
{
    return (doubles_avx2)_mm256_min_pd(_mm256_max_pd((__m256d)v, _mm256_set1_pd(low)), _mm256_set1_pd(high));
}

LDP_INLINE doubles_avx2 unless_nan_avx2(doubles_avx2 x, doubles_avx2 v, double instead)
{
    const __m256d nan = _mm256_cmp_pd((__m256d)x, (__m256d)x, _CMP_UNORD_Q);
    return (doubles_avx2)_mm256_blendv_pd((__m256d)v, _mm256_set1_pd(instead), nan);
}

LDP_INLINE doubles_avx2 limit_doubles_avx2(doubles_avx2 v, double most) { return between_avx2(v, -most, most); }

LDP_INLINE doubles_avx2 floors_avx2(doubles_avx2 v) { return (doubles_avx2)_mm256_floor_pd((__m256d)v); }

typedef uint16_t uint16s_avx2 __attribute__((vector_size(32)));

/* The low and the high bytes of the entries are looked up apart, 16 entries at a time. */
LDP_INLINE __m256i lookup_half_avx2(__m256i entries, __m256i index)
{
    const __m256i split = _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15, 0, 2, 4, 6, 8, 10, 12, 14, 1,
                                           3, 5, 7, 9, 11, 13, 15);
    const __m256i bytes = _mm256_permute4x64_epi64(_mm256_shuffle_epi8(entries, split), 0xd8); /* 16 low bytes, 16 high bytes */
    const __m256i low = _mm256_shuffle_epi8(_mm256_permute4x64_epi64(bytes, 0x44), index);
    const __m256i high = _mm256_shuffle_epi8(_mm256_permute4x64_epi64(bytes, 0xee), index);
    return _mm256_blendv_epi8(low, high, _mm256_set1_epi16((short)0xff00));
}

LDP_INLINE uint16s_avx2 lookup_16_avx2(const uint16_t *table, uint16s_avx2 index)
{
    const __m256i low4 = _mm256_and_si256((__m256i)index, _mm256_set1_epi16(15));
    const __m256i both = _mm256_or_si256(low4, _mm256_slli_epi16(low4, 8));
    const __m256i first = lookup_half_avx2(_mm256_loadu_si256((const __m256i *)table), both);
    const __m256i second = lookup_half_avx2(_mm256_loadu_si256((const __m256i *)(table + 16)), both);
    const __m256i upper = _mm256_srai_epi16(_mm256_slli_epi16((__m256i)index, 11), 15);
    return (uint16s_avx2)_mm256_blendv_epi8(first, second, upper);
}

LDP_INLINE int64s_avx2 widen_16_avx2(const uint16_t *v)
{
    return (int64s_avx2)_mm256_cvtepu16_epi64(_mm_loadl_epi64((const __m128i *)v));
}

LDP_INLINE int32s_avx2 high_products_avx2(int32s_avx2 a, int32s_avx2 b)
{
    const __m256i even = _mm256_mul_epu32((__m256i)a, (__m256i)b);
    const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64((__m256i)a, 32), _mm256_srli_epi64((__m256i)b, 32));
    return (int32s_avx2)_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}

LDP_INLINE int32s_avx2 high_product_avx2(int32s_avx2 a, uint32_t b)
{
    return high_products_avx2(a, (int32s_avx2)_mm256_set1_epi32((int)b));
}

LDP_INLINE void store_bits_avx2(uint8_t *out, uint64_t bits)
{
    const __m256i byte = _mm256_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3,
                                          3, 3, 3); /* of the four bytes that each lane holds */
    const __m256i bit = _mm256_set1_epi64x((long long)0x8040201008040201u);
    for (int half = 0; half < 2; half++) {
        const __m256i repeated = _mm256_shuffle_epi8(_mm256_set1_epi32((int)(bits >> 32 * half)), byte);
        const __m256i ones = _mm256_cmpeq_epi8(_mm256_and_si256(repeated, bit), bit);
        _mm256_storeu_si256((__m256i *)(out + 32 * half), _mm256_and_si256(ones, _mm256_set1_epi8(1)));
    }
}

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
#endif
