/* AES-256 (FIPS 197) in counter mode: five implementations with the same output, one of which is chosen when the library is
 * loaded. None looks up a table at an index that depends on key or data.
 *
 * The width of the cipher is chosen apart from the instruction set of the kernels: a machine with AVX2 may have VAES or only
 * AES-NI. */
#ifndef LDP_AES_H
#define LDP_AES_H

#include "simd/platform.h"

enum { AES_ROUNDS = 14, AES_BLOCK = 16, AES_SCHEDULE = (AES_ROUNDS + 1) * AES_BLOCK };

/* The round keys, in the order of FIPS 197. */
typedef struct {
    uint8_t round_key[AES_SCHEDULE];
} aes_schedule;

/* From the plainest to the fastest. */
enum aes_form { AES_PORTABLE, AES_ARMV8, AES_NI, AES_VAES256, AES_VAES512, AES_FORM_COUNT };

int aes_form_supported(int form);
int aes_form(void);
int aes_form_set(int form); /* 0, or -1 where the machine lacks it */
const char *aes_form_name(int form);

/* Expands a key of 32 bytes. */
void aes_expand(const uint8_t *key, aes_schedule *schedule);

/* An input of the cipher: 16 bytes, little-endian. It is passed in registers. */
typedef struct {
    uint64_t low, high; /* the low 32 bits of `low` are the counter */
} aes_input;

/* Writes `blocks` encrypted inputs. The counter of the first input counts up. */
void aes_counter(const aes_schedule *schedule, aes_input input, void *out, size_t blocks);

/* Clears the vector registers, in which round keys are left. Whoever wipes a key calls it, for the registers may be saved on the
 * stack later, by the dynamic linker or a signal. */
void aes_forget(void);

#endif
