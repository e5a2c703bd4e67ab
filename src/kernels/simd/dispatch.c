#include "simd/dispatch.h"
#include "simd/processor.h"

int ldp_isa_supported(int isa)
{
    if (isa == LDP_PLAIN)
        return 1;
#if LDP_X86
    const processor_features found = processor_read();
    if (isa == LDP_AVX2)
        return found.avx2;
    if (isa == LDP_AVX512)
        return found.avx512;
#endif
    return 0;
}

static int current = -1; /* stored only when the choice is final, because several threads may call ldp_isa at the same time */

int ldp_isa(void)
{
    int isa = __atomic_load_n(&current, __ATOMIC_RELAXED);
    if (isa < 0) {
        for (isa = LDP_ISA_COUNT - 1; !ldp_isa_supported(isa); isa--)
            ;
        __atomic_store_n(&current, isa, __ATOMIC_RELAXED);
    }
    return isa;
}

int ldp_isa_set(int isa)
{
    if (isa < 0 || isa >= LDP_ISA_COUNT || !ldp_isa_supported(isa))
        return -1;
    __atomic_store_n(&current, isa, __ATOMIC_RELAXED);
    return 0;
}

const char *ldp_isa_name(int isa)
{
    static const char *const names[LDP_ISA_COUNT] = {"plain", "avx2", "avx512"};
    return isa >= 0 && isa < LDP_ISA_COUNT ? names[isa] : NULL;
}
