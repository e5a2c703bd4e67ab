#include "descent.h"

#include <math.h>

#define KERNEL_BODY "descent_body.h"
#include "each_isa.h"

#define DEFINE_ROWS(name, real, build)                                                                            \
    void name(const descent *p, const real *x, const int64_t *index, size_t n, float *rows)                       \
    {                                                                                                             \
        static void (*const copies[LDP_ISA_COUNT])(const descent *, const real *, const int64_t *, size_t, float *) = \
            LDP_DISPATCH(build);                                                                                  \
        copies[ldp_isa()](p, x, index, n, rows);                                                                  \
    }
DEFINE_ROWS(descent_rows_f32, float, rows_f32)
DEFINE_ROWS(descent_rows_f64, double, rows_f64)

double descent_slope(const descent *p, const double *position, const float *row, double y)
{
    static double (*const inner[LDP_ISA_COUNT])(const double *, const float *, size_t) = LDP_DISPATCH(inner);
    const double z = inner[ldp_isa()](position, row, p->padded);
    double slope = (p->family == LINEAR ? z : p->family == LOGISTIC ? 1 / (1 + exp(-z)) : exp(z)) - y;
    slope = slope < p->residual ? slope : p->residual;
    return slope > -p->residual ? slope : -p->residual;
}

#define DEFINE_MOVE(name, real, build)                                                                            \
    void name(const descent *p, const double *position, const real *report, double factor, double *moved)         \
    {                                                                                                             \
        static void (*const moves[LDP_ISA_COUNT])(const descent *, const double *, const real *, double, double *) = \
            LDP_DISPATCH(build);                                                                                  \
        moves[ldp_isa()](p, position, report, factor, moved);                                                     \
    }
DEFINE_MOVE(descent_move_f32, float, move_f32)
DEFINE_MOVE(descent_move_f64, double, move_f64)

void descent_add(const descent *p, const double *positions, size_t n, double size, double *sums)
{
    static void (*const adds[LDP_ISA_COUNT])(const descent *, const double *, size_t, double, double *) = LDP_DISPATCH(add);
    adds[ldp_isa()](p, positions, n, size, sums);
}

void descent_square(const descent *p, const double *sums, double *matrix)
{
    static void (*const squares[LDP_ISA_COUNT])(const descent *, const double *, double *) = LDP_DISPATCH(square);
    squares[ldp_isa()](p, sums, matrix);
}
