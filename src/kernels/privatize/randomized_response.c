#include "privatize/randomized_response.h"

#include "simd/branchless.h"

#define KERNEL_BODY "privatize/randomized_response_body.h"
#include "simd/each_isa.h"

/* 64-bit words, for many symbols or a coin that 32 bits would round too far. The loop is scalar, because there is no vector
 * instruction for the high half of a 64-bit product. A hardware division would be shorter, but its time depends on the coin. */
#define DEFINE_RESPOND_WIDE(type)                                                                              \
    static int respond_wide_##type(const randomized_response *p, stream *s, const uint##type##_t *x, size_t n, \
                                   uint##type##_t *out)                                                        \
    {                                                                                                          \
        uint64_t word[WIDE_PIECE] LDP_ALIGNED, most = 0;                                                       \
        for (size_t i = 0; i < n; i++) {                                                                       \
            if (i % WIDE_PIECE == 0)                                                                           \
                stream_draw(s, word, blocks_for(n - i < WIDE_PIECE ? n - i : WIDE_PIECE, 8));                  \
            const uint64_t record = x[i], truth = record < p->k - 1 ? record : p->k - 1;                       \
            const uint64_t u = word[i % WIDE_PIECE], past = u - p->direct;                                     \
            uint64_t other = high_product_u64(past, p->reciprocal);                                            \
            other += past - other * p->words_per_symbol >= p->words_per_symbol;                                \
            const uint64_t replaced = -(uint64_t)(u >= p->direct);                                             \
            out[i] = (uint##type##_t)((truth & ~replaced) | (other & replaced));                               \
            most = record > most ? record : most;                                                              \
        }                                                                                                      \
        return most >= p->k;                                                                                   \
    }

DEFINE_RESPOND_WIDE(8)
DEFINE_RESPOND_WIDE(16)
DEFINE_RESPOND_WIDE(32)
DEFINE_RESPOND_WIDE(64)

int respond_u8(const randomized_response *p, stream *s, const uint8_t *symbol, size_t n, uint8_t *out)
{
    return p->bits == 32 ? LDP_BEST(respond)(p, s, symbol, n, out)
           : p->k == 2   ? LDP_BEST(respond_bit)(p, s, symbol, n, out)
                         : respond_wide_8(p, s, symbol, n, out);
}

int respond_u16(const randomized_response *p, stream *s, const uint16_t *symbol, size_t n, uint16_t *out)
{
    return respond_wide_16(p, s, symbol, n, out);
}

#define DEFINE_RESPONSE(type, respond)                                                                                      \
    int privatize_randomized_response_u##type(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, \
                                              void *out)                                                                    \
    {                                                                                                                       \
        const randomized_response *p = params;                                                                              \
        stream s = stream_open(key, p->stream, block);                                                                      \
        int invalid = 0;                                                                                                    \
        for (size_t i = 0; i < n; i += CODE_PIECE)                                                                          \
            invalid |= respond(p, &s, (const uint##type##_t *)x + i, n - i < CODE_PIECE ? n - i : CODE_PIECE,               \
                               (uint##type##_t *)out + i);                                                                  \
        return invalid;                                                                                                     \
    }

DEFINE_RESPONSE(8, respond_u8)
DEFINE_RESPONSE(16, respond_u16)
DEFINE_RESPONSE(32, respond_wide_32)
DEFINE_RESPONSE(64, respond_wide_64)
