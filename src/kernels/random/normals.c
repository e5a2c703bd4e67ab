#include "random/normals.h"

#include "simd/logarithm.h"

/* 1 / (1 + (i + 1/2) / 8), i = 0, ..., 7, rounded to float, and twice their logarithms. */
#define RECIPROCALS                                                                                                 \
    0x1.e1e1e2p-1f, 0x1.af286cp-1f, 0x1.861862p-1f, 0x1.642c86p-1f, 0x1.47ae14p-1f, 0x1.2f684cp-1f, 0x1.1a7b96p-1f, \
        0x1.084210p-1f
#define LOGARITHMS \
    -0.121249236f, -0.343700499f, -0.543867394f, -0.72581095f, -0.89257425f, -1.04649627f, -1.18941422f, -1.32279702f
#define MIN_SQUARE 1e-8f /* above the errors of the logarithm near u = 1: no direction is zero */
#define SIGN ((int32_t)0x80000000u)

#define KERNEL_BODY "random/normals_body.h"
#include "simd/each_isa.h"

#define DEFINE_NORMALS(name, real, item, parts, words_per_part)                                            \
    void name(stream *s, real *out, size_t n)                                                              \
    {                                                                                                      \
        item word[NORMALS_CHUNK / parts * words_per_part] LDP_ALIGNED;                                     \
        for (size_t done = 0; done < n; done += NORMALS_CHUNK) {                                           \
            const size_t part = normals_room(n - done < NORMALS_CHUNK ? n - done : NORMALS_CHUNK) / parts; \
            stream_draw(s, word, blocks_for(part * words_per_part, sizeof(item)));                         \
            LDP_BEST(name)(word, out + done, part);                                                        \
        }                                                                                                  \
    }

DEFINE_NORMALS(normals_f32, float, int32_t, 4, 3)
DEFINE_NORMALS(normals_f64, double, uint64_t, 2, 2)
