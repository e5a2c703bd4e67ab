#include "transform/line_sums.h"

enum { LINE_ROWS = 8, LINE_LANES = 16, BLOCK_NUMBERS = 1 << 17 /* 512 KiB, in the second cache */, MAX_LENGTH = 32 };

#define KERNEL_BODY "transform/line_sums_body.h"
#include "simd/each_isa.h"

LDP_INLINE size_t width_of(line_space s) { return (s.prime + LINE_LANES - 1) / LINE_LANES * LINE_LANES; }

/* Slopes whose sums are computed at a time. */
LDP_INLINE size_t slopes_at_a_time(line_space s)
{
    const size_t slopes = BLOCK_NUMBERS / width_of(s);
    return slopes < s.prime ? slopes : s.prime;
}

LDP_INLINE size_t doubled_size(line_space s) { return s.prime + width_of(s); }

size_t line_sums_scratch(line_space s) { return s.prime + LINE_ROWS * doubled_size(s) + slopes_at_a_time(s) * width_of(s); }

/* The inverses of 1, ..., prime - 1. */
static void inverses(uint32_t prime, uint32_t *inverse)
{
    inverse[0] = 0;
    inverse[1] = 1;
    for (uint32_t a = 2; a < prime; a++)
        inverse[a] = (prime - prime / a) * inverse[prime % a] % prime;
}

/* The coordinates of a point. Returns the number of those that matter: the last of them is 1, all later ones are 0. */
static uint32_t coordinates_of(uint32_t prime, size_t point, uint32_t *x)
{
    size_t first = 0, power = 1;
    uint32_t r = 0;
    for (; point >= first + power; r++, power *= prime)
        first += power;
    point -= first;
    for (uint32_t i = 0; i < r; i++, point /= prime)
        x[i] = (uint32_t)(point % prime);
    x[r] = 1;
    return r + 1;
}

LDP_INLINE uint32_t sum_modulo(uint32_t prime, uint32_t a, uint32_t b) { return a + b - (a + b >= prime ? prime : 0); }

/* The number of the vector factor * x. */
static size_t multiple(uint32_t prime, const uint32_t *x, uint32_t n, uint32_t factor)
{
    size_t number = 0;
    for (uint32_t i = n; i-- > 0;)
        number = number * prime + x[i] * factor % prime;
    return number;
}

/* sums[j][v] = the sum over a of rows[a][v - a d] for the slopes d = first + j. Consecutive rows are `stride` apart. */
static void sum_lines(line_space s, const uint32_t *rows, size_t stride, size_t first, size_t slopes, uint32_t *doubled,
                      uint32_t *sums)
{
    const size_t q = s.prime, width = width_of(s), size = doubled_size(s);
    memset(sums, 0, slopes * width * sizeof *sums);
    for (size_t a = 0; a < q; a += LINE_ROWS) {
        for (size_t i = 0; i < LINE_ROWS; i++) {
            uint32_t *copy = doubled + i * size;
            if (a + i < q) {
                memcpy(copy, rows + (a + i) * stride, q * sizeof *copy);
                memcpy(copy + q, copy, q * sizeof *copy);
                memset(copy + 2 * q, 0, (size - 2 * q) * sizeof *copy);
            } else
                memset(copy, 0, size * sizeof *copy);
        }
        for (size_t j = 0; j < slopes; j++) {
            const uint32_t *row[LINE_ROWS];
            for (size_t i = 0; i < LINE_ROWS; i++)
                row[i] = doubled + i * size + (q - (a + i) * (first + j) % q) % q;
            LDP_BEST(add_rows)(row, width, sums + j * width);
        }
    }
}

void add_coordinate_u32(line_space s, const uint32_t *sums, uint32_t *wider, uint32_t *scratch)
{
    const size_t q = s.prime, width = width_of(s), at_a_time = slopes_at_a_time(s);
    uint32_t *inverse = scratch, *doubled = inverse + q, *lines = doubled + LINE_ROWS * doubled_size(s);
    uint32_t x[MAX_LENGTH];
    inverses(s.prime, inverse);
    for (size_t p = 0; p < s.points; p++) {
        const uint32_t n = coordinates_of(s.prime, p, x);
        for (size_t first = 0; first < q; first += at_a_time) {
            const size_t slopes = q - first < at_a_time ? q - first : at_a_time;
            sum_lines(s, sums + p * q, s.points * q, first, slopes, doubled, lines);
            for (size_t j = 0; j < slopes; j++) {
                /* <p, x> + a d = v is <p / d, x> + a = v / d: the point (p / d, 1), or (p, 0) if d is 0 */
                const uint32_t *line = lines + j * width, factor = inverse[first + j];
                if (!factor)
                    memcpy(wider + p * q, line, q * sizeof *line);
                else {
                    uint32_t *out = wider + (s.points + multiple(s.prime, x, n, factor)) * q;
                    size_t value = 0;
                    for (size_t v = 0; v < q; v++) {
                        out[value] = line[v];
                        value += factor;
                        value -= value >= q ? q : 0;
                    }
                }
            }
        }
    }
    for (size_t a = 0; a < q; a++) { /* the point (0, 1): the vectors with the last coordinate a */
        uint32_t all = 0;
        for (size_t v = 0; v < q; v++)
            all += sums[a * s.points * q + v];
        wider[s.points * q + a] = all;
    }
}

void hyperplane_sums_u32(line_space s, const uint32_t *sums, const uint32_t *below, uint32_t all, uint32_t *hits,
                         uint32_t *scratch)
{
    const uint32_t q = s.prime;
    uint32_t *inverse = scratch, x[MAX_LENGTH];
    inverses(q, inverse);
    hits[0] = all; /* (0, 1) is orthogonal to no point (x, 1) and to all others */
    for (size_t p = 0; p < s.points; p++) {
        const uint32_t n = coordinates_of(q, p, x);
        for (uint32_t c = 1; c < q; c++) /* (c p, 1) is orthogonal to (x, 1) if <p, x> = -1 / c */
            hits[multiple(q, x, n, c)] = sums[p * q + (q - inverse[c])] + below[p];
    }
}

void add_hyperplane_i64(uint32_t prime, size_t code, int64_t people, size_t k, int64_t *hits)
{
    uint32_t z[MAX_LENGTH] = {0}, inverse = 1;
    coordinates_of(prime, code, z);
    for (uint32_t power = z[0], left = prime - 2; left; left >>= 1, power = power * power % prime)
        if (left & 1) /* the power prime - 2 */
            inverse = inverse * power % prime;
    size_t first = 0, vectors = 1;
    for (uint32_t r = 0; first < k; r++, first += vectors, vectors *= prime) { /* points (x, 1, 0, ...) with r coordinates x */
        if (r == 0) {
            hits[0] += z[0] ? 0 : people;
            continue;
        }
        /* With z[0], x[0] = -(z[r] + x[1] z[1] + ...) / z[0]. Without, the sum must be 0, and x[0] is arbitrary. */
        uint32_t step[MAX_LENGTH];
        for (uint32_t i = 1; i <= r; i++)
            step[i] = z[0] ? (prime - z[i]) * inverse % prime : z[i];
        uint32_t value = step[r], x[MAX_LENGTH] = {0};
        const size_t end = k - first < vectors ? k : first + vectors;
        for (size_t start = first; start < end; start += prime) {
            if (z[0]) {
                if (start + value < end)
                    hits[start + value] += people;
            } else if (!value)
                for (size_t i = start; i < (start + prime < end ? start + prime : end); i++)
                    hits[i] += people;
            for (uint32_t i = 1; i < r; i++) { /* the next x; a full turn of a coordinate changes nothing */
                value = sum_modulo(prime, value, step[i]);
                if (++x[i] < prime)
                    break;
                x[i] = 0;
            }
        }
    }
}
