/* Bottleneck: the dependency chain from one position to the next. Values that do not depend on the position are computed before
 * the chain, and values that the chain does not need are computed after it. */
#include "simd/lane_sums_body.h"

/* Inner product of doubles and floats. */
static double NAME(inner)(const double *a, const float *b, size_t padded)
{
    NAME(vector) sum[NAME(VECTORS)] = {0};
    for (size_t j = 0; j < padded; j += NAME(LANES)) {
        double wide[NAME(LANES)];
        for (int l = 0; l < NAME(LANES); l++) /* vector loop */
            wide[l] = (double)b[j + l];
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            NAME(vector) x, y;
            memcpy(&x, a + j + v * NAME(PER_VECTOR), sizeof x);
            memcpy(&y, wide + v * NAME(PER_VECTOR), sizeof y);
            sum[v] += x * y;
        }
    }
    return NAME(lane_sum)(sum);
}

static double NAME(square_norm)(const double *a, size_t padded)
{
    NAME(vector) sum[NAME(VECTORS)] = {0};
    for (size_t j = 0; j < padded; j += NAME(LANES))
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            NAME(vector) x;
            memcpy(&x, a + j + v * NAME(PER_VECTOR), sizeof x);
            sum[v] += x * x;
        }
    return NAME(lane_sum)(sum);
}

/* Projects a row on the l2 ball. */
static void NAME(shrink)(const glm *p, float *row)
{
    NAME(vector) sum[NAME(VECTORS)] = {0};
    for (size_t j = 0; j < p->padded; j += NAME(LANES)) {
        double wide[NAME(LANES)];
        for (int l = 0; l < NAME(LANES); l++) /* vector loop */
            wide[l] = (double)row[j + l];
#pragma GCC unroll 8
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            NAME(vector) x;
            memcpy(&x, wide + v * NAME(PER_VECTOR), sizeof x);
            sum[v] += x * x;
        }
    }
    const double square = NAME(lane_sum)(sum);
    if (square > p->radius * p->radius) {
        const double factor = p->radius / __builtin_sqrt(square);
        for (size_t j = 0; j < p->padded; j++) /* vector loop */
            row[j] = (float)((double)row[j] * factor);
    }
}

static void NAME(glm_add)(const glm *p, const double *positions, size_t n, double size, double *sums)
{
    const size_t padded = p->padded;
    for (size_t j = 0; j < padded; j += NAME(LANES)) { /* the sums of LANES coordinates stay in registers */
        NAME(vector) sum[GLM_SUMS][NAME(VECTORS)];
        double s = size;
        for (size_t k = 0; k < GLM_SUMS; k++)
            memcpy(sum[k], sums + k * padded + j, sizeof sum[k]);
        for (size_t i = 0; i < n; i++) {
            s += 1;
#pragma GCC unroll 8
            for (size_t v = 0; v < NAME(VECTORS); v++) {
                NAME(vector) position;
                memcpy(&position, positions + i * padded + j + v * NAME(PER_VECTOR), sizeof position);
                sum[0][v] += position;
                sum[1][v] += sum[0][v];
                sum[2][v] += sum[0][v] * sum[0][v];
                sum[3][v] += s * sum[0][v];
            }
        }
        for (size_t k = 0; k < GLM_SUMS; k++)
            memcpy(sums + k * padded + j, sum[k], sizeof sum[k]);
    }
}

static void NAME(glm_square)(const glm *p, const double *sums, double *matrix)
{
    for (size_t i = 0; i < p->dim; i++)
        for (size_t j = 0; j < p->dim; j++) /* vector loop */
            matrix[i * p->dim + j] += sums[i] * sums[j];
}
