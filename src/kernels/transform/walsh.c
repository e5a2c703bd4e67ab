#include "transform/walsh.h"

enum { WALSH_CACHED = 1 << 15 }; /* numbers that stay in the cache: 256 KiB */

typedef int64_t number;
#define OF_NUMBER NAME
#define KERNEL_BODY "transform/walsh_body.h"
#include "simd/each_isa.h"

void walsh_i64(int64_t *v, size_t n) { LDP_BEST(walsh)(v, n); }
