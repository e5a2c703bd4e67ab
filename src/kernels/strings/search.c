#include "strings/search.h"

#include <float.h>

float score_without_largest(const decoded_sketch *sketch, const uint8_t *row)
{
    const string_hashes *h = &sketch->hashes;
    const uint64_t x = fingerprint(h, row);
    float sum = 0, largest = -FLT_MAX;
    for (uint32_t j = 0; j < h->functions; j++) {
        const float number = sketch->table[(size_t)j * h->buckets + bucket_of(h, j, x)];
        sum += number;
        largest = number > largest ? number : largest;
    }
    return sum - largest;
}

size_t search_continuations(const decoded_sketch *sketch, const uint8_t *row, size_t start, uint32_t alphabet, float least,
                            size_t capacity, uint8_t *rows, float *scores)
{
    const size_t bytes = sketch->hashes.bytes;
    uint8_t candidate[MAX_STRING_BYTES] = {0};
    size_t found = 0;
    memcpy(candidate, row, start);
    const int has_ended = start > 0 && row[start - 1] == 0;
    for (;;) {
        const float score = score_without_largest(sketch, candidate);
        if (score >= least) {
            if (found < capacity) {
                memcpy(rows + found * bytes, candidate, bytes);
                scores[found] = score;
            }
            found++;
        }
        /* The next candidate in the order of symbols: the symbol after the last that is not zero, else the next of the last. */
        size_t last = bytes;
        while (last > start && candidate[last - 1] == 0)
            last--;
        if (has_ended)
            return found;
        if (last < bytes) {
            candidate[last] = 1;
            continue;
        }
        while (last > start && candidate[last - 1] == alphabet)
            candidate[--last] = 0;
        if (last == start)
            return found;
        candidate[last - 1]++;
    }
}
