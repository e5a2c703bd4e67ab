#include "series_values.h"

#include <math.h>

enum { SERIES_PIECE = 256 };

#define KERNEL_BODY "series_values_body.h"
#include "simd/each_isa.h"

void series_values(const series_interval *p, const double *coefficient, const double *x, size_t n, double *out)
{
    for (size_t i = 0; i < n; i += SERIES_PIECE)
        LDP_BEST(series_values)(p, coefficient, x + i, n - i < SERIES_PIECE ? n - i : SERIES_PIECE, out + i);
}
