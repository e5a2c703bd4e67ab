/* Rows of bits, packed to bytes, the first bit lowest. A row ends with a whole byte, whose rest is zeros. */
#ifndef LDP_PACKED_BITS_H
#define LDP_PACKED_BITS_H

#include "simd/platform.h"

LDP_INLINE uint64_t word_mask(size_t bits) { return bits >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << bits) - 1; }
LDP_INLINE size_t word_bytes(size_t bits) { return bits >= 64 ? 8 : (bits + 7) / 8; }

/* The next 1 to 8 bytes as a word, by loads that may overlap; a call of memcpy would take longer than the row. */
LDP_INLINE uint64_t load_bytes(const uint8_t *p, size_t n)
{
    uint64_t word = 0;
    uint32_t low = 0, high = 0;
    if (n == 8) {
        memcpy(&word, p, 8);
    } else if (n >= 4) {
        memcpy(&low, p, 4);
        memcpy(&high, p + n - 4, 4);
        word = low | (uint64_t)high << 8 * (n - 4);
    } else {
        word = p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1);
    }
    return word;
}

LDP_INLINE void store_bytes(uint8_t *p, uint64_t word, size_t n)
{
    const uint32_t low = (uint32_t)word;
    if (n == 8) {
        memcpy(p, &word, 8);
    } else if (n >= 4) {
        const uint32_t high = (uint32_t)(word >> 8 * (n - 4));
        memcpy(p, &low, 4);
        memcpy(p + n - 4, &high, 4);
    } else {
        p[0] = (uint8_t)word;
        p[n / 2] = (uint8_t)(word >> 8 * (n / 2));
        p[n - 1] = (uint8_t)(word >> 8 * (n - 1));
    }
}

/* Flips n bits if all bits of `flip` are ones, none if it is 0. The padding becomes zeros. */
LDP_INLINE void flip_bits(uint8_t *row, size_t n, uint64_t flip)
{
    for (size_t j = 0; j < n; j += 64) {
        const size_t bytes = word_bytes(n - j);
        store_bytes(row + j / 8, (load_bytes(row + j / 8, bytes) ^ flip) & word_mask(n - j), bytes);
    }
}

#endif
