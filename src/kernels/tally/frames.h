/* Reports of ranked signs: a seed and the signs of the vectors of its frame (random/frames.h). */
#ifndef LDP_TALLY_FRAMES_H
#define LDP_TALLY_FRAMES_H

#include "random/frames.h"
#include "tally/vectors.h"

/* A report stands for `unit` times the sum of the frame's vectors with their signs. No number of it is larger than `bound`. */
typedef struct {
    frame frame;
    double unit, bound;
} frame_format;

/* reports: rows of words of 64 bits, as those of ranked_signs.h; state: one 128-bit sum per coordinate, then one of their squares. */
tally_fn tally_frames;

/* Writes the vectors of n reports to rows of single precision. */
void expand_frames(const frame_format *p, const uint64_t *reports, size_t n, float *rows);

#endif
