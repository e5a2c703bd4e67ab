#if !REAL_IS_DOUBLE
#include "random/frames_body.h"

static void NAME(expand_part)(const frame_format *p, stream_key *key, const uint64_t *report, size_t first, size_t now,
                              float *v)
{
    const uint32_t signs = p->frame.signs;
    const float unit = (float)p->unit;
    float row[MAX_DIRECTION] LDP_ALIGNED;
    direction_rows rows = directions_of(key, report[0], p->frame.dim, signs);
    memset(v, 0, now * sizeof(float));
    for (uint32_t j = signs; j-- > 0;) {
        const uint32_t negative = (uint32_t)(~report[1 + j / 64] >> j % 64 & 1) << 31;
        if (p->frame.dim <= MAX_DIRECTION) {
            /* The reflection moves the axis of number j to the row, or to its negative if the row begins with a positive number. */
            const float *x = direction_row(&rows, j, row);
            const uint32_t sign = bits_f32(x[0]) & 0x80000000u;
            v[j] = float_of(bits_f32(-1.0f) ^ sign ^ negative);
            const float product = PER_ISA(reflect)(x, v + j, now - j);
            v[j] = float_of(bits_f32(product) ^ 0x80000000u ^ sign);
        } else {
            const float *x = direction_part(&rows, j, first, now, row), factor = float_of(bits_f32(1.0f) ^ negative);
            for (size_t k = 0; k < now; k++) /* vector loop */
                v[k] += factor * x[k];
        }
    }
    for (size_t k = 0; k < now; k++) /* vector loop */
        v[k] *= unit;
}
#endif
