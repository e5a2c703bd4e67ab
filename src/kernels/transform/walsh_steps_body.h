/* Steps of the transform of `number`s, a type, for functions named OF_NUMBER(f). Three steps at once pass through memory once per
 * factor of eight. */
typedef number OF_NUMBER(vector) __attribute__((vector_size(V_BYTES)));

/* One step: sums and differences of numbers that are `stride` apart. */
static void OF_NUMBER(step)(number *v, size_t n, size_t stride)
{
    for (size_t i = 0; i < n; i += 2 * stride)
        for (size_t j = i; j < i + stride; j++) { /* vector loop */
            const number a = v[j], b = v[j + stride];
            v[j] = a + b;
            v[j + stride] = a - b;
        }
}

/* The steps of strides `stride`, 2 `stride` and 4 `stride`. */
static void OF_NUMBER(three_steps)(number *v, size_t n, size_t stride)
{
    enum { LANES = V_BYTES / sizeof(number) };
    for (size_t i = 0; i < n; i += 8 * stride)
        for (size_t j = i; j < i + stride; j += LANES) {
            OF_NUMBER(vector) a[8];
            for (size_t l = 0; l < 8; l++)
                memcpy(&a[l], v + j + l * stride, V_BYTES);
#pragma GCC unroll 3
            for (size_t half = 1; half < 8; half *= 2)
#pragma GCC unroll 8
                for (size_t l = 0; l < 8; l++)
                    if (!(l & half)) {
                        const OF_NUMBER(vector) first = a[l], second = a[l + half];
                        a[l] = first + second;
                        a[l + half] = first - second;
                    }
            for (size_t l = 0; l < 8; l++)
                memcpy(v + j + l * stride, &a[l], V_BYTES);
        }
}

/* The steps from `stride` on, up to half of n. */
static void OF_NUMBER(steps)(number *v, size_t n, size_t stride)
{
    while (stride < n)
        if (stride >= V_BYTES / sizeof(number) && 4 * stride < n) {
            OF_NUMBER(three_steps)(v, n, stride);
            stride *= 8;
        } else {
            OF_NUMBER(step)(v, n, stride);
            stride *= 2;
        }
}
