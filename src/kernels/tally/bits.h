/* Positional population count: the number of packed rows with bit j, for every j < k. */
#ifndef LDP_TALLY_BITS_H
#define LDP_TALLY_BITS_H

#include "privatize/kernel.h"

/* format: size_t k; reports: n rows of (k + 7) / 8 bytes; state: int64 counts[k]. */
tally_fn tally_bits;

/* The same for rows that must have `size` ones each, > 0. Returns whether all do; otherwise the state has no meaning. */
int tally_sets(size_t k, size_t size, const uint8_t *rows, size_t n, int64_t *state);

#endif
