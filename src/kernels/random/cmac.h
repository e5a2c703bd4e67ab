/* AES-256-CMAC (NIST SP 800-38B), and the keys that it derives (SP 800-108, counter mode). */
#ifndef LDP_CMAC_H
#define LDP_CMAC_H

#include "random/stream.h"

/* A key: the round keys, and what is added to a last block that is whole, or padded. */
typedef struct {
    aes_schedule schedule;
    uint8_t whole[AES_BLOCK], padded[AES_BLOCK];
} cmac_key;

void cmac_open(cmac_key *key, const uint8_t *bytes);

/* Adds `blocks` whole blocks, none of which is the last, to a state, which is zero at first. */
void cmac_absorb(const cmac_key *key, uint8_t *state, const uint8_t *data, size_t blocks);

/* Writes the code of all that was absorbed and of `bytes` >= 1 further bytes. */
void cmac_finish(const cmac_key *key, const uint8_t *state, const uint8_t *data, size_t bytes, uint8_t *out);

/* The start of the inputs of both halves of a derived key: they differ in the first byte, the counter. */
typedef struct {
    cmac_key key;
    uint8_t state[2][AES_BLOCK];
} key_prefix;

/* `data` has `blocks` >= 1 whole blocks; its first byte is replaced by the counter. */
void prefix_open(key_prefix *prefix, const uint8_t *bytes, const uint8_t *data, size_t blocks);

/* Writes the 32 bytes of the key for the rest of the input. */
void prefix_derive(const key_prefix *prefix, const uint8_t *data, size_t bytes, uint8_t *out);

/* Writes the first 16 of these bytes. */
void prefix_derive_half(const key_prefix *prefix, const uint8_t *data, size_t bytes, uint8_t *out);

#endif
