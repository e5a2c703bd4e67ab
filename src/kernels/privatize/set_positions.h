/* Records of set selection: ascending positions, from zeros and ones or packed bits.
 *
 * A set of at most `own` of k options has the positions of its options, then k, k + 1, ... until there are `own`. The time does not
 * depend on the bits. */
#ifndef LDP_SET_POSITIONS_H
#define LDP_SET_POSITIONS_H

#include "simd/platform.h"

/* Last position of a row without a set where one is needed; of one with other numbers than 0 and 1, or with too many ones. */
enum { MISSING_POSITION = 65534, INVALID_POSITION = 65535 };

/* `rows` are n rows of k bytes, or of ceil(k / 8) bytes if `packed`; k <= 65536. */
void set_positions(const uint8_t *rows, size_t n, uint32_t k, uint32_t own, int packed, uint16_t *out);

#endif
