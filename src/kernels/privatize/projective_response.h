/* Projective geometry response: a point of the projective space over a finite field that is orthogonal to the point of the
 * record, with the probability of the private coin. docs/proofs/projective_geometry_response.md.
 *
 * A point is a vector of `length` field elements, not zero, up to a factor: its last nonzero element is 1. The number of the
 * point with the 1 at position r and the elements a_0 ... a_(r-1) before it is (q^r - 1) / (q - 1) + sum of a_i q^i.
 *
 * Privacy: with heads the point is uniform among those orthogonal to the record's, with tails among the others, by exact uniform
 * integers. The time depends on the record and the coin (tables of the field, rejection). */
#ifndef LDP_PROJECTIVE_RESPONSE_H
#define LDP_PROJECTIVE_RESPONSE_H

#include "privatize/randomized_response.h"

enum { MAX_TABLE_ORDER = 64, MAX_PRIME_ORDER = 8192, MAX_LENGTH = 32 };

typedef struct {
    uint64_t heads; /* of 2^64 words */
    uint32_t k, order, length;
    uint32_t prime; /* the order if it is a prime and the elements are integers modulo it; 0 if the tables are used */
    uint32_t power[MAX_LENGTH + 1]; /* powers of the order below 2^32 */
    uint32_t first[MAX_LENGTH + 1]; /* (power - 1) / (order - 1) */
    uint8_t sum[MAX_TABLE_ORDER][MAX_TABLE_ORDER], product[MAX_TABLE_ORDER][MAX_TABLE_ORDER];
    uint8_t negative[MAX_TABLE_ORDER], inverse[MAX_TABLE_ORDER];
} projective_response;

/* Sets all but the coin and the tables of a field, and returns whether there is such a space with a point for each of k categories. */
int projective_open(projective_response *p, uint32_t k, uint32_t order, uint32_t length, int has_tables);

/* The report of category `truth`, from a draw. All elements of the report but that at position r, where the vector x of the
 * record has its 1, are drawn. Product 0 (heads): `draw` is the number of a point of the space of length - 1 elements, below
 * first[length - 1]. Product 1 (tails): `draw` is the number of any vector, below power[length - 1]. The product
 * of the report and x is then 0 or 1. */
uint32_t projective_report(const projective_response *p, uint32_t truth, uint32_t product, uint32_t draw);

/* privatize_projective_response_u<bits of a record>_u<bits of a report> */
privatize_fn privatize_projective_response_u8_u8, privatize_projective_response_u8_u16, privatize_projective_response_u16_u16,
    privatize_projective_response_u16_u32, privatize_projective_response_u32_u32;

#endif
