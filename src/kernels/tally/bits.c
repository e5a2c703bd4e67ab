#include "tally/bits.h"

/* Rows that must have `size` ones each, `per_load` of them for each load of a column; none if `size` is 0. Memory up to `end` can
 * be read. */
typedef struct {
    const uint8_t *rows, *end;
    size_t bytes, size, per_load;
} set_rows;

#define KERNEL_BODY "tally/bits_body.h"
#include "simd/each_isa.h"

enum { WIDTH = 64, MAX_LOADS = 65535, CACHE_BYTES = 1 << 18, MIN_ROWS = 256, FETCH_BYTES = 1024 };

/* Adds the counts of bytes first .. last - 1 of a column to `state`. They are the bytes of the row from `byte` on. */
static void fold(const uint32_t *count, size_t first, size_t last, size_t byte, size_t k, int64_t *state)
{
    for (size_t j = first; j < last; j++, byte++)
        for (size_t b = 0; b < 8 && 8 * byte + b < k; b++)
            state[8 * byte + b] += count[64 * b + j];
}

/* Rows of less than 64 bytes, several per load. Returns whether some row does not have `size` ones, if that is not 0. */
static int tally_narrow(size_t k, size_t size, size_t bytes, const uint8_t *rows, size_t n, int64_t *state)
{
    uint32_t count[512] LDP_ALIGNED;
    uint8_t tail[WIDTH] LDP_ALIGNED;
    int other = 0;
    size_t together = WIDTH / bytes, step = together * bytes, total = n * bytes;
    size_t loads = total < WIDTH ? 0 : (total - WIDTH) / step + 1; /* loads that stay inside the array */
    for (size_t done = 0, now; done < loads; done += now) {
        now = loads - done < MAX_LOADS ? loads - done : MAX_LOADS;
        const set_rows sets = {rows + done * step, rows + total, bytes, size, together};
        other |= LDP_BEST(tally_512_bits)(rows + done * step, step, now, 1, &sets, count);
        for (size_t r = 0; r < together; r++)
            fold(count, r * bytes, (r + 1) * bytes, 0, k, state);
    }
    for (size_t at = loads * step; at < total; at += step) {
        const size_t left = total - at < step ? total - at : step;
        const set_rows sets = {rows + at, rows + total, bytes, size, left / bytes};
        memset(tail, 0, WIDTH);
        memcpy(tail, rows + at, left);
        other |= LDP_BEST(tally_512_bits)(tail, WIDTH, 1, 0, &sets, count);
        for (size_t r = 0; r < together; r++)
            fold(count, r * bytes, (r + 1) * bytes, 0, k, state);
    }
    return other;
}

/* Wide rows, in columns of 64 bytes. The last column ends with the row, and only its new bytes are counted. All columns of as
 * many rows as the cache holds are counted before the next rows. The sizes of the rows are checked with the first column. */
static int tally_wide(size_t k, size_t size, size_t bytes, const uint8_t *rows, size_t n, int64_t *state)
{
    uint32_t count[512] LDP_ALIGNED;
    int other = 0;
    const size_t most = CACHE_BYTES / bytes > MIN_ROWS ? CACHE_BYTES / bytes : MIN_ROWS;
    for (size_t done = 0, now; done < n; done += now) {
        now = n - done < most ? n - done : most;
        for (size_t byte = 0; byte < bytes; byte += WIDTH) {
            size_t start = byte + WIDTH <= bytes ? byte : bytes - WIDTH;
            const set_rows sets = {rows + done * bytes, rows + n * bytes, bytes, byte == 0 ? size : 0, 1};
            const int fetch = byte == 0 && bytes <= FETCH_BYTES;
            other |= LDP_BEST(tally_512_bits)(rows + done * bytes + start, bytes, now, fetch, &sets, count);
            fold(count, byte - start, WIDTH, byte, k, state);
        }
    }
    return other;
}

int tally_sets(size_t k, size_t size, const uint8_t *rows, size_t n, int64_t *state)
{
    const size_t bytes = (k + 7) / 8;
    return !(bytes < WIDTH ? tally_narrow : tally_wide)(k, size, bytes, rows, n, state);
}

void tally_bits(const void *format, const void *reports, size_t n, void *state)
{
    (void)tally_sets(*(const size_t *)format, 0, reports, n, state);
}
