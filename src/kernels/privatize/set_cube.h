/* Sampled cube for sets: the signs of a few sampled options, or of all. docs/proofs/set_cube.md.
 *
 * The kernel of sampled_cube.h for records that are rows of positions, as those of set selection. An option is a coordinate, plus for
 * the options of the set; if a set may be missing, that is one coordinate more. Privacy: as there; the signs of any row of numbers
 * are those of a vertex of the cube. All positions of a row are read for each sign, without a branch on them. The time depends on the
 * coin. */
#ifndef LDP_SET_CUBE_H
#define LDP_SET_CUBE_H

#include "privatize/sampled_cube.h"

typedef struct {
    sampled_cube cube; /* of k coordinates, or one more; without a radius */
    uint32_t k, own;   /* options; positions of a record */
} set_cube;

/* Records: rows of `own` positions in ascending order: below k those of the options of the set, k + own for a missing set, others for
 * nothing. Reports: as those of the sampled cube. */
privatize_fn privatize_set_cube_u8, privatize_set_cube_u16, privatize_set_cube_u32, privatize_set_cap_cube;

#endif
