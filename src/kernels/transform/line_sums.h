/* Sums of counts over all hyperplanes of a space over a prime field, coordinate by coordinate. They decode the counts of
 * projective geometry response, docs/proofs/projective_geometry_response.md.
 *
 * Points of `length` coordinates are numbered as in privatize/projective_response.h. There are
 * (prime^length - 1) / (prime - 1) of them. All sums are modulo 2^32. */
#ifndef LDP_LINE_SUMS_H
#define LDP_LINE_SUMS_H

#include "simd/platform.h"

typedef struct {
    uint32_t prime; /* below 2^13 */
    uint32_t length; /* coordinates that are summed already, at least 1 */
    size_t points; /* of that many coordinates */
} line_space;

/* Numbers of `uint32_t` of scratch memory for the functions below. */
size_t line_sums_scratch(line_space s);

/* Sums over one coordinate more. sums[a][p][v] is the sum over the vectors x of `length` coordinates with <p, x> = v that
 * are followed by a, for all points p. wider[p][v] becomes the same sum for the points of length + 1 coordinates. */
void add_coordinate_u32(line_space s, const uint32_t *sums, uint32_t *wider, uint32_t *scratch);

/* The sums over the hyperplanes of the points of length + 1 coordinates whose last one is 1. sums[p][v] is the sum over the
 * vectors x with <p, x> = v, which stand for the points (x, 1); below[p] is the sum over the hyperplane of p among the points
 * of `length` coordinates, and `all` that over all of those. The vectors in `hits` are in the order of their numbers. */
void hyperplane_sums_u32(line_space s, const uint32_t *sums, const uint32_t *below, uint32_t all, uint32_t *hits,
                         uint32_t *scratch);

/* Adds `people` to the hits of each of the first k points on the hyperplane of the point `code`, modulo `prime`. */
void add_hyperplane_i64(uint32_t prime, size_t code, int64_t people, size_t k, int64_t *hits);

#endif
