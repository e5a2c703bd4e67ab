/* The signatures of all kernels that Cython calls block by block.
 *
 * privatize: one record block. `x` holds n >= 1 records and `out` has room for n reports, both contiguous. `params` is the
 * struct of the kernel. Returns 0 if all records are valid, else LDP_OUTSIDE and perhaps LDP_FAR. It can also return
 * nonzero if a record is close to the limit of the domain, and the caller then checks the block again. The report of an invalid
 * record has the distribution of the report of some valid record: of the nearest one if it is a number or a vector, of the center
 * if it has NaN, and of any if it is a vector with LDP_FAR. Sets key->exhausted if a stream is exhausted.
 * clip: writes the nearest valid vectors of n vectors with LDP_FAR to `out`. Those with NaN become the center.
 * tally: adds n reports to a state, whose layout is defined by the report format. */
#ifndef LDP_KERNEL_H
#define LDP_KERNEL_H

#include "random/stream.h"
#include "simd/subnormals.h"

/* Bound of the magnitude of the integers of reports on a grid: a public clamp, far out in the tails. With it, every report can
 * be converted back to its integer, and the sum of the squares of 2^33 integers fits 128 bits. */
#define GRID_LIMIT 0x1p47

/* A record may be invalid; a vector has NaN, or numbers so far outside that `clip` may change it. */
enum { LDP_OUTSIDE = 1, LDP_FAR = 2 };

/* Radii to which `clip` limits the numbers of a vector, so that no square overflows. */
#define FAR_RADII 0x1p40

/* What the square of the norm of a vector, in radii, tells of it. All vectors that `clip` changes are far, in spite of rounding: if
 * only some of them were, the report of a vector would depend on the others of its block. */
LDP_INLINE int outside_of_ball(double square, double most)
{
    return LDP_OUTSIDE * !(square <= most) | LDP_FAR * !(square < FAR_RADII * FAR_RADII / 2);
}

typedef int privatize_fn(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out);
typedef void clip_fn(const void *params, const void *x, size_t n, void *out);
typedef void tally_fn(const void *format, const void *reports, size_t n, void *state);

/* Defines privatize_<name>, which calls the version for the instruction set in use. Subnormal numbers count as zero. */
#define DEFINE_PRIVATIZE(name)                                                                                    \
    int privatize_##name(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out) \
    {                                                                                                             \
        const uint64_t before = subnormals_flush();                                                               \
        const int invalid = LDP_BEST(privatize_##name)(params, key, block, x, n, out);                            \
        subnormals_restore(before);                                                                               \
        return invalid;                                                                                           \
    }

#endif
