/* Projection on a row x of n numbers, the last of the frame's space, which is reflected to the first axis. Returns the product of v and
 * x / |x|. The numbers of v from the second on become its coordinates in the rest of the space. */
#include "simd/row_products_body.h"

LDP_INLINE float PER_ISA(reflect)(const float *x, float *v, size_t n)
{
    double sum[3] = {0};
    PER_ISA(add_products_f32)(x, v, 1, n, sum);
    const float length = __builtin_sqrtf((float)sum[0]), product = (float)sum[1] / length;
    const uint32_t sign = bits_f32(x[0]) & 0x80000000u;
    const float step = (product + float_of(bits_f32(v[0]) ^ sign)) / (length + float_of(bits_f32(x[0]) ^ sign));
    for (size_t k = 1; k < n; k++) /* vector loop */
        v[k] -= step * x[k];
    return product;
}
