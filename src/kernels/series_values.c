#include "series.h"

#include <math.h>

#include "simd/branchless.h"

enum { SERIES_PIECE = 256 };

#define KERNEL_BODY "series_body.h"
#include "simd/each_isa.h"

#define KERNEL_REALS
#define KERNEL_BODY "series_terms_body.h"
#include "simd/each_isa.h"

#define DEFINE_TERMS(dtype, real)                                                                                      \
    void series_terms_##dtype(const series *p, const real *x, size_t n, float *out)                                    \
    {                                                                                                                  \
        for (size_t i = 0; i < n; i += SERIES_PIECE)                                                                   \
            LDP_BEST(series_terms_##dtype)(p, x + i, n - i < SERIES_PIECE ? n - i : SERIES_PIECE, out + i * p->terms); \
    }

DEFINE_TERMS(f32, float)
DEFINE_TERMS(f64, double)

void series_values(const series *p, const double *coefficient, const double *x, size_t n, double *out)
{
    for (size_t i = 0; i < n; i += SERIES_PIECE)
        LDP_BEST(series_values)(p, coefficient, x + i, n - i < SERIES_PIECE ? n - i : SERIES_PIECE, out + i);
}
