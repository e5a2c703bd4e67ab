/* Exact discrete Laplace noise on a grid (two-sided geometric, no zero twice), added to rounded records.
 *
 * N = G or -1 - G by a fair sign; the binary digits of G below 2^digits are independent coins and the rest is a multiple
 * of 2^digits whose multiplier counts successive heads of the carry coin. A report is lower + grid (i + N + 1/2) with i
 * the record's index. Noise is drawn apart from the record. The budget of the coins' two-sided error is kept in Python:
 * ldpfast/_coins.py, docs/proofs/laplace.md. */
#ifndef LDP_LAPLACE_H
#define LDP_LAPLACE_H

#include "coins.h"
#include "kernel.h"

enum { MOST_DIGITS = 45, LAPLACE_PIECE = 8192 };

typedef struct {
    uint32_t digits, purpose; /* purpose: digits and sign; + 1: carries; + 2: rounding */
    coin digit[MOST_DIGITS];
    coin carry;
} geometric_noise;

typedef struct {
    geometric_noise noise;
    size_t dim; /* numbers per record */
    double lower, grid, per_grid; /* 1 / grid */
    double span;     /* indices 0 .. span; below 2^31 */
    double l1_limit; /* l2 ball: the sum of |index - span / 2| over a row is at most this; 0: no limit */
    double radius;   /* of the l2 ball */
    double far;      /* larger records, far outside, are taken as this: no square overflows */
} laplace;

LDP_INLINE size_t laplace_rows(size_t dim) { return dim > LAPLACE_PIECE ? 1 : LAPLACE_PIECE / dim; }

/* Records: n rows of dim numbers; reports: double of the same shape. */
privatize_fn privatize_laplace_f32, privatize_laplace_f64;

#endif
