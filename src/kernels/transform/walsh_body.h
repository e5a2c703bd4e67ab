/* Three steps of the transform at once, so that the numbers pass through memory once per factor of eight. Parts that fit the
 * cache are finished before the next part. Bottleneck: memory. */
typedef int64_t NAME(integers) __attribute__((vector_size(V_BYTES)));

/* One step: sums and differences of numbers that are `stride` apart. */
static void NAME(step)(int64_t *v, size_t n, size_t stride)
{
    for (size_t i = 0; i < n; i += 2 * stride)
        for (size_t j = i; j < i + stride; j++) { /* vector loop */
            const int64_t a = v[j], b = v[j + stride];
            v[j] = a + b;
            v[j + stride] = a - b;
        }
}

/* The steps of strides `stride`, 2 `stride` and 4 `stride`. */
static void NAME(three_steps)(int64_t *v, size_t n, size_t stride)
{
    enum { LANES = V_BYTES / 8 };
    for (size_t i = 0; i < n; i += 8 * stride)
        for (size_t j = i; j < i + stride; j += LANES) {
            NAME(integers) a[8];
            for (size_t l = 0; l < 8; l++)
                memcpy(&a[l], v + j + l * stride, V_BYTES);
#pragma GCC unroll 3
            for (size_t half = 1; half < 8; half *= 2)
#pragma GCC unroll 8
                for (size_t l = 0; l < 8; l++)
                    if (!(l & half)) {
                        const NAME(integers) first = a[l], second = a[l + half];
                        a[l] = first + second;
                        a[l + half] = first - second;
                    }
            for (size_t l = 0; l < 8; l++)
                memcpy(v + j + l * stride, &a[l], V_BYTES);
        }
}

/* The steps from `stride` on, up to half of n. */
static void NAME(steps)(int64_t *v, size_t n, size_t stride)
{
    while (stride < n)
        if (stride >= V_BYTES / 8 && 4 * stride < n) {
            NAME(three_steps)(v, n, stride);
            stride *= 8;
        } else {
            NAME(step)(v, n, stride);
            stride *= 2;
        }
}

static void NAME(walsh)(int64_t *v, size_t n)
{
    const size_t part = n < WALSH_CACHED ? n : WALSH_CACHED;
    for (size_t i = 0; i < n; i += part)
        NAME(steps)(v + i, part, 1);
    NAME(steps)(v, n, part);
}
