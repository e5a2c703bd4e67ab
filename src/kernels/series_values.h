/* Values of a trigonometric series on an interval. docs/guide.md. */
#ifndef LDP_SERIES_VALUES_H
#define LDP_SERIES_VALUES_H

#include "simd/platform.h"

typedef struct {
    size_t terms;
    double lower, per_range; /* 1 / (upper - lower) */
} series_interval;

/* Writes 1 + sum coefficient[j] term j (privatize/series.h), at n positions. */
void series_values(const series_interval *p, const double *coefficient, const double *x, size_t n, double *out);

#endif
