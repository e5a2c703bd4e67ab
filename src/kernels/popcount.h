/* Positional population count: how many of n packed rows have bit j, for every j < k. */
#ifndef LDP_POPCOUNT_H
#define LDP_POPCOUNT_H

#include "kernel.h"

/* format: size_t k; reports: n rows of (k + 7) / 8 bytes; state: int64 counts[k]. */
tally_fn tally_bits;

#endif
