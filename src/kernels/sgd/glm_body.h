/* Bottleneck: the dependency chain from one position to the next. Values that do not depend on the position are computed before
 * the chain, and values that the chain does not need are computed after it. */
#include "simd/lane_sums_body.h"

/* Products of 2 LANES doubles and floats. */
LDP_INLINE void NAME(multiply)(const double *a, const float *b, NAME(vector) * product)
{
    double wide[2 * NAME(LANES)];
    for (int l = 0; l < 2 * NAME(LANES); l++) /* vector loop */
        wide[l] = (double)b[l];
#pragma GCC unroll 16
    for (size_t v = 0; v < 2 * NAME(VECTORS); v++) {
        NAME(vector) x, y;
        memcpy(&x, a + v * NAME(PER_VECTOR), sizeof x);
        memcpy(&y, wide + v * NAME(PER_VECTOR), sizeof y);
        product[v] = x * y;
    }
}

/* Inner product of `padded` doubles and floats, in every lane. Many accumulators shorten the dependency chain. */
LDP_INLINE NAME(vector) NAME(inner)(const double *a, const float *b, size_t padded)
{
    NAME(vector) sum[2 * NAME(VECTORS)], more[2 * NAME(VECTORS)];
    NAME(multiply)(a, b, sum);
    for (size_t j = 2 * NAME(LANES); j < padded; j += 2 * NAME(LANES)) {
        NAME(multiply)(a + j, b + j, more);
#pragma GCC unroll 16
        for (size_t v = 0; v < 2 * NAME(VECTORS); v++)
            sum[v] += more[v];
    }
#pragma GCC unroll 4
    for (size_t half = NAME(VECTORS); half; half /= 2)
#pragma GCC unroll 8
        for (size_t v = 0; v < half; v++)
            sum[v] += sum[v + half];
    return PER_ISA(spread_sum)(sum[0]);
}

static double NAME(inner_product)(const double *a, const float *b, size_t padded) { return NAME(inner)(a, b, padded)[0]; }

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

/* Projects a row on the l2 ball. Returns its norm. */
static double NAME(shrink)(const glm *p, float *row)
{
    const double norm = row_norm_f32(row, p->padded);
    if (!(norm > p->radius))
        return norm;
    const double factor = p->radius / norm;
    for (size_t j = 0; j < p->padded; j++) /* vector loop */
        row[j] = (float)((double)row[j] * factor);
    return p->radius;
}

/* Projects a position on the ball. The position is public. */
static void NAME(project)(const glm *p, double *position)
{
    const double length = __builtin_sqrt(NAME(square_norm)(position, p->padded));
    if (!(length > p->projection))
        return;
    const double factor = p->projection / length;
    for (size_t j = 0; j < p->padded; j++) /* vector loop */
        position[j] *= factor;
}

static void NAME(glm_move)(const glm *p, const double *position, const double *report, double factor, double *moved)
{
    for (size_t j = 0; j < p->padded; j++) /* vector loop */
        moved[j] = position[j] - factor * report[j];
    NAME(project)(p, moved);
}

/* log(num / den), -infinity for num <= 0, and infinity for den <= 0. */
LDP_INLINE double NAME(log_ratio)(double num, double den)
{
    const double ratio = num / den, v = logarithm(ratio), infinity = __builtin_inf();
    return num > 0 ? den > 0 && ratio < infinity ? v : infinity : -infinity;
}

/* A negative level counts as 0, and one that no slope exceeds as infinite. */
LDP_INLINE double NAME(magnitude)(double level, double bound)
{
    return level < 0 ? 0 : level < bound ? level : __builtin_inf();
}

/* The slope is mean(z) - y, and the fitted mean increases with z. So the slope is positive for z above the middle limit, and its
 * magnitude is at most t between the lowest and the highest limit. */
static void NAME(glm_limits)(const glm *p, const double *y, const double *level, size_t n, const glm_steps *s)
{
    const double infinity = __builtin_inf(), bound = p->family == LOGISTIC && p->residual > 1 ? 1 : p->residual;
    if (p->family == LOGISTIC) {
        for (size_t i = 0; i < n; i++) { /* vector loop */
            const double t = NAME(magnitude)(level[i], bound), edge = NAME(log_ratio)(t, 1 - t);
            s->low[i] = y[i] > 0.5 ? -edge : -infinity;
            s->middle[i] = y[i] > 0.5 ? infinity : -infinity;
            s->high[i] = y[i] > 0.5 ? infinity : edge;
        }
    } else if (p->family == LINEAR) {
        for (size_t i = 0; i < n; i++) { /* vector loop */
            const double t = NAME(magnitude)(level[i], bound);
            s->low[i] = y[i] - t;
            s->middle[i] = y[i];
            s->high[i] = y[i] + t;
        }
    } else {
        for (size_t i = 0; i < n; i++) { /* vector loop */
            const double t = NAME(magnitude)(level[i], bound);
            s->low[i] = NAME(log_ratio)(y[i] - t, 1);
            s->middle[i] = NAME(log_ratio)(y[i], 1);
            s->high[i] = NAME(log_ratio)(y[i] + t, 1);
        }
    }
}

/* Called with constants for short rows, so that the loops are unrolled. */
LDP_INLINE void NAME(descend)(const glm *p, const glm_steps *s, const float *rows, const float *directions, size_t n,
                              double *positions, const char *next, size_t next_size, size_t padded)
{
    const double most = p->projection * p->projection;
    for (size_t i = 0; i < n; i++) {
        const double *position = positions + i * padded;
        double *moved = positions + (i + 1) * padded;
        const NAME(vector) z = NAME(inner)(position, rows + i * padded, padded);
        const PER_ISA(int64s) odd = (z > s->low[i]) ^ (z > s->middle[i]) ^ (z > s->high[i]);
        const PER_ISA(int64s) opposite = ~odd & INT64_MIN;
        NAME(vector) square[NAME(VECTORS)] = {0};
        for (size_t j = 0; j < padded; j += NAME(LANES)) {
            double step[NAME(LANES)];
            for (int l = 0; l < NAME(LANES); l++) /* vector loop */
                step[l] = (double)directions[i * padded + j + l] * s->size[i];
#pragma GCC unroll 8
            for (size_t v = 0; v < NAME(VECTORS); v++) {
                NAME(vector) x;
                PER_ISA(int64s) d;
                memcpy(&x, position + j + v * NAME(PER_VECTOR), sizeof x);
                memcpy(&d, step + v * NAME(PER_VECTOR), sizeof d);
                x -= (NAME(vector))(d ^ opposite);
                square[v] += x * x;
                memcpy(moved + j + v * NAME(PER_VECTOR), &x, sizeof x);
            }
        }
        if (NAME(lane_sum)(square) > most)
            NAME(project)(p, moved);
        fetch_to_read(next + i * next_size, next_size);
    }
}

static void NAME(glm_descend)(const glm *p, const glm_steps *s, const float *rows, const float *directions, size_t n,
                              double *positions, const void *next, size_t next_size)
{
    if (p->padded == 32)
        NAME(descend)(p, s, rows, directions, n, positions, next, next_size, 32);
    else if (p->padded == 64)
        NAME(descend)(p, s, rows, directions, n, positions, next, next_size, 64);
    else
        NAME(descend)(p, s, rows, directions, n, positions, next, next_size, p->padded);
}

static int NAME(glm_responses)(const glm *p, const double *y, size_t n)
{
    const double least = p->family == LINEAR ? -DBL_MAX : 0, most = p->family == LOGISTIC ? 1 : DBL_MAX;
    int invalid = 0;
    for (size_t i = 0; i < n; i++) /* vector loop */
        invalid |= !(y[i] >= least && y[i] <= most) | (p->family == LOGISTIC && y[i] != 0 && y[i] != 1);
    return invalid;
}

/* The sum of s S is computed from the sums T of S: over n positions it is (size + n + 1) T - sum of the T so far. */
static void NAME(glm_add)(const glm *p, const double *positions, size_t n, double size, double *sums)
{
    const size_t padded = p->padded;
    for (size_t j = 0; j < p->dim; j += NAME(LANES)) { /* the sums of LANES coordinates stay in registers */
        NAME(vector) sum[GLM_SUMS][NAME(VECTORS)], total[NAME(VECTORS)] = {0}, totals[NAME(VECTORS)] = {0};
        for (size_t k = 0; k < GLM_SUMS; k++)
            memcpy(sum[k], sums + k * padded + j, sizeof sum[k]);
        for (size_t i = 0; i < n; i++)
#pragma GCC unroll 8
            for (size_t v = 0; v < NAME(VECTORS); v++) {
                NAME(vector) position;
                memcpy(&position, positions + i * padded + j + v * NAME(PER_VECTOR), sizeof position);
                sum[0][v] += position;
                sum[2][v] += sum[0][v] * sum[0][v];
                total[v] += sum[0][v];
                totals[v] += total[v];
            }
        for (size_t v = 0; v < NAME(VECTORS); v++) {
            sum[1][v] += total[v];
            sum[3][v] += (size + (double)n + 1) * total[v] - totals[v];
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
