/* AES-256 by the instructions of x86-64: AES-NI (one block per instruction), VAES on 256 and on 512 bits.
 *
 * aesenc has a latency of 3 to 5 cycles and a throughput of one or two per cycle, so eight registers of inputs go through the
 * rounds together. */
#include "random/aes_forms.h"

#if LDP_X86
#include <immintrin.h>

#define EACH(count) _Pragma("GCC unroll 8") for (int j = 0; j < (count); j++)
#define EIGHT EACH(8)
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

    void aes_counter_ni(const aes_schedule *schedule, aes_input input, void *out, size_t blocks)
    {
        const __m128i *key = (const __m128i *)schedule->round_key, one = _mm_set_epi32(0, 0, 0, 1);
        __m128i counter = _mm_set_epi64x((long long)input.high, (long long)input.low), *to = out;
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

#define ZERO(i) "pxor %%xmm" #i ", %%xmm" #i "\n\t"
    void aes_forget_ni(void)
    {
        __asm__ volatile(ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7) ZERO(8) ZERO(9) ZERO(10) ZERO(11)
                             ZERO(12) ZERO(13) ZERO(14) ZERO(15)::
                                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                                   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
    }

/* The same on wider registers of `ways` blocks: eight registers, or two for a short rest. What is not needed goes to a buffer. */
#define ENCRYPT(count, load_key, add, xor, store, enc, enclast)       \
    {                                                                 \
        EACH(count)                                                   \
        {                                                             \
            b[j] = xor(counter, load_key(key));                       \
            counter = add(counter, increment);                        \
        }                                                             \
        ROUNDS EACH(count) b[j] = enc(b[j], load_key(key + r));       \
        EACH(count) b[j] = enclast(b[j], load_key(key + AES_ROUNDS)); \
        EACH(count) store((void *)(target + sizeof *b * j), b[j]);    \
    }

#define DEFINE_COUNTER(name, vector, ways, start, load_key, add, xor, store, enc, enclast)                           \
    void name(const aes_schedule *schedule, aes_input input, void *out, size_t blocks)                               \
    {                                                                                                                \
        const __m128i *key = (const __m128i *)schedule->round_key;                                                   \
        vector counter = start(_mm_set_epi64x((long long)input.high, (long long)input.low)), b[8];                   \
        const vector increment = start##_step;                                                                       \
        uint8_t *to = out, rest[8 * AES_BLOCK * (ways)];                                                             \
        while (blocks) {                                                                                             \
            const size_t most = blocks <= 2 * (ways) ? 2 * (ways) : 8 * (ways), now = blocks < most ? blocks : most; \
            uint8_t *target = now < most ? rest : to;                                                                \
            if (most == 2 * (ways))                                                                                  \
                ENCRYPT(2, load_key, add, xor, store, enc, enclast)                                                  \
            else                                                                                                     \
                ENCRYPT(8, load_key, add, xor, store, enc, enclast)                                                  \
            if (now < most)                                                                                          \
                memcpy(to, rest, AES_BLOCK * now);                                                                   \
            to += AES_BLOCK * now;                                                                                   \
            blocks -= now;                                                                                           \
        }                                                                                                            \
    }

    LDP_TARGET_BEGIN("vaes,avx2,aes")
        LDP_INLINE __m256i start256(__m128i first)
        {
            return _mm256_add_epi32(_mm256_broadcastsi128_si256(first), _mm256_set_epi32(0, 0, 0, 1, 0, 0, 0, 0));
        }
#define start256_step _mm256_set_epi32(0, 0, 0, 2, 0, 0, 0, 2)
        LDP_INLINE __m256i key256(const __m128i *k) { return _mm256_broadcastsi128_si256(_mm_loadu_si128(k)); }
        DEFINE_COUNTER(aes_counter_vaes256, __m256i, 2, start256, key256, _mm256_add_epi32, _mm256_xor_si256,
                       _mm256_storeu_si256, _mm256_aesenc_epi128, _mm256_aesenclast_epi128)
        void aes_forget_vaes256(void) { _mm256_zeroall(); }
        LDP_TARGET_END

        LDP_TARGET_BEGIN("vaes,avx512f,aes")
            LDP_INLINE __m512i start512(__m128i first)
            {
                return _mm512_add_epi32(_mm512_broadcast_i32x4(first),
                                        _mm512_set_epi32(0, 0, 0, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0));
            }
#define start512_step _mm512_set_epi32(0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 4)
            LDP_INLINE __m512i key512(const __m128i *k) { return _mm512_broadcast_i32x4(_mm_loadu_si128(k)); }
            DEFINE_COUNTER(aes_counter_vaes512, __m512i, 4, start512, key512, _mm512_add_epi32, _mm512_xor_si512,
                           _mm512_storeu_si512, _mm512_aesenc_epi128, _mm512_aesenclast_epi128)
#define ZERO_WIDE(i) "vpxord %%zmm" #i ", %%zmm" #i ", %%zmm" #i "\n\t"
            void aes_forget_vaes512(void)
            {
                _mm256_zeroall(); /* registers 0 to 15, also their upper halves */
                __asm__ volatile(ZERO_WIDE(16) ZERO_WIDE(17) ZERO_WIDE(18) ZERO_WIDE(19) ZERO_WIDE(20) ZERO_WIDE(21)
                                     ZERO_WIDE(22) ZERO_WIDE(23) ZERO_WIDE(24) ZERO_WIDE(25) ZERO_WIDE(26) ZERO_WIDE(27)
                                         ZERO_WIDE(28) ZERO_WIDE(29) ZERO_WIDE(30) ZERO_WIDE(31)::
                                             : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24",
                                               "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
            }
            LDP_TARGET_END
#endif
