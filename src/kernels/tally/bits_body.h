/* Carry-save adders. A column is 64 bytes wide. A tree of 15 full adders (5 operations each, 4.7 per load) adds 16 loads at a
 * time to vertical counters of 16 bit planes, so that most work touches only four planes. One load holds several narrow rows,
 * or one slice of a wide row. Bits of the load that belong to other rows are counted but not used. Memory-bound on AVX-512. */
#include "check/set_sizes_body.h"

typedef uint64_t NAME(lanes) __attribute__((vector_size(V_BYTES)));

#define FULL_ADD(high, low, a, b, c)                      \
    do {                                                  \
        NAME(lanes) half_ = (a) ^ (b), both_ = (a) & (b); \
        NAME(lanes) third_ = (c);                         \
        low = half_ ^ third_;                             \
        high = both_ | (half_ & third_);                  \
    } while (0)
#define LOAD(i) NAME(load_lanes)(at + (i) * step)

LDP_INLINE NAME(lanes) NAME(load_lanes)(const uint8_t *p)
{
    NAME(lanes) v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Adds 16 loads from `at`, `step` bytes apart, to the counters. */
LDP_INLINE void NAME(add16)(NAME(lanes) * plane, int planes, const uint8_t *at, size_t step)
{
    NAME(lanes) one = plane[0], two = plane[1], four = plane[2], eight = plane[3];
    NAME(lanes) two_a, two_b, four_a, four_b, eight_a, eight_b, carry;
    FULL_ADD(two_a, one, one, LOAD(0), LOAD(1));
    FULL_ADD(two_b, one, one, LOAD(2), LOAD(3));
    FULL_ADD(four_a, two, two, two_a, two_b);
    FULL_ADD(two_a, one, one, LOAD(4), LOAD(5));
    FULL_ADD(two_b, one, one, LOAD(6), LOAD(7));
    FULL_ADD(four_b, two, two, two_a, two_b);
    FULL_ADD(eight_a, four, four, four_a, four_b);
    FULL_ADD(two_a, one, one, LOAD(8), LOAD(9));
    FULL_ADD(two_b, one, one, LOAD(10), LOAD(11));
    FULL_ADD(four_a, two, two, two_a, two_b);
    FULL_ADD(two_a, one, one, LOAD(12), LOAD(13));
    FULL_ADD(two_b, one, one, LOAD(14), LOAD(15));
    FULL_ADD(four_b, two, two, two_a, two_b);
    FULL_ADD(eight_b, four, four, four_a, four_b);
    FULL_ADD(carry, eight, eight, eight_a, eight_b);
    plane[0] = one, plane[1] = two, plane[2] = four, plane[3] = eight;
    for (int p = 4; p < planes; p++) {
        NAME(lanes) next = plane[p] & carry;
        plane[p] ^= carry;
        carry = next;
    }
}

enum { NAME(AHEAD) = 64 }; /* loads prefetched (18 -> 33 GB/s on Zen 5) */

/* Counts of the 512 bit positions over `loads` < 65536 loads; bit b of byte j is at index 64 b + j. `fetch`: also prefetch the
 * bytes between the loads, for the next columns. The sizes of the rows `sets` are checked while they are in the
 * cache. Returns whether some row has another size. */
static int NAME(tally_512_bits)(const uint8_t *at, size_t step, size_t loads, int fetch, const set_rows *sets, uint32_t *count)
{
    int planes = 4, other = 0;
    while (loads >> planes)
        planes++;
    memset(count, 0, 512 * sizeof *count);
    for (size_t slice = 0; slice < 64; slice += V_BYTES) {
        NAME(lanes) plane[16] = {0};
        size_t i = 0;
        for (; i + 16 <= loads; i += 16) {
            for (size_t byte = 0; fetch && byte < 16 * step; byte += 64) /* a prefetch past the end has no effect */
                __builtin_prefetch(at + (i + NAME(AHEAD)) * step + byte);
            if (sets->size && slice == 0)
                other |= NAME(any_other_size)(sets->rows + i * step, 16 * sets->per_load, sets->bytes, sets->size, sets->end);
            NAME(add16)(plane, planes, at + i * step + slice, step);
        }
        if (sets->size && slice == 0)
            other |=
                NAME(any_other_size)(sets->rows + i * step, (loads - i) * sets->per_load, sets->bytes, sets->size, sets->end);
        for (; i < loads; i++) {
            NAME(lanes) carry = NAME(load_lanes)(at + i * step + slice);
            for (int p = 0; p < planes; p++) {
                NAME(lanes) next = plane[p] & carry;
                plane[p] ^= carry;
                carry = next;
            }
        }
        for (int p = 0; p < planes; p++) {
            uint8_t bytes[V_BYTES];
            memcpy(bytes, &plane[p], V_BYTES);
            for (size_t b = 0; b < 8; b++) /* vector loop */
                for (size_t j = 0; j < V_BYTES; j++)
                    count[64 * b + slice + j] += (uint32_t)(bytes[j] >> b & 1) << p;
        }
    }
    return other;
}

#undef FULL_ADD
#undef LOAD
