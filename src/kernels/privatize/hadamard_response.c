#include "privatize/hadamard_response.h"

#define KERNEL_BODY "privatize/hadamard_response_body.h"
#include "simd/each_isa.h"

#define DEFINE_HADAMARD_RESPONSE(in, out)                                                                                      \
    int privatize_hadamard_response_##in##_##out(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, \
                                                 void *reports)                                                                \
    {                                                                                                                          \
        return LDP_BEST(hadamard_response_##in##_##out)(params, key, block, x, n, reports);                                    \
    }

DEFINE_HADAMARD_RESPONSE(u8, u8)
DEFINE_HADAMARD_RESPONSE(u8, u16)
DEFINE_HADAMARD_RESPONSE(u16, u16)
DEFINE_HADAMARD_RESPONSE(u16, u32)
DEFINE_HADAMARD_RESPONSE(u32, u32)
