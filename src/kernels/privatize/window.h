/* The discrete window mechanism: one of few codes for a number, where the codes of a window that moves with the number are more
 * probable, mixed with one bit of the number (sign_bit.h). docs/proofs/window.md.
 *
 * One word U of 32 bits determines the report. U < bit_words: the code first_bit, or first_bit + 1 with a probability that is
 * linear in the number. U - bit_words < direct: a code of the window. Else: any code of the window mechanism, each for `each`
 * words. With i the integer part and f the fraction of the position of the number among the inputs 0, ..., steps, and s = f per rounded to an
 * integer, the code of the window is i + floor((U - bit_words + s) / per). So it has `per` words for each of the width - 1 codes
 * from i + 1 on, per - s for i and s for i + width. Unequally spaced inputs lie symmetrically about the center of the interval. No branch and no address depends on the record or the word. */
#ifndef LDP_WINDOW_H
#define LDP_WINDOW_H

#include "privatize/randomized_response.h"

enum { MAX_SEGMENTS = 128 };

/* What lies between two unequally spaced inputs, or between the center of the interval and the first one: its start as a distance from
 * the center, in units of 2^-31 of half the interval; the position there; and the slope: 2^(32 - shift) times the positions per unit. */
typedef struct {
    uint32_t start, position, slope;
} window_segment;

typedef struct {
    double lower, upper, slope; /* 2^fraction_bits steps / (upper - lower); with segments, (2^32 - 2) / (upper - lower) */
    uint32_t fraction_bits, last; /* largest position: 2^fraction_bits steps - 1, which has 32 bits */
    uint32_t width, per, direct; /* direct = width per */
    uint32_t per_factor, per_shift, each_factor, each_shift; /* for the divisions; see randomized_response.h */
    int divides; /* whether (width + 1) per is below 2^32, so that a quotient can be had by a division */
    uint32_t bit_words, bit_low, bit_slope, first_bit; /* the bit is 1 if U < bit_low + bit_slope position / 2^32 */
    uint32_t segments, center, shift; /* no segments: the inputs are equally spaced */
    window_segment segment[MAX_SEGMENTS];
} window;

privatize_fn privatize_window_f32, privatize_window_f64;

#endif
