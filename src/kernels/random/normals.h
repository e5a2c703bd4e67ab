/* Standard normal numbers for directions: the Box-Muller transform with polynomials, the same bits on every instruction set (no
 * fused operations, no library functions). A number and its negative have the same probability. Never used for noise that is
 * added to a record: that noise is made of integers. */
#ifndef LDP_NORMALS_H
#define LDP_NORMALS_H

#include "random/stream.h"

/* n numbers; consumes whole groups of the stream, 3 random bytes per float, 8 per double. */
void normals_f32(stream *s, float *out, size_t n);
void normals_f64(stream *s, double *out, size_t n);

enum { NORMALS_F32 = 1024, NORMALS_F64 = 512 }; /* per chunk: calls with a multiple of these waste nothing */

#endif
