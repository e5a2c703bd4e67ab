/* Histograms of codes. */
#ifndef LDP_TALLY_CODES_H
#define LDP_TALLY_CODES_H

#include "privatize/kernel.h"

/* format: size_t k; reports: n codes; state: int64 counts[k]. A code >= k counts as k - 1 or not at all, so that nothing
 * outside the state is written. */
tally_fn tally_codes_u8, tally_codes_u16, tally_codes_u32, tally_codes_u64;

/* Several codes per report. */
typedef struct {
    size_t k, items;
} code_rows;

/* format: code_rows; reports: n rows of codes; state: int64 counts[k]. */
tally_fn tally_code_rows_u8, tally_code_rows_u16, tally_code_rows_u32;

#endif
