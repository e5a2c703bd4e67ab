/* The l-infinity mechanism (linf_ball.h) for the terms of a trigonometric series: sqrt 2 cos(2 pi m u), sqrt 2 sin(2 pi m u),
 * m = 1, 2, ..., where u in [0, 1] is the position of a number in an interval. Term j, counted from 0, has
 * m = floor(j / 2) + 1 and is a cosine if j is even. docs/proofs/series.md. */
#ifndef LDP_SERIES_H
#define LDP_SERIES_H

#include "privatize/kernel.h"

typedef struct {
    size_t terms;
    double lower, upper, per_range; /* 2^32 / (upper - lower) */
    uint64_t heads;
} series;

/* People who are privatized together, one per lane. */
enum { SERIES_PEOPLE = 16 };

/* Records per block: 32768 terms, whole groups of people. */
LDP_INLINE size_t series_rows(size_t terms)
{
    return terms > 32768 / SERIES_PEOPLE ? SERIES_PEOPLE : 32768 / terms / SERIES_PEOPLE * SERIES_PEOPLE;
}

/* Records: n numbers; reports: packed signs, bit 1 = plus, rows padded to whole bytes. */
privatize_fn privatize_series_terms_f32, privatize_series_terms_f64;

#endif
