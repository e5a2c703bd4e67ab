/* Scores of strings in decoded sketches, and the search among all continuations of a prefix. */
#ifndef LDP_STRINGS_SEARCH_H
#define LDP_STRINGS_SEARCH_H

#include "strings/hashes.h"

/* A decoded sketch: `table` has a number for each function and bucket. */
typedef struct {
    string_hashes hashes;
    const float *table;
} decoded_sketch;

/* Writes the sum of the numbers of a row over all functions but the one where it is largest. */
float score_without_largest(const decoded_sketch *sketch, const uint8_t *row);

/* The continuations of a row of `start` symbols to hashes.bytes symbols: zeros only if the row has ended (its last symbol is zero), else
 * all with symbols in [0, alphabet] that are zero after the first zero. Finds those with a score of at least `least`, and writes the
 * first `capacity` of them: their rows of hashes.bytes symbols and their scores. Returns how many there are. */
size_t search_continuations(const decoded_sketch *sketch, const uint8_t *row, size_t start, uint32_t alphabet, float least,
                            size_t capacity, uint8_t *rows, float *scores);

#endif
