/* Range checks: read-only passes that stop at the first invalid record. NaN is invalid. */
#ifndef LDP_RANGES_H
#define LDP_RANGES_H

#include "simd/platform.h"

/* End of a range for records of `bytes` bytes. A finite end stays finite. */
double range_end(double end, size_t bytes);

/* Whether any of n numbers is outside [lower, upper]. */
int any_outside_f32(const float *x, size_t n, double lower, double upper);
int any_outside_f64(const double *x, size_t n, double lower, double upper);

/* Index of the first of n numbers outside [lower, upper]; n if there is none. */
size_t first_outside_f32(const float *x, size_t n, double lower, double upper);
size_t first_outside_f64(const double *x, size_t n, double lower, double upper);

/* Index of the first of n integers outside [0, k); `size` is 1, 2, 4 or 8 bytes. n if there is none. */
size_t first_code_outside(const void *x, int size, int is_signed, size_t n, uint64_t k);

/* Euclidean norm of n numbers. */
double row_norm_f32(const float *x, size_t n);
double row_norm_f64(const double *x, size_t n);

/* Index of the first of n rows with a Euclidean norm outside [least, most]; n if there is none. */
size_t first_norm_outside_f32(const float *x, size_t n, size_t dim, double least, double most);
size_t first_norm_outside_f64(const double *x, size_t n, size_t dim, double least, double most);

#endif
