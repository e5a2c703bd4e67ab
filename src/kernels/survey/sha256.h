/* SHA-256 (FIPS 180-4) of public bytes. */
#ifndef LDP_SHA256_H
#define LDP_SHA256_H

#include "simd/platform.h"

enum { SHA256_BYTES = 32, SHA256_BLOCK = 64 };

static uint32_t sha256_rotate(uint32_t x, int by) { return x >> by | x << (32 - by); }

static void sha256_absorb(uint32_t *state, const uint8_t *block)
{
    static const uint32_t constant[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01,
        0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc,
        0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
        0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08,
        0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
        0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        const uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (sha256_rotate(a, 7) ^ sha256_rotate(a, 18) ^ a >> 3) +
               (sha256_rotate(b, 17) ^ sha256_rotate(b, 19) ^ b >> 10);
    }
    memcpy(v, state, sizeof v);
    for (uint32_t i = 0; i < 64; i++) { /* the variables a to h move by one place in each step */
        const uint32_t a = v[(0 - i) & 7], b = v[(1 - i) & 7], c = v[(2 - i) & 7], e = v[(4 - i) & 7], f = v[(5 - i) & 7];
        const uint32_t one = v[(7 - i) & 7] + (sha256_rotate(e, 6) ^ sha256_rotate(e, 11) ^ sha256_rotate(e, 25)) +
                             ((e & f) ^ (~e & v[(6 - i) & 7])) + constant[i] + w[i];
        v[(3 - i) & 7] += one;
        v[(7 - i) & 7] =
            one + (sha256_rotate(a, 2) ^ sha256_rotate(a, 13) ^ sha256_rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

static void sha256(const uint8_t *data, size_t bytes, uint8_t digest[SHA256_BYTES])
{
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t last[2 * SHA256_BLOCK] = {0};
    const size_t left = bytes % SHA256_BLOCK, end = left < SHA256_BLOCK - 8 ? SHA256_BLOCK : 2 * SHA256_BLOCK;
    for (size_t i = 0; i + SHA256_BLOCK <= bytes; i += SHA256_BLOCK)
        sha256_absorb(state, data + i);
    if (left) /* `data` may be NULL without bytes */
        memcpy(last, data + (bytes - left), left);
    last[left] = 0x80;
    for (size_t i = 0; i < 8; i++)
        last[end - 1 - i] = (uint8_t)((uint64_t)bytes * 8 >> 8 * i);
    for (size_t i = 0; i < end; i += SHA256_BLOCK)
        sha256_absorb(state, last + i);
    for (size_t i = 0; i < SHA256_BYTES; i++)
        digest[i] = (uint8_t)(state[i / 4] >> (24 - 8 * (i % 4)));
}

#endif
