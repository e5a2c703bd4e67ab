#include "tally/codes.h"

#define KERNEL_BODY "tally/codes_body.h"
#include "simd/each_isa.h"

#define DEFINE_COUNT(type)                                                                     \
    static void count_##type(size_t k, const uint##type##_t *codes, size_t n, int64_t *counts) \
    {                                                                                          \
        for (size_t i = 0; i < n; i++) {                                                       \
            uint64_t code = codes[i];                                                          \
            counts[code < k ? code : k - 1]++;                                                 \
        }                                                                                      \
    }

DEFINE_COUNT(8)
DEFINE_COUNT(16)
DEFINE_COUNT(32)
DEFINE_COUNT(64)

/* Four tables, so that equal codes in a row do not wait for each other's increments. */
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
    const uint8_t *codes = reports;
    size_t k = *(const size_t *)format, rounds = k <= 16 ? n / 64 : 0;
    if (rounds)
        LDP_BEST(count_few)(k, codes, rounds, state);
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

#define DEFINE_CODE_ROWS(type)                                                                  \
    void tally_code_rows_##type(const void *format, const void *reports, size_t n, void *state) \
    {                                                                                           \
        const code_rows *rows = format;                                                         \
        tally_codes_##type(&rows->k, reports, n * rows->items, state);                          \
    }

DEFINE_CODE_ROWS(u8)
DEFINE_CODE_ROWS(u16)
DEFINE_CODE_ROWS(u32)
