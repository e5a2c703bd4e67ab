/* Trigonometric series on an interval: sqrt 2 cos(2 pi m u), sqrt 2 sin(2 pi m u), m = 1, 2, ..., where u in [0, 1] is the
 * position in the interval. Term j, counted from 0, has m = floor(j / 2) + 1 and is a cosine if j is even. docs/guide.md. */
#ifndef LDP_SERIES_H
#define LDP_SERIES_H

#include "simd/platform.h"

typedef struct {
    size_t terms;
    double lower, per_range; /* 1 / (upper - lower) */
    const uint32_t *harmonic; /* m of each term */
    const uint32_t *phase;    /* 0 for a cosine, 2^30 for a sine: both are cos 2 pi (m u - phase / 2^32) */
} series;

/* Writes the terms of n numbers, one row of floats each, with an error of at most 6.3e-7 + 4.2e-9 m. Numbers are clipped to the
 * interval, and NaN becomes the center. No branch and no address depends on a number. */
void series_terms_f32(const series *p, const float *x, size_t n, float *out);
void series_terms_f64(const series *p, const double *x, size_t n, float *out);

/* Writes 1 + sum coefficient[j] term j, at n positions. */
void series_values(const series *p, const double *coefficient, const double *x, size_t n, double *out);

#endif
