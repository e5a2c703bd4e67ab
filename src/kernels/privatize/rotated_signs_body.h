/* A record is a table of rows of BLOCK_ROWS numbers. Rows are transformed one after the other, where they come from, then some columns
 * at a time, whose numbers are added up with the signs of the block of rows. Bottleneck: memory, then sums and differences. */
#if !REAL_IS_DOUBLE
#include "random/sign_patterns_body.h"
#include "transform/walsh_steps_body.h"

typedef float PER_ISA(sixteen) __attribute__((vector_size(64)));
typedef uint32_t PER_ISA(sixteen_bits) __attribute__((vector_size(64)));

/* The sign bits of 16 numbers, from 16 bits. */
LDP_INLINE PER_ISA(sixteen_bits) PER_ISA(sign_bits)(uint32_t bits)
{
    const PER_ISA(sixteen_bits) shift = {31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16};
    return ((PER_ISA(sixteen_bits)){0} + bits) << shift & 0x80000000u;
}

/* Sixteen bits from number i on, a multiple of 16. */
LDP_INLINE uint32_t PER_ISA(bits_at)(const uint64_t *signs, size_t i) { return (uint32_t)(signs[i / 64] >> i % 64) & 0xffff; }

/* The steps within 16 numbers. */
LDP_INLINE PER_ISA(sixteen) PER_ISA(within)(PER_ISA(sixteen) v)
{
#define STEP(minus, ...)                                                           \
    v = (PER_ISA(sixteen))((PER_ISA(sixteen_bits))v ^ PER_ISA(sign_bits)(minus)) + \
        LDP_SHUFFLE_16(v, PER_ISA(sixteen_bits), __VA_ARGS__)
    STEP(0xaaaa, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
    STEP(0xcccc, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
    STEP(0xf0f0, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
    STEP(0xff00, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
#undef STEP
    return v;
}

/* Changes the signs of a row and transforms it. Numbers are limited, and NaN becomes 0, so that they do not spread as NaN. */
static void PER_ISA(transform_row)(const uint64_t *signs, size_t first, float *v)
{
    for (size_t i = 0; i < BLOCK_ROWS; i += 16) {
        PER_ISA(sixteen_bits) bits, size, over;
        PER_ISA(sixteen) a;
        memcpy(&bits, v + i, 64);
        size = bits & 0x7fffffffu;
        over = (PER_ISA(sixteen_bits))(size > bits_f32(LARGEST_NUMBER));
        bits ^= (size ^ bits_f32(LARGEST_NUMBER)) & over;
        bits &= (PER_ISA(sixteen_bits))(size <= LDP_INFINITY_F32);
        a = PER_ISA(within)((PER_ISA(sixteen))(bits ^ PER_ISA(sign_bits)(PER_ISA(bits_at)(signs, first + i))));
        memcpy(v + i, &a, 64);
    }
    PER_ISA(steps)(v, BLOCK_ROWS, 16);
}

/* Transforms the columns of a table of `rows` rows, of which the first `used` are not 0, and adds up their numbers with the signs of a
 * block of rows of the second stage. */
static void PER_ISA(fold)(const rotated_signs *p, size_t rows, size_t used, uint32_t block, float *sum)
{
    const uint64_t *signs = p->signs + (rows << BLOCK_BITS) / 64;
    const float *table = p->workspace;
    float *part = p->workspace + (rows << BLOCK_BITS);
    for (size_t i = 0; i < BLOCK_ROWS; i += COLUMNS) {
        PER_ISA(sixteen) total[COLUMNS / 16] = {0};
        for (size_t t = 0; t < used; t++)
            memcpy(part + t * COLUMNS, table + (t << BLOCK_BITS) + i, COLUMNS * sizeof *part);
        memset(part + used * COLUMNS, 0, (rows - used) * COLUMNS * sizeof *part);
        PER_ISA(steps)(part, rows * COLUMNS, COLUMNS);
        for (size_t t = 0; t < rows; t++) {
            const uint32_t minus = -(uint32_t)(count_ones(t & block) & 1);
            for (size_t l = 0; l < COLUMNS / 16; l++) {
                PER_ISA(sixteen_bits) bits;
                memcpy(&bits, part + t * COLUMNS + 16 * l, 64);
                bits ^= PER_ISA(sign_bits)(PER_ISA(bits_at)(signs, (t << BLOCK_BITS) + i + 16 * l) ^ minus);
                total[l] += (PER_ISA(sixteen))bits;
            }
        }
        memcpy(sum + i, total, sizeof total);
    }
    for (size_t i = 0; i < BLOCK_ROWS; i += 16) {
        PER_ISA(sixteen) a;
        memcpy(&a, sum + i, 64);
        a = PER_ISA(within)(a);
        memcpy(sum + i, &a, 64);
    }
    PER_ISA(steps)(sum, BLOCK_ROWS, 16);
}
#endif

#include "privatize/unit_row_body.h"

/* Writes H D1 x to the workspace, up to the transform of columns. Returns the square of the norm of x. */
LDP_INLINE double NAME(transform_rows)(const rotated_signs *p, const REAL *x, size_t used)
{
    double square = 0;
    for (size_t t = 0; t < used; t++) {
        const size_t first = t << BLOCK_BITS, now = p->dim - first < BLOCK_ROWS ? p->dim - first : BLOCK_ROWS;
        float *row = p->workspace + first;
        square += NAME(load_row)(p->per_radius, x + first, now, row);
        memset(row + now, 0, (BLOCK_ROWS - now) * sizeof *row);
        PER_ISA(transform_row)(p->signs, first, row);
    }
    return square;
}

static int NAME(privatize_rotated_signs)(const void *params, stream_key *key, uint64_t block, const void *records, size_t n,
                                         void *reports)
{
    const rotated_signs *p = params;
    const double limit = 1 + p->tolerance * (REAL_IS_DOUBLE ? 0x1p-53 : 0x1p-24);
    const size_t words = 1 + words_of_signs(p->patterns->signs), rows = (size_t)1 << (p->bits - BLOCK_BITS),
                 used = (p->dim + BLOCK_ROWS - 1) >> BLOCK_BITS;
    uint64_t seed[1 << (18 - BLOCK_BITS)] LDP_ALIGNED;
    int invalid = 0;
    stream seeds = stream_open(key, STREAM_ROTATED_SEEDS, block);
    reader coins;
    stream_key public_key;
    directions_open(&public_key);
    stream_draw(&seeds, seed, blocks_for(n, 8));
    reader_open(&coins, key, STREAM_ROTATED_COINS, block, words_of_patterns(p->patterns, n));
    for (size_t i = 0; i < n; i++) {
        uint64_t *report = (uint64_t *)reports + i * words;
        float sum[BLOCK_ROWS] LDP_ALIGNED, product[MAX_SIGNS];
        rotated_rows at;
        const double square = NAME(transform_rows)(p, (const REAL *)records + i * p->dim, used);
        rows_of_seed(&public_key, seed[i], p->bits, p->patterns->signs, &at);
        PER_ISA(fold)(p, rows, used, at.block, sum);
        for (uint32_t j = 0; j < p->patterns->signs; j++)
            product[j] = sum[at.row[j]];
        report[0] = seed[i];
        PER_ISA(signs_of_products)(p->patterns, &coins, square, product, report + 1);
        invalid |= outside_of_ball(square, limit * limit);
    }
    return invalid;
}
