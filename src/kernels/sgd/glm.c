#include "sgd/glm.h"

#include <math.h>

#define KERNEL_BODY "sgd/glm_body.h"
#include "simd/each_isa.h"

#define KERNEL_REALS
#define KERNEL_BODY "sgd/glm_rows_body.h"
#include "simd/each_isa.h"

#define DEFINE_GLM(dtype, real)                                                                                   \
    void glm_rows_##dtype(const glm *p, const real *x, const int64_t *index, size_t n, float *rows)               \
    {                                                                                                             \
        LDP_BEST(glm_rows_##dtype)(p, x, index, n, rows);                                                         \
    }                                                                                                             \
    void glm_move_##dtype(const glm *p, const double *position, const real *report, double factor, double *moved) \
    {                                                                                                             \
        LDP_BEST(glm_move_##dtype)(p, position, report, factor, moved);                                           \
    }

DEFINE_GLM(f32, float)
DEFINE_GLM(f64, double)

double glm_slope(const glm *p, const double *position, const float *row, double y)
{
    const double z = LDP_BEST(inner)(position, row, p->padded);
    double slope = (p->family == LINEAR ? z : p->family == LOGISTIC ? 1 / (1 + exp(-z)) : exp(z)) - y;
    slope = slope < p->residual ? slope : p->residual;
    return slope > -p->residual ? slope : -p->residual;
}

void glm_add(const glm *p, const double *positions, size_t n, double size, double *sums)
{
    LDP_BEST(glm_add)(p, positions, n, size, sums);
}

void glm_square(const glm *p, const double *sums, double *matrix) { LDP_BEST(glm_square)(p, sums, matrix); }
