/* Reports of rotated signs: a seed and the signs of the rows of a public rotation that follow from it (transform/rotation.h). */
#ifndef LDP_TALLY_ROTATED_H
#define LDP_TALLY_ROTATED_H

#include "privatize/kernel.h"
#include "transform/rotation.h"

/* The rotation has 2^bits rows. */
typedef struct {
    uint32_t bits, signs;
} rotated_format;

/* reports: rows of words of 64 bits, as those of privatize/rotated_signs.h; state: for each row of the rotation, the sum of its
 * signs as int64. */
tally_fn tally_rotated;

#endif
