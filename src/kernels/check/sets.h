/* Sizes of sets: the number of ones of packed rows. */
#ifndef LDP_SETS_H
#define LDP_SETS_H

#include "simd/platform.h"

/* Index of the first of n rows of `bytes` bytes that does not have `size` ones; n if there is none. */
size_t first_set_of_other_size(const uint8_t *rows, size_t n, size_t bytes, size_t size);

#endif
