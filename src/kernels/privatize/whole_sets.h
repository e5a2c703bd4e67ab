/* Randomized response of whole sets: a set of at most `own` of k options has a code. docs/proofs/whole_sets.md.
 *
 * Codes are ordered by the number of options, and sets of one size by their options, the largest one first of all. The code of a
 * missing set is the last one. Privacy: that of randomized response. The code is found from all positions of a record and sums over all
 * rows of a table, without a branch or an address that depends on them. */
#ifndef LDP_WHOLE_SETS_H
#define LDP_WHOLE_SETS_H

#include "privatize/randomized_response.h"

enum { MAX_WHOLE = 16, MAX_RANKS = 384, MAX_SETS = 1 << 16 }; /* positions; numbers of the table; codes */

typedef struct {
    randomized_response response; /* among all sets */
    uint16_t smaller[MAX_WHOLE];  /* number of sets with exactly 0, 1, ... options */
    uint16_t rank[MAX_RANKS];     /* for the options after the first, k numbers each: C(q, 2), C(q, 3), ... of option q */
    uint32_t k, own, optional;
} whole_sets;

/* Records: rows of `own` positions in ascending order: below k those of the options, k + own as the last one of a missing set. Reports:
 * codes; of one byte for at most 256 sets. */
privatize_fn privatize_whole_sets_u8, privatize_whole_sets_u16;

#endif
