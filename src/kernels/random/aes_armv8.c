/* AES-256 by the instructions of ARMv8: aese (add key, SubBytes, ShiftRows) and aesmc (MixColumns), which processors fuse. */
#include "random/aes_forms.h"

#if defined(__aarch64__)
#include <arm_neon.h>

#if defined(__clang__)
LDP_TARGET_BEGIN("aes")
#else
LDP_TARGET_BEGIN("+crypto")
#endif

    /* aese with the key zero is SubBytes after ShiftRows; four equal columns make ShiftRows the identity. */
    static uint32_t sub_word(uint32_t word)
    {
        uint8x16_t b = vaeseq_u8(vreinterpretq_u8_u32(vdupq_n_u32(word)), vdupq_n_u8(0));
        return vgetq_lane_u32(vreinterpretq_u32_u8(b), 0);
    }

    void aes_expand_armv8(const uint8_t *key, aes_schedule *schedule) { aes_expand_with(sub_word, key, schedule); }

    void aes_counter_armv8(const aes_schedule *schedule, aes_input input, void *out, size_t blocks)
    {
        uint8x16_t key[AES_ROUNDS + 1];
        uint8_t *to = out;
        uint32x4_t counter = vreinterpretq_u32_u64(vcombine_u64(vcreate_u64(input.low), vcreate_u64(input.high)));
        const uint32x4_t one = {1, 0, 0, 0};
        for (int r = 0; r <= AES_ROUNDS; r++)
            key[r] = vld1q_u8(schedule->round_key + AES_BLOCK * r);
        while (blocks) {
            const size_t now = blocks < 8 ? blocks : 8;
            uint8x16_t b[8];
            for (int j = 0; j < 8; j++, counter = vaddq_u32(counter, one))
                b[j] = vreinterpretq_u8_u32(counter);
            for (int r = 0; r < AES_ROUNDS - 1; r++)
                for (int j = 0; j < 8; j++)
                    b[j] = vaesmcq_u8(vaeseq_u8(b[j], key[r]));
            for (int j = 0; j < 8; j++)
                b[j] = veorq_u8(vaeseq_u8(b[j], key[AES_ROUNDS - 1]), key[AES_ROUNDS]);
            for (size_t j = 0; j < now; j++)
                vst1q_u8(to + AES_BLOCK * j, b[j]);
            to += AES_BLOCK * now;
            blocks -= now;
        }
    }

    LDP_TARGET_END

    __attribute__((noinline, zero_call_used_regs("all"))) void aes_forget_armv8(void) {}
#endif
