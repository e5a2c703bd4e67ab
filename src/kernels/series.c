#include "series.h"
#include "select.h"

#include <math.h>

enum { SERIES_PIECE = 256 };

#define KERNEL_BODY "series_body.h"
#include "each_isa.h"

#define DEFINE_TERMS(name, real, build)                                                                           \
    void name(const series *p, const real *x, size_t n, float *out)                                               \
    {                                                                                                             \
        static void (*const terms[LDP_ISA_COUNT])(const series *, const real *, size_t, float *) =                \
            LDP_DISPATCH(build);                                                                                  \
        terms[ldp_isa()](p, x, n, out);                                                                           \
    }

DEFINE_TERMS(series_terms_f32, float, terms_f32)
DEFINE_TERMS(series_terms_f64, double, terms_f64)

void series_values(const series *p, const double *coefficient, const double *x, size_t n, double *out)
{
    static void (*const values[LDP_ISA_COUNT])(const series *, const double *, const double *, size_t, double *) =
        LDP_DISPATCH(values);
    for (size_t i = 0; i < n; i += SERIES_PIECE)
        values[ldp_isa()](p, coefficient, x + i, n - i < SERIES_PIECE ? n - i : SERIES_PIECE, out + i);
}
