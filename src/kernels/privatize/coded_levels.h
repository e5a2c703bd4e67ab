/* One code of a level that is drawn at random: levels of a tree over ordered cells, and the window above them.
 * docs/proofs/range_queries.md, docs/proofs/distribution.md.
 *
 * Privacy: the level is drawn without the record. With heads the code is uniform in the set of codes of the record's symbol, with
 * tails uniform outside of it, by exact uniform integers. The time depends on the record and the coin (tables, rejection). */
#ifndef LDP_CODED_LEVELS_H
#define LDP_CODED_LEVELS_H

#include "privatize/projective_response.h"

enum { MAX_CODED_LEVELS = 32, SPAN_SHIFT = 42 };

/* How the codes of a set are numbered. WINDOW_CODES: the set of symbol i is i, ..., i + size - 1; size 1 is k-ary response.
 * TABLED_CODES: row i of a table has the codes of the set, then the others. PARITY_CODES: the codes whose bits have an even number
 * of ones in common with 1 + the highest bit and the node, or an odd one for a minus sign. POINT_CODES: the points of a projective
 * space that are orthogonal to the node's. */
enum codes_of_level { WINDOW_CODES = 0, TABLED_CODES = 1, PARITY_CODES, POINT_CODES };

typedef struct {
    uint64_t heads;      /* of 2^64 words */
    uint64_t
        reciprocal; /* ceil(2^SPAN_SHIFT / span): the symbol of a record below 2^20 is floor(record reciprocal / 2^SPAN_SHIFT) */
    uint32_t kind, first; /* first code */
    uint32_t codes[2], row; /* in a set, and outside of it; all */
    const uint32_t
        *table; /* never NULL. TABLED_CODES: a row of all codes for each symbol; POINT_CODES: the point of each node */
    const projective_response *space; /* of POINT_CODES */
} coded_level;

/* The level of a record is that of a uniform slot. A number of slots that is a power of two is drawn from the low bits of the
 * word of the code, which has slot_bits of them; otherwise slot_bits is 0, and the slot has a word of its own. */
typedef struct {
    uint32_t k, slots, slot_bits, sign_bits; /* sign_bits: 1 if a symbol is a node and, in the lowest bit, a sign */
    uint32_t stream;
    uint8_t slot[MAX_CODED_LEVELS];
    coded_level level[MAX_CODED_LEVELS];
} coded_levels;

/* privatize_coded_levels_u<bits of a record>_u<bits of a report> */
privatize_fn privatize_coded_levels_u8_u8, privatize_coded_levels_u8_u16, privatize_coded_levels_u8_u32,
    privatize_coded_levels_u16_u16, privatize_coded_levels_u16_u32, privatize_coded_levels_u32_u32;

#endif
