#include "privatize/whole_sets.h"

#define KERNEL_BODY "privatize/whole_sets_body.h"
#include "simd/each_isa.h"

int privatize_whole_sets_u8(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out)
{
    return LDP_BEST(privatize_whole_sets_u8)(params, key, block, x, n, out);
}

int privatize_whole_sets_u16(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out)
{
    return LDP_BEST(privatize_whole_sets_u16)(params, key, block, x, n, out);
}
