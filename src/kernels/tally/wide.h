/* States of exact sums: 128-bit integers in two's complement, low word first. */
#ifndef LDP_WIDE_H
#define LDP_WIDE_H

#include "simd/platform.h"

typedef __int128 wide;

LDP_INLINE void add_wide(void *state, size_t at, wide value)
{
    wide sum;
    memcpy(&sum, (char *)state + 16 * at, 16);
    sum = (wide)((unsigned __int128)sum + (unsigned __int128)value);
    memcpy((char *)state + 16 * at, &sum, 16);
}

#endif
