/* The normal numbers of a few rows are drawn, and each row is read twice from cache, for the sums and for the scaling.
 * Bottleneck: the normal numbers and their key stream. */
#include "simd/row_products_body.h"

#define NORMALS LDP_PASTE(normals, DTYPE)

/* The factors of n directions u in the reports of the records y, in units of the radius, from the sums of u^2, u y and y^2. The first
 * word of a row is the rounding coin, the second the private coin. Returns what the norms tell of the rows; the sum of the squares has a
 * smaller error than the tolerance. */
static int NAME(signed_scales)(const l2_ball *p, const double (*sum)[3], reader *sign, size_t n, REAL *scale)
{
    uint64_t rounding[TOGETHER], coin[TOGETHER];
    const double limit = 1 + p->tolerance * (REAL_IS_DOUBLE ? 0x1p-53 : 0x1p-24);
    const double length = p->scale;
    const uint64_t heads = p->heads;
    int invalid = 0;
    for (size_t i = 0; i < n; i++) {
        rounding[i] = reader_word(sign);
        coin[i] = reader_word(sign);
        invalid |= outside_of_ball(sum[i][2], limit * limit);
    }
    for (size_t i = 0; i < n; i++) { /* in vectors of 32 bytes or more */
        const double norm = clamp_unit(__builtin_sqrt(sum[i][2]), 0); /* with a NaN anywhere: the center */
        const uint64_t minus =
            (uint64_t)(sum[i][1] < 0) ^ (uint64_t)(unit_interval(rounding[i]) >= (1 + norm) / 2) ^ (uint64_t)(coin[i] >= heads);
        scale[i] = (REAL)double_of(bits_f64(length / __builtin_sqrt(sum[i][0])) ^ minus << 63);
    }
    return invalid;
}

/* Writes the reports of n rows x, from rows `u` of normal numbers. Returns what their norms tell. */
static int NAME(finish_rows)(const l2_ball *p, const REAL *x, reader *sign, const REAL *u, size_t n, REAL *out)
{
    const size_t dim = p->dim;
    double sum[TOGETHER][3];
    REAL scale[TOGETHER];
    for (size_t i = 0; i < n; i++) {
        memset(sum[i], 0, sizeof sum[i]);
        NAME(add_products)(u + i * dim, x + i * dim, (REAL)p->per_radius, dim, sum[i]);
    }
    const int invalid = NAME(signed_scales)(p, sum, sign, n, scale);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < dim; j++) /* vector loop */
            out[i * dim + j] = u[i * dim + j] * scale[i];
    return invalid;
}

/* Rows of at most PIECE numbers: the normal numbers of a few rows at once. Memory is fetched meanwhile. */
static int NAME(short_rows)(const l2_ball *p, const REAL *x, stream *direction, reader *sign, size_t n, REAL *out)
{
    enum { NUMBERS = 1024 };
    REAL u[PIECE] LDP_ALIGNED;
    const size_t dim = p->dim, rows = dim > NUMBERS ? 1 : NUMBERS / dim;
    int invalid = 0;
    for (size_t i = 0; i < n; i += rows) {
        const size_t now = n - i < rows ? n - i : rows;
        for (size_t j = 0, size; j < now * dim; j += size) {
            size = now * dim - j < NORMALS_CHUNK ? now * dim - j : NORMALS_CHUNK;
            fetch_to_read(x + i * dim + j, size * sizeof *x);
            fetch_to_write(out + i * dim + j, size * sizeof *out);
            NORMALS(direction, u + j, size);
        }
        for (size_t r = 0, some; r < now; r += some) {
            some = now - r < TOGETHER ? now - r : TOGETHER;
            invalid |= NAME(finish_rows)(p, x + (i + r) * dim, sign, u + r * dim, some, out + (i + r) * dim);
        }
    }
    return invalid;
}

/* One row of more than PIECE numbers. */
static int NAME(long_row)(const l2_ball *p, const REAL *x, stream *direction, reader *sign, REAL *out)
{
    REAL u[PIECE] LDP_ALIGNED, scale;
    double sum[1][3] = {0};
    for (size_t j = 0, size; j < p->dim; j += size) {
        size = p->dim - j < PIECE ? p->dim - j : PIECE;
        NORMALS(direction, u, size);
        NAME(add_products)(u, x + j, (REAL)p->per_radius, size, sum[0]);
        memcpy(out + j, u, size * sizeof *u);
    }
    const int invalid = NAME(signed_scales)(p, sum, sign, 1, &scale);
    for (size_t j = 0; j < p->dim; j++) /* vector loop */
        out[j] *= scale;
    return invalid;
}

static int NAME(privatize_l2_ball)(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out)
{
    const l2_ball *p = params;
    stream direction = stream_open(key, STREAM_L2_DIRECTION, block);
    reader sign;
    reader_open(&sign, key, STREAM_L2_SIGN, block, 2 * n);
    return p->dim <= PIECE ? NAME(short_rows)(p, x, &direction, &sign, n, out) : NAME(long_row)(p, x, &direction, &sign, out);
}

#if !REAL_IS_DOUBLE
/* Pads a direction with zeros. Returns the sums of u^2 and u y. */
LDP_INLINE void NAME(pad_direction)(const float *packed, const float *y, size_t dim, size_t padded, float *u, float *square,
                                    float *product)
{
    NAME(vector) uu[NAME(VECTORS)] = {0}, uy[NAME(VECTORS)] = {0};
    for (size_t j = 0; j < padded; j += NAME(LANES))
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            const size_t at = j + v * NAME(PER_VECTOR);
            const NAME(vector) a = NAME(load_first)(packed + at, dim > at ? dim - at : 0);
            NAME(vector) b;
            memcpy(u + at, &a, sizeof a);
            memcpy(&b, y + at, sizeof b);
            uu[v] += a * a;
            uy[v] += a * b;
        }
    *square = NAME(lane_sum)(uu);
    *product = NAME(lane_sum)(uy);
}

static void PER_ISA(l2_ball_parts)(const l2_ball *p, const uint64_t *words, const float *rows, const float *row_squares,
                                   size_t n, size_t padded, const l2_ball_reports *out)
{
    const double radius = 1 / p->per_radius;
    float square[MAX_PARTS], product[MAX_PARTS], per_norm[MAX_PARTS];
    for (size_t i = 0; i < n; i++)
        NAME(pad_direction)(out->normals + i * p->dim, rows + i * padded, p->dim, padded, out->direction + i * padded,
                            square + i, product + i);
    for (size_t i = 0; i < n; i++) { /* vector loop */
        square[i] = 1 / __builtin_sqrtf(square[i]);
        per_norm[i] = 1 / __builtin_sqrtf(row_squares[i] + 0x1p-120f); /* not infinite */
    }
    for (size_t i = 0; i < n; i++) { /* vector loop */
        const uint64_t minus = (uint64_t)(bits_f32(product[i]) >> 31) ^ (uint64_t)(words[2 * i + 1] >= p->heads);
        out->size[i] = double_of(bits_f64(p->scale * (double)square[i]) ^ minus << 63);
        const double rounding = double_of(words[2 * i] >> 12 | bits_f64(2)) - 3; /* in [-1, 1) */
        out->level[i] = rounding * radius * (double)per_norm[i];
    }
}
#endif

#undef NORMALS
