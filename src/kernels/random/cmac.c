#include "random/cmac.h"

/* Encrypts a block. */
LDP_INLINE void encrypt(const cmac_key *key, const uint8_t *block, uint8_t *out)
{
    aes_input input;
    memcpy(&input, block, sizeof input);
    aes_counter(&key->schedule, input, out, 1);
}

LDP_INLINE void add(uint8_t *state, const uint8_t *block)
{
    uint64_t a[2], b[2];
    memcpy(a, state, sizeof a);
    memcpy(b, block, sizeof b);
    a[0] ^= b[0];
    a[1] ^= b[1];
    memcpy(state, a, sizeof a);
}

/* Multiplies by x in the field of 2^128 elements, big-endian. */
static void twice(const uint8_t *x, uint8_t *out)
{
    const uint8_t carry = (uint8_t)-(x[0] >> 7);
    for (size_t i = 0; i + 1 < AES_BLOCK; i++)
        out[i] = (uint8_t)(x[i] << 1 | x[i + 1] >> 7);
    out[AES_BLOCK - 1] = (uint8_t)(x[AES_BLOCK - 1] << 1 ^ (carry & 0x87));
}

void cmac_open(cmac_key *key, const uint8_t *bytes)
{
    uint8_t zero[AES_BLOCK] = {0};
    aes_expand(bytes, &key->schedule);
    encrypt(key, zero, zero);
    twice(zero, key->whole);
    twice(key->whole, key->padded);
    key_wipe(zero, sizeof zero);
}

void cmac_absorb(const cmac_key *key, uint8_t *state, const uint8_t *data, size_t blocks)
{
    for (size_t i = 0; i < blocks; i++) {
        add(state, data + i * AES_BLOCK);
        encrypt(key, state, state);
    }
}

/* Writes the codes of several states and the same further bytes. The states go through the cipher in turns, because a block must
 * wait for the one before it. */
LDP_INLINE void finish(const cmac_key *key, const uint8_t (*state)[AES_BLOCK], size_t states, const uint8_t *data, size_t bytes,
                       uint8_t *out)
{
    uint8_t last[AES_BLOCK] = {0};
    const size_t before = (bytes - 1) / AES_BLOCK, rest = bytes - before * AES_BLOCK;
    memcpy(last, data + before * AES_BLOCK, rest);
    if (rest < AES_BLOCK)
        last[rest] = 0x80;
    add(last, rest < AES_BLOCK ? key->padded : key->whole);
    memcpy(out, state, states * AES_BLOCK);
    for (size_t i = 0; i <= before; i++)
        for (size_t j = 0; j < states; j++) {
            add(out + j * AES_BLOCK, i < before ? data + i * AES_BLOCK : last);
            encrypt(key, out + j * AES_BLOCK, out + j * AES_BLOCK);
        }
    key_wipe(last, sizeof last);
}

void cmac_finish(const cmac_key *key, const uint8_t *state, const uint8_t *data, size_t bytes, uint8_t *out)
{
    finish(key, (const uint8_t (*)[AES_BLOCK])state, 1, data, bytes, out);
}

void prefix_open(key_prefix *prefix, const uint8_t *bytes, const uint8_t *data, size_t blocks)
{
    cmac_open(&prefix->key, bytes);
    for (uint8_t half = 0; half < 2; half++) {
        uint8_t first[AES_BLOCK];
        memcpy(first, data, AES_BLOCK);
        first[0] = (uint8_t)(half + 1);
        memset(prefix->state[half], 0, AES_BLOCK);
        cmac_absorb(&prefix->key, prefix->state[half], first, 1);
        cmac_absorb(&prefix->key, prefix->state[half], data + AES_BLOCK, blocks - 1);
    }
}

void prefix_derive(const key_prefix *prefix, const uint8_t *data, size_t bytes, uint8_t *out)
{
    finish(&prefix->key, prefix->state, 2, data, bytes, out);
}

void prefix_derive_half(const key_prefix *prefix, const uint8_t *data, size_t bytes, uint8_t *out)
{
    cmac_finish(&prefix->key, prefix->state[0], data, bytes, out);
}
