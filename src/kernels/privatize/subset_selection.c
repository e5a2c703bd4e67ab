#include "privatize/subset_selection.h"

#include "privatize/packed_bits.h"
#include "random/uniform.h"
#include "simd/branchless.h"

#define KERNEL_BODY "privatize/subset_selection_body.h"
#include "simd/each_isa.h"

#define DEFINE_SUBSET_SELECTION(type)                                                                                   \
    int privatize_subset_selection_##type(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, \
                                          void *out)                                                                    \
    {                                                                                                                   \
        return LDP_BEST(subset_selection_##type)(params, key, block, x, n, out);                                        \
    }

DEFINE_SUBSET_SELECTION(u8)
DEFINE_SUBSET_SELECTION(u16)
