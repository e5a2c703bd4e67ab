/* The implementations that aes.c chooses from; see aes.h for what they do. */
#ifndef LDP_AES_FORMS_H
#define LDP_AES_FORMS_H

#include "random/aes.h"

typedef void aes_expand_fn(const uint8_t *key, aes_schedule *schedule);
typedef void aes_counter_fn(const aes_schedule *schedule, aes_input input, void *out, size_t blocks);
typedef void aes_forget_fn(void);

/* The key expansion of FIPS 197, with the substitution of a word of the form. */
LDP_INLINE void aes_expand_with(uint32_t (*sub_word)(uint32_t), const uint8_t *key, aes_schedule *schedule)
{
    uint32_t w[AES_SCHEDULE / 4], round_constant = 1;
    memcpy(w, key, 32);
    for (int i = 8; i < AES_SCHEDULE / 4; i++) {
        uint32_t t = w[i - 1];
        if (i % 8 == 0) {
            t = sub_word(t >> 8 | t << 24) ^ round_constant;
            round_constant <<= 1;
        } else if (i % 8 == 4) {
            t = sub_word(t);
        }
        w[i] = w[i - 8] ^ t;
    }
    memcpy(schedule->round_key, w, sizeof w);
    memset(w, 0, sizeof w);
    __asm__ volatile("" : : "r"(w) : "memory"); /* the compiler may not drop the memset */
}

aes_expand_fn aes_expand_portable;
aes_counter_fn aes_counter_portable;
#if LDP_X86
aes_expand_fn aes_expand_ni;
aes_counter_fn aes_counter_ni, aes_counter_vaes256, aes_counter_vaes512;
aes_forget_fn aes_forget_ni, aes_forget_vaes256, aes_forget_vaes512;
#endif
#if defined(__aarch64__)
aes_expand_fn aes_expand_armv8;
aes_counter_fn aes_counter_armv8;
aes_forget_fn aes_forget_armv8;
#endif

#endif
