/* Parts that fit the cache are finished before the next part. Bottleneck: memory. */
#include "transform/walsh_steps_body.h"

static void NAME(walsh)(int64_t *v, size_t n)
{
    const size_t part = n < WALSH_CACHED ? n : WALSH_CACHED;
    for (size_t i = 0; i < n; i += part)
        NAME(steps)(v + i, part, 1);
    NAME(steps)(v, n, part);
}
