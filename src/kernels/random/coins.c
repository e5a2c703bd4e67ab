#include "random/coins.h"

#define KERNEL_BODY "random/coins_body.h"
#include "simd/each_isa.h"

void coins_fill(reader *r, coin c, uint64_t *out, size_t lanes) { LDP_BEST(fill)(r, c, out, lanes); }
