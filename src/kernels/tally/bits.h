/* Positional population count: the number of packed rows with bit j, for every j < k. */
#ifndef LDP_TALLY_BITS_H
#define LDP_TALLY_BITS_H

#include "privatize/kernel.h"

/* format: size_t k; reports: n rows of (k + 7) / 8 bytes; state: int64 counts[k]. */
tally_fn tally_bits;

#endif
