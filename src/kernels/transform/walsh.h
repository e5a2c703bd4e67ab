/* Walsh-Hadamard transform of integers, which decodes the counts of Hadamard response. */
#ifndef LDP_WALSH_H
#define LDP_WALSH_H

#include "simd/platform.h"

/* Replaces v by its transform, sum over z of (-1)^(ones of x & z) v[z], in place. n is a power of two. There is no overflow if the
 * sum of the magnitudes is below 2^63. */
void walsh_i64(int64_t *v, size_t n);

#endif
