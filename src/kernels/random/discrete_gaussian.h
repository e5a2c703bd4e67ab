/* Exact discrete Gaussian noise: integers n with probabilities proportional to exp(-n^2 / (2 variance)).
 *
 * C. Canonne, G. Kamath, T. Steinke, "The discrete Gaussian for differential privacy", NeurIPS 2020, algorithms 1 to 3. Every
 * coin has a rational probability and is drawn exactly: doubles decide it where their rounding cannot matter, integers elsewhere. */
#ifndef LDP_DISCRETE_GAUSSIAN_H
#define LDP_DISCRETE_GAUSSIAN_H

#include "random/coins.h"

#define MOST_VARIANCE ((uint64_t)1 << 48)

/* n integers of the given variance parameter, 1 to MOST_VARIANCE; returns 1 where the stream was exhausted. */
int draw_gaussian(const stream_key *key, uint64_t block, uint64_t variance, size_t n, int64_t *out);

#endif
