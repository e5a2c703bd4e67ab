#include "privatize/randomized_response.h"

#define KERNEL_BODY "privatize/randomized_response_body.h"
#include "simd/each_isa.h"

typedef union {
    uint32_t narrow[CODE_ROWS];
    uint64_t wide[CODE_ROWS];
} words LDP_ALIGNED;

/* 64-bit words, for many symbols or a coin that 32 bits would round too far. The loop is scalar, because there is no vector
 * instruction for the high half of a 64-bit product. A hardware division would be shorter, but its time depends on the coin. */
#define DEFINE_RESPONSE(type)                                                                                                \
    static void respond_wide_##type(const randomized_response *p, const uint64_t *word, const uint##type##_t *x, size_t n,   \
                                    uint##type##_t *out)                                                                     \
    {                                                                                                                        \
        for (size_t i = 0; i < n; i++) {                                                                                     \
            uint64_t truth = x[i] < p->k - 1 ? x[i] : p->k - 1;                                                              \
            uint64_t past = word[i] - p->keep;                                                                               \
            uint64_t other = (uint64_t)((unsigned __int128)past * p->reciprocal >> 64);                                      \
            other += past - other * p->words_per_symbol >= p->words_per_symbol;                                              \
            uint64_t another = other + (other >= truth);                                                                     \
            uint64_t replaced = -(uint64_t)(word[i] >= p->keep);                                                             \
            out[i] = (uint##type##_t)((truth & ~replaced) | (another & replaced));                                           \
        }                                                                                                                    \
    }                                                                                                                        \
    void privatize_randomized_response_u##type(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, \
                                               void *out)                                                                    \
    {                                                                                                                        \
        const randomized_response *p = params;                                                                               \
        words word;                                                                                                          \
        stream s = stream_open(key, p->stream, block);                                                                       \
        stream_draw(&s, &word, blocks_for(n, p->bits / 8));                                                                  \
        RESPOND_##type(p, word, x, n, out);                                                                                  \
    }

#define RESPOND_8(p, word, x, n, out)                   \
    if (p->bits == 32)                                  \
        LDP_BEST(respond)(p, word.narrow, x, n, out);   \
    else if (p->k == 2)                                 \
        LDP_BEST(respond_bit)(p, word.wide, x, n, out); \
    else                                                \
        respond_wide_8(p, word.wide, x, n, out)
#define RESPOND_16(p, word, x, n, out) respond_wide_16(p, word.wide, x, n, out)
#define RESPOND_32(p, word, x, n, out) respond_wide_32(p, word.wide, x, n, out)
#define RESPOND_64(p, word, x, n, out) respond_wide_64(p, word.wide, x, n, out)

DEFINE_RESPONSE(8)
DEFINE_RESPONSE(16)
DEFINE_RESPONSE(32)
DEFINE_RESPONSE(64)
