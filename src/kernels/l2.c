#include "l2.h"
#include "normal.h"
#include "select.h"

#define KERNEL_REALS
#define KERNEL_BODY "l2_body.h"
#include "each_isa.h"

#define PRIVATIZE_L2(name, real, normals, build)                                                                  \
    int name(const void *params, const stream_key *key, uint64_t block, const void *x, size_t n, void *out)       \
    {                                                                                                             \
        static void (*const row[LDP_ISA_COUNT])(const l2_ball *, const void *, uint64_t, uint64_t, void *) =      \
            LDP_DISPATCH(build);                                                                                  \
        const l2_ball *p = params;                                                                                \
        stream direction = stream_open(key, PURPOSE_L2_DIRECTION, block);                                         \
        reader sign;                                                                                              \
        reader_open(&sign, key, PURPOSE_L2_SIGN, block);                                                          \
        normals(&direction, out, n * p->dim);                                                                     \
        for (size_t i = 0; i < n; i++) {                                                                          \
            uint64_t rounding = reader_word(&sign), coin = reader_word(&sign);                                    \
            row[ldp_isa()](p, (const real *)x + i * p->dim, rounding, coin, (real *)out + i * p->dim);            \
        }                                                                                                         \
        return (int)(direction.exhausted | sign.source.exhausted);                                                \
    }

PRIVATIZE_L2(privatize_l2_f32, float, normals_f32, row_f32)
PRIVATIZE_L2(privatize_l2_f64, double, normals_f64, row_f64)
