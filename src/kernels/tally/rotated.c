#include "tally/rotated.h"

void tally_rotated(const void *format, const void *reports, size_t n, void *state)
{
    const rotated_format *p = format;
    const size_t words = 1 + words_of_signs(p->signs);
    stream_key key;
    directions_open(&key);
    for (size_t i = 0; i < n; i++) {
        const uint64_t *report = (const uint64_t *)reports + i * words;
        rotated_rows at;
        rows_of_seed(&key, report[0], p->bits, p->signs, &at);
        int64_t *sum = (int64_t *)state + ((size_t)at.block << BLOCK_BITS);
        for (uint32_t j = 0; j < p->signs; j++)
            sum[at.row[j]] += 2 * (int64_t)(report[1 + j / 64] >> j % 64 & 1) - 1;
    }
}
