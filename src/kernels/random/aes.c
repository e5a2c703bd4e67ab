#include "random/aes_forms.h"
#include "simd/processor.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

int aes_form_supported(int form)
{
    if (form == AES_PORTABLE)
        return 1;
#if LDP_X86
    const processor_features found = processor_read();
    if (form == AES_NI)
        return found.aes;
    if (form == AES_VAES256)
        return found.vaes;
    if (form == AES_VAES512)
        return found.vaes && found.avx512;
#elif defined(__aarch64__) && defined(__linux__)
    if (form == AES_ARMV8)
        return (getauxval(AT_HWCAP) >> 3 & 1) != 0; /* HWCAP_AES */
#elif defined(__aarch64__)
    if (form == AES_ARMV8)
        return 1; /* every 64-bit Apple processor */
#endif
    return 0;
}

static int current = -1; /* stored once the answer is final: several threads may ask at the same time */

int aes_form(void)
{
    int form = __atomic_load_n(&current, __ATOMIC_RELAXED);
    if (form < 0) {
        for (form = AES_FORM_COUNT - 1; !aes_form_supported(form); form--)
            ;
        __atomic_store_n(&current, form, __ATOMIC_RELAXED);
    }
    return form;
}

int aes_form_set(int form)
{
    if (form < 0 || form >= AES_FORM_COUNT || !aes_form_supported(form))
        return -1;
    __atomic_store_n(&current, form, __ATOMIC_RELAXED);
    return 0;
}

const char *aes_form_name(int form)
{
    static const char *const names[AES_FORM_COUNT] = {"portable", "armv8", "aes-ni", "vaes-256", "vaes-512"};
    return form >= 0 && form < AES_FORM_COUNT ? names[form] : NULL;
}

void aes_expand(const uint8_t *key, aes_schedule *schedule)
{
    switch (aes_form()) {
#if LDP_X86
    case AES_NI:
    case AES_VAES256:
    case AES_VAES512:
        aes_expand_ni(key, schedule);
        return;
#elif defined(__aarch64__)
    case AES_ARMV8:
        aes_expand_armv8(key, schedule);
        return;
#endif
    default:
        aes_expand_portable(key, schedule);
    }
}

/* Keys are derived by one or two blocks, for which wide registers take longer. */
enum { FEW = 2 };

void aes_counter(const aes_schedule *schedule, aes_input input, void *out, size_t blocks)
{
    switch (aes_form()) {
#if LDP_X86
    case AES_NI:
        aes_counter_ni(schedule, input, out, blocks);
        return;
    case AES_VAES256:
        (blocks <= FEW ? aes_counter_ni : aes_counter_vaes256)(schedule, input, out, blocks);
        return;
    case AES_VAES512:
        (blocks <= FEW ? aes_counter_ni : aes_counter_vaes512)(schedule, input, out, blocks);
        return;
#elif defined(__aarch64__)
    case AES_ARMV8:
        aes_counter_armv8(schedule, input, out, blocks);
        return;
#endif
    default:
        aes_counter_portable(schedule, input, out, blocks);
    }
}

void aes_forget(void)
{
#if LDP_X86
    const int form = aes_form();
    (form == AES_VAES512 ? aes_forget_vaes512 : form == AES_VAES256 ? aes_forget_vaes256 : aes_forget_ni)();
#elif defined(__aarch64__)
    aes_forget_armv8();
#endif
}
