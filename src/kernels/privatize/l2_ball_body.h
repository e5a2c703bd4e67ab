/* The normal numbers of a few rows are drawn, and each row is read twice from cache, for the sums and for the scaling.
 * Bottleneck: the normal numbers and their key stream. */
#include "simd/row_products_body.h"

#define NORMALS LDP_PASTE(normals, DTYPE)

/* What the norm of a row tells of it. The sum of the squares has a smaller error than the tolerance. */
LDP_INLINE int NAME(found)(const l2_ball *p, const double sum[3])
{
    const double limit = 1 + p->tolerance * (REAL_IS_DOUBLE ? 0x1p-53 : 0x1p-24);
    return outside_of_ball(sum[2], limit * limit);
}

/* Writes the report of x to `out`, from a row `u` of normal numbers. Returns what its norm tells. */
LDP_INLINE int NAME(finish_row)(const l2_ball *p, const REAL *x, reader *sign, const REAL *u, REAL *out)
{
    double sum[3] = {0};
    NAME(add_products)(u, x, (REAL)p->per_radius, p->dim, sum);
    const REAL scale = (REAL)signed_scale(p, sum, sign);
    for (size_t j = 0; j < p->dim; j++) /* vector loop */
        out[j] = u[j] * scale;
    return NAME(found)(p, sum);
}

/* Rows of at most PIECE numbers: the normal numbers of a few rows at once. Memory is fetched meanwhile. */
static int NAME(short_rows)(const l2_ball *p, const REAL *x, stream *direction, reader *sign, size_t n, REAL *out)
{
    enum { TOGETHER = 1024 };
    REAL u[PIECE] LDP_ALIGNED;
    const size_t dim = p->dim, rows = dim > TOGETHER ? 1 : TOGETHER / dim;
    int invalid = 0;
    for (size_t i = 0; i < n; i += rows) {
        const size_t now = n - i < rows ? n - i : rows;
        for (size_t j = 0, size; j < now * dim; j += size) {
            size = now * dim - j < NORMALS_CHUNK ? now * dim - j : NORMALS_CHUNK;
            fetch_to_read(x + i * dim + j, size * sizeof *x);
            fetch_to_write(out + i * dim + j, size * sizeof *out);
            NORMALS(direction, u + j, size);
        }
        for (size_t r = i; r < i + now; r++)
            invalid |= NAME(finish_row)(p, x + r * dim, sign, u + (r - i) * dim, out + r * dim);
    }
    return invalid;
}

/* One row of more than PIECE numbers. */
static int NAME(long_row)(const l2_ball *p, const REAL *x, stream *direction, reader *sign, REAL *out)
{
    REAL u[PIECE] LDP_ALIGNED;
    double sum[3] = {0};
    for (size_t j = 0, size; j < p->dim; j += size) {
        size = p->dim - j < PIECE ? p->dim - j : PIECE;
        NORMALS(direction, u, size);
        NAME(add_products)(u, x + j, (REAL)p->per_radius, size, sum);
        memcpy(out + j, u, size * sizeof *u);
    }
    const REAL scale = (REAL)signed_scale(p, sum, sign);
    for (size_t j = 0; j < p->dim; j++) /* vector loop */
        out[j] *= scale;
    return NAME(found)(p, sum);
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
