#include "privatize/set_cube.h"

#include "privatize/cube_draws.h"

/* Whether a row is none of the domain. */
LDP_INLINE int is_no_set(const set_cube *p, const uint16_t *x) { return x[p->own - 1] >= p->own + p->cube.dim; }

#define KERNEL_BODY "privatize/set_cube_body.h"
#include "simd/each_isa.h"

#define DEFINE_SET_CUBE(name)                                                                                     \
    int privatize_##name(const void *params, stream_key *key, uint64_t block, const void *x, size_t n, void *out) \
    {                                                                                                             \
        return LDP_BEST(privatize_##name)(params, key, block, x, n, out);                                         \
    }

DEFINE_SET_CUBE(set_cube_u8)
DEFINE_SET_CUBE(set_cube_u16)
DEFINE_SET_CUBE(set_cube_u32)
DEFINE_SET_CUBE(set_cap_cube)
