/* Standard normal numbers for directions: the Box-Muller transform with polynomials. The bits are the same on every instruction
 * set, because there are no fused operations and no library functions. A number and its negative have the same probability.
 * Noise that is added to a record does not use these numbers; it is made of integers. */
#ifndef LDP_NORMALS_H
#define LDP_NORMALS_H

#include "random/stream.h"

/* Draws n numbers. Consumes whole groups of the stream: 3 random bytes per float, 8 per double. */
void normals_f32(stream *s, float *out, size_t n);
void normals_f64(stream *s, double *out, size_t n);

enum { NORMALS_F32 = 1024, NORMALS_F64 = 512 }; /* numbers per chunk; multiples of these use all random bytes */

#endif
