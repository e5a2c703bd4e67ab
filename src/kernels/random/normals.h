/* Standard normal numbers for directions: the Box-Muller transform with polynomials. The bits are the same on every instruction
 * set, because there are no fused operations and no library functions. A number and its negative have the same probability.
 * Noise that is added to a record does not use these numbers; it is made of integers. */
#ifndef LDP_NORMALS_H
#define LDP_NORMALS_H

#include "random/stream.h"

/* Numbers are made in chunks of at most NORMALS_CHUNK, rounded up to a multiple of NORMALS_STEP. */
enum { NORMALS_CHUNK = 512, NORMALS_STEP = 64 };

/* Room for n numbers, rounded up. */
LDP_INLINE size_t normals_room(size_t n) { return (n + NORMALS_STEP - 1) / NORMALS_STEP * NORMALS_STEP; }

/* Draws n numbers; `out` has room for normals_room(n). Consumes 3 random bytes per float, 8 per double. */
void normals_f32(stream *s, float *out, size_t n);
void normals_f64(stream *s, double *out, size_t n);

#endif
