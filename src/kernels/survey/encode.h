/* Numbers as symbols. No time is claimed to be independent of the record: the client of a survey says so. */
#ifndef LDP_SURVEY_ENCODE_H
#define LDP_SURVEY_ENCODE_H

#include "random/stream.h"

/* Declared questions that one answer can combine: in one symbol or set, or in a row of symbols; bytes of a string, set or row. */
enum { SURVEY_PARTS = 8, SURVEY_ROW_PARTS = 64, SURVEY_ROW_BYTES = 512 };

/* The stream of the random rounding of one part of an answer, below SURVEY_PARTS, in a record block. */
LDP_INLINE stream rounding_stream(stream_key *key, uint32_t part, uint64_t block)
{
    if (part < 2)
        return stream_open(key, part ? STREAM_SURVEY_ROUNDING_SECOND : STREAM_SURVEY_ROUNDING, block);
    return stream_open(key, STREAM_SURVEY_ROUNDING_MORE, block * (SURVEY_PARTS - 2) + part - 2);
}

/* Random rounding to the ends of an interval: 1 with probability (x - lower) per_range, rounded up to a multiple of 2^-53, else 0.
 * Numbers outside count as the nearest end, NaN has the symbol `missing`. */
void encode_low_high(const uint64_t *word, const double *x, size_t n, double lower, double per_range, uint32_t missing,
                     uint32_t *symbol);

/* Numbers become the number of the nearest of steps + 1 equally spaced values from lower on, of which the last is upper, as a double.
 * Halves are rounded up. NaN stays. Needs 1 <= steps < 2^31. */
void encode_steps(double *x, size_t n, double lower, double upper, uint32_t steps);

/* The number of edges that are at most x. NaN has the symbol `missing`. */
void encode_bins(const double *x, size_t n, const double *edge, size_t edges, uint32_t missing, uint32_t *symbol);

#endif
