#include "sgd/glm.h"

#include <float.h>
#include <math.h>

#include "check/ranges.h"
#include "simd/logarithm.h"

#define KERNEL_BODY "sgd/glm_body.h"
#include "simd/each_isa.h"

#define KERNEL_REALS
#define KERNEL_BODY "sgd/glm_rows_body.h"
#include "simd/each_isa.h"

int glm_rows_f32(const glm *p, const float *x, const int64_t *index, size_t n, float *rows, float *squares)
{
    return LDP_BEST(glm_rows_f32)(p, x, index, n, rows, squares);
}

int glm_rows_f64(const glm *p, const double *x, const int64_t *index, size_t n, float *rows, float *squares)
{
    return LDP_BEST(glm_rows_f64)(p, x, index, n, rows, squares);
}

int glm_responses(const glm *p, const double *y, size_t n) { return LDP_BEST(glm_responses)(p, y, n); }

double glm_slope(const glm *p, const double *position, const float *row, double y)
{
    const double z = LDP_BEST(inner_product)(position, row, p->padded);
    double slope = (p->family == LINEAR ? z : p->family == LOGISTIC ? 1 / (1 + exp(-z)) : exp(z)) - y;
    slope = slope < p->residual ? slope : p->residual;
    return slope > -p->residual ? slope : -p->residual;
}

void glm_move(const glm *p, const double *position, const double *report, double factor, double *moved)
{
    LDP_BEST(glm_move)(p, position, report, factor, moved);
}

void glm_limits(const glm *p, const double *y, const double *level, size_t n, const glm_steps *steps)
{
    LDP_BEST(glm_limits)(p, y, level, n, steps);
}

void glm_descend(const glm *p, const glm_steps *steps, const float *rows, const float *directions, size_t n, double *positions,
                 const void *next, size_t next_size)
{
    LDP_BEST(glm_descend)(p, steps, rows, directions, n, positions, next, next_size);
}

void glm_add(const glm *p, const double *positions, size_t n, double size, double *sums)
{
    LDP_BEST(glm_add)(p, positions, n, size, sums);
}

void glm_square(const glm *p, const double *sums, double *matrix) { LDP_BEST(glm_square)(p, sums, matrix); }
