#include "strings/sketch_response.h"

#include "privatize/randomized_response.h"

/* Writes an integer to a row of integers of 1, 2 or 4 bytes, or reads it. */
static void put(void *to, uint32_t bytes, size_t i, uint32_t value)
{
    if (bytes == 1)
        ((uint8_t *)to)[i] = (uint8_t)value;
    else if (bytes == 2)
        ((uint16_t *)to)[i] = (uint16_t)value;
    else
        ((uint32_t *)to)[i] = value;
}

static uint32_t take(const void *from, uint32_t bytes, size_t i)
{
    return bytes == 1 ? ((const uint8_t *)from)[i] : bytes == 2 ? ((const uint16_t *)from)[i] : ((const uint32_t *)from)[i];
}

int privatize_sketch_response(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out)
{
    const sketch_response *p = params;
    const uint8_t *rows = x;
    uint32_t bucket[CODE_ROWS], code[CODE_ROWS], first[CODE_ROWS];
    uint8_t invalid = 0;
    reader words;
    if (n == 0)
        return 0;
    reader_open(&words, key, STREAM_SKETCH_PARTS, block, 2 * n);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *row = rows + i * p->row_bytes;
        const uint32_t part = draw_part(&words, p->parts);
        const uint32_t function = (uint32_t)word_below(&words, p->functions);
        const string_hashes *h = &p->part[part];
        put(bucket, p->bucket_bytes, i, bucket_of(h, function, fingerprint(h, row)));
        first[i] = (part * p->functions + function) * p->codes;
        invalid |= row[p->row_bytes - 1];
    }
    p->respond(p->mechanism, key, block, bucket, n, code);
    for (size_t i = 0; i < n; i++)
        put(out, p->report_bytes, i, first[i] + take(code, p->code_bytes, i));
    return invalid != 0;
}
