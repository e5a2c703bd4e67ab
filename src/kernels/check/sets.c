#include "check/sets.h"

enum { PIECE = 64 };

#define KERNEL_BODY "check/sets_body.h"
#include "simd/each_isa.h"

size_t first_set_of_other_size(const uint8_t *rows, size_t n, size_t bytes, size_t size)
{
    return LDP_BEST(first_set_of_other_size)(rows, n, bytes, size);
}
