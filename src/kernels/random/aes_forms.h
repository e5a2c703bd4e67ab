/* The implementations that aes.c chooses from; see aes.h for what they do. */
#ifndef LDP_AES_FORMS_H
#define LDP_AES_FORMS_H

#include "random/aes.h"

typedef void aes_expand_fn(const uint8_t *key, aes_schedule *schedule);
typedef void aes_counter_fn(const aes_schedule *schedule, aes_input input, void *out, size_t blocks);

aes_expand_fn aes_expand_portable;
aes_counter_fn aes_counter_portable;
#if LDP_X86
aes_expand_fn aes_expand_ni;
aes_counter_fn aes_counter_ni, aes_counter_vaes256, aes_counter_vaes512;
#endif
#if defined(__aarch64__)
aes_expand_fn aes_expand_armv8;
aes_counter_fn aes_counter_armv8;
#endif

#endif
