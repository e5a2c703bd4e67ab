/* Public random frames: `signs` vectors of `dim` numbers from a seed, which everybody may know. Up to MAX_DIRECTION dimensions they are
 * orthonormal, the first columns of a uniform orthogonal matrix, which is a product of reflections of normal rows. In more dimensions
 * they are the normal rows themselves. */
#ifndef LDP_FRAMES_H
#define LDP_FRAMES_H

#include "random/directions.h"
#include "random/sign_patterns.h"

typedef struct {
    uint32_t dim, signs;
} frame;

/* Number of words of the signs. */
LDP_INLINE uint32_t sign_words(const frame *f) { return words_of_signs(f->signs); }

#endif
