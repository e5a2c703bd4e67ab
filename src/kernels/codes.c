#include "codes.h"

#define KERNEL_BODY "codes_body.h"
#include "each_isa.h"

typedef union {
    uint32_t narrow[CODE_ROWS];
    uint64_t wide[CODE_ROWS];
} words LDP_ALIGNED;

/* 64-bit words: many symbols, or a coin that 32 bits would round too far. Scalar: the high half of a 64 x 64 product has
 * no vector form. A hardware division would be shorter, and its time would depend on the coin. */
#define RESPOND_WIDE(type)                                                                                        \
    static void respond_wide_##type(const response *p, const uint64_t *word, const uint##type##_t *x, size_t n,   \
                                    uint##type##_t *out)                                                          \
    {                                                                                                             \
        for (size_t i = 0; i < n; i++) {                                                                          \
            uint64_t truth = x[i] < p->k - 1 ? x[i] : p->k - 1;                                                   \
            uint64_t past = word[i] - p->keep;                                                                    \
            uint64_t other = (uint64_t)((unsigned __int128)past * p->reciprocal >> 64);                           \
            other += past - other * p->share >= p->share;                                                         \
            uint64_t lie = other + (other >= truth);                                                              \
            uint64_t lies = -(uint64_t)(word[i] >= p->keep);                                                      \
            out[i] = (uint##type##_t)((truth & ~lies) | (lie & lies));                                            \
        }                                                                                                         \
    }                                                                                                             \
    int privatize_response_u##type(const void *params, const stream_key *key, uint64_t block, const void *x,      \
                                   size_t n, void *out)                                                           \
    {                                                                                                             \
        const response *p = params;                                                                               \
        words word;                                                                                               \
        stream s = stream_open(key, p->purpose, block);                                                           \
        stream_groups(&s, &word, groups_for(n, p->bits / 8));                                                     \
        RESPOND_##type(p, word, x, n, out);                                                                       \
        return (int)s.exhausted;                                                                                  \
    }

#define RESPOND_8(p, word, x, n, out)                                                                             \
    static void (*const respond[LDP_ISA_COUNT])(const response *, const uint32_t *, const uint8_t *, size_t,      \
                                                uint8_t *) = LDP_DISPATCH(respond);                               \
    static void (*const respond_bit[LDP_ISA_COUNT])(const response *, const uint64_t *, const uint8_t *, size_t,  \
                                                    uint8_t *) = LDP_DISPATCH(respond_bit);                       \
    if (p->bits == 32)                                                                                            \
        respond[ldp_isa()](p, word.narrow, x, n, out);                                                            \
    else if (p->k == 2)                                                                                           \
        respond_bit[ldp_isa()](p, word.wide, x, n, out);                                                          \
    else                                                                                                          \
        respond_wide_8(p, word.wide, x, n, out)
#define RESPOND_16(p, word, x, n, out) respond_wide_16(p, word.wide, x, n, out)
#define RESPOND_32(p, word, x, n, out) respond_wide_32(p, word.wide, x, n, out)
#define RESPOND_64(p, word, x, n, out) respond_wide_64(p, word.wide, x, n, out)

RESPOND_WIDE(8)
RESPOND_WIDE(16)
RESPOND_WIDE(32)
RESPOND_WIDE(64)

#define TALLY_CODES(type)                                                                                         \
    static void count_##type(size_t k, const uint##type##_t *codes, size_t n, int64_t *counts)                    \
    {                                                                                                             \
        for (size_t i = 0; i < n; i++) {                                                                          \
            uint64_t code = codes[i];                                                                             \
            counts[code < k ? code : k - 1]++;                                                                    \
        }                                                                                                         \
    }

TALLY_CODES(8)
TALLY_CODES(16)
TALLY_CODES(32)
TALLY_CODES(64)

/* Four tables, so that a run of equal codes does not wait for its own last increment. */
static void count_many(size_t k, const uint8_t *codes, size_t n, int64_t *counts)
{
    int64_t table[4][256] = {{0}};
    for (size_t i = 0; i + 4 <= n; i += 4)
        for (size_t t = 0; t < 4; t++)
            table[t][codes[i + t]]++;
    count_8(256, codes + n / 4 * 4, n % 4, table[0]);
    for (size_t c = 0; c < 256; c++)
        counts[c < k ? c : k - 1] += table[0][c] + table[1][c] + table[2][c] + table[3][c];
}

void tally_codes_u8(const void *format, const void *reports, size_t n, void *state)
{
    static void (*const count_few[LDP_ISA_COUNT])(size_t, const uint8_t *, size_t, int64_t *) = LDP_DISPATCH(count_few);
    const uint8_t *codes = reports;
    size_t k = *(const size_t *)format, rounds = k <= 16 ? n / 64 : 0;
    if (rounds)
        count_few[ldp_isa()](k, codes, rounds, state);
    codes += 64 * rounds;
    n -= 64 * rounds;
    if (n < 256)
        count_8(k, codes, n, state);
    else
        count_many(k, codes, n, state);
}

void tally_codes_u16(const void *format, const void *reports, size_t n, void *state)
{
    count_16(*(const size_t *)format, reports, n, state);
}

void tally_codes_u32(const void *format, const void *reports, size_t n, void *state)
{
    count_32(*(const size_t *)format, reports, n, state);
}

void tally_codes_u64(const void *format, const void *reports, size_t n, void *state)
{
    count_64(*(const size_t *)format, reports, n, state);
}
