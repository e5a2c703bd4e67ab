/* Report of the bucket of a string, or of one of its prefixes, by one of many hash functions. docs/proofs/sketch.md.
 *
 * A record is a row of bytes and a last one that is not zero for invalid records, which is not hashed. Part 0 of the hash functions
 * hashes whole strings, each other part prefixes of its own length. A person draws a part (number 0 with probability 1/2, if there are
 * others), one of its functions, and reports the number of the two and the report of a mechanism about the bucket.
 *
 * Privacy: part and function do not depend on the record, and the report is that of the mechanism. The hashes of a row take the same
 * time for all rows; the time of the mechanism may depend on the bucket. */
#ifndef LDP_SKETCH_RESPONSE_H
#define LDP_SKETCH_RESPONSE_H

#include "privatize/kernel.h"
#include "random/uniform.h"
#include "strings/hashes.h"

enum { MAX_SKETCH_PARTS = 64 };

typedef struct {
    string_hashes part[MAX_SKETCH_PARTS];
    uint32_t parts, functions;
    uint32_t row_bytes;     /* of a record, with the last byte */
    uint32_t codes;         /* of the mechanism */
    const void *mechanism;  /* whose records are buckets */
    privatize_fn *respond;
    uint32_t bucket_bytes, code_bytes, report_bytes; /* 1, 2 or 4 */
} sketch_response;

privatize_fn privatize_sketch_response;

/* Draws the part that a person reports: 0 with probability 1/2 if there are others, which are equally probable. */
LDP_INLINE uint32_t draw_part(reader *words, uint32_t parts)
{
    const uint32_t levels = parts - 1, draw = levels ? (uint32_t)word_below(words, 2 * levels) : 0;
    return draw < levels || !levels ? 0 : draw - levels + 1;
}

#endif
