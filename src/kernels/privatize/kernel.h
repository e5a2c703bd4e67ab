/* The two signatures of all kernels that Cython calls block by block.
 *
 * privatize: one record block. `x` holds n >= 1 records and `out` has room for n reports, both contiguous. `params` is the
 * struct of the kernel. Sets key->exhausted if a stream is exhausted.
 * tally: adds n reports to a state, whose layout is defined by the report format. */
#ifndef LDP_KERNEL_H
#define LDP_KERNEL_H

#include "random/stream.h"

/* Bound of the magnitude of the integers of reports on a grid: a public clamp, far out in the tails. With it, every report can
 * be converted back to its integer, and the sum of the squares of 2^33 integers fits 128 bits. */
#define GRID_LIMIT 0x1p47

typedef void privatize_fn(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out);
typedef void tally_fn(const void *format, const void *reports, size_t n, void *state);

/* Defines privatize_<name>, which calls the version for the instruction set in use. */
#define DEFINE_PRIVATIZE(name)                                                                                     \
    void privatize_##name(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out) \
    {                                                                                                              \
        LDP_BEST(privatize_##name)(params, key, block, x, n, out);                                                 \
    }

#endif
