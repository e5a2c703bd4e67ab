#include "random/normals.h"

#include "simd/branchless.h"

#define KERNEL_BODY "random/normals_body.h"
#include "simd/each_isa.h"

#define DEFINE_NORMALS(name, real, item, per_chunk, chunk_bytes)            \
    void name(stream *s, real *out, size_t n)                               \
    {                                                                       \
        item word[chunk_bytes / sizeof(item)] LDP_ALIGNED;                  \
        real last[per_chunk];                                               \
        for (size_t done = 0; done < n; done += per_chunk) {                \
            stream_draw(s, word, chunk_bytes / AES_BLOCK);                  \
            LDP_BEST(name)(word, n - done < per_chunk ? last : out + done); \
            if (n - done < per_chunk)                                       \
                memcpy(out + done, last, (n - done) * sizeof(real));        \
        }                                                                   \
    }

DEFINE_NORMALS(normals_f32, float, uint32_t, NORMALS_F32, 3072)
DEFINE_NORMALS(normals_f64, double, uint64_t, NORMALS_F64, 4096)
