/* AES-256 by the instructions of x86-64: AES-NI (one block per instruction), VAES on 256 and on 512 bits.
 *
 * aesenc has a latency of 3 to 5 cycles and a throughput of one or two per cycle, so eight registers of inputs go through the
 * rounds together. */
#include "random/aes_forms.h"

#if LDP_X86
#include <immintrin.h>

#define EIGHT _Pragma("GCC unroll 8") for (int j = 0; j < 8; j++)
#define ROUNDS _Pragma("GCC unroll 16") for (int r = 1; r < AES_ROUNDS; r++)

LDP_TARGET_BEGIN("aes,sse2")

    /* Round keys 2 i and 2 i + 1 from the two before. */
    LDP_INLINE __m128i mixed(__m128i k)
    {
        k = _mm_xor_si128(k, _mm_slli_si128(k, 4));
        return _mm_xor_si128(k, _mm_slli_si128(k, 8));
    }

#define EXPAND(i, constant)                                                                               \
    even = _mm_xor_si128(mixed(even), _mm_shuffle_epi32(_mm_aeskeygenassist_si128(odd, constant), 0xff)); \
    _mm_storeu_si128(to + (i), even);                                                                     \
    if ((i) < AES_ROUNDS) {                                                                               \
        odd = _mm_xor_si128(mixed(odd), _mm_shuffle_epi32(_mm_aeskeygenassist_si128(even, 0), 0xaa));     \
        _mm_storeu_si128(to + (i) + 1, odd);                                                              \
    }

    void aes_expand_ni(const uint8_t *key, aes_schedule *schedule)
    {
        __m128i *to = (__m128i *)schedule->round_key, even = _mm_loadu_si128((const __m128i *)key),
                odd = _mm_loadu_si128((const __m128i *)key + 1);
        _mm_storeu_si128(to, even);
        _mm_storeu_si128(to + 1, odd);
        EXPAND(2, 1) EXPAND(4, 2) EXPAND(6, 4) EXPAND(8, 8) EXPAND(10, 16) EXPAND(12, 32) EXPAND(14, 64)
    }

    void aes_counter_ni(const aes_schedule *schedule, const uint32_t input[4], void *out, size_t blocks)
    {
        const __m128i *key = (const __m128i *)schedule->round_key, one = _mm_set_epi32(0, 0, 0, 1);
        __m128i counter = _mm_loadu_si128((const __m128i *)input), *to = out;
        while (blocks >= 8) {
            __m128i b[8], k = _mm_loadu_si128(key);
            EIGHT
            {
                b[j] = _mm_xor_si128(counter, k);
                counter = _mm_add_epi32(counter, one);
            }
            ROUNDS
            {
                k = _mm_loadu_si128(key + r);
                EIGHT b[j] = _mm_aesenc_si128(b[j], k);
            }
            k = _mm_loadu_si128(key + AES_ROUNDS);
            EIGHT _mm_storeu_si128(to + j, _mm_aesenclast_si128(b[j], k));
            to += 8;
            blocks -= 8;
        }
        for (; blocks; blocks--, to++) {
            __m128i b = _mm_xor_si128(counter, _mm_loadu_si128(key));
            counter = _mm_add_epi32(counter, one);
            ROUNDS b = _mm_aesenc_si128(b, _mm_loadu_si128(key + r));
            _mm_storeu_si128(to, _mm_aesenclast_si128(b, _mm_loadu_si128(key + AES_ROUNDS)));
        }
    }

    LDP_TARGET_END

/* The same on wider registers. The rest of less than eight registers goes through a buffer. */
#define DEFINE_COUNTER(name, vector, ways, load_key, add, xor, store, enc, enclast)            \
    void name(const aes_schedule *schedule, const uint32_t input[4], void *out, size_t blocks) \
    {                                                                                          \
        const __m128i *key = (const __m128i *)schedule->round_key;                             \
        uint32_t first[4 * (ways)], step[4 * (ways)];                                          \
        for (uint32_t w = 0; w < (ways); w++) {                                                \
            memcpy(first + 4 * w, input, 16);                                                  \
            first[4 * w] += w;                                                                 \
            step[4 * w] = (ways), step[4 * w + 1] = step[4 * w + 2] = step[4 * w + 3] = 0;     \
        }                                                                                      \
        vector counter, increment;                                                             \
        memcpy(&counter, first, sizeof counter);                                               \
        memcpy(&increment, step, sizeof increment);                                            \
        uint8_t *to = out, rest[8 * AES_BLOCK * (ways)];                                       \
        for (size_t left = blocks; left;) {                                                    \
            const size_t now = left < 8 * (ways) ? left : 8 * (ways);                          \
            uint8_t *target = now < 8 * (ways) ? rest : to;                                    \
            vector b[8], k = load_key(key);                                                    \
            EIGHT                                                                              \
            {                                                                                  \
                b[j] = xor(counter, k);                                                        \
                counter = add(counter, increment);                                             \
            }                                                                                  \
            ROUNDS                                                                             \
            {                                                                                  \
                k = load_key(key + r);                                                         \
                EIGHT b[j] = enc(b[j], k);                                                     \
            }                                                                                  \
            k = load_key(key + AES_ROUNDS);                                                    \
            EIGHT store((void *)(target + AES_BLOCK * (ways) * j), enclast(b[j], k));          \
            if (now < 8 * (ways))                                                              \
                memcpy(to, rest, AES_BLOCK * now);                                             \
            to += AES_BLOCK * now;                                                             \
            left -= now;                                                                       \
        }                                                                                      \
    }

    LDP_TARGET_BEGIN("vaes,avx2,aes")
        LDP_INLINE __m256i key256(const __m128i *k) { return _mm256_broadcastsi128_si256(_mm_loadu_si128(k)); }
        DEFINE_COUNTER(aes_counter_vaes256, __m256i, 2, key256, _mm256_add_epi32, _mm256_xor_si256, _mm256_storeu_si256,
                       _mm256_aesenc_epi128, _mm256_aesenclast_epi128)
        LDP_TARGET_END

        LDP_TARGET_BEGIN("vaes,avx512f,aes")
            LDP_INLINE __m512i key512(const __m128i *k) { return _mm512_broadcast_i32x4(_mm_loadu_si128(k)); }
            DEFINE_COUNTER(aes_counter_vaes512, __m512i, 4, key512, _mm512_add_epi32, _mm512_xor_si512, _mm512_storeu_si512,
                           _mm512_aesenc_epi128, _mm512_aesenclast_epi128)
            LDP_TARGET_END
#endif
