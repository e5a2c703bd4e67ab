#include "series.h"

#include <math.h>

#include "simd/branchless.h"

enum { SERIES_PIECE = 256 };

#define KERNEL_BODY "series_body.h"
#include "simd/each_isa.h"

#define KERNEL_REALS
#define KERNEL_BODY "series_terms_body.h"
#include "simd/each_isa.h"

void series_terms_f32(const series *p, const float *x, size_t n, float *out) { LDP_BEST(series_terms_f32)(p, x, n, out); }

void series_terms_f64(const series *p, const double *x, size_t n, float *out) { LDP_BEST(series_terms_f64)(p, x, n, out); }

void series_values(const series *p, const double *coefficient, const double *x, size_t n, double *out)
{
    for (size_t i = 0; i < n; i += SERIES_PIECE)
        LDP_BEST(series_values)(p, coefficient, x + i, n - i < SERIES_PIECE ? n - i : SERIES_PIECE, out + i);
}
