/* Reports of public directions: a seed and the index of one of its candidates. */
#ifndef LDP_TALLY_DIRECTIONS_H
#define LDP_TALLY_DIRECTIONS_H

#include "random/directions.h"
#include "tally/vectors.h"

typedef struct {
    size_t dim;
    double bound;
    uint32_t bits; /* of the index */
} direction_format;

/* reports: words of 64 bits, as those of rank_codebook.h; state: one 128-bit sum per coordinate, then one of their squares. */
tally_fn tally_directions;

/* Writes the vectors of n reports, of norm `bound`, to rows of single precision. */
void expand_directions(const direction_format *p, const uint64_t *reports, size_t n, float *rows);

#endif
