/* Standard normal numbers for directions: Box-Muller with polynomials, the same bits on every instruction set (no fused
 * operations, no library functions). Symmetric: a sign flip of any coordinate has the same probability. Not for noise that
 * is added to a record: see design D5. */
#ifndef LDP_NORMAL_H
#define LDP_NORMAL_H

#include "chacha.h"

/* n numbers; consumes whole groups of the stream, 3 random bytes per float, 8 per double. */
void normals_f32(stream *s, float *out, size_t n);
void normals_f64(stream *s, double *out, size_t n);

enum { NORMALS_F32 = 1024, NORMALS_F64 = 512 }; /* per chunk: calls with a multiple of these waste nothing */

#endif
