/* Set selection: a set of `size` of d positions, of which at least `threshold` are the person's with the probability of the
 * private coin. docs/proofs/set_selection.md.
 *
 * Privacy: a record is `own` positions in ascending order. A uniform set of the other positions and an order of its first
 * members are drawn without the record. The private coin decides how many of the person's positions are in the report, a uniform
 * choice which of them; members of the other set leave for them, in their order, and the person's positions are inserted by masks over
 * all words. No branch and no address depends on the record or on the coin. */
#ifndef LDP_SET_SELECTION_H
#define LDP_SET_SELECTION_H

#include "privatize/kernel.h"
#include "random/digits.h"
#include "random/uniform_sets.h"

enum { MAX_OWN = 256, MAX_LISTED = 16 }; /* positions of a record; members of a short set */

typedef struct {
    uint64_t heads;             /* of 2^64 words: the report has at least `threshold` of the person's positions */
    uint64_t reports;           /* number of sets, at most 2^63; 0 if there are more */
    uint64_t up_to[MAX_OWN + 1]; /* number of sets with at most so many of the person's positions, if `reports` is not 0 */
    uint32_t positions, own, size, threshold;
    uint32_t density; /* of 2^SET_DIGITS: probability that a position is in the first draw, for sets that are not short */
    digit_plan members; /* members of a short set, or ranks of those that leave a larger one */
    digit_plan
        choice;  /* which of the person's positions are in the report; before that, if `reports` is below 2^32, the numbers
                         * of a set on either side of the coin */
} set_selection;

/* Fills the plans of digits from the other parameters. */
void set_selection_plan(set_selection *p);

LDP_INLINE size_t set_row_words(const set_selection *p) { return (p->positions + 63) / 64; }
LDP_INLINE size_t set_selection_rows(const set_selection *p) { return SET_WORDS / set_row_words(p); }

/* Records: rows of `own` different positions in ascending order, each below `positions` <= 65536. Reports: bits of the positions. */
privatize_fn privatize_set_selection_u16;
/* The same with size = threshold = 1. Reports: a position as a code of 8 or 16 bits. */
privatize_fn privatize_set_codes_u8, privatize_set_codes_u16;

#endif
