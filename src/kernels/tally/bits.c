#include "tally/bits.h"

#define KERNEL_BODY "tally/bits_body.h"
#include "simd/each_isa.h"

enum { WIDTH = 64, MOST_LOADS = 65535, CACHE_BYTES = 1 << 18, LEAST_ROWS = 256, FETCH_BYTES = 1024 };

/* Adds the counts of bytes first .. last - 1 of a column to `state`. They are the bytes of the row from `byte` on. */
static void fold(const uint32_t *count, size_t first, size_t last, size_t byte, size_t k, int64_t *state)
{
    for (size_t j = first; j < last; j++, byte++)
        for (size_t b = 0; b < 8 && 8 * byte + b < k; b++)
            state[8 * byte + b] += count[64 * b + j];
}

/* Rows of less than 64 bytes, several per load. */
static void tally_narrow(size_t k, size_t bytes, const uint8_t *rows, size_t n, int64_t *state)
{
    uint32_t count[512] LDP_ALIGNED;
    uint8_t tail[WIDTH] LDP_ALIGNED;
    size_t together = WIDTH / bytes, step = together * bytes, total = n * bytes;
    size_t loads = total < WIDTH ? 0 : (total - WIDTH) / step + 1; /* loads that stay inside the array */
    for (size_t done = 0, now; done < loads; done += now) {
        now = loads - done < MOST_LOADS ? loads - done : MOST_LOADS;
        LDP_BEST(count_column)(rows + done * step, step, now, 1, count);
        for (size_t r = 0; r < together; r++)
            fold(count, r * bytes, (r + 1) * bytes, 0, k, state);
    }
    for (size_t at = loads * step; at < total; at += step) {
        memset(tail, 0, WIDTH);
        memcpy(tail, rows + at, total - at < step ? total - at : step);
        LDP_BEST(count_column)(tail, WIDTH, 1, 0, count);
        for (size_t r = 0; r < together; r++)
            fold(count, r * bytes, (r + 1) * bytes, 0, k, state);
    }
}

/* Wide rows, in columns of 64 bytes. The last column ends with the row, and only its new bytes are counted. All columns of as
 * many rows as the cache holds are counted before the next rows. */
static void tally_wide(size_t k, size_t bytes, const uint8_t *rows, size_t n, int64_t *state)
{
    uint32_t count[512] LDP_ALIGNED;
    const size_t most = CACHE_BYTES / bytes > LEAST_ROWS ? CACHE_BYTES / bytes : LEAST_ROWS;
    for (size_t done = 0, now; done < n; done += now) {
        now = n - done < most ? n - done : most;
        for (size_t byte = 0; byte < bytes; byte += WIDTH) {
            size_t start = byte + WIDTH <= bytes ? byte : bytes - WIDTH;
            LDP_BEST(count_column)(rows + done * bytes + start, bytes, now, byte == 0 && bytes <= FETCH_BYTES, count);
            fold(count, byte - start, WIDTH, byte, k, state);
        }
    }
}

void tally_bits(const void *format, const void *reports, size_t n, void *state)
{
    size_t k = *(const size_t *)format, bytes = (k + 7) / 8;
    if (bytes < WIDTH)
        tally_narrow(k, bytes, reports, n, state);
    else
        tally_wide(k, bytes, reports, n, state);
}
