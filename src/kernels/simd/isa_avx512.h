/* AVX-512 F, BW, DQ, VL (Skylake-X, Zen 4 and later): 32 registers, compare to mask. */
#define ISA avx512
#define V_BYTES 64

#ifndef LDP_ISA_AVX512
#define LDP_ISA_AVX512
LDP_INLINE uint64_t deposit_avx512(uint64_t bits, uint64_t mask) { return _pdep_u64(bits, mask); }

LDP_INLINE size_t ones_avx512(uint64_t v) { return (size_t)__builtin_popcountll(v); }

typedef uint64_t words_avx512 __attribute__((vector_size(64)));

LDP_INLINE words_avx512 byte_ones_avx512(words_avx512 v)
{
    const __m512i low = _mm512_set1_epi8(15), table = _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)ones_of_halves));
    const __m512i right = _mm512_shuffle_epi8(table, _mm512_and_si512((__m512i)v, low));
    const __m512i left = _mm512_shuffle_epi8(table, _mm512_and_si512(_mm512_srli_epi16((__m512i)v, 4), low));
    return (words_avx512)_mm512_add_epi8(left, right);
}

LDP_INLINE words_avx512 byte_sums_avx512(words_avx512 v)
{
    return (words_avx512)_mm512_sad_epu8((__m512i)v, _mm512_setzero_si512());
}

LDP_INLINE uint64_t sum_words_avx512(words_avx512 v)
{
    const __m256i upper = _mm512_extracti64x4_epi64((__m512i)v, 1);
    return sum_words_avx2((words_avx2)_mm256_add_epi64(_mm512_castsi512_si256((__m512i)v), upper));
}

LDP_INLINE words_avx512 pair_sums_avx512(words_avx512 v)
{
    return (words_avx512)_mm512_add_epi64((__m512i)v, _mm512_shuffle_epi32((__m512i)v, 0x4e));
}

typedef int32_t int32s_avx512 __attribute__((vector_size(64)));

LDP_INLINE int32s_avx512 bytes_as_int32_avx512(const uint8_t *b)
{
    return (int32s_avx512)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)b));
}

typedef float floats_avx512 __attribute__((vector_size(64)));

LDP_INLINE floats_avx512 lookup_avx512(const float *table, int32s_avx512 index)
{
    return (floats_avx512)_mm512_permutexvar_ps((__m512i)index, _mm512_load_ps(table));
}

LDP_INLINE floats_avx512 at_least_avx512(floats_avx512 v, float least)
{
    return (floats_avx512)_mm512_max_ps((__m512)v, _mm512_set1_ps(least));
}

LDP_INLINE floats_avx512 root_avx512(floats_avx512 v) { return (floats_avx512)_mm512_sqrt_ps((__m512)v); }

LDP_INLINE int32s_avx512 mark_less_avx512(int32s_avx512 v, floats_avx512 a, floats_avx512 b, int32s_avx512 bit)
{
    const __mmask16 less = _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
    return (int32s_avx512)_mm512_mask_or_epi32((__m512i)v, less, (__m512i)v, (__m512i)bit);
}

/* Bits of a mask in a general register. Assembly, because GCC 12 may store 16 bits of a mask on the stack and read 64 there. */
LDP_INLINE uint64_t bits_of_mask(__mmask16 mask)
{
    uint64_t bits;
    __asm__("kmovw %1, %k0" : "=r"(bits) : "k"(mask));
    return bits;
}

LDP_INLINE uint64_t less_avx512(int32s_avx512 a, int32s_avx512 b)
{
    return bits_of_mask(_mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b));
}

LDP_INLINE int32s_avx512 clamp_int32_avx512(int32s_avx512 v, int32_t least, int32_t most)
{
    return (int32s_avx512)_mm512_min_epi32(_mm512_max_epi32((__m512i)v, _mm512_set1_epi32(least)), _mm512_set1_epi32(most));
}

/* The smaller magnitude, with the sign of v. */
LDP_INLINE floats_avx512 limit_floats_avx512(floats_avx512 v, float most)
{
    return (floats_avx512)_mm512_range_ps((__m512)v, _mm512_set1_ps(most), 2);
}

LDP_INLINE floats_avx512 floats_of_numbers_avx512(floats_avx512 x, floats_avx512 v)
{
    return (floats_avx512)_mm512_maskz_mov_ps(_mm512_cmp_ps_mask((__m512)x, (__m512)x, _CMP_ORD_Q), (__m512)v);
}

typedef double doubles_avx512 __attribute__((vector_size(64)));
typedef int64_t int64s_avx512 __attribute__((vector_size(64)));

LDP_INLINE floats_avx512 load_first_f32_avx512(const float *x, size_t n)
{
    return (floats_avx512)_mm512_maskz_loadu_ps((__mmask16)(n < 16 ? (1u << n) - 1 : 0xffff), x);
}

LDP_INLINE doubles_avx512 load_first_f64_avx512(const double *x, size_t n)
{
    return (doubles_avx512)_mm512_maskz_loadu_pd((__mmask8)(n < 8 ? (1u << n) - 1 : 0xff), x);
}

LDP_INLINE float sum_floats_avx512(floats_avx512 v)
{
    const __m256 upper = _mm256_castpd_ps(_mm512_extractf64x4_pd((__m512d)v, 1));
    return sum_floats_avx2((floats_avx2)_mm256_add_ps(_mm512_castps512_ps256((__m512)v), upper));
}

LDP_INLINE double sum_doubles_avx512(doubles_avx512 v)
{
    const __m256d upper = _mm512_extractf64x4_pd((__m512d)v, 1);
    return sum_doubles_avx2((doubles_avx2)_mm256_add_pd(_mm512_castpd512_pd256((__m512d)v), upper));
}

LDP_INLINE doubles_avx512 spread_sum_avx512(doubles_avx512 v)
{
    const __m512d half = _mm512_add_pd((__m512d)v, _mm512_shuffle_f64x2((__m512d)v, (__m512d)v, 0x4e));
    const __m512d quarter = _mm512_add_pd(half, _mm512_shuffle_f64x2(half, half, 0xb1));
    return (doubles_avx512)_mm512_add_pd(quarter, _mm512_permute_pd(quarter, 0x55));
}

LDP_INLINE int32s_avx512 truncate_avx512(doubles_avx512 a, doubles_avx512 b)
{
    return (int32s_avx512)_mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvttpd_epi32((__m512d)a)),
                                             _mm512_cvttpd_epi32((__m512d)b), 1);
}

LDP_INLINE int32s_avx512 low_halves_avx512(int64s_avx512 a, int64s_avx512 b)
{
    const __m512i even = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    return (int32s_avx512)_mm512_permutex2var_epi32((__m512i)a, even, (__m512i)b);
}

LDP_INLINE doubles_avx512 between_avx512(doubles_avx512 v, double low, double high)
{
    return (doubles_avx512)_mm512_min_pd(_mm512_max_pd((__m512d)v, _mm512_set1_pd(low)), _mm512_set1_pd(high));
}

LDP_INLINE doubles_avx512 unless_nan_avx512(doubles_avx512 x, doubles_avx512 v, double instead)
{
    const __mmask8 number = _mm512_cmp_pd_mask((__m512d)x, (__m512d)x, _CMP_ORD_Q); /* the mask of the operation that makes v */
    return (doubles_avx512)_mm512_mask_mov_pd(_mm512_set1_pd(instead), number, (__m512d)v);
}

LDP_INLINE doubles_avx512 limit_doubles_avx512(doubles_avx512 v, double most)
{
    return (doubles_avx512)_mm512_range_pd((__m512d)v, _mm512_set1_pd(most), 2);
}

LDP_INLINE doubles_avx512 floors_avx512(doubles_avx512 v) { return (doubles_avx512)_mm512_floor_pd((__m512d)v); }

typedef uint16_t uint16s_avx512 __attribute__((vector_size(64)));

LDP_INLINE uint16s_avx512 lookup_16_avx512(const uint16_t *table, uint16s_avx512 index)
{
    return (uint16s_avx512)_mm512_permutexvar_epi16((__m512i)index, _mm512_loadu_si512(table));
}

LDP_INLINE int64s_avx512 widen_16_avx512(const uint16_t *v)
{
    return (int64s_avx512)_mm512_cvtepu16_epi64(_mm_loadu_si128((const __m128i *)v));
}

LDP_INLINE int32s_avx512 high_products_avx512(int32s_avx512 a, int32s_avx512 b)
{
    const __m512i even = _mm512_mul_epu32((__m512i)a, (__m512i)b);
    const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64((__m512i)a, 32), _mm512_srli_epi64((__m512i)b, 32));
    return (int32s_avx512)_mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
}

LDP_INLINE int32s_avx512 high_product_avx512(int32s_avx512 a, uint32_t b)
{
    return high_products_avx512(a, (int32s_avx512)_mm512_set1_epi32((int)b));
}

LDP_INLINE void store_bits_avx512(uint8_t *out, uint64_t bits) { _mm512_storeu_si512(out, _mm512_maskz_set1_epi8(bits, 1)); }

LDP_INLINE uint64_t words_below_avx512(const uint32_t *word, uint32_t top)
{
    __m512i t = _mm512_set1_epi32((int)top);
    return bits_of_mask(_mm512_cmplt_epu32_mask(_mm512_loadu_si512(word), t)) |
           bits_of_mask(_mm512_cmplt_epu32_mask(_mm512_loadu_si512(word + 16), t)) << 16;
}

LDP_INLINE uint64_t words_equal_avx512(const uint32_t *word, uint32_t top)
{
    __m512i t = _mm512_set1_epi32((int)top);
    return bits_of_mask(_mm512_cmpeq_epu32_mask(_mm512_loadu_si512(word), t)) |
           bits_of_mask(_mm512_cmpeq_epu32_mask(_mm512_loadu_si512(word + 16), t)) << 16;
}
#endif
