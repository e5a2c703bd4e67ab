#include "normal.h"
#include "select.h"

#define KERNEL_BODY "normal_body.h"
#include "each_isa.h"

#define DEFINE_NORMALS(name, real, item, per_chunk, chunk_bytes)                                                  \
    void name(stream *s, real *out, size_t n)                                                                     \
    {                                                                                                             \
        static void (*const normals[LDP_ISA_COUNT])(const item *, real *) = LDP_DISPATCH(name);                   \
        item word[chunk_bytes / sizeof(item)] LDP_ALIGNED;                                                        \
        real last[per_chunk];                                                                                     \
        for (size_t done = 0; done < n; done += per_chunk) {                                                      \
            stream_groups(s, word, chunk_bytes / GROUP_BYTES);                                                    \
            normals[ldp_isa()](word, n - done < per_chunk ? last : out + done);                                   \
            if (n - done < per_chunk)                                                                             \
                memcpy(out + done, last, (n - done) * sizeof(real));                                              \
        }                                                                                                         \
    }

DEFINE_NORMALS(normals_f32, float, uint32_t, NORMALS_F32, (3 * GROUP_BYTES))
DEFINE_NORMALS(normals_f64, double, uint64_t, NORMALS_F64, (4 * GROUP_BYTES))
