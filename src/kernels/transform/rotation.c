#include "transform/rotation.h"

#include "transform/walsh.h"

void rotation_signs(uint64_t seed, uint32_t bits, uint64_t *signs)
{
    stream_key key;
    directions_open(&key);
    stream source = stream_open(&key, STREAM_ROTATION, seed);
    stream_draw(&source, signs, blocks_for((size_t)2 << bits, 1) / 8);
}

static void change_signs(const uint64_t *signs, size_t n, int64_t *v)
{
    for (size_t i = 0; i < n; i += 64) {
        const uint64_t word = signs[i / 64];
        for (size_t j = 0; j < 64; j++) {
            const int64_t minus = -(int64_t)(word >> j & 1);
            v[i + j] = (v[i + j] ^ minus) - minus;
        }
    }
}

void rotate_back_i64(const uint64_t *signs, uint32_t bits, int64_t *v)
{
    const size_t size = (size_t)1 << bits;
    walsh_i64(v, size);
    change_signs(signs + size / 64, size, v);
    walsh_i64(v, size);
    change_signs(signs, size, v);
}
